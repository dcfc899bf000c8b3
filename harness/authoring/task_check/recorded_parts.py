"""The parts of a check that a record may keep: verdicts never depend on nice-to-haves, so no judging does."""

from collections.abc import Collection, Mapping
from pathlib import Path

from harness import PROTOCOL_VERSION
from harness.authoring.task_check.context import files_below, must_haves
from harness.authoring.task_check.controls import read_check_record
from harness.authoring.task_check.honest_corpus import corpus_of
from harness.authoring.task_check.same_images import recipes_alike
from harness.authoring.task_check.subject import Subject
from harness.sandbox.images.recipe import digest_of, read_recipe
from harness.sandbox.images.task_images import digests_by
from harness.sandbox.protocol import Image
from harness.specs.repo import Repo
from harness.specs.task_facts import CheckedStep, StepId
from harness.specs.tracks import BEHAVIOUR

_JUDGED = frozenset(
    {
        StepId.FUZZ,
        StepId.NOP,
        StepId.IMAGE,
        StepId.OTHER_COPIES,
        StepId.WORTHLESS_SUBMISSIONS,
        StepId.UPSTREAM_TESTS,
        StepId.REFERENCE,
        StepId.HONEST_SUITES,
    }
)
"""Parts that never read a nice-to-have. The agent's view and upstream's conventions do."""


def judged_digest(subject: Subject) -> str:
    """Return a digest over all that judgings of a task depend on: its files, its must-haves and its honest suites.

    Returns:
        An empty string for tasks of other tracks, which have no nice-to-haves.

    Raises:
        OSError: A file can't be read.
    """
    task = subject.task
    if task.track != BEHAVIOUR:
        return ""
    folders = {"task": task.directory, "honest": corpus_of(subject.catalog) / task.id}
    files = {
        f"{name}/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for name, folder in folders.items()
        for path in files_below(folder)
    }
    return digest_of({**files, "must-haves": must_haves(task)})


async def images_alike(records: Path, repo: Repo, image: Image) -> frozenset[str]:
    """Return the digests of a task's image: by its repository's recipe, and by each that gives the same image.

    Raises:
        UserError: What `records` has of the repository's images can't be read.
    """
    others = list(recipes_alike(records, repo.name, read_recipe(repo).digest))
    return frozenset({image.digest}) | (await digests_by(others, image) if others else frozenset())


def recorded_parts(
    records: Path, subject: Subject, images: Collection[str], isolation: str
) -> Mapping[StepId, CheckedStep]:
    """Return the parts of a task's record that hold for the task as it is now.

    Args:
        records: The folder of the records.
        subject: The task.
        images: The digests of its image (`images_alike`).
        isolation: That of the engine.

    Returns:
        None of them where anything but its nice-to-haves has changed since, or its image, or the protocol of judging.

    Raises:
        UserError: The record can't be read.
    """
    record = read_check_record(records, subject.task.id)
    now = (judged_digest(subject), isolation, PROTOCOL_VERSION)
    if record is None or not record.judged_digest or record.image_digest not in images:
        return {}
    if now != (record.judged_digest, record.isolation, record.protocol_version):
        return {}
    return {step.id: step for step in record.steps if step.id in _JUDGED}
