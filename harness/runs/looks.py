"""Looks at a trial's suite once it is judged: what plugins note beside a verdict, which never changes it.

A look runs where a run asks for it (`--look`) and keeps what it found in a file of its own beside the verdict. Its
notes are told from that file alone, so that whoever writes the verdict anew (`regrade`) has them without another
look.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from harness.judging.submission.extraction import Submission
from harness.judging.verify.arms import ArmContext
from harness.judging.verify.verdict import VerdictRecord
from harness.runs.trial_store import TrialStore
from harness.specs.reasons import Note
from harness.specs.registry import Registry
from harness.specs.task import Task
from harness.tracks.grading import Judgements


class Look(Protocol):
    """A look of one kind, which a plugin registers."""

    async def look(self, trial: Path, task: Task, submission: Submission, context: ArmContext, /) -> str:
        """Look at a suite and keep what is found beside its verdict, unless that is there already.

        Args:
            trial: The trial's directory.
            task: Its task.
            submission: What was judged.
            context: Where arms run.

        Returns:
            One line for the trial's log.
        """
        ...

    def notes(self, trial: Path, submission: Submission, /) -> Sequence[Note]:
        """Return the notes on a submission, from the kept file alone; none where nobody has looked at it.

        Args:
            trial: The trial's directory.
            submission: What the notes must be about: a look at another one doesn't count.
        """
        ...


LOOKS: Registry[Look] = Registry("look", "testwright.looks", {})
"""Looks by name. They come from plugins alone."""


async def take_looks(
    names: Iterable[str], store: TrialStore, task: Task, submission: Submission, context: ArmContext
) -> None:
    """Take the named looks. An error in one is a line of the trial's log, and never changes its verdict."""
    for name in names:
        try:
            told = await LOOKS.get(name).look(store.directory, task, submission, context)
        except Exception as error:  # whatever it is: the verdict stands
            told = f"nothing could be looked at: {error or type(error).__name__}"
        store.log(f"{name}: {told}")


def with_kept_notes(store: TrialStore, submission: Submission, judged: Judgements) -> Judgements:
    """Return the judgements with the notes of all looks that were taken at this submission, now or earlier."""
    record = _noted(store, submission, judged.first.record)
    return replace(judged, first=replace(judged.first, record=record))


def note_again(store: TrialStore, submission: Submission) -> None:
    """Write the notes of looks into a verdict that is there already; change nothing else of it."""
    record = store.verdict()
    if record and (noted := _noted(store, submission, record)) != record:
        store.replace_verdict(noted)


def _kept(name: str, store: TrialStore, submission: Submission) -> Sequence[Note]:
    try:
        return LOOKS.get(name).notes(store.directory, submission)
    except Exception as error:
        store.log_once(f"{name}: its notes can't be told: {error or type(error).__name__}")
        return ()


def _noted(store: TrialStore, submission: Submission, record: VerdictRecord) -> VerdictRecord:
    found = [note for name in LOOKS.names for note in _kept(name, store, submission)]
    codes = {note.code for note in found} | {note.code for note in record.notes if note.code.is_of_a_look}
    others = [note for note in record.notes if note.code not in codes]
    return record.model_copy(update={"notes": (*others, *found)})
