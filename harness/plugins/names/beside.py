"""Absent names as notes of a verdict: found by one container within a run, kept in `names.json`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.judging.submission.extraction import Submission
from harness.judging.verify.arms import ArmContext
from harness.plugins.names.findings import NamesFile, digest_of, keep_names, read_names
from harness.plugins.names.looking import look_at
from harness.plugins.names.working import read_working
from harness.runs.trial_store import TrialStore
from harness.specs.reasons import Note, NoteCode
from harness.specs.task import Task
from harness.specs.tracks import BEHAVIOUR

MOST_NOTES = 20
"""`names.json` has the others."""


def known_names(trial: Path, submission: Submission) -> NamesFile | None:
    """Return the names of a submission that was looked at before; None where it wasn't."""
    known = read_names(trial)
    return known if known and known.submission == digest_of(submission.patch, submission.manifest) else None


async def look_beside(trial: Path, task: Task, submission: Submission, context: ArmContext) -> NamesFile:
    """Look at a suite and at what its agent's commands printed, and write `names.json`. For errors see `look_at`."""
    looked = await look_at(task, submission, context)
    names = looked.model_copy(update={"working": read_working(TrialStore(trial).trajectory)})
    keep_names(trial, names)
    return names


@dataclass(frozen=True)
class AbsentNamesLook:
    """See `Look`."""

    async def look(self, trial: Path, task: Task, submission: Submission, context: ArmContext, /) -> str:
        """Look once at each submission."""
        if task.track != BEHAVIOUR:
            return f"nothing looks for absent names in {task.track} tasks"
        names = known_names(trial, submission) or await look_beside(trial, task, submission, context)
        return names.why_none or f"{len(names.findings)} found in {names.seconds:.1f} s of processor time"

    def notes(self, trial: Path, submission: Submission, /) -> Sequence[Note]:
        """Return a note for each finding, up to `MOST_NOTES`, and one for all others."""
        names = known_names(trial, submission)
        findings = names.findings if names else ()
        notes = [
            Note(
                code=NoteCode.ABSENT_NAME,
                subject=f"{found.file}:{found.line}",
                words=f"{found.name} ({found.kind}) doesn't exist",
            )
            for found in findings[:MOST_NOTES]
        ]
        if (others := len(findings) - MOST_NOTES) > 0:
            notes.append(Note(code=NoteCode.ABSENT_NAME, words=f"{others} more in names.json"))
        return notes


LOOK = AbsentNamesLook()
