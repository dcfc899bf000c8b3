"""Images of repositories and of their tasks: building all, checking all.

An image works if upstream's own tests pass in it, offline and without privileges.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from harness.authoring.task_image_check import other_copies, task_image_check
from harness.judging.testing.readers import reader_of
from harness.runs.concurrency import run_to_end
from harness.sandbox.deadline import seconds_per_test
from harness.sandbox.docker.engine import DockerEngine
from harness.sandbox.images.task_images import repo_image, task_image
from harness.sandbox.options import repo_options
from harness.sandbox.protocol import Image, Job, JobResult
from harness.specs.authoring_facts import Build, Check
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError, first_error
from harness.specs.problem import Problem
from harness.specs.repo import REPORT_FORMATS, Repo
from harness.specs.task import Task
from harness.specs.tracks import address_of
from harness.tracks.registry import track_of

_SUITE_SECONDS = 1800
_LABELS = {"testwright.check": "repo"}


@dataclass(frozen=True)
class RepoCheck:
    """Results of a repository's suite: cases in the reports, wall time in seconds, and the digest of the image."""

    problems: tuple[Problem, ...]
    digest: str
    tests: int
    seconds: float


async def repo_check(repo: Repo) -> RepoCheck:
    """Run the whole suite once in a fresh container.

    Raises:
        ImageUnavailable: The image can't be made.
        SandboxLost: The container was lost.
        UserError: A report can't be read.
    """
    image = await repo_image(repo)
    limits = repo.limits
    engine = DockerEngine(task_image)
    try:
        result = await engine.run_job(
            image,
            Job(
                argv=(repo.test_command,),
                env={"TESTWRIGHT_TEST_SECONDS": str(seconds_per_test(limits.test_seconds))},
                seconds=_SUITE_SECONDS,
            ),
            repo_options(repo),
            _LABELS,
        )
    finally:
        await engine.close()
    tests = sum(map(reader_of(repo.report).count, result.outputs.values()))
    problems = tuple(
        Problem(where=image.reference, message=message) for message in _wrong(result, tests, repo.report)
    )
    return RepoCheck(problems, image.digest, tests, result.seconds)


def _wrong(result: JobResult, tests: int, report: str) -> list[str]:
    last = result.log.decode(errors="replace").strip().splitlines()[-1:] or ["it printed nothing"]
    found = []
    if result.timed_out:
        found.append(f"upstream's tests took longer than {_SUITE_SECONDS} s")
    elif result.exit_status != 0:
        found.append(f"upstream's tests ended with status {result.exit_status}: {''.join(last)}")
    if not tests:
        found.append(no_tests(result.outputs, report))
    return found


def no_tests(outputs: Mapping[str, bytes], report: str) -> str:
    """Return why no test was found in the reports: they are of another format, or not there."""
    if not outputs:
        return "no test is in the reports; does run_tests write them to $TESTWRIGHT_REPORT_DIR?"
    others = [name for name in REPORT_FORMATS.names if name != report]
    fitting = [name for name in others if any(reader_of(name).count(data) for data in outputs.values())]
    seen = (
        f"they look like {' or '.join(fitting)}" if fitting else f"their names are {', '.join(sorted(outputs)[:3])}"
    )
    return f"no test is in the reports as {report!r} has them; {seen}; correct 'report' in repo.yaml"


AT_ONCE = 4
"""Builds wait for a network more often than for a core."""
Tell = Callable[[str], None]
"""A function that prints a line before each step that takes a while."""


@dataclass(frozen=True)
class Wanted:
    """A repository, and those of its tasks whose images are wanted."""

    repo: Repo
    tasks: tuple[Task, ...]


def wanted(catalog: Catalog, names: Collection[str] | None) -> list[Wanted]:
    """Return what images are made of.

    Args:
        catalog: Where repositories and tasks lie.
        names: Repositories, with all of their tasks; or tasks as `TRACK:GLOB`, with the repository that they are of.
            None or empty: all repositories of the catalog.

    Raises:
        UserError: One isn't there or can't be read, or no image is made of it.
    """
    listed = dict.fromkeys(names or catalog.names("repos"))
    addresses = [name for name in listed if address_of(name)]
    of_catalog = _of_catalog(catalog, [name for name in listed if name not in addresses])
    found = {repo.directory: (repo, {task.id: task for task in tasks}) for repo, tasks in of_catalog}
    for name in catalog.chosen(addresses) if addresses else ():
        task = catalog.task(name)
        if task.repo.source.kind == "image":
            raise UserError(f"{name}: its image is made from no recipe; a run makes or fetches it")
        found.setdefault(task.repo.directory, (task.repo, {}))[1][task.id] = task
    return [Wanted(repo, tuple(tasks.values())) for repo, tasks in found.values()]


def build_all(catalog: Catalog, names: Collection[str] | None, tell: Tell) -> list[Build]:
    """Build the images of these repositories and of their tasks; see `wanted`.

    Args:
        catalog: Where they lie.
        names: See `wanted`.
        tell: Told of each step.

    Returns:
        Repositories, then tasks.

    Raises:
        UserError: A recipe is wrong.
        ImageUnavailable: An image can't be pulled or built.
    """
    return run_to_end(_build_all(wanted(catalog, names), tell))


def check_all(catalog: Catalog, names: list[str] | None, tell: Tell) -> list[Check]:
    """Check these repositories (None: all) and their tasks' images, building what is missing."""
    found = _of_catalog(catalog, names or catalog.names("repos"))
    return run_to_end(_check_all([repo for repo, _ in found], [task for _, tasks in found for task in tasks], tell))


def _of_catalog(catalog: Catalog, names: Sequence[str]) -> list[tuple[Repo, list[Task]]]:
    repos = [catalog.repo(name) for name in names]
    tasks = [catalog.task(name) for name in catalog.names("tasks")] if repos else []
    return [(repo, [task for task in tasks if task.repo.name == repo.name]) for repo in repos]


async def _build_all(all_wanted: list[Wanted], tell: Tell) -> list[Build]:
    """Build each repository's image, and once that is there those of its tasks."""
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(name: str, line: str, make: Callable[[], Awaitable[Image]]) -> Build:
        async with slots:
            tell(line)
            began = time.monotonic()
            image = await make()
            return Build(name, image.reference, image.digest, time.monotonic() - began)

    async def with_tasks(each: Wanted) -> list[Build]:
        builds = [await one(each.repo.name, f"image of {each.repo.name}", partial(repo_image, each.repo))]
        for task in each.tasks:
            builds.append(
                await one(task.id, f"image of task {task.id}", partial(track_of(task).images.container, task))
            )
        return builds

    with first_error():
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(with_tasks(each)) for each in all_wanted]
    done = [item.result() for item in running]
    return [builds[0] for builds in done] + [build for builds in done for build in builds[1:]]


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
