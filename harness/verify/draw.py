"""What chance decides in one judging. The submission can't influence it, and `regrade` can use it again."""

import hashlib
import secrets
from dataclasses import dataclass

RENEWED_AFTER = 100
"""Judgings of one task in one process that share a code seed, and so what was compiled by it."""
_BITS = 53  # a whole number in any reader of JSON


@dataclass(frozen=True)
class Draw:
    """Seeds of one judging.

    `code_seed` decides which variants there are: rewritings, inert code, twins, texts on disk. `order_seed` decides
    the order of the arms.
    """

    code_seed: int
    order_seed: int


class CodeSeeds:
    """A code seed for each task, drawn anew after `renewed_after` judgings."""

    def __init__(self, renewed_after: int = RENEWED_AFTER) -> None:
        self._renewed_after = renewed_after
        self._known: dict[str, tuple[int, int]] = {}

    def draw(self, task: str) -> Draw:
        """The draw of another judging of the task with this digest."""
        seed, left = self._known.get(task, (0, 0))
        if not left:
            seed, left = secrets.randbits(_BITS), self._renewed_after
        self._known[task] = seed, left - 1
        return Draw(seed, secrets.randbits(_BITS))

    def forget(self) -> None:
        """Draw anew for every task from now on."""
        self._known.clear()


_of_this_process = CodeSeeds()


def new_draw(task: str) -> Draw:
    """See `CodeSeeds.draw`, for all that this process judges."""
    return _of_this_process.draw(task)


def renew_code_seeds() -> None:
    """See `CodeSeeds.forget`, for all that this process judges from now on."""
    _of_this_process.forget()


def derived(seed: int, *names: object) -> int:
    """Another seed, which belongs to these names and says nothing of the first."""
    whole = "\0".join(map(str, (seed, *names)))
    return int.from_bytes(hashlib.sha256(whole.encode()).digest()[:8])
