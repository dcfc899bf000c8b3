"""The results of checking a task, and which tests of a suite notice which variants of it."""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict

from harness.specs.errors import UserError
from harness.specs.first_few import first_few
from harness.specs.problem import Problem, Severity
from harness.specs.test_results import Outcome, Quality


class Level(StrEnum):
    """Levels of a task's check; each has all of those before it, but for how often the reference runs."""

    QUICK = "quick"
    """The task's files; no container."""
    BRIEF = "brief"
    """Also what an agent sees, the reference once, and `nop`."""
    GATE = "gate"
    """All that can find an error: the reference several times, worthless submissions, honest suites."""
    FULL = "full"
    """Also what can only warn: upstream's remaining tests on every probe."""


def chosen_level(quick: bool, brief: bool, sample: bool) -> Level:
    """Return the level that options name.

    Raises:
        UserError: Two of them are given; they exclude each other.
    """
    if quick + brief + sample > 1:
        raise UserError("--quick, --brief and --sample exclude each other")
    return Level.QUICK if quick else Level.BRIEF if brief or sample else Level.FULL


class StepOutcome(StrEnum):
    """Outcomes of a step of the check."""

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
    REFERENCE = "reference", "reference, several times"
    REFERENCE_ONCE = "reference-once", "reference, once"
    NOP = "nop", "nop"
    WORTHLESS_SUBMISSIONS = "worthless-submissions", "worthless submissions"
    HONEST_SUITES = "honest-suites", "honest suites"
    ALTERNATIVE_FIXES = "alternative-fixes", "partial and other fixes"
    WRONG_FIX = "wrong-fix", "wrong fix"
    ACCEPTANCE = "acceptance", "acceptance, ten times"
    FUZZ = "fuzz", "drawn inputs"
    CONVENTIONS = "conventions", "upstream's conventions"
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
    NEIGHBOURS = "neighbours", "values beside the edges"


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
    """Numbers of a task's criteria, probes, twins and reference tests."""

    must_haves: int = 0
    nice_to_haves: int = 0
    probes: int = 0
    twins: int = 0
    reference_tests: int = 0


class TaskCheck(_Part):
    """Results of a task's check.

    `task_digest` and `image_digest` are empty where it didn't come to that; `isolation` is the engine's.
    `part_digests` are over what parts read that judge: such a part is valid while that is the same.
    """

    task: str
    level: Level
    task_digest: str = ""
    part_digests: dict[StepId, str] = {}
    image_digest: str = ""
    isolation: str = ""
    counts: Counts = Counts()
    steps: tuple[CheckedStep, ...] = ()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems of all steps."""
        return tuple(problem for step in self.steps for problem in step.problems)

    @property
    def passed(self) -> bool:
        """Return whether no step failed."""
        return not any(problem.severity is Severity.ERROR for problem in self.problems)

    @property
    def seconds(self) -> float:
        """The seconds that all steps took together."""
        return sum(step.seconds for step in self.steps)


REFERENCE = "reference"
REMOVALS = ("removal", "garbage")
PLACEBO, TWIN = "placebo", "twin-"
"""The name of a variant that behaves as the code does, and how such names begin."""


class Cell(BaseModel):
    """A test's outcome on a variant."""

    model_config = ConfigDict(frozen=True)

    outcome: Outcome
    quality: Quality | None = None

    @property
    def kills(self) -> bool:
        """Return whether the test notices the variant."""
        return self.outcome is Outcome.FAILED and self.quality is not None and self.quality.kills

    @property
    def passes(self) -> bool:
        """Return whether the test passes on the variant."""
        return self.outcome is Outcome.PASSED

    @property
    def hangs(self) -> bool:
        """Return whether the test took all the time that it had."""
        return self.quality is Quality.TIMEOUT

    @property
    def crashes(self) -> bool:
        """Return whether the code broke down where it should have given a wrong result."""
        return self.quality in (Quality.CRASH, Quality.TIMEOUT, Quality.COLLECTION)


class SuiteMatrix(BaseModel):
    """A suite's matrix: in `cells` a row for each test, with a cell for each variant.

    `baseline` has those that don't pass there.
    """

    model_config = ConfigDict(frozen=True)

    suite: str
    variants: tuple[str, ...]
    cells: dict[str, dict[str, Cell]]
    baseline: tuple[str, ...] = ()

    def killers(self, variant: str) -> list[str]:
        """Return the green tests that fail on a variant."""
        green = (test for test in self.cells if test not in self.baseline)
        return [test for test in green if (cell := self.cells[test].get(variant)) and cell.kills]

    def unnoticed(self) -> list[str]:
        """Return the criteria of which a probe ran and no test noticed it, in order."""
        probes = {name: found[1] for name in self.variants if (found := _OF_PROBE.fullmatch(name))}
        return sorted({criterion for name, criterion in probes.items() if not self.killers(name)}, key=_by_number)

    def remarks(self) -> Iterator[str]:
        """Yield what an author should look at, the reference's alone where it is about probes."""
        for test in self.baseline:
            yield f"{self.suite}: {test} is not green on the code as it is"
        for test in self.cells:
            removed = [name for name in REMOVALS if name in self.variants]
            if removed and test not in self.baseline and not any(test in self.killers(name) for name in removed):
                under = " and under ".join(f"{name}.patch" for name in removed)
                yield f"{self.suite}: {test} passes under {under}; {_MILD}"
        for variant in self.variants:
            yield from self._of_any(variant)
        if self.suite == REFERENCE:
            yield from self._of_probes()

    def _of_any(self, variant: str) -> Iterator[str]:
        hung = [test for test in self.cells if (cell := self.cells[test].get(variant)) and cell.hangs]
        if hung:
            yield f"{self.suite}: {variant} hung until the time was over, in {first_few(hung, _NAMED)}"
        green = [test for test in self.cells if test not in self.baseline]
        others = [test for test in green if (cell := self.cells[test].get(variant)) and not cell.passes]
        if others and _is_benign(variant):
            which = first_few(others, _NAMED)
            yield f"{self.suite}: {variant} changes behaviour: {which} {_verb(others)} not green on it"

    def _of_probes(self) -> Iterator[str]:
        green = [test for test in self.cells if test not in self.baseline]
        for variant in self.variants:
            if variant in REMOVALS or _is_benign(variant):
                continue
            killers = self.killers(variant)
            if not killers:
                yield f"{variant}: no test notices it"
            elif len(killers) == len(green) > 1:
                yield f"{variant}: every test notices it; it says little about one criterion"
            if killers and all(self.cells[test][variant].crashes for test in killers):
                yield f"{variant}: it only crashes or hangs; is there a typing error in it?"


_OF_PROBE = re.compile(r"probe-(\d+\.\d+)(?:-.*)?")
_MILD = "is what garbage gives too close to what is right?"


def _by_number(criterion: str) -> tuple[int, ...]:
    return tuple(map(int, criterion.split(".")))


def _is_benign(variant: str) -> bool:
    return variant == PLACEBO or variant.startswith(TWIN)


def _verb(tests: Sequence[str]) -> str:
    return "is" if len(tests) == 1 else "are"


_NAMED = 3


class KillMatrix(BaseModel):
    """A task's matrix: the reference first, then the honest suites. `written` are the files that `--fix` wrote."""

    model_config = ConfigDict(frozen=True)

    task: str
    suites: tuple[SuiteMatrix, ...]
    written: tuple[Path, ...] = ()
