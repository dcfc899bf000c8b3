"""Which tests of a suite notice which variants of a task."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from harness.specs.results import Outcome, Quality

REFERENCE = "reference"
REMOVALS = ("removal", "garbage")
PLACEBO, TWIN = "placebo", "twin-"
"""The name of a variant that behaves as the code does, and how such names begin."""


class Cell(BaseModel):
    """How a test ended on a variant."""

    model_config = ConfigDict(frozen=True)

    outcome: Outcome
    quality: Quality | None = None

    @property
    def kills(self) -> bool:
        return self.outcome is Outcome.FAILED and self.quality is not None and self.quality.kills

    @property
    def passes(self) -> bool:
        return self.outcome is Outcome.PASSED

    @property
    def hangs(self) -> bool:
        """Whether the test took all its time."""
        return self.quality is Quality.TIMEOUT

    @property
    def crashes(self) -> bool:
        """Whether the code broke down where it should have been wrong."""
        return self.quality in (Quality.CRASH, Quality.TIMEOUT, Quality.COLLECTION)


class SuiteMatrix(BaseModel):
    """`cells` has a row for each test and in it a cell for each variant; `baseline` those that aren't green there."""

    model_config = ConfigDict(frozen=True)

    suite: str
    variants: tuple[str, ...]
    cells: dict[str, dict[str, Cell]]
    baseline: tuple[str, ...] = ()

    def killers(self, variant: str) -> list[str]:
        """The green tests that fail on a variant."""
        green = (test for test in self.cells if test not in self.baseline)
        return [test for test in green if (cell := self.cells[test].get(variant)) and cell.kills]

    def remarks(self) -> Iterator[str]:
        """What an author should look at, the reference's alone where it is about probes."""
        for test in self.baseline:
            yield f"{self.suite}: {test} is not green on the code as it is"
        for test in self.cells:
            removed = [name for name in REMOVALS if name in self.variants]
            if removed and test not in self.baseline and not any(test in self.killers(name) for name in removed):
                yield f"{self.suite}: {test} passes without the behaviour; is the removal too mild?"
        for variant in self.variants:
            yield from self._of_any(variant)
        if self.suite == REFERENCE:
            yield from self._of_probes()

    def _of_any(self, variant: str) -> Iterator[str]:
        hung = [test for test in self.cells if (cell := self.cells[test].get(variant)) and cell.hangs]
        if hung:
            yield f"{self.suite}: {variant} hung until the time was over, in {_named(hung)}"
        green = [test for test in self.cells if test not in self.baseline]
        others = [test for test in green if (cell := self.cells[test].get(variant)) and not cell.passes]
        if others and _is_benign(variant):
            yield f"{self.suite}: {variant} changes behaviour: {_named(others)} {_verb(others)} not green on it"

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


def _is_benign(variant: str) -> bool:
    return variant == PLACEBO or variant.startswith(TWIN)


def _named(tests: Sequence[str]) -> str:
    more = f" and {len(tests) - _NAMED} more" if len(tests) > _NAMED else ""
    return f"{', '.join(tests[:_NAMED])}{more}"


def _verb(tests: Sequence[str]) -> str:
    return "is" if len(tests) == 1 else "are"


_NAMED = 3


class KillMatrix(BaseModel):
    """Of a task: the reference first, then the honest suites. `written` are the files that `--fix` wrote."""

    model_config = ConfigDict(frozen=True)

    task: str
    suites: tuple[SuiteMatrix, ...]
    written: tuple[Path, ...] = ()
