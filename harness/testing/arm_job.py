"""One execution of chosen tests as a job: what goes in, and what its end says about each test."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from harness.sandbox.protocol import Image, Job, JobResult, PlacedFile
from harness.specs.ids import TestId
from harness.specs.repo import Repo, ReportFormat
from harness.specs.results import CaseResult, Outcome, Quality, TestResult, combine
from harness.specs.variants import ArmStatus
from harness.testing.readers import Reader, reader_of
from harness.testing.report import Report, ReportError

WRONG_VARIANT_STATUS = 125
# The history goes first, in every arm: it holds the pristine code, and no test of behaviour needs it.
_MAIN = """\
prove=$1 removed=$2; shift 2
rm -rf .git
rm -f -- "${@:1:removed}"; shift "$removed"
"${@:1:prove}" || exit 125; shift "$prove"
exec "$TESTWRIGHT_TEST_COMMAND" "$@"
"""
_TESTS_FAILED = 1


@dataclass(frozen=True)
class TestRun:
    """What to run. `files` are laid over the tree (path -> bytes), `removed` taken out of it.

    A path that begins with a slash lies outside the tree. `prove` is a command whose output tells what runs,
    before any test is loaded. `broken` are test files that couldn't be built, and why: they aren't run.
    """

    __test__ = False

    tests: tuple[TestId, ...]
    files: Mapping[str, bytes]
    executable: frozenset[str]
    removed: tuple[str, ...]
    prove: tuple[str, ...]
    seconds: float
    env: Mapping[str, str] = field(default_factory=dict)
    broken: Mapping[str, str] = field(default_factory=dict)

    @property
    def runnable(self) -> tuple[TestId, ...]:
        return tuple(test for test in self.tests if test.file not in self.broken)


@dataclass(frozen=True)
class Reading:
    """A job's end, read. `disagreement` says how exit status and reports contradict one another."""

    status: ArmStatus
    results: tuple[TestResult, ...]
    disagreement: str = ""


def test_job(repo: Repo, image: Image, run: TestRun) -> Job:
    """The job that runs `run` in an image of `repo`. The same names and times in every arm; only bytes differ."""
    files = tuple(
        PlacedFile(str(PurePosixPath(image.workdir, path)), data, 0o755 if path in run.executable else 0o644)
        for path, data in sorted(run.files.items())
    )
    numbers = (str(len(run.prove)), str(len(run.removed)))
    ids = tuple(str(test) for test in run.runnable)
    return Job(
        argv=("bash", "-c", _MAIN, "arm", *numbers, *run.removed, *run.prove, *ids),
        files=files,
        env={
            **run.env,
            "TESTWRIGHT_TEST_COMMAND": repo.test_command,
            "TESTWRIGHT_TEST_SECONDS": str(repo.limits.test_seconds),
        },
        seconds=run.seconds,
    )


def read_job(report: ReportFormat, run: TestRun, proof: Sequence[str], result: JobResult) -> Reading:
    """What a finished job says about each test of `run`. Pure: the same bytes give the same reading."""
    if result.log.decode(errors="replace").splitlines()[: len(proof)] != list(proof):
        return Reading(ArmStatus.WRONG_VARIANT, _all_missing(run))
    reports = _reports(reader_of(report), run, result)
    results = tuple(_result(test, reports.get(test.file), run.broken.get(test.file)) for test in run.tests)
    if result.timed_out:
        return Reading(ArmStatus.TIMED_OUT, results)
    disagreement = _disagreement(result.exit_status, reports, len(_files(run)), result.complete)
    status = ArmStatus.DISAGREES if disagreement else ArmStatus.FINISHED
    return Reading(status, results, disagreement)


def unbuilt(run: TestRun) -> tuple[TestResult, ...]:
    """The results of a run of which nothing could be built."""
    return tuple(_result(test, None, run.broken.get(test.file)) for test in run.tests)


def _files(run: TestRun) -> list[str]:
    return list(dict.fromkeys(test.file for test in run.runnable))


def _all_missing(run: TestRun) -> tuple[TestResult, ...]:
    return tuple(combine(test, ()) for test in run.tests)


def _reports(reader: Reader, run: TestRun, result: JobResult) -> dict[str, Report]:
    """Reports by test file."""
    found = {}
    for number, file in enumerate(_files(run), start=1):
        try:
            report = reader.read(result.outputs[f"{number}.{reader.suffix}"], file)
            found[file] = reader.name_cases(report, run.tests)
        except (KeyError, ReportError):
            continue
    return found


def _result(test: TestId, report: Report | None, broken: str | None) -> TestResult:
    cases = [case for case in report.cases if case.test == test] if report else []
    message = broken or "the file could not be collected"
    if not cases and (broken or (report and report.collection_failed)):
        cases = [CaseResult(test=test, outcome=Outcome.FAILED, quality=Quality.COLLECTION, message=message)]
    return combine(test, cases)


def _disagreement(exit_status: int, reports: Mapping[str, Report], files: int, complete: bool) -> str:
    """How the exit status contradicts the reports; empty where they tell one story."""
    failed = any(case.outcome is Outcome.FAILED for report in reports.values() for case in report.cases)
    failed = failed or any(report.collection_failed for report in reports.values())
    if not complete:
        return "the directory of reports was filled past its limits"
    if contradiction := next((report.contradiction for report in reports.values() if report.contradiction), ""):
        return contradiction
    if exit_status == 0 and len(reports) < files:
        return "exit status 0 without a whole report for each file"
    if exit_status == 0 and failed:
        return "exit status 0 with failures in the report"
    if exit_status == _TESTS_FAILED and len(reports) == files and not failed:
        return "exit status 1 without a failure in the report"
    return ""
