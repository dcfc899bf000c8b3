"""Questions to a judge about one submission, and the identity of a judge."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from harness.specs.rubric import Criterion, GradedBy, Importance
from harness.specs.task import Task

MANIFEST = "manifest"
_MANIFEST_STATEMENT = (
    "Each of the listed tests is a test: it exercises the code and would fail if that misbehaved. "
    "None is only setup, a helper, or a placeholder."
)


class Answer(StrEnum):
    """Answers of a judge to a statement."""

    MET = "met"
    UNMET = "unmet"
    CANNOT_TELL = "cannot tell"


class VoteCounts(BaseModel):
    """Numbers of votes on each question; the majority of them decides."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    must: int = Field(default=3, ge=1, le=15)
    nice: int = Field(default=1, ge=1, le=15)


@dataclass(frozen=True)
class Question:
    """One statement, asked `votes` times. `known` is its answer where code knows that: it tests the judge.

    `met` needs no quote where the statement is `of_absence`: what isn't there can't be quoted.
    """

    id: str
    statement: str
    votes: int = 1
    known: Answer | None = None
    of_absence: bool = False


@dataclass(frozen=True)
class Brief:
    """The subject of all questions: the task's words, the judged patch, and the text of each listed test by id.

    `calls` are names of functions that the listed tests call, None where nobody knows their language.
    """

    prompt: str
    patch: bytes
    tests: Mapping[str, str]
    questions: tuple[Question, ...]
    calls: frozenset[str] | None = None


def questions_for(task: Task, counts: VoteCounts) -> tuple[Question, ...]:
    """Return the manifest question, and every criterion that asks for a judge.

    What a probe or a static check decides is asked once: the answer is only compared.
    """
    asked = [criterion for criterion in task.rubric.criteria if GradedBy.JUDGE in criterion.graded_by]
    return (Question(MANIFEST, _MANIFEST_STATEMENT, counts.must), *_of_criteria(asked, counts))


def _of_criteria(criteria: Sequence[Criterion], counts: VoteCounts) -> tuple[Question, ...]:
    return tuple(
        Question(
            criterion.id,
            criterion.statement,
            _votes(criterion, counts),
            of_absence=criterion.is_of_absence,
        )
        for criterion in criteria
    )


def _votes(criterion: Criterion, counts: VoteCounts) -> int:
    if criterion.decided_without_judge:
        return 1
    return counts.must if criterion.importance is Importance.MUST else counts.nice


class JudgeIdentity(BaseModel):
    """Two that agree in this give the same verdicts. The digests are of the model's parameters and the prompts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str
    model_digest: str
    prompts: str
    votes: VoteCounts = VoteCounts()
