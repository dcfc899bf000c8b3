"""Maps fixed paths, such as the tree's, for sandboxes that have them elsewhere."""

from collections.abc import Callable, Sequence


def mapped(value: str, real: Callable[[str], str], tops: Sequence[str]) -> str:
    """Paths below `tops`, alone or in a list with colons, as `real` says that they are."""

    def one(part: str) -> str:
        return real(part) if any(part == top or part.startswith(f"{top}/") for top in tops) else part

    return ":".join(map(one, value.split(":")))
