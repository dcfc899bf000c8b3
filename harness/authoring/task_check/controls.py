"""The controls of a task: the reference must be resolved every time, worthless submissions never.

Worthless are prose, a list of tests that don't exist, and a test that asserts nothing. Here are also the check
record, and the comparison of covers.yaml with the reference's kill matrix.
"""

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import ClassVar

from pydantic import Field

from harness import PROTOCOL_VERSION, __version__
from harness.agents.registry import agent_context
from harness.authoring.task_check.subject import Subject, judge
from harness.authoring.task_check.twins import noticed_twins
from harness.judging.languages.registry import language_of
from harness.judging.submission.extraction import Submission
from harness.judging.submission.manifest import ManifestError, format_manifest, parse_manifest
from harness.judging.submission.new_files import new_text_patch
from harness.judging.verify.rubric_check import CriterionResult
from harness.judging.verify.verdict import VerdictRecord
from harness.runs.agent_work import let_work
from harness.specs.errors import UserError
from harness.specs.problem import Problem, Severity
from harness.specs.reasons import Verdict
from harness.specs.task import Task
from harness.specs.task_facts import CheckedStep, Counts, Level, StepId, TaskCheck
from harness.specs.test_results import TestId
from harness.specs.yaml_files import FileModel, load_yaml

REFERENCE_TIMES = 3
_AGAIN = "run make check-tasks"


class CheckRecord(FileModel):
    """`ID.json`, written for a task that passed a full check. Its problems are warnings."""

    is_record: ClassVar[bool] = True

    task: str
    task_digest: str
    part_digests: dict[StepId, str] = Field(default={})
    image_digest: str
    isolation: str
    protocol_version: int
    harness_version: str
    seconds: float
    counts: Counts
    steps: tuple[CheckedStep, ...]

    @property
    def reference_seconds(self) -> float:
        """Seconds that one judging of the reference took."""
        times = {StepId.REFERENCE: REFERENCE_TIMES, StepId.REFERENCE_ONCE: 1}
        return sum(step.seconds / times[step.id] for step in self.steps if step.id in times)


def check_record_of(check: TaskCheck) -> CheckRecord:
    """Return the record that is kept of a check."""
    of_parts = check.part_digests
    return CheckRecord(
        task=check.task,
        task_digest=check.task_digest,
        part_digests={step.id: of_parts[step.id] for step in check.steps if step.id in of_parts},
        image_digest=check.image_digest,
        isolation=check.isolation,
        protocol_version=PROTOCOL_VERSION,
        harness_version=__version__,
        seconds=round(check.seconds, 1),
        counts=check.counts,
        steps=check.steps,
    )


def write_check_record(directory: Path, check: TaskCheck) -> bool:
    """Write the record of a full check that a task passed, and return whether there was one to write."""
    if check.level is not Level.FULL or not check.passed:
        return False
    directory.mkdir(parents=True, exist_ok=True)
    (directory / f"{check.task}.json").write_text(check_record_of(check).model_dump_json(indent=2) + "\n")
    return True


def read_check_record(directory: Path, task: str) -> CheckRecord | None:
    """Return a task's check record; None where there is none.

    Raises:
        UserError: The file is no check record.
    """
    path = directory / f"{task}.json"
    return load_yaml(path, CheckRecord) if path.is_file() else None


def check_record_problems(directory: Path, task: Task) -> list[Problem]:
    """Return a problem where a task has no check record, or one of another version of it."""
    where = f"{directory}/{task.id}.json"
    try:
        record = read_check_record(directory, task.id)
    except UserError as error:
        return [Problem(where=where, message=f"{str(error).partition(': ')[2]}; {_AGAIN}")]
    if record is None:
        return [Problem(where=where, message=f"is missing: the task was never checked in full; {_AGAIN}")]
    if record.task_digest != task.digest:
        words = f"its digest is not the task's, which has changed since it was checked in full; {_AGAIN}"
        return [Problem(where=f"{where}:4", message=words)]
    if record.protocol_version != PROTOCOL_VERSION:
        words = f"it was checked under protocol {record.protocol_version}, and this is {PROTOCOL_VERSION}; {_AGAIN}"
        return [Problem(where=where, message=words)]
    return []


Kills = Mapping[str, frozenset[str]]
"""Probe -> the reference's tests that fail under it."""


def overlap_problems(subject: Subject, criteria: Iterable[CriterionResult]) -> list[Problem]:
    """Return the problems of each criterion that probes decide, from one judging of the reference."""
    found: list[Problem] = []
    for result in criteria:
        if result.killed_by:
            kills = {probe: frozenset(tests) for probe, tests in result.killed_by.items()}
            found += _of_criterion(subject, result.id, kills)
    return found


def _of_criterion(subject: Subject, criterion: str, kills: Kills) -> Iterator[Problem]:
    given = {str(test) for test, criteria in subject.task.covers.items() if criterion in criteria}
    where = "reference/covers.yaml"
    for probe, tests in kills.items():
        if not tests:
            yield Problem(where=subject.at(f"probes/{probe}.patch"), message="no test of the reference notices it")
    noticed = frozenset[str]().union(*kills.values())
    for test in sorted(given - noticed):
        words = f"{test} is said to be for criterion {criterion}, and notices none of its probes"
        yield Problem(where=subject.at(where, test.rpartition("::")[2]), message=words)
    others = {probe: tests - given for probe, tests in kills.items()}
    overlapping = given and all(others.values())
    declared = criterion in subject.task.overlaps
    if overlapping and not declared:
        named = ", ".join(sorted(frozenset[str]().union(*others.values())))
        words = (
            f"without the tests for criterion {criterion} each of its probes is still noticed (by {named}); "
            f"give them the criterion too, or say why under 'overlaps'"
        )
        yield Problem(where=subject.at(where), message=words)
    if declared and not overlapping:
        words = f"overlaps: criterion {criterion} has none; take it out"
        yield Problem(where=subject.at(where, "overlaps"), message=words, severity=Severity.WARNING)


def worthless_submissions(task: Task) -> dict[str, Submission]:
    """Return submissions that must not be resolved, by a description of each.

    Raises:
        UserError: The reference's manifest can't be read.
    """
    return {
        "prose in place of a patch": Submission(b"I have tested everything and it is fine.\n", b""),
        "the reference without a manifest": Submission(task.patch("reference/tests.patch"), b""),
        "a test that asserts nothing": _asserts_nothing(task),
    }


def _asserts_nothing(task: Task) -> Submission:
    """Return a new file beside the first one of the reference, so that the language's tools find it."""
    path, language = task.directory / "reference" / "manifest.yaml", language_of(task.repo)
    try:
        neighbour = parse_manifest(task.patch("reference/manifest.yaml"), language.ids).files[0]
    except ManifestError as error:
        raise UserError(f"{path}: {error}") from None
    worthless = language.worthless
    file = (PurePosixPath(neighbour).parent / worthless.file).as_posix()
    first = worthless.head(neighbour, "\n".join(_shown(task, neighbour))) if worthless.head else ""
    patch = new_text_patch(file, f"{first}{worthless.text}".encode())
    return Submission(patch, format_manifest([TestId(file, worthless.test)]).encode())


def _shown(task: Task, file: str) -> Iterator[str]:
    """Yield what the reference's patch shows of a file as it is afterwards."""
    current = ""
    for line in task.patch("reference/tests.patch").decode(errors="replace").splitlines():
        if line.startswith("+++ "):
            current = line[4:].partition("\t")[0].removeprefix("b/")
        elif current == file and line[:1] in ("+", " "):
            yield line[1:]


ARM_SHARE = 0.5
"""Share of limits.arm_seconds that an arm of the reference may take: other machines are slower."""
_REFERENCE = "reference/tests.patch"


async def reference_problems(subject: Subject, times: int = REFERENCE_TIMES) -> list[Problem]:
    """Judge the reference several times.

    It must be resolved with the same verdict, in time, with covers.yaml true.
    """
    judged = [await judge(subject, await hand_in(subject, "oracle")) for _ in range(times)]
    records = [judgement.record for judgement in judged]
    found = [*_unresolved(subject, records[0]), *noticed_twins(subject, judged[0].evidence, "the reference")]
    if any(record.to_json() != records[0].to_json() for record in records):
        words = f"judged {times} times, and the verdicts are not the same"
        found.append(Problem(where=subject.at(_REFERENCE), message=words))
    return [*found, *_slow(subject, records[0]), *overlap_problems(subject, records[0].stages.rubric.criteria)]


async def nop_problems(subject: Subject) -> list[Problem]:
    """Return a problem where an empty submission isn't failed.

    Raises:
        SandboxLost: A container was lost.
    """
    record = (await judge(subject, await hand_in(subject, "nop"))).record
    return [*_accepted(subject, "handing in nothing", record)]


async def worthless_problems(subject: Subject) -> list[Problem]:
    """Return each removal itself as a submission, and others of no worth."""
    manifest = subject.task.patch("reference/manifest.yaml")
    removals = ["removal.patch", *(["garbage.patch"] if subject.task.has_garbage else [])]
    alone = {f"{name} alone": Submission(subject.task.patch(name), manifest) for name in removals}
    worthless = {**alone, **worthless_submissions(subject.task)}
    found: list[Problem] = []
    for name, submission in worthless.items():
        found += _accepted(subject, name, (await judge(subject, submission)).record)
    return found


async def hand_in(subject: Subject, control: str) -> Submission:
    """Return what the control of this name hands in, as in a trial: it works in a sandbox of its own."""
    site = subject.containers
    context = agent_context(subject.task, subject.catalog.scaffold(control))
    with tempfile.TemporaryDirectory(prefix="testwright-") as scratch:
        trajectory = Path(scratch) / "trajectory.jsonl"
        _, submission = await let_work(site.engine, site.image, context, site.labels, trajectory)
    return submission


def _unresolved(subject: Subject, record: VerdictRecord) -> Iterator[Problem]:
    for reason in record.reasons:
        about = f"{reason.subject}: " if reason.subject else ""
        words = f"the reference is {record.verdict}: {reason.code}: {about}{reason.words}"
        yield Problem(where=subject.at(_REFERENCE), message=words)
    for note in record.notes:
        yield Problem(where=subject.at(_REFERENCE), message=f"{note.code}: {note.words}", severity=Severity.WARNING)


def _slow(subject: Subject, record: VerdictRecord) -> Iterator[Problem]:
    most = subject.task.file.limits.arm_seconds
    name, seconds = max(subject.slowest.items(), key=lambda item: item[1], default=("", 0.0))
    if seconds > ARM_SHARE * most and record.verdict is Verdict.RESOLVED:
        words = f"arm {name} of the reference took {seconds:.0f} s, more than half of limits.arm_seconds ({most})"
        yield Problem(where=subject.at("task.yaml", "limits"), message=words)


def _accepted(subject: Subject, what: str, record: VerdictRecord) -> Iterator[Problem]:
    if record.verdict is not Verdict.FAILED:
        words = f"{what} is {record.verdict}; it must be failed"
        yield Problem(where=subject.at("task.yaml"), message=words)
