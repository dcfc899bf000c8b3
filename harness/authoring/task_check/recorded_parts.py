"""The parts of a check that a record may keep: what they read is as it was, and the image that they ran on."""

from collections.abc import Collection, Mapping
from pathlib import Path

from harness import PROTOCOL_VERSION
from harness.authoring.task_check.context import digests_of_parts
from harness.authoring.task_check.controls import read_check_record
from harness.authoring.task_check.same_images import recipes_alike
from harness.authoring.task_check.subject import Subject
from harness.sandbox.images.recipe import read_recipe
from harness.sandbox.images.task_images import digests_by
from harness.sandbox.protocol import Image
from harness.specs.repo import Repo
from harness.specs.task_facts import CheckedStep, StepId

KEPT = frozenset(
    {
        StepId.FUZZ,
        StepId.NOP,
        StepId.IMAGE,
        StepId.OTHER_COPIES,
        StepId.WORTHLESS_SUBMISSIONS,
        StepId.UPSTREAM_TESTS,
        StepId.ALTERNATIVE_FIXES,
        StepId.REFERENCE,
        StepId.REFERENCE_ONCE,
        StepId.HONEST_SUITES,
    }
)
"""Parts that judge, and read no nice-to-have. The agent's view and upstream's conventions do."""


def kept_digests(subject: Subject) -> dict[StepId, str]:
    """Return a digest over all that each part reads that a record may keep.

    Raises:
        OSError: A file can't be read.
    """
    return {step: digest for step, digest in digests_of_parts(subject).items() if step in KEPT}


async def images_alike(records: Path, repo: Repo, image: Image) -> frozenset[str]:
    """Return the digests of a task's image: by its repository's recipe, and by each that gives the same image.

    An image that is taken as it is, as that of a design's adapters, has no recipe.

    Raises:
        UserError: What `records` has of the repository's images can't be read.
    """
    if repo.source.kind == "image":
        return frozenset({image.digest})
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
        Those whose files are the same; none where the image is another, or the protocol of judging.

    Raises:
        UserError: The record can't be read.
    """
    record = read_check_record(records, subject.task.id)
    if record is None or record.image_digest not in images:
        return {}
    if (record.isolation, record.protocol_version) != (isolation, PROTOCOL_VERSION):
        return {}
    now = kept_digests(subject)
    return {step.id: step for step in record.steps if record.part_digests.get(step.id, "") == now.get(step.id)}
