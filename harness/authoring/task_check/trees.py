"""A task's tree without a container: upstream's tree, kept from the image's build, without the withheld tests."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from harness.sandbox.git_tree import GitTree
from harness.sandbox.images.recipe import read_recipe
from harness.sandbox.images.record import image_place
from harness.sandbox.images.work_tree import task_tree
from harness.specs.task import Task


@asynccontextmanager
async def kept_tree(task: Task) -> AsyncIterator[GitTree | None]:
    """None where this machine never built the repo's image. Raises UserError where withheld.patch doesn't apply."""
    place = image_place(read_recipe(task.repo).tag("repo"))
    if place.record() is None:
        yield None
        return
    with place.scratch() as scratch:
        yield await task_tree(GitTree(place.tree), task, Path(scratch) / "tree.git")
