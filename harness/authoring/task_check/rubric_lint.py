"""Whether a rubric's criteria can be answered with yes or no by somebody who sees nothing but the submission."""

import re
from collections import Counter
from collections.abc import Iterator

from harness.authoring.task_check.subject import Subject
from harness.specs.problem import Problem, Severity
from harness.specs.rubric import Criterion, GradedBy, Importance, Rubric

MUST_HAVES = range(6, 16)
NICE_TO_HAVES = range(4, 11)
SHORTEST = 30
"""Characters: what is shorter hardly says what is to be seen."""

_VAGUE = re.compile(
    r"\b(proper(?:ly)?|correct(?:ly|ness)?|appropriate(?:ly)?|adequate(?:ly)?|reasonabl[ey]|sensibl[ey]|suitabl[ey]"
    r"|thorough(?:ly)?|comprehensive(?:ly)?|robust(?:ly)?|relevant|meaningful(?:ly)?|sufficient(?:ly)?|good|nice(?:ly)?"
    r"|(?<!as )well|various|edge cases?|corner cases?|as (?:expected|needed|necessary|required)|handles?|works"
    r"|etc)\b",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"\b(?:(?:see|as|the) (?:above|below)|(?:previous|other|next|former|latter) criteri\w+|criterion \d|same as"
    r"|the (?:prompt|rubric|reference|probe|removal))\b",
    re.IGNORECASE,
)
_DANGLING = re.compile(r"^(?:it|this|that|these|they|also|same)\b", re.IGNORECASE)
_SECOND_SENTENCE = re.compile(r"[.!?;]\s+\S")


async def rubric_problems(subject: Subject) -> list[Problem]:
    """Counts, ways of grading, wording; where: the line of the criterion's id."""
    task = subject.task
    found = [*_counts(subject, task.rubric)]
    probed = {probe.criterion for probe in task.probes}
    for criterion in task.rubric.criteria:
        where = _line(subject, criterion)
        faults = [*_grading(criterion, probed), *wording(criterion.statement)]
        found += [Problem(where=where, message=f"criterion {criterion.id} {fault}") for fault in faults]
        if criterion.statement.count(" and ") > 1:
            words = f"criterion {criterion.id} joins several things with 'and'; is it one demand?"
            found.append(Problem(where=where, message=words, severity=Severity.WARNING))
    return found


def wording(statement: str) -> Iterator[str]:
    """What is wrong with a statement: it should be specific, atomic and self-contained."""
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


def _counts(subject: Subject, rubric: Rubric) -> Iterator[Problem]:
    must = len(rubric.must_haves)
    for count, span, what in (
        (must, MUST_HAVES, "must-haves"), (len(rubric.criteria) - must, NICE_TO_HAVES, "nice-to-haves"),
    ):  # fmt: skip
        if count not in span:
            words = f"{count} {what}; a rubric has {span.start} to {span.stop - 1}"
            yield Problem(where=_file(subject), message=words)
    said = Counter(criterion.statement for criterion in rubric.criteria)
    for criterion in rubric.criteria:
        if said[criterion.statement] > 1:
            words = f"criterion {criterion.id} says what another one says word for word"
            yield Problem(where=_line(subject, criterion), message=words)


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
    return f"rubrics/{subject.task.id}.yaml"
