"""Images of repositories and of their tasks: building all, checking all."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial

from harness.authoring.repo_check import repo_check
from harness.authoring.task_image_check import other_copies, task_image_check
from harness.runs.interruption import run_to_end
from harness.sandbox.images.task_images import repo_image, task_image
from harness.sandbox.protocol import Image
from harness.specs.catalog import Catalog
from harness.specs.errors import first_error
from harness.specs.image_facts import Build, Check
from harness.specs.repo import Repo
from harness.specs.task import Task

AT_ONCE = 4
"""Builds wait for a network more often than for a core."""
Tell = Callable[[str], None]
"""Told a line before each step that takes a while."""


def build_all(catalog: Catalog, names: list[str] | None, tell: Tell) -> list[Build]:
    """Images of these repositories (None: all) and of their tasks. Raises UserError, ImageUnavailable."""
    return run_to_end(_build_all(*_chosen(catalog, names), tell))


def check_all(catalog: Catalog, names: list[str] | None, tell: Tell) -> list[Check]:
    """Check these repositories (None: all) and their tasks' images, building what is missing."""
    return run_to_end(_check_all(*_chosen(catalog, names), tell))


def _chosen(catalog: Catalog, names: list[str] | None) -> tuple[list[Repo], list[Task]]:
    repos = [catalog.repo(name) for name in names or catalog.names("repos")]
    chosen = {repo.name for repo in repos}
    tasks = [catalog.task(name) for name in catalog.names("tasks")]
    return repos, [task for task in tasks if task.repo.name in chosen]


async def _build_all(repos: list[Repo], tasks: list[Task], tell: Tell) -> list[Build]:
    """Each repository's image, and once that is there those of its tasks."""
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(name: str, line: str, make: Callable[[], Awaitable[Image]]) -> Build:
        async with slots:
            tell(line)
            began = time.monotonic()
            image = await make()
            return Build(name, image.reference, image.digest, time.monotonic() - began)

    async def with_tasks(repo: Repo) -> list[Build]:
        builds = [await one(repo.name, f"image of {repo.name}", partial(repo_image, repo))]
        for task in (task for task in tasks if task.repo.name == repo.name):
            builds.append(await one(task.id, f"image of task {task.id}", partial(task_image, task)))
        return builds

    with first_error():
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(with_tasks(repo)) for repo in repos]
    done = {build.name: build for item in running for build in item.result()}
    return [done[name] for name in (*(repo.name for repo in repos), *(task.id for task in tasks))]


async def _check_all(repos: list[Repo], tasks: list[Task], tell: Tell) -> list[Check]:
    checks = []
    for repo in repos:
        tell(f"{repo.name}: upstream's own tests")
        found = await repo_check(repo)
        checks.append(Check(repo.name, found.digest, found.tests, found.seconds, found.problems))
    for task in tasks:
        tell(f"{task.id}: looking for withheld tests and other copies of the code")
        began = time.monotonic()
        problems = [*await task_image_check(task), *await other_copies(task)]
        image = await task_image(task)
        checks.append(Check(task.id, image.digest, 0, time.monotonic() - began, tuple(problems)))
    return checks
