"""The results of checking a task."""

from enum import StrEnum
from typing import Self

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


class StepId(StrEnum):
    """The steps of a check, of our tasks and of published ones. The id is stored; people read the label."""

    label: str

    def __new__(cls, value: str, label: str) -> Self:
        made = str.__new__(cls, value)
        made._value_ = value
        made.label = label
        return made

    CHECK = "check", "the check itself"
    SCHEMA = "schema", "schema"
    TREE = "tree", "tree"
    FILES = "files", "files"
    RUBRIC = "rubric", "rubric"
    STATEMENTS = "statements", "statements by the judge"
    PROMPT = "prompt", "prompt"
    PATCHES = "patches", "patches"
    TWINS = "twins", "twins"
    REFERENCE_FILES = "reference-files", "reference's files"
    HONEST_SUITES_PRESENT = "honest-suites-present", "honest suites are there"
    IMAGE_PRESENT = "image-present", "image is there"
    IMAGE = "image", "image"
    OTHER_COPIES = "other-copies", "other copies of the code"
    AGENT_VIEW = "agent-view", "agent's view"
    REFERENCE = "reference", "reference, three times"
    REFERENCE_ONCE = "reference-once", "reference, once"
    NOP = "nop", "nop"
    WORTHLESS_SUBMISSIONS = "worthless-submissions", "worthless submissions"
    HONEST_SUITES = "honest-suites", "honest suites"
    FUZZ = "fuzz", "drawn inputs"
    UPSTREAM_TESTS = "upstream-tests", "upstream's tests"
    MUTANTS = "mutants", "mutants that no must-have asks for"
    DIGEST = "digest", "digest"
    CHECK_RECORD = "check-record", "check record"
    DESCRIPTION = "description", "description"
    MANIFEST = "manifest", "manifest"
    REMOVAL = "removal", "removal"
    PATCHES_ON_IMAGE = "patches-on-image", "patches on the image's tree"
    ORACLE = "oracle", "oracle"
    FILE_ALONE = "file-alone", "each file alone"
    RUN_SCRIPT_TWICE = "run-script-twice", "run script twice"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CheckedStep(_Part):
    """One step of the check: passed where its problems are warnings at most."""

    id: StepId
    outcome: StepOutcome
    seconds: float = 0.0
    problems: tuple[Problem, ...] = ()
    remarks: tuple[str, ...] = ()


class Counts(_Part):
    must_haves: int = 0
    nice_to_haves: int = 0
    probes: int = 0
    twins: int = 0
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
