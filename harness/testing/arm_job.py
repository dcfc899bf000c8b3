"""One execution of chosen tests as a job: what goes in, and what its end says about each test."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.sandbox.protocol import Image, Job, JobResult, PlacedFile
from harness.specs.ids import TestId
from harness.specs.repo import Repo
from harness.specs.results import CaseResult, Outcome, Quality, TestResult, combine
from harness.specs.variants import ArmStatus
from harness.testing.junit import Report, ReportError, read_junit

WRONG_VARIANT_STATUS = 125
# The history goes first, in every arm: it holds the pristine code, and no test of behaviour needs it.
_MAIN = """\
script=$1 proved=$2 removed=$3; shift 3
rm -rf .git
rm -f -- "${@:1:removed}"; shift "$removed"
python -I -S -c "$script" prove "${@:1:proved}" || exit 125; shift "$proved"
exec "$TESTWRIGHT_TEST_COMMAND" "$@"
"""
_TESTS_FAILED = 1


@dataclass(frozen=True)
class TestRun:
    """What to run. `files` are laid over the tree (path -> bytes), `removed` taken out of it.

    `proved` are files whose text and code the job reports (with `prover`) before it loads any test.
    """

    __test__ = False

    tests: tuple[TestId, ...]
    files: Mapping[str, bytes]
    executable: frozenset[str]
    removed: tuple[str, ...]
    proved: tuple[str, ...]
    prover: str
    seconds: float


@dataclass(frozen=True)
class Reading:
    """A job's end, read. `disagreement` says how exit status and reports contradict one another."""

    status: ArmStatus
    results: tuple[TestResult, ...]
    disagreement: str = ""


def test_job(repo: Repo, image: Image, run: TestRun) -> Job:
    """The job that runs `run` in an image of `repo`. The same names and times in every arm; only bytes differ."""
    files = tuple(
        PlacedFile(f"{image.workdir}/{path}", data, 0o755 if path in run.executable else 0o644)
        for path, data in sorted(run.files.items())
    )
    numbers = (str(len(run.proved)), str(len(run.removed)))
    ids = tuple(str(test) for test in run.tests)
    return Job(
        argv=("bash", "-c", _MAIN, "arm", run.prover, *numbers, *run.removed, *run.proved, *ids),
        files=files,
        env={
            "TESTWRIGHT_TEST_COMMAND": repo.test_command,
            "TESTWRIGHT_TEST_SECONDS": str(repo.limits.test_seconds),
        },
        seconds=run.seconds,
    )


def read_job(run: TestRun, proof: Sequence[str], result: JobResult) -> Reading:
    """What a finished job says about each test of `run`. Pure: the same bytes give the same reading."""
    if result.log.decode(errors="replace").splitlines()[: len(proof)] != list(proof):
        return Reading(ArmStatus.WRONG_VARIANT, _all_missing(run))
    reports = _reports(run, result)
    results = tuple(_result(test, reports.get(test.file)) for test in run.tests)
    if result.timed_out:
        return Reading(ArmStatus.TIMED_OUT, results)
    disagreement = _disagreement(result.exit_status, reports, len(_files(run)), result.complete)
    status = ArmStatus.DISAGREES if disagreement else ArmStatus.FINISHED
    return Reading(status, results, disagreement)


def _files(run: TestRun) -> list[str]:
    return list(dict.fromkeys(test.file for test in run.tests))


def _all_missing(run: TestRun) -> tuple[TestResult, ...]:
    return tuple(combine(test, ()) for test in run.tests)


def _reports(run: TestRun, result: JobResult) -> dict[str, Report]:
    """Reports by test file: `run_tests` writes `N.xml` for the Nth distinct file it is given."""
    found = {}
    for number, file in enumerate(_files(run), start=1):
        try:
            found[file] = read_junit(result.outputs[f"{number}.xml"], file)
        except (KeyError, ReportError):
            continue
    return found


def _result(test: TestId, report: Report | None) -> TestResult:
    cases = [case for case in report.cases if case.test == test] if report else []
    if not cases and report and report.collection_failed:
        message = "the file could not be collected"
        cases = [CaseResult(test=test, outcome=Outcome.FAILED, quality=Quality.COLLECTION, message=message)]
    return combine(test, cases)


def _disagreement(exit_status: int, reports: Mapping[str, Report], files: int, complete: bool) -> str:
    """How the exit status contradicts the reports; empty where they tell one story."""
    failed = any(case.outcome is Outcome.FAILED for report in reports.values() for case in report.cases)
    failed = failed or any(report.collection_failed for report in reports.values())
    if not complete:
        return "the directory of reports was filled past its limits"
    if exit_status == 0 and len(reports) < files:
        return "exit status 0 without a whole report for each file"
    if exit_status == 0 and failed:
        return "exit status 0 with failures in the report"
    if exit_status == _TESTS_FAILED and len(reports) == files and not failed:
        return "exit status 1 without a failure in the report"
    return ""
