"""Green, red and flaky tests of a repository's own: every test run several times in its image."""

from collections.abc import Callable, Sequence

from harness.judging.languages.registry import language_of
from harness.judging.testing.arm_job import TestRun, read_job, test_job
from harness.runs.concurrency import run_to_end
from harness.sandbox.docker.engine import DockerEngine
from harness.sandbox.git_tree import GitTree
from harness.sandbox.images.task_images import repo_image, task_image
from harness.sandbox.options import repo_options
from harness.sandbox.protocol import Image
from harness.specs.authoring_facts import SuiteRecord
from harness.specs.errors import UserError
from harness.specs.repo import Repo, matches
from harness.specs.test_results import Outcome, TestId
from harness.specs.yaml_files import yaml_text

TIMES = 3
_FILE = "suite.yaml"
_SECONDS = 1800
_LABELS = {"testwright.check": "repo"}


def record_suite(repo: Repo, tell: Callable[[str], None]) -> SuiteRecord:
    """Run a repository's whole suite, as `run_suite` does, to its end."""
    return run_to_end(run_suite(repo, tell))


async def run_suite(repo: Repo, tell: Callable[[str], None]) -> SuiteRecord:
    """Run all tests `TIMES` times, each time in a fresh container, and write the results beside repo.yaml.

    Raises:
        ImageUnavailable: The image can't be made.
        SandboxLost: A container was lost.
        UserError: No test ran.
    """
    tell(f"{repo.name}: its image")
    image = await repo_image(repo)
    tests = await all_tests(repo, GitTree(image.tree))
    runs = []
    for number in range(1, TIMES + 1):
        tell(f"{repo.name}: its {len(tests)} tests, time {number} of {TIMES}")
        runs.append(await _outcomes(repo, image, tests))
    if all(run.get(test) is Outcome.MISSING for run in runs for test in tests):
        words = "no test of the suite is in the reports; does its run script write them as repo.yaml says"
        raise UserError(f"{repo.directory / 'run_tests.sh'}: {words} (report: {repo.report})?")
    record = _record(image.digest, tests, runs)
    facts = record.model_dump(mode="json")
    (repo.directory / _FILE).write_text(yaml_text({name: value for name, value in facts.items() if value != []}))
    return record


async def all_tests(repo: Repo, tree: GitTree) -> tuple[TestId, ...]:
    """Return the tests of a tree, by its language's discovery, in the order of their files."""
    discovery = language_of(repo).discovery
    entries = await tree.entries()
    files = {
        path: entry
        for path, entry in entries.items()
        if discovery.is_test_file(path) and matches(path, repo.test_paths)
    }
    found = []
    for path, data in (await tree.read_all(files)).items():
        file = discovery.discover(data, path)
        found += [TestId(path, test.name) for test in file.tests if test.name not in file.twice]
    return tuple(dict.fromkeys(found))


async def _outcomes(repo: Repo, image: Image, tests: tuple[TestId, ...]) -> dict[TestId, Outcome]:
    run = TestRun(tests, {}, frozenset(), (), (), _SECONDS)
    engine = DockerEngine(task_image)
    try:
        result = await engine.run_job(image, test_job(repo, image, run), repo_options(repo), _LABELS)
    finally:
        await engine.close()
    if result.timed_out:
        raise UserError(f"{repo.name}: its tests took longer than {_SECONDS} s")
    return {item.test: item.outcome for item in (await read_job(repo.report, run, (), result)).results}


def _record(digest: str, tests: Sequence[TestId], runs: Sequence[dict[TestId, Outcome]]) -> SuiteRecord:
    ends = {test: {run.get(test, Outcome.MISSING) for run in runs} for test in tests}

    def named(outcome: Outcome) -> tuple[str, ...]:
        return tuple(str(test) for test, seen in ends.items() if seen == {outcome})

    return SuiteRecord(
        image_digest=digest,
        times=len(runs),
        green=len(named(Outcome.PASSED)),
        red=named(Outcome.FAILED),
        flaky=tuple(str(test) for test, seen in ends.items() if len(seen) > 1),
        skipped=named(Outcome.SKIPPED),
        missing=named(Outcome.MISSING),
    )
