"""The reference judged by both sets of rules without a judge: everything that needs no judge must hold.

The results of the reference's tests under both sets of rules, as far as the logs show them. Pure.

The known defects that a run of the reference shows, each with its evidence. Pure.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from harness.authoring.task_check.controls import hand_in
from harness.authoring.task_check.subject import Subject
from harness.judging.submission.extraction import Submission
from harness.judging.testing.readers import ReportError
from harness.judging.verify.arms import ArmObserver
from harness.judging.verify.evidence import AT_BASELINE
from harness.judging.verify.verdict import TestRecord
from harness.judging.verify.verification import Judging
from harness.plugins.published.check.patches import last_part, nearest
from harness.plugins.published.layout import PARSER, REFERENCE, REMOVAL, SOLUTION
from harness.plugins.published.parsed_log import ParsedTest, means, parsed_tests
from harness.plugins.published.rule import found_as, listed_names
from harness.plugins.published.task import published_task
from harness.plugins.published.verification import AFTER, BEFORE
from harness.sandbox.protocol import JobResult
from harness.specs.grading import GradingRules
from harness.specs.problem import Problem, Severity
from harness.specs.reasons import NoteCode, Reason, ReasonCode, Stage, Verdict
from harness.specs.test_results import Outcome, TestId
from harness.specs.variants import ArmKey
from harness.tracks.grading import Judgements, grade_by

OURS, PUBLISHED = "testwright", "published"
_REMOVAL, _BASELINE = "removal-1", str(AT_BASELINE)


class Concerned(NamedTuple):
    """Tests of a finding. `told`: test -> the rules by which it holds. `everything`: by one of them for all tests."""

    told: Mapping[str, tuple[str, ...]]
    everything: bool


@dataclass(frozen=True)
class ReferenceRun:
    """The runs of a reference. `listed` are its names by the published rule, `before` and `after` its two logs.

    `tests` is our own mutation stage, empty where it didn't come to that; `printed_before` and
    `printed_after` are what these were made of.
    """

    listed: tuple[str, ...]
    tests: tuple[TestRecord, ...]
    before: tuple[ParsedTest, ...]
    after: tuple[ParsedTest, ...]
    printed_before: bytes = b""
    printed_after: bytes = b""
    underscored: bool = False

    @cached_property
    def survivors(self) -> Concerned:
        """Green tests that the removal leaves green, or skipped."""
        alive = [item.test for item in self.tests if item.arms.get(_REMOVAL) in (Outcome.PASSED, Outcome.SKIPPED)]
        alive_there = [name for name, status in self._after.items() if status in ("PASSED", "SKIPPED")]
        return self._of_green(alive, [name for name in self._green_there if name in alive_there])

    @cached_property
    def lost(self) -> Concerned:
        """Green tests of which there is no result once the code is gone."""
        missing = [item.test for item in self.tests if item.arms.get(_REMOVAL) == Outcome.MISSING]
        return self._of_green(missing, [name for name in self._green_there if name not in self._after])

    @cached_property
    def unseen(self) -> Concerned:
        """Listed names that no result on the code as it is can belong to."""
        ours = {item.test for item in self.tests if _at_baseline(item, Outcome.MISSING)}
        there = {name for name in self.listed if not self._found(name, self.before)}
        here = {name for name in self.listed if any(_is(name, test) for test in ours)}
        told = {name: _rules(name in here, name in there) for name in self.listed if name in here | there}
        return Concerned(told, everything=len(told) == len(self.listed))

    @cached_property
    def several(self) -> Mapping[str, Sequence[str]]:
        """Listed names that several results count for, with the names of these."""
        found = {name: self._found(name, self.before) for name in self.listed}
        return {name: names for name, names in found.items() if len(names) > 1}

    def _found(self, name: str, parsed: Sequence[ParsedTest]) -> list[str]:
        return found_as(name, parsed, underscored=self.underscored)

    @cached_property
    def _green_here(self) -> list[str]:
        return [item.test for item in self.tests if _at_baseline(item, Outcome.PASSED)]

    @cached_property
    def _green_there(self) -> list[str]:
        green = [test for test in self.before if test.status == "PASSED"]
        return list(dict.fromkeys(found for name in self.listed for found in self._found(name, green)))

    @cached_property
    def _after(self) -> Mapping[str, str]:
        return {test.name: test.status for test in self.after}

    def _of_green(self, ours: Sequence[str], published: Sequence[str]) -> Concerned:
        """Return which tests are concerned; a log's name counts for the test of ours that it means."""
        here = dict.fromkeys(test for test in ours if test in self._green_here)
        there = dict.fromkeys(next((test for test in here if _is(name, test)), name) for name in published)
        told = {test: _rules(test in here, test in there) for test in here | there}
        all_here = bool(here) and len(here) == len(self._green_here)
        return Concerned(told, all_here or (bool(published) and len(published) == len(self._green_there)))


def _is(name: str, test: str) -> bool:
    return means(name, TestId.parse(test))


def _at_baseline(item: TestRecord, outcome: Outcome) -> bool:
    return item.arms.get(_BASELINE) == outcome


def _rules(ours: bool, published: bool) -> tuple[str, ...]:
    return tuple(name for name, holds in ((OURS, ours), (PUBLISHED, published)) if holds)


_WHY = re.compile(r".*(?:panic: |\[build failed\]|SyntaxError|ImportError|command not found|error: ).*")
_LINE = 200
"""Characters of a log's line that are told."""
_NAMED = 5


def defects(subject: Subject, run: ReferenceRun) -> list[Problem]:
    """Return a warning where part of the reference is concerned, an error where all of it is."""
    return [*_survivors(subject, run), *_lost(subject, run), *_unseen(subject, run), *_several(subject, run)]


def _survivors(subject: Subject, run: ReferenceRun) -> Iterator[Problem]:
    if run.survivors.told:
        what = "the objective" if run.survivors.everything else "part of the objective"
        words = f"removal unrelated to {what}: these pass without the code as well: {_listed(run.survivors)}"
        yield Problem(where=subject.at(REMOVAL), message=words, severity=_severity(run.survivors))


def _lost(subject: Subject, run: ReferenceRun) -> Iterator[Problem]:
    if run.lost.told:
        why = _reason(_lines(run.printed_after))
        words = f"no result line after the removal: {_listed(run.lost)}; the log says: {why}"
        yield Problem(where=subject.at(REMOVAL), message=words, severity=_severity(run.lost))


def _unseen(subject: Subject, run: ReferenceRun) -> Iterator[Problem]:
    names, lines = [test.name for test in run.before], _lines(run.printed_before)
    for name, rules in run.unseen.told.items():
        words = f"the parser can't see it: {name} has no result on the code as it is ({_by(rules)})"
        words = f"{words}; {_instead(name, names, lines)}"
        yield Problem(where=subject.at(PARSER), message=words, severity=_severity(run.unseen))


def _several(subject: Subject, run: ReferenceRun) -> Iterator[Problem]:
    for name, names in run.several.items():
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        words = f"one name, several tests: {name} is what {len(names)} results count for (published rules)"
        words = f"{words}: {', '.join(names[:_NAMED])}{more}"
        yield Problem(where=subject.at(SOLUTION, name), message=words, severity=Severity.WARNING)


def _severity(concerned: Concerned) -> Severity:
    return Severity.ERROR if concerned.everything else Severity.WARNING


def _listed(concerned: Concerned) -> str:
    return ", ".join(f"{test} ({_by(rules)})" for test, rules in concerned.told.items())


def _by(rules: tuple[str, ...]) -> str:
    return "both rules" if len(rules) > 1 else f"{rules[0]} rules"


def _lines(log: bytes) -> list[str]:
    return [line.strip() for line in log.decode(errors="replace").splitlines() if line.strip()]


def _reason(lines: Sequence[str]) -> str:
    """Return the first line that says why tests could not go on; else the last one."""
    why = next((line for line in lines if _WHY.fullmatch(line)), lines[-1] if lines else "nothing")
    return why[:_LINE]


def _instead(name: str, names: Sequence[str], lines: Sequence[str]) -> str:
    if not names:
        return f"the log has no result at all; it says: {_reason(lines)}"
    seen = any(last_part(other) == last_part(name) for other in names)
    return nearest(name, names) + ("" if seen else _shown(name, lines))


def _shown(name: str, lines: Sequence[str]) -> str:
    """Return the first line of the log that has the last part of a name, which the parser makes nothing of."""
    last = re.compile(rf"(?<!\w){re.escape(last_part(name))}(?!\w)")
    line = next((line for line in lines if last.search(line)), "")
    return f"; the log has the line: {line[:_LINE]}" if line else ""


_CLASSED = (ReasonCode.SURVIVED_REMOVAL, ReasonCode.BASELINE_MISSING)
"""Reasons that are told by class, for all tests together."""


async def oracle_problems(subject: Subject) -> list[Problem]:
    """Return every reason against the reference but those of the rubric; its verdicts are among the remarks.

    Raises:
        SandboxLost: A container was lost.
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
        underscored=published_task(subject.task).is_underscored,
    )
    return [*_against(subject, judged), *_notes(subject, judged), *defects(subject, run)]


async def nop_problems(subject: Subject) -> list[Problem]:
    """Check that both sets of rules fail an empty submission.

    Raises:
        SandboxLost: A container was lost.
    """
    judged = await _judge(subject, await hand_in(subject, "nop"), {})
    found = []
    for rules, judgement in zip((OURS, PUBLISHED), judged.all, strict=True):
        if judgement.record.verdict is not Verdict.FAILED:
            words = f"handing in nothing is {judgement.record.verdict} by the {rules} rules; it must be failed"
            found.append(Problem(where=subject.at(subject.description), message=words))
    return found


class _Results(ArmObserver):
    """An observer that keeps what each test run left."""

    def __init__(self, results: dict[ArmKey, JobResult]) -> None:
        self._results = results

    def printed(self, key: ArmKey, result: JobResult) -> None:
        self._results[key] = result


async def _judge(subject: Subject, submission: Submission, results: dict[ArmKey, JobResult]) -> Judgements:
    arm_context = replace(subject.containers, observer=_Results(results))
    return await grade_by(GradingRules.BOTH, Judging(subject.task, arm_context), submission)


def _verdicts(judged: Judgements) -> Iterator[str]:
    """Yield both verdicts; without a judge, what is sound is unscored."""
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
    """Yield the notes as problems, but for files that were left out: the patch itself told them."""
    for note in judged.first.record.notes:
        if note.code not in (NoteCode.PRODUCTION_EDIT, NoteCode.RUNNER_EDIT):
            words = f"{note.code}: {note.words}"
            yield Problem(where=subject.at(REFERENCE), message=words, severity=Severity.WARNING)


def _parsed(result: JobResult | None) -> tuple[ParsedTest, ...]:
    return tuple(log_of(result, "1.json")) if result else ()


def log_of(result: JobResult, output: str) -> Sequence[ParsedTest]:
    """Return what the parser made of a log; nothing where it left nothing to read."""
    try:
        return parsed_tests(result.outputs[output])
    except (KeyError, ReportError):
        return ()
