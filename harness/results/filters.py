"""The trials of a run that a reader asks for."""

import fnmatch
from dataclasses import dataclass, replace

from harness.results.rows import TrialRow
from harness.results.run_rows import RunRows, no_such_track
from harness.specs.errors import UserError
from harness.specs.model_file import called
from harness.specs.reasons import REASONS, ReasonCode, Verdict

NO_VERDICT = "none"


@dataclass(frozen=True)
class Filters:
    """Choices of trials. Each is empty or a value; `task`, `scaffold` and `model` are names or globs."""

    verdict: str = ""
    reason: str = ""
    task: str = ""
    scaffold: str = ""
    model: str = ""
    track: str = ""

    @property
    def are_by_outcome(self) -> bool:
        """Return whether trials are chosen by their outcome: then their rates say nothing."""
        return bool(self.verdict or self.reason)

    def check(self) -> None:
        """Check that the verdict and the reason exist.

        Raises:
            UserError: One doesn't.
        """
        verdicts = [*Verdict, NO_VERDICT]
        if self.verdict and self.verdict not in verdicts:
            raise UserError(f"--verdict {self.verdict}: no such verdict; known: {', '.join(verdicts)}")
        reasons = [*ReasonCode, *REASONS.names]
        if self.reason and self.reason not in reasons:
            raise UserError(f"--reason {self.reason}: no such reason; known: {', '.join(reasons)}")

    def take(self, row: TrialRow) -> bool:
        """Return whether a trial is chosen."""
        return (
            self.take_named(row.task, row.scaffold, row.model)
            and self.takes_track(row.track)
            and (not self.verdict or (row.verdict or NO_VERDICT) == self.verdict)
            and (not self.reason or any(item.code == self.reason for item in row.reasons))
        )

    def takes_track(self, track: str) -> bool:
        """Return whether trials of a track are chosen."""
        return not self.track or fnmatch.fnmatchcase(track, self.track)

    def take_named(self, task: str, scaffold: str, model: str) -> bool:
        """Return whether a trial is chosen as far as its names tell."""
        names = ((self.task, task), (self.scaffold, scaffold))
        return all(not glob or fnmatch.fnmatchcase(name, glob) for glob, name in names) and self._takes_model(model)

    def _takes_model(self, model: str) -> bool:
        return not self.model or any(fnmatch.fnmatchcase(name, self.model) for name in (model, called(model)))


def chosen(rows: RunRows, filters: Filters) -> RunRows:
    """Return the chosen trials. Those that never began stay unless their names exclude them.

    Raises:
        UserError: The verdict or reason that is asked for doesn't exist, or no trial has the track.
    """
    filters.check()
    if not any(map(filters.takes_track, rows.tracks or [""])):
        raise no_such_track(filters.track, rows.tracks)
    _check_names(rows, filters)
    kept = replace(rows, trials=tuple(row for row in rows.trials if filters.take(row)))
    return kept.asking(lambda system, task, asked: asked if _asks(filters, system, task, rows.track_of(task)) else 0)


def _check_names(rows: RunRows, filters: Filters) -> None:
    """Raise UserError for a task, scaffold or model that no trial of the run has, begun or asked for."""
    asked = [(task, *system.partition("/")[::2]) for system, tasks in rows.asked.items() for task in tasks]
    names = [*asked, *((row.task, row.scaffold, row.model) for row in rows.trials)]
    for option in ("task", "scaffold", "model"):
        glob = getattr(filters, option)
        if glob and names and not any(Filters(**{option: glob}).take_named(*each) for each in names):
            position = ("task", "scaffold", "model").index(option)
            known = sorted({each[position] for each in names if each[position]})
            raise UserError(f"--{option} {glob}: no trial has it; there are: {', '.join(known) or 'none'}")


def _asks(filters: Filters, system: str, task: str, track: str) -> bool:
    """Return whether the attempts that a system was asked for at a task belong to the trials that are asked for."""
    scaffold, _, model = system.partition("/")
    named = filters.take_named(task, scaffold, model) and filters.takes_track(track)
    return named and not filters.are_by_outcome
