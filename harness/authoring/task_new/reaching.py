"""Which lines of the code some tests reach, in the repository's own image."""

from collections.abc import Mapping, Sequence

from harness.sandbox.docker.engine import DockerEngine
from harness.sandbox.images.task_images import task_image
from harness.sandbox.protocol import Image
from harness.specs.ids import TestId
from harness.specs.repo import Repo
from harness.testing.reaching import measuring

_LABELS = {"testwright.check": "reach"}


async def reached(repo: Repo, image: Image, sides: Mapping[str, Sequence[TestId]]) -> dict[str, measuring.Lines]:
    """See `measuring.reached`."""
    engine = DockerEngine(task_image)
    try:
        return await measuring.reached(engine, _LABELS, repo, image, sides)
    finally:
        await engine.close()
