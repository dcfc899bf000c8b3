"""The results of building and checking images."""

from dataclasses import dataclass

from harness.specs.problem import Problem


@dataclass(frozen=True)
class Build:
    """An image that is there now. `seconds` is what it took to make or find it."""

    name: str
    reference: str
    digest: str
    seconds: float


@dataclass(frozen=True)
class Check:
    """What a check of a repo image (`tests` > 0) or task image found."""

    name: str
    digest: str
    tests: int
    seconds: float
    problems: tuple[Problem, ...]
