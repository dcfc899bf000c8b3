"""Votes, and what they come to together. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from harness.specs.reasons import ReasonCode
from harness.specs.usage import Usage
from harness.verify.judge.questions import Answer, Question


class VoteFault(StrEnum):
    """Why a vote counts for nothing."""

    UNAVAILABLE = "unavailable"
    UNPARSEABLE = "unparseable"
    NOT_IN_PATCH = "quote-not-in-patch"


class Vote(BaseModel):
    """A line of `judge.jsonl`: one answer to one question. `usage` is of all calls that it took.

    `test` is the listed test that the quote of an `unmet` about the manifest stands in.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: str
    statement: str
    number: int
    answer: Answer | None = None
    quote: str = ""
    why: str = ""
    test: str = ""
    fault: VoteFault | None = None
    words: str = ""
    cached: bool = False
    usage: Usage = Usage()

    @property
    def counted(self) -> Answer | None:
        return None if self.fault else self.answer


class Opinion(BaseModel):
    """What the votes on one criterion came to. `answer` is None where no majority said anything.

    `votes` counts answers, those that count for nothing under the name of their fault.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    answer: Answer | None = None
    votes: dict[str, int] = {}
    missing: ReasonCode | None = None
    words: str = ""

    @property
    def met(self) -> bool | None:
        return {Answer.MET: True, Answer.UNMET: False}.get(self.answer) if self.answer else None


def opinion(question: Question, votes: Sequence[Vote]) -> Opinion:
    """The answer that more than half of the votes asked for have given; votes that are lost stay in the whole."""
    counts = Counter(vote.counted for vote in votes if vote.counted)
    tally = dict(Counter(str(vote.fault or vote.answer) for vote in votes))
    found = next((answer for answer, count in counts.items() if 2 * count > question.votes), None)
    shares = ", ".join(f"{count} {name}" for name, count in sorted(tally.items()))
    words = f"the judge's votes: {shares}"
    if found in (Answer.MET, Answer.UNMET):
        return Opinion(answer=found, votes=tally, words=words)
    lost = any(vote.fault is VoteFault.UNAVAILABLE for vote in votes) or not votes
    missing = ReasonCode.JUDGE_UNAVAILABLE if lost and found is None else ReasonCode.JUDGE_UNPARSEABLE
    return Opinion(answer=found, votes=tally, missing=missing, words=f"no majority; {words}" if not found else words)


def is_wrong(known: Mapping[Question, Sequence[Vote]]) -> bool:
    """Whether a question whose answer is known got the opposite answer: a judge that can't tell isn't wrong."""
    opposite = {Answer.MET: Answer.UNMET, Answer.UNMET: Answer.MET}
    return any(vote.counted is opposite.get(question.known) for question, votes in known.items() for vote in votes
               if question.known and vote.counted)  # fmt: skip


def void_words(known: Mapping[Question, Sequence[Vote]]) -> str:
    """Why nothing that was asked with these questions counts; empty where each came out as it is known to be."""
    if is_wrong(known):
        return "the judge gets a question wrong whose answer is known; none of its answers counts"
    if any(opinion(question, votes).answer is not question.known for question, votes in known.items()):
        return "the judge leaves a question open whose answer is known; none of its answers counts"
    return ""
