"""The trials of a run that a reader asks for."""

import fnmatch
from dataclasses import dataclass, replace

from harness.analysis.rows import TrialRow
from harness.analysis.run_rows import RunRows
from harness.specs.errors import UserError
from harness.specs.model_name import called
from harness.specs.reasons import ReasonCode, Verdict

NO_VERDICT = "none"


@dataclass(frozen=True)
class Filters:
    """Each is empty or a value; `task`, `scaffold` and `model` are names or globs."""

    verdict: str = ""
    reason: str = ""
    task: str = ""
    scaffold: str = ""
    model: str = ""

    @property
    def are_by_outcome(self) -> bool:
        """Whether trials are chosen by what became of them: then their rates say nothing."""
        return bool(self.verdict or self.reason)

    def check(self) -> None:
        """Raises UserError for a verdict or reason that doesn't exist."""
        verdicts = [*Verdict, NO_VERDICT]
        if self.verdict and self.verdict not in verdicts:
            raise UserError(f"--verdict {self.verdict}: no such verdict; known: {', '.join(verdicts)}")
        if self.reason and self.reason not in list(ReasonCode):
            raise UserError(f"--reason {self.reason}: no such reason; known: {', '.join(ReasonCode)}")

    def take(self, row: TrialRow) -> bool:
        return (
            self.take_named(row.task, row.scaffold, row.model)
            and (not self.verdict or (row.verdict or NO_VERDICT) == self.verdict)
            and (not self.reason or any(item.code == self.reason for item in row.reasons))
        )

    def take_named(self, task: str, scaffold: str, model: str) -> bool:
        """By names alone."""
        names = ((self.task, task), (self.scaffold, scaffold))
        return all(not glob or fnmatch.fnmatchcase(name, glob) for glob, name in names) and self._takes_model(model)

    def _takes_model(self, model: str) -> bool:
        return not self.model or any(fnmatch.fnmatchcase(name, self.model) for name in (model, called(model)))


def chosen(rows: RunRows, filters: Filters) -> RunRows:
    """Of trials that were asked for and never began, those stay that names alone don't exclude. Raises UserError."""
    filters.check()
    kept = replace(rows, trials=tuple(row for row in rows.trials if filters.take(row)))
    return kept.asking(lambda system, task, asked: asked if _asks(filters, system, task) else 0)


def _asks(filters: Filters, system: str, task: str) -> bool:
    """Whether the attempts that a system was asked for at a task belong to the trials that are asked for."""
    scaffold, _, model = system.partition("/")
    return not filters.are_by_outcome and filters.take_named(task, scaffold, model)
