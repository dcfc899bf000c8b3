"""What checking a task came to."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from harness.specs.errors import UserError
from harness.specs.problem import Problem, Severity


class Level(StrEnum):
    """How much of a task is checked; each level has all of those before it, but for how often the reference runs."""

    QUICK = "quick"
    """What its files say; no container."""
    BRIEF = "brief"
    """Also what an agent sees, the reference once, and `nop`."""
    GATE = "gate"
    """All that can find an error: the reference three times, worthless submissions, honest suites."""
    FULL = "full"
    """Also what can only warn: upstream's remaining tests on every probe."""


def chosen_level(quick: bool, brief: bool, sample: bool) -> Level:
    """Of options that exclude each other; a sample is brief but for what it samples. Raises UserError for two."""
    if quick + brief + sample > 1:
        raise UserError("--quick, --brief and --sample exclude each other")
    return Level.QUICK if quick else Level.BRIEF if brief or sample else Level.FULL


class StepOutcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    NOT_REACHED = "not-reached"
    """No container is started for a task whose files aren't in order."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CheckedStep(_Part):
    """One part of the check: passed where its problems are warnings at most."""

    name: str
    outcome: StepOutcome
    seconds: float = 0.0
    problems: tuple[Problem, ...] = ()
    remarks: tuple[str, ...] = ()


class Counts(_Part):
    must_haves: int = 0
    nice_to_haves: int = 0
    probes: int = 0
    reference_tests: int = 0


class TaskCheck(_Part):
    """`task_digest` and `image_digest` are empty where it didn't come to that; `isolation` is the engine's."""

    task: str
    level: Level
    task_digest: str = ""
    image_digest: str = ""
    isolation: str = ""
    counts: Counts = Counts()
    steps: tuple[CheckedStep, ...] = ()

    @property
    def problems(self) -> tuple[Problem, ...]:
        return tuple(problem for step in self.steps for problem in step.problems)

    @property
    def passed(self) -> bool:
        return not any(problem.severity is Severity.ERROR for problem in self.problems)

    @property
    def seconds(self) -> float:
        return sum(step.seconds for step in self.steps)
