"""The reference judged by both sets of rules without a judge: everything that needs no judge must hold."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from harness.authoring.published_check.defects import defects
from harness.authoring.published_check.reference_run import OURS, PUBLISHED, ReferenceRun
from harness.authoring.task_check.controls import hand_in
from harness.authoring.task_check.subject import Subject
from harness.sandbox.protocol import JobResult
from harness.specs.grading import GradingRules
from harness.specs.problem import Problem, Severity
from harness.specs.reasons import NoteCode, Reason, ReasonCode, Stage, Verdict
from harness.specs.variants import ArmKey
from harness.submission.extraction import Submission
from harness.testing.published import ParsedTest, parsed_tests
from harness.testing.report import ReportError
from harness.tracks.grading import Judgements, grade_by
from harness.tracks.swe_atlas.layout import REFERENCE
from harness.tracks.swe_atlas.rule import listed_names
from harness.tracks.swe_atlas.verification import AFTER, BEFORE

_CLASSED = (ReasonCode.SURVIVED_REMOVAL, ReasonCode.BASELINE_MISSING)
"""Told by class, for all tests together."""


async def oracle_problems(subject: Subject) -> list[Problem]:
    """Every reason against the reference but those of the rubric; its verdicts are among the remarks.

    Raises SandboxLost.
    """
    results: dict[ArmKey, JobResult] = {}
    submission = await hand_in(subject, "oracle")
    judged = await _judge(subject, submission, results)
    subject.remarks.extend(_verdicts(judged))
    run = ReferenceRun(
        listed=tuple(listed_names(submission.manifest.decode("utf-8", "replace"))),
        tests=judged.first.record.stages.mutation.tests,
        before=_parsed(results.get(BEFORE)),
        after=_parsed(results.get(AFTER)),
        printed_before=results[BEFORE].log if BEFORE in results else b"",
        printed_after=results[AFTER].log if AFTER in results else b"",
    )
    return [*_against(subject, judged), *_notes(subject, judged), *defects(subject, run)]


async def nop_problems(subject: Subject) -> list[Problem]:
    """Handing in nothing must be failed by both sets of rules. Raises SandboxLost."""
    judged = await _judge(subject, await hand_in(subject, "nop"), {})
    found = []
    for rules, judgement in zip((OURS, PUBLISHED), judged.all, strict=True):
        if judgement.record.verdict is not Verdict.FAILED:
            words = f"handing in nothing is {judgement.record.verdict} by the {rules} rules; it must be failed"
            found.append(Problem(where=subject.at(subject.description), message=words))
    return found


async def _judge(subject: Subject, submission: Submission, results: dict[ArmKey, JobResult]) -> Judgements:
    arm_context = replace(subject.containers, keep=results.__setitem__)
    return await grade_by(GradingRules.BOTH, subject.task, submission, arm_context)


def _verdicts(judged: Judgements) -> Iterator[str]:
    """Without a judge, what is sound is unscored."""
    for rules, judgement in zip((OURS, PUBLISHED), judged.all, strict=True):
        if judgement.record.verdict in (Verdict.FAILED, Verdict.INVALID):
            yield f"the reference is {judgement.record.verdict} by the {rules} rules"


def _against(subject: Subject, judged: Judgements) -> Iterator[Problem]:
    for rules, judgement in zip((OURS, PUBLISHED), judged.all, strict=True):
        for reason in judgement.record.reasons:
            if reason.stage is not Stage.RUBRIC and (reason.code not in _CLASSED or not reason.subject):
                yield Problem(where=subject.at(REFERENCE), message=_words(reason, rules))


def _words(reason: Reason, rules: str) -> str:
    about = f"{reason.subject}: " if reason.subject else ""
    if reason.code is ReasonCode.PLACEBO_SENSITIVE:
        return f"the reference looks at more than behaviour: {about}{reason.words} ({rules} rules)"
    return f"the reference is failed by the {rules} rules: {reason.code}: {about}{reason.words}"


def _notes(subject: Subject, judged: Judgements) -> Iterator[Problem]:
    """But for files that were left out: the patch itself told them."""
    for note in judged.first.record.notes:
        if note.code not in (NoteCode.PRODUCTION_EDIT, NoteCode.RUNNER_EDIT):
            words = f"{note.code}: {note.words}"
            yield Problem(where=subject.at(REFERENCE), message=words, severity=Severity.WARNING)


def _parsed(result: JobResult | None) -> tuple[ParsedTest, ...]:
    return tuple(log_of(result, "1.json")) if result else ()


def log_of(result: JobResult, output: str) -> Sequence[ParsedTest]:
    """What the parser made of a log; nothing where it left nothing to read."""
    try:
        return parsed_tests(result.outputs[output])
    except (KeyError, ReportError):
        return ()
