"""A judge's look at a rubric: does each statement say the same as the check that decides it?"""

import asyncio
from collections.abc import Sequence
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from harness.authoring.task_check.subject import Subject, place
from harness.llm.protocol import Message, Role
from harness.specs.errors import BudgetExhausted, ProviderError, first_error
from harness.specs.problem import Problem, Severity
from harness.specs.rubric import Criterion, StaticCheck, StaticKind
from harness.verify.judge.judge import Judge
from harness.verify.judge.replies import Unreadable, read_object

TRIES = 2
"""A reply that can't be read is asked for once more."""
_CHECKS = {
    StaticKind.FILE_MATCHES: "the path of its file matches the glob {value}",
    StaticKind.TEST_NAMED: "its own name has a match of the regular expression {value}",
    StaticKind.USES_NAME: "it, or what its file has for all tests, uses or imports the name {value}",
    StaticKind.INSIDE: "the class or describe around it has a match of the regular expression {value}",
    StaticKind.CALL_ABSENT: "{value} is not called in it",
}


class Comparison(StrEnum):
    SAME = "same"
    DIFFER = "differ"
    CANNOT_TELL = "cannot tell"


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    answer: Comparison
    example: str = ""
    why: str = ""


async def review(subject: Subject, judge: Judge) -> list[Problem]:
    """A warning for each criterion whose statement and check differ by this judge, or that it gave no answer to."""
    decided = [item for item in subject.task.rubric.criteria if item.decided_without_judge]
    with first_error():
        async with asyncio.TaskGroup() as group:
            asked = [group.create_task(_asked(subject, judge, criterion)) for criterion in decided]
    answers = [task.result() for task in asked]
    same = sum(isinstance(answer, _Answer) and answer.answer is Comparison.SAME for answer in answers)
    subject.remarks.append(f"{judge.identity.model}: {same} of {len(decided)} statements say what their checks do")
    problems = []
    for criterion, answer in zip(decided, answers, strict=True):
        if words := _words(answer):
            where = place(subject.catalog, subject.rubric, criterion.statement)
            problems.append(
                Problem(where=where, message=f"criterion {criterion.id}: {words}", severity=Severity.WARNING)
            )
    return problems


def in_words(check: StaticCheck) -> str:
    """A static check as a sentence."""
    which = (
        "of each of the tests it holds that" if check.of == "all" else "of at least one of the tests it holds that"
    )
    return f"{which} {_CHECKS[check.check].format(value=check.value)}."


def _words(answer: "_Answer | str") -> str:
    """What is to be said of an answer; empty where all is well."""
    if isinstance(answer, str):
        return f"the judge gave no answer: {answer}"
    match answer.answer:
        case Comparison.SAME:
            return ""
        case Comparison.DIFFER:
            example = f", as for this suite: {answer.example}" if answer.example else ""
            return f"statement and check differ by the judge: {answer.why}{example}"
        case Comparison.CANNOT_TELL:
            return f"the judge can't tell whether statement and check say the same: {answer.why}"


async def _asked(subject: Subject, judge: Judge, criterion: Criterion) -> "_Answer | str":
    """The answer, or why there is none."""
    text = judge.prompts.criterion(
        criterion.statement, in_words(criterion.static) if criterion.static else "", _probes(subject, criterion)
    )
    model, fault = judge.build(), ""
    for _ in range(TRIES):
        try:
            async with judge.slots:
                completion = await model.complete([Message(role=Role.USER, content=text)], ())
            return read_object(completion.message.content, _Answer)
        except Unreadable as error:
            fault = str(error)
        except (ProviderError, BudgetExhausted) as error:
            return str(error)
    return fault


def _probes(subject: Subject, criterion: Criterion) -> Sequence[str]:
    paths = [probe.path for probe in subject.task.probes if probe.criterion == criterion.id]
    return [path.read_text(errors="replace").strip() for path in paths]
