"""Images of repositories and of their tasks: building all, checking all."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from harness.authoring.repo_check import repo_check
from harness.authoring.task_image_check import task_image_check
from harness.sandbox.images.task_images import repo_image, task_image
from harness.sandbox.protocol import Image
from harness.specs.catalog import Catalog
from harness.specs.errors import first_error
from harness.specs.image_facts import Build, Check
from harness.specs.repo import Repo
from harness.specs.task import Task

AT_ONCE = 2
"""Builds wait for a network as often as for a core."""
Tell = Callable[[str], None]
"""Told a line before each step that takes a while."""


def build_all(catalog: Catalog, names: list[str] | None, tell: Tell) -> list[Build]:
    """Images of these repositories (None: all) and of their tasks. Raises UserError, ImageUnavailable."""
    return asyncio.run(_build_all(*_chosen(catalog, names), tell))


def check_all(catalog: Catalog, names: list[str] | None, tell: Tell) -> list[Check]:
    """Check these repositories (None: all) and their tasks' images, building what is missing."""
    return asyncio.run(_check_all(*_chosen(catalog, names), tell))


def _chosen(catalog: Catalog, names: list[str] | None) -> tuple[list[Repo], list[Task]]:
    repos = [catalog.repo(name) for name in names or catalog.names("repos")]
    chosen = {repo.name for repo in repos}
    tasks = [catalog.task(name) for name in catalog.names("tasks")]
    return repos, [task for task in tasks if task.repo.name in chosen]


async def _build_all(repos: list[Repo], tasks: list[Task], tell: Tell) -> list[Build]:
    of_repos = [(repo.name, f"image of {repo.name}", partial(repo_image, repo)) for repo in repos]
    of_tasks = [(task.id, f"image of task {task.id}", partial(task_image, task)) for task in tasks]
    return [*await _build_each(of_repos, tell), *await _build_each(of_tasks, tell)]


async def _build_each(wanted: Sequence[tuple[str, str, Callable[[], Awaitable[Image]]]], tell: Tell) -> list[Build]:
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(name: str, line: str, make: Callable[[], Awaitable[Image]]) -> Build:
        async with slots:
            tell(line)
            began = time.monotonic()
            image = await make()
            return Build(name, image.reference, image.digest, time.monotonic() - began)

    with first_error():
        async with asyncio.TaskGroup() as group:
            builds = [group.create_task(one(*each)) for each in wanted]
    return [build.result() for build in builds]


async def _check_all(repos: list[Repo], tasks: list[Task], tell: Tell) -> list[Check]:
    checks = []
    for repo in repos:
        tell(f"{repo.name}: upstream's own tests")
        found = await repo_check(repo)
        checks.append(Check(repo.name, found.digest, found.tests, found.seconds, found.problems))
    for task in tasks:
        tell(f"{task.id}: looking for withheld tests")
        began = time.monotonic()
        problems = await task_image_check(task)
        image = await task_image(task)
        checks.append(Check(task.id, image.digest, 0, time.monotonic() - began, tuple(problems)))
    return checks
