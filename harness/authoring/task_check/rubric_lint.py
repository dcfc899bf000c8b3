"""A check that somebody who sees nothing but the submission can answer a rubric's criteria with yes or no.

A judge's look at a rubric: does each statement say the same as the check that decides it?
"""

import asyncio
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import TypeVar

from pydantic import BaseModel, ConfigDict

from harness.authoring.task_check.subject import Subject, place
from harness.judging.verify.judge.judge import Judge
from harness.judging.verify.judge.replies import Unreadable, read_object
from harness.models.protocol import Message, MessageRole
from harness.specs.errors import BudgetExhausted, ProviderError, first_error
from harness.specs.problem import Problem, Severity
from harness.specs.rubric import Criterion, GradedBy, Importance, Rubric, StaticCheck, StaticKind

MUST_HAVES = range(6, 16)
NICE_TO_HAVES = range(4, 11)
SHORTEST = 30
"""Characters: what is shorter hardly says what is to be seen."""

_VAGUE = re.compile(
    r"\b(proper(?:ly)?|correct(?:ly|ness)?|appropriate(?:ly)?|adequate(?:ly)?|reasonabl[ey]|sensibl[ey]|suitabl[ey]"
    r"|thorough(?:ly)?|comprehensive(?:ly)?|robust(?:ly)?|relevant|meaningful(?:ly)?|sufficient(?:ly)?|good|nice(?:ly)?"
    r"|(?<!as )(?!(?<=\bis )well[.,;])well|various|edge cases?|corner cases?"
    r"|as (?:expected|needed|necessary|required)|handles?|works|etc)\b",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"\b(?:(?:see|as|the) (?:above|below)|(?:previous|other|next|former|latter) criteri\w+|criterion \d|same as"
    r"|the (?:prompt|rubric|reference|probe|removal))\b",
    re.IGNORECASE,
)
_DANGLING = re.compile(r"^(?:it|this|that|these|they|also|same)\b", re.IGNORECASE)
_SECOND_SENTENCE = re.compile(r"[.!?;]\s+\S")


async def rubric_problems(
    subject: Subject, must_haves: range = MUST_HAVES, others: range = NICE_TO_HAVES
) -> list[Problem]:
    """Return the problems of a rubric's counts, ways of grading and wording, at the lines of the criteria.

    Args:
        subject: The task.
        must_haves: How many a rubric of its track may have.
        others: The same of nice-to-haves.
    """
    task = subject.task
    found = [*_counts(subject, task.rubric, must_haves, others), *_repeated(subject, task.rubric.criteria)]
    probed = {probe.criterion for probe in task.probes}
    for criterion in task.rubric.criteria:
        where = _line(subject, criterion)
        faults = [*_grading(criterion, probed), *wording(criterion.statement)]
        found += [_fault(where, criterion, fault) for fault in faults]
        if criterion.statement.count(" and ") > 1:
            words = f"criterion {criterion.id} joins several things with 'and'; is it one demand?"
            found.append(Problem(where=where, message=words, severity=Severity.WARNING))
    return found


def statement_problems(subject: Subject, criteria: Sequence[Criterion]) -> list[Problem]:
    """Return the problems of statements alone. A half that begins behind a semicolon is none of its own here."""
    found = _repeated(subject, criteria)
    for criterion in criteria:
        faults = wording(criterion.statement.replace(";", ","))
        found += [_fault(_line(subject, criterion), criterion, fault) for fault in faults]
    return found


def _fault(where: str, criterion: Criterion, fault: str) -> Problem:
    return Problem(where=where, message=f"criterion {criterion.id} {fault}")


def wording(statement: str) -> Iterator[str]:
    """Yield what is wrong with a statement: it should be specific, atomic and self-contained."""
    if vague := _VAGUE.search(statement):
        yield f"says {vague.group()!r}, which everybody reads differently; say what is to be seen"
    if len(statement) < SHORTEST:
        yield "is too short to say what is to be seen"
    if "and/or" in statement.lower():
        yield "says 'and/or'; ask for one thing, and make the other a criterion of its own"
    if _SECOND_SENTENCE.search(statement):
        yield "is more than one statement; make a criterion of each"
    if elsewhere := _ELSEWHERE.search(statement):
        yield f"leans on something else ({elsewhere.group()!r}); it must be answerable by itself"
    elif _DANGLING.search(statement):
        yield f"begins with {statement.split()[0]!r}, which points at something else; name it"


def _counts(subject: Subject, rubric: Rubric, must_haves: range, others: range) -> Iterator[Problem]:
    must = len(rubric.must_haves)
    for count, span, what in (
        (must, must_haves, "must-haves"), (len(rubric.criteria) - must, others, "nice-to-haves"),
    ):  # fmt: skip
        if count not in span:
            words = f"{count} {what}; a rubric has {span.start} to {span.stop - 1}"
            yield Problem(where=_file(subject), message=words)


def _repeated(subject: Subject, criteria: Sequence[Criterion]) -> list[Problem]:
    said = Counter(criterion.statement for criterion in criteria)
    twice = [criterion for criterion in criteria if said[criterion.statement] > 1]
    words = "says what another one says word for word"
    return [_fault(_line(subject, criterion), criterion, words) for criterion in twice]


def _grading(criterion: Criterion, probed: set[str]) -> Iterator[str]:
    if GradedBy.PROBE in criterion.graded_by and criterion.id not in probed:
        yield f"is graded by probe, and there is no probes/{criterion.id}.patch"
    decided = {GradedBy.PROBE, GradedBy.STATIC} & set(criterion.graded_by)
    if criterion.importance is Importance.MUST and not decided:
        yield "is a must-have that only a judge decides; give it a probe or a static check"


def _line(subject: Subject, criterion: Criterion) -> str:
    lines = subject.rubric.read_text().splitlines() if subject.rubric.is_file() else []
    marks = re.compile(rf"\bid: *[\"']?{re.escape(criterion.id)}[\"']?\s*(?:[,#}}].*)?$")
    number = next((number for number, line in enumerate(lines, 1) if marks.search(line)), 0)
    return f"{_file(subject)}:{number}" if number else _file(subject)


def _file(subject: Subject) -> str:
    return place(subject.catalog, subject.rubric)


TRIES = 2
"""A reply that can't be read is asked for once more."""
_CHECKS = {
    StaticKind.FILE_MATCHES: "the path of its file matches the glob {value}",
    StaticKind.TEST_NAMED: "its own name has a match of the regular expression {value}",
    StaticKind.USES_NAME: "it, or what its file has for all tests, uses or imports the name {value}",
    StaticKind.INSIDE: "the class or describe around it has a match of the regular expression {value}",
    StaticKind.CALL_ABSENT: "{value} is not called in it",
}


class StatementComparison(StrEnum):
    """A judge's answer: do statement and check ask for the same?"""

    SAME = "same"
    DIFFER = "differ"
    CANNOT_TELL = "cannot tell"


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    answer: StatementComparison
    example: str = ""
    why: str = ""


class _Missing(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    why: str = ""


class _Unasked(BaseModel):
    """A judge's answer: which must-haves does the prompt not ask for?"""

    model_config = ConfigDict(frozen=True, extra="forbid")

    missing: tuple[_Missing, ...]


async def review(subject: Subject, judge: Judge) -> list[Problem]:
    """Return a judge's warnings on a task.

    There is one for each criterion whose statement and check differ by this judge, for each must-have that the prompt
    doesn't ask for, and for each question that it gave no answer to.
    """
    decided = [item for item in subject.task.rubric.criteria if item.decided_without_judge]
    with first_error():
        async with asyncio.TaskGroup() as group:
            asked = [group.create_task(_asked(subject, judge, criterion)) for criterion in decided]
            unasked = group.create_task(_unasked(subject, judge))
    answers = [task.result() for task in asked]
    same = sum(isinstance(answer, _Answer) and answer.answer is StatementComparison.SAME for answer in answers)
    subject.remarks.append(f"{judge.identity.model}: {same} of {len(decided)} statements say what their checks do")
    problems = unasked.result()
    for criterion, answer in zip(decided, answers, strict=True):
        if words := _words(answer):
            where = place(subject.catalog, subject.rubric, criterion.statement)
            problems.append(
                Problem(where=where, message=f"criterion {criterion.id}: {words}", severity=Severity.WARNING)
            )
    return problems


def in_words(check: StaticCheck) -> str:
    """Return a static check as a sentence."""
    which = (
        "of each of the tests it holds that" if check.of == "all" else "of at least one of the tests it holds that"
    )
    return f"{which} {_CHECKS[check.check].format(value=check.value)}."


def _words(answer: "_Answer | str") -> str:
    """Return what is to be said of an answer; empty where all is well."""
    if isinstance(answer, str):
        return f"the judge gave no answer: {answer}"
    match answer.answer:
        case StatementComparison.SAME:
            return ""
        case StatementComparison.DIFFER:
            example = f", as for this suite: {answer.example}" if answer.example else ""
            return f"statement and check differ by the judge: {answer.why}{example}"
        case StatementComparison.CANNOT_TELL:
            return f"the judge can't tell whether statement and check say the same: {answer.why}"


async def _asked(subject: Subject, judge: Judge, criterion: Criterion) -> "_Answer | str":
    """Return the answer, or why there is none."""
    text = judge.prompts.criterion(
        criterion.statement, in_words(criterion.static) if criterion.static else "", _probes(subject, criterion)
    )
    return await _answer_to(judge, text, _Answer)


async def _unasked(subject: Subject, judge: Judge) -> list[Problem]:
    """Return a warning for each must-have that the prompt doesn't ask for."""
    must_haves = {item.id: item.statement for item in subject.task.rubric.must_haves}
    text = judge.prompts.request(subject.task.objective.strip(), tuple(must_haves.items()))
    answer, where = await _answer_to(judge, text, _Unasked), subject.at("prompt.md")
    if isinstance(answer, str):
        words = f"the judge gave no answer: {answer}"
        return [Problem(where=where, message=words, severity=Severity.WARNING)]
    found = {item.id: item.why for item in answer.missing if item.id in must_haves}
    subject.remarks.append(
        f"{judge.identity.model}: the prompt asks for {len(must_haves) - len(found)} must-haves of {len(must_haves)}"
    )
    return [
        Problem(
            where=where, message=f"doesn't ask for criterion {name}, by the judge: {why}", severity=Severity.WARNING
        )
        for name, why in found.items()
    ]


AnswerT = TypeVar("AnswerT", bound=BaseModel)


async def _answer_to(judge: Judge, text: str, form: type[AnswerT]) -> AnswerT | str:
    """Return the answer, or why there is none."""
    model, fault = judge.build(), ""
    for _ in range(TRIES):
        try:
            async with judge.slots:
                completion = await model.complete([Message(role=MessageRole.USER, content=text)], ())
            return read_object(completion.message.content, form)
        except Unreadable as error:
            fault = str(error)
        except (ProviderError, BudgetExhausted) as error:
            return str(error)
    return fault


def _probes(subject: Subject, criterion: Criterion) -> Sequence[str]:
    paths = [probe.path for probe in subject.task.probes if probe.criterion == criterion.id]
    return [path.read_text(errors="replace").strip() for path in paths]
