"""Whether a repo's image works: upstream's own tests pass in it, offline and without privileges."""

from collections.abc import Mapping
from dataclasses import dataclass

from harness.sandbox.deadline import seconds_per_test
from harness.sandbox.docker.engine import DockerEngine
from harness.sandbox.images.task_images import repo_image, task_image
from harness.sandbox.options import repo_options
from harness.sandbox.protocol import Job, JobResult
from harness.specs.problem import Problem
from harness.specs.repo import Repo
from harness.specs.report_formats import REPORT_FORMATS
from harness.testing.readers import reader_of

_SUITE_SECONDS = 1800
_LABELS = {"testwright.check": "repo"}


@dataclass(frozen=True)
class RepoCheck:
    """`tests` counts the cases in the reports, `seconds` is the suite's wall time, `digest` the image's."""

    problems: tuple[Problem, ...]
    digest: str
    tests: int
    seconds: float


async def repo_check(repo: Repo) -> RepoCheck:
    """Run the whole suite once in a fresh container. Raises ImageUnavailable, SandboxLost, UserError."""
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
    """Why no test was found in the reports: they are of another format, or not there."""
    if not outputs:
        return "no test is in the reports; does run_tests write them to $TESTWRIGHT_REPORT_DIR?"
    others = [name for name in REPORT_FORMATS.names if name != report]
    fitting = [name for name in others if any(reader_of(name).count(data) for data in outputs.values())]
    seen = (
        f"they look like {' or '.join(fitting)}" if fitting else f"their names are {', '.join(sorted(outputs)[:3])}"
    )
    return f"no test is in the reports as {report!r} has them; {seen}; correct 'report' in repo.yaml"
