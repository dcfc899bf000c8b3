"""The check record of each task with a repository is of its image, or of one that was shown to be the same."""

from pathlib import Path

import pytest

from harness.authoring.task_check.controls import read_check_record
from harness.authoring.task_check.recorded_parts import images_alike
from harness.sandbox.images.task_images import task_image
from tests.support.corpora import CATALOG

RECORDS = Path(__file__).parents[2] / "docs" / "check-records"
TASKS = [name for name in CATALOG.names("tasks") if CATALOG.task(name).repo.name in CATALOG.names("repos")]


@pytest.mark.long
@pytest.mark.docker
@pytest.mark.parametrize("name", TASKS)
async def test_a_record_is_of_the_image_as_it_is(name: str) -> None:
    record, task = read_check_record(RECORDS, name), CATALOG.task(name)
    image = await task_image(task)
    assert record is not None
    assert record.image_digest in await images_alike(RECORDS, task.repo, image)
