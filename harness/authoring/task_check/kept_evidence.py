"""Keeps what arms show in a check that remembers: one that is cut short goes on from there."""

import shutil
from pathlib import Path

from harness.authoring.code_digest import code_digest
from harness.authoring.task_check.subject import Subject
from harness.judging.submission.extraction import Submission
from harness.runs.evidence_file import Conditions, EvidenceFileCache
from harness.sandbox.host import cache_directory
from harness.specs.task import Task


def kept_folder(task: Task) -> Path:
    """Return where the evidence of a task's check is kept, as this code gathers it."""
    return cache_directory() / "checked-arms" / task.id / code_digest()[:32]


def kept_evidence(subject: Subject, name: str, submission: Submission) -> EvidenceFileCache | None:
    """Return the cache of one judging of a check; None where the check keeps nothing."""
    if subject.kept is None:
        return None
    conditions = Conditions.of(subject.task, subject.containers, submission)
    place = subject.kept / name
    place.mkdir(parents=True, exist_ok=True)
    return EvidenceFileCache(place / "evidence.json", conditions)


def forget_evidence(subject: Subject, name: str) -> None:
    """Forget the judgings of this name, or of the names below it: what went wrong is to be seen again, not read."""
    if subject.kept is not None:
        shutil.rmtree(subject.kept / name, ignore_errors=True)
