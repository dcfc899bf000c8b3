"""One execution of chosen tests as a job: its inputs, and the result of each test when it has ended."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePosixPath

from harness.judging.languages.found import Start
from harness.judging.testing.readers import Lines, Reader, Report, ReportError, reader_of
from harness.judging.testing.reading_process import Text, try_report
from harness.judging.testing.threads import CpuLimit, TooSlow, in_thread
from harness.sandbox.deadline import seconds_per_test
from harness.sandbox.protocol import Image, Job, JobResult, PlacedFile
from harness.specs.repo import Repo
from harness.specs.test_results import CaseResult, Outcome, Quality, TestId, TestResult, combine
from harness.specs.variants import ArmStatus

# The history goes first, in every arm: it holds the pristine code, and no test of behaviour needs it. `.git` stays,
# as where agents work, or a suite could check little where there is one; its objects and its index keep their sizes
# and lose their content.
_MAIN = """\
prove=$1 removed=$2; shift 2
if [[ -d .git ]]; then
    find .git -type f '(' -path '.git/objects/*' -o -name index ')' -printf '%s\\0%p\\0' |
        while read -rd '' size && read -rd '' file; do
            rm -f -- "$file" && truncate -s "$size" -- "$file" || exit
        done || exit 125
fi
rm -f -- "${@:1:removed}"; shift "$removed"
"${@:1:prove}" || exit 125; shift "$prove"
command=$TESTWRIGHT_TEST_COMMAND; unset TESTWRIGHT_TEST_COMMAND
exec "$command" "$@"
"""
TESTS_FAILED = 1
"""The exit status of a run in which tests failed, whatever ran them."""
READING = CpuLimit(cpu_seconds=60, wall_seconds=900)
"""For one report. The largest that is read, 20 MB, takes a few seconds."""


@dataclass(frozen=True)
class TestRun:
    """A run of tests. `files` are laid over the tree (path -> bytes), `removed` taken out of it.

    A path that begins with a slash lies outside the tree. `prove` is a command whose output tells what runs,
    before any test is loaded. `broken` are test files that couldn't be built, and why: they aren't run. `places`
    are where tests stand by their text. Of the files in `whole` all tests run, those that aren't in `tests` as well:
    with the others' results come theirs.
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
    places: Mapping[TestId, Lines] = field(default_factory=dict)
    whole: tuple[str, ...] = ()

    @property
    def arguments(self) -> tuple[str, ...]:
        """The run script's arguments: a whole file's path, of another one its tests."""
        found = [test.file if test.file in self.whole else str(test) for test in self.runnable]
        return tuple(dict.fromkeys([*found, *(file for file in self.whole if file not in self.broken)]))

    @property
    def test_files(self) -> tuple[str, ...]:
        """The files of which tests run, as the run script numbers them."""
        return tuple(dict.fromkeys(argument.partition("::")[0] for argument in self.arguments))

    @property
    def runnable(self) -> tuple[TestId, ...]:
        """The tests whose files could be built."""
        return tuple(test for test in self.tests if test.file not in self.broken)


@dataclass(frozen=True)
class Reading:
    """A job's end, read. `disagreement` says how exit status and reports contradict one another.

    `cases` are what reports have of the cases of tests, once for each time that one ran.
    """

    status: ArmStatus
    results: tuple[TestResult, ...]
    disagreement: str = ""
    cases: tuple[CaseResult, ...] = ()


def test_job(repo: Repo, image: Image, run: TestRun) -> Job:
    """Return the job that runs `run` in an image of `repo`.

    The same names and times in every arm; only bytes differ.
    """
    files = tuple(
        PlacedFile(str(PurePosixPath(image.workdir, path)), data, 0o755 if path in run.executable else 0o644)
        for path, data in sorted(run.files.items())
    )
    numbers = (str(len(run.prove)), str(len(run.removed)))
    return Job(
        argv=("bash", "-c", _MAIN, "arm", *numbers, *run.removed, *run.prove, *run.arguments),
        files=files,
        env={
            **run.env,
            "TESTWRIGHT_TEST_COMMAND": repo.test_command,
            "TESTWRIGHT_TEST_SECONDS": str(seconds_per_test(repo.limits.test_seconds)),
        },
        seconds=run.seconds,
    )


async def read_job(
    report: str, run: TestRun, proof: Sequence[str], result: JobResult, limit: CpuLimit = READING
) -> Reading:
    """Return what a finished job says about each test of a run. The same bytes give the same reading.

    Args:
        report: The report's format.
        run: The tests.
        proof: The lines that the job's log must begin with.
        result: The job's end.
        limit: Reports are read in threads, large ones in a process before that. One that takes too much processor
            time or memory counts as cut off.

    Raises:
        Starved: A report wasn't read by the clock.
        UserError: Nobody registered the format.
    """
    if result.log.decode(errors="replace").splitlines()[: len(proof)] != list(proof):
        return Reading(ArmStatus.WRONG_VARIANT, _all_missing(run))
    reports = await _reports(report, run, result, limit)
    results = _results(run, reports)
    cases = _cases(reports)
    if result.timed_out:
        return Reading(ArmStatus.TIMED_OUT, results, cases=cases)
    disagreement = _disagreement(result.exit_status, reports, len(run.test_files), result.complete)
    status = ArmStatus.DISAGREES if disagreement else ArmStatus.FINISHED
    return Reading(status, results, disagreement, cases)


async def collected(
    report: str, run: TestRun, result: JobResult, limit: CpuLimit = READING
) -> dict[str, frozenset[Start]]:
    """Return the tests that a finished job reports of each file, and where they begin.

    The arguments are those of `read_job`. A file that couldn't be loaded, or whose report isn't whole, is absent. So
    is one of which nothing is reported though tests of it were asked for: such a runner tells no test that it leaves
    out.
    """
    reports = await _reports(report, run, result, limit)
    return {
        file: starts
        for file, found in reports.items()
        if (starts := found.starts | found.registered) or file in run.whole
        if not (found.collection_failed or found.file_failed or found.contradiction or result.timed_out)
    }


def unbuilt(run: TestRun) -> tuple[TestResult, ...]:
    """Return the results of a run of which nothing could be built."""
    return _results(run, {})


def _all_missing(run: TestRun) -> tuple[TestResult, ...]:
    return tuple(combine(test, ()) for test in run.tests)


async def _reports(form: str, run: TestRun, result: JobResult, limit: CpuLimit) -> dict[str, Report]:
    """Return reports by test file; none of a file whose report isn't there, can't be read, or is too much to read."""
    reader, found = reader_of(form), {}
    for number, file in enumerate(run.test_files, start=1):
        data = result.outputs.get(f"{number}.{reader.suffix}")
        if data is None or await try_report(form, Text(file, data), limit):
            continue
        try:
            found[file] = await in_thread(partial(_read, reader, data, file, run.tests), limit)
        except (ReportError, TooSlow):
            continue
    return found


def _read(reader: Reader, data: bytes, file: str, tests: Sequence[TestId]) -> Report:
    return reader.name_cases(reader.read(data, file), tests)


def _cases(reports: Mapping[str, Report]) -> tuple[CaseResult, ...]:
    """Return what reports have of cases of their own files."""
    return tuple(case for file, report in reports.items() for case in report.cases if case.test.file == file)


def _results(run: TestRun, reports: Mapping[str, Report]) -> tuple[TestResult, ...]:
    cases: dict[TestId, list[CaseResult]] = defaultdict(list)
    for case in _cases(reports):
        cases[case.test].append(case)
    found = [combine(test, cases[test] or _uncollected(run, test, reports.get(test.file))) for test in run.tests]
    known = {*run.tests}
    found += [combine(test, each) for test, each in cases.items() if test.file in run.whole and test not in known]
    elsewhere = _elsewhere(run, reports) if run.places else set[TestId]()
    return tuple(item.model_copy(update={"elsewhere": True}) if item.test in elsewhere else item for item in found)


def _elsewhere(run: TestRun, reports: Mapping[str, Report]) -> set[TestId]:
    """Return the tests in whose names something else ran than what their text says."""
    starts = (start for report in reports.values() for start in report.starts if start.test in run.places)
    return {start.test for start in starts if not run.places[start.test].have(start)}


def _uncollected(run: TestRun, test: TestId, report: Report | None) -> list[CaseResult]:
    """Return the cases of a test that has none: its file's failure, where it was the file that failed."""
    broken = run.broken.get(test.file)
    if not (broken or (report and report.collection_failed)):
        return []
    message = broken or "the file could not be collected"
    return [CaseResult(test=test, outcome=Outcome.FAILED, quality=Quality.COLLECTION, message=message)]


def _disagreement(exit_status: int, reports: Mapping[str, Report], files: int, complete: bool) -> str:
    """Return how the exit status contradicts the reports; empty where they tell one story."""
    failed = any(case.outcome is Outcome.FAILED for report in reports.values() for case in report.cases)
    failed = failed or any(report.collection_failed or report.file_failed for report in reports.values())
    if not complete:
        return "the directory of reports was filled past its limits"
    if contradiction := next((report.contradiction for report in reports.values() if report.contradiction), ""):
        return contradiction
    if exit_status == 0 and len(reports) < files:
        return "exit status 0 without a whole report for each file"
    if exit_status == 0 and failed:
        return "exit status 0 with failures in the report"
    if exit_status == TESTS_FAILED and len(reports) == files and not failed:
        return "exit status 1 without a failure in the report"
    return ""
