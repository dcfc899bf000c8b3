"""What several attempts at one task say of a smaller number of them."""

from functools import lru_cache
from math import comb

_KNOWN = 50_000
"""Results that are remembered: in a large run many tasks have the same counts."""


@lru_cache(_KNOWN)
def pass_at(k: int, resolved: int, attempts: int) -> float:
    """The chance that at least one of `k` attempts resolves a task: 1 - C(n-c, k) / C(n, k), unbiased.

    Chen et al., "Evaluating large language models trained on code" (arXiv 2107.03374, 2021), equation 1. Raises
    ValueError unless 1 <= k <= attempts and 0 <= resolved <= attempts.
    """
    _check(k, resolved, attempts)
    return 1 - comb(attempts - resolved, k) / comb(attempts, k)


@lru_cache(_KNOWN)
def pass_all(k: int, resolved: int, attempts: int) -> float:
    """The chance that all of `k` attempts resolve a task (pass^k): C(c, k) / C(n, k), unbiased.

    Yao et al., "tau-bench" (arXiv 2406.12045, 2024), section 4. Raises ValueError as `pass_at`.
    """
    _check(k, resolved, attempts)
    return comb(resolved, k) / comb(attempts, k)


def _check(k: int, resolved: int, attempts: int) -> None:
    if not (1 <= k <= attempts and 0 <= resolved <= attempts):
        raise ValueError(f"k={k} with {resolved} of {attempts} attempts resolved")
