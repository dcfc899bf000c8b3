"""Which tests of a suite notice which variants of a task."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from harness.specs.results import Outcome, Quality

REFERENCE = "reference"
REMOVALS = ("removal", "garbage")


class Cell(BaseModel):
    """How a test ended on a variant."""

    model_config = ConfigDict(frozen=True)

    outcome: Outcome
    quality: Quality | None = None

    @property
    def kills(self) -> bool:
        return self.outcome is Outcome.FAILED and self.quality is not None and self.quality.kills

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
        if self.suite == REFERENCE:
            yield from self._of_probes()

    def _of_probes(self) -> Iterator[str]:
        green = [test for test in self.cells if test not in self.baseline]
        for variant in self.variants:
            if variant in REMOVALS:
                continue
            killers = self.killers(variant)
            if not killers:
                yield f"{variant}: no test notices it"
            elif len(killers) == len(green) > 1:
                yield f"{variant}: every test notices it; it says little about one criterion"
            if killers and all(self.cells[test][variant].crashes for test in killers):
                yield f"{variant}: it only crashes or hangs; is there a typing error in it?"


class KillMatrix(BaseModel):
    """Of a task: the reference first, then the honest suites. `written` are the files that `--fix` wrote."""

    model_config = ConfigDict(frozen=True)

    task: str
    suites: tuple[SuiteMatrix, ...]
    written: tuple[Path, ...] = ()
