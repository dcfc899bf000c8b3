"""The controls: the reference must be resolved every time, worthless submissions never."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from harness.agents.registry import agent_context
from harness.authoring.task_check.check_records import REFERENCE_TIMES
from harness.authoring.task_check.judging import judge
from harness.authoring.task_check.overlap import overlap_problems
from harness.authoring.task_check.subject import Subject
from harness.authoring.task_check.twins import noticed_twins
from harness.authoring.task_check.worthless import worthless_submissions
from harness.runs.trial import let_work
from harness.specs.problem import Problem, Severity
from harness.specs.reasons import Verdict
from harness.submission.extraction import Submission
from harness.verify.verdict import VerdictRecord

ARM_SHARE = 0.5
"""Of limits.arm_seconds: an arm of the reference may take no more, since others' machines are slower."""
_REFERENCE = "reference/tests.patch"


async def reference_problems(subject: Subject, times: int = REFERENCE_TIMES) -> list[Problem]:
    """The reference as `oracle` hands it in: resolved each time with the same verdict, in time, covers.yaml true."""
    judged = [await judge(subject, await hand_in(subject, "oracle")) for _ in range(times)]
    records = [judgement.record for judgement in judged]
    found = [*_unresolved(subject, records[0]), *noticed_twins(subject, judged[0].evidence, "the reference")]
    if any(record.to_json() != records[0].to_json() for record in records):
        words = f"judged {times} times, and the verdicts are not the same"
        found.append(Problem(where=subject.at(_REFERENCE), message=words))
    return [*found, *_slow(subject, records[0]), *overlap_problems(subject, records[0].stages.rubric.criteria)]


async def nop_problems(subject: Subject) -> list[Problem]:
    record = (await judge(subject, await hand_in(subject, "nop"))).record
    return [*_accepted(subject, "handing in nothing", record)]


async def worthless_problems(subject: Subject) -> list[Problem]:
    """Each removal itself as a submission, and others of no worth."""
    manifest = subject.task.patch("reference/manifest.yaml")
    removals = ["removal.patch", *(["garbage.patch"] if subject.task.has_garbage else [])]
    alone = {f"{name} alone": Submission(subject.task.patch(name), manifest) for name in removals}
    worthless = {**alone, **worthless_submissions(subject.task)}
    found: list[Problem] = []
    for name, submission in worthless.items():
        found += _accepted(subject, name, (await judge(subject, submission)).record)
    return found


async def hand_in(subject: Subject, control: str) -> Submission:
    """What the control of this name hands in, as in a trial: it works in a sandbox of its own."""
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
