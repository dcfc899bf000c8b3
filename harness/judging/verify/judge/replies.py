"""Turns a judge's reply into an answer with a quote from the patch, or into the reason why it is void.

Votes, and what they come to together. Pure.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from harness.judging.testing.readers import has_titles
from harness.judging.verify.judge.prompts import LINE_PREFIX, squeezed
from harness.judging.verify.judge.questions import Answer, Question
from harness.specs.reasons import ReasonCode
from harness.specs.usage import Usage

MIN_QUOTE_CHARS = 8
_MAX_CHARS = 20_000


class JudgeReply(BaseModel):
    """A judge's answer. `quote` is a short piece of the patch that shows it, `why` a sentence for people."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    answer: Answer
    quote: str = ""
    why: str = ""


class Unreadable(Exception):
    """The reply isn't one answer in the form that was asked for. The message holds nothing of the reply."""


Form = TypeVar("Form", bound=BaseModel)


def read_reply(text: str) -> JudgeReply:
    """Return a judge's answer.

    Raises:
        Unreadable: The reply isn't one JSON object of the form that was asked for.
    """
    return read_object(text, JudgeReply)


def read_object(text: str, form: type[Form]) -> Form:
    """Return the one JSON object that a reply consists of, a Markdown fence around it allowed.

    Raises:
        Unreadable: It is anything else.
    """
    if len(text) > _MAX_CHARS:
        raise Unreadable("it is far too long")
    try:
        return form.model_validate(json.loads(_unfenced(text), object_pairs_hook=_without_twice))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = str(first["loc"][0]) if first["loc"] and first["loc"][0] in form.model_fields else "the object"
        raise Unreadable(f"{where}: not as the form wants it") from None
    except (ValueError, RecursionError):
        raise Unreadable("it is not one JSON object and nothing else") from None


def backed(reply: JudgeReply, patch: str, of_absence: bool = False) -> bool:
    """Return whether the quote is in the patch.

    `met` needs one, but for a statement `of_absence`; `unmet` needs none.

    White space counts as one space, and the marks in front of a diff's lines may be left out: models drop
    both when they quote several lines.
    """
    quote = squeezed(_plain(reply.quote))
    if not quote:
        return of_absence or reply.answer is not Answer.MET
    if len(quote) < MIN_QUOTE_CHARS:
        return False
    return quote in squeezed(patch) or quote in squeezed(_unmarked(patch))


def quoted_test(reply: JudgeReply, tests: Mapping[str, str]) -> str:
    """Return the listed test whose text has the quote, else the one with the longest name that stands in it.

    Empty where there is none, and for a quote that is too short.
    """
    quote = squeezed(_unmarked(_plain(reply.quote)))
    if len(quote) < MIN_QUOTE_CHARS:
        return ""
    with_text = next((name for name, text in tests.items() if quote in squeezed(text)), "")
    by_length = sorted(tests, key=lambda name: -len(_short(name)))
    return with_text or next((name for name in by_length if _stands_in(_short(name), quote)), "")


def _stands_in(name: str, quote: str) -> bool:
    return bool(name) and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", quote) is not None


def _plain(quote: str) -> str:
    return "\n".join(line.removeprefix(LINE_PREFIX) for line in quote.split("\n"))


def _unmarked(patch: str) -> str:
    """Return a patch's lines without their first character, where that is a diff's."""
    return "\n".join(line[1:] if line[:1] in ("+", "-", " ") else line for line in patch.split("\n"))


def _short(test: str) -> str:
    """Return a test's own name: the title within its blocks, or the method of its class."""
    file, _, name = test.partition("::")
    return squeezed(name.rpartition(" > ")[2] if has_titles(file) else name.rpartition(".")[2])


def _unfenced(text: str) -> str:
    stripped = text.strip()
    if stripped.startswith("```") and stripped.endswith("```") and stripped.count("```") == 2:
        return stripped.partition("\n")[2].removesuffix("```")
    return stripped


def _without_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


class VoteFault(StrEnum):
    """Reasons why a vote counts for nothing."""

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
        """The vote's answer; None where the vote is lost."""
        return None if self.fault else self.answer


class Opinion(BaseModel):
    """The outcome of the votes on one criterion. `answer` is None where no majority said anything.

    `votes` counts answers, those that count for nothing under the name of their fault.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    answer: Answer | None = None
    votes: dict[str, int] = {}
    missing: ReasonCode | None = None
    words: str = ""

    @property
    def met(self) -> bool | None:
        """Return whether the statement holds; None where the majority can't tell, or there is none."""
        return {Answer.MET: True, Answer.UNMET: False}.get(self.answer) if self.answer else None


def opinion(question: Question, votes: Sequence[Vote]) -> Opinion:
    """Return the answer that more than half of the votes asked for have given; lost votes count in the whole."""
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
    """Return whether a question whose answer is known got the opposite answer.

    A judge that can't tell isn't wrong.
    """
    opposite = {Answer.MET: Answer.UNMET, Answer.UNMET: Answer.MET}
    return any(vote.counted is opposite.get(question.known) for question, votes in known.items() for vote in votes
               if question.known and vote.counted)  # fmt: skip


def void_words(known: Mapping[Question, Sequence[Vote]]) -> str:
    """Return why nothing that was asked with these questions counts.

    Returns:
        Empty where each came out as it is known to be.
    """
    if is_wrong(known):
        return "the judge gets a question wrong whose answer is known; none of its answers counts"
    if any(opinion(question, votes).answer is not question.known for question, votes in known.items()):
        return "the judge leaves a question open whose answer is known; none of its answers counts"
    return ""
