"""One judging: all questions about one submission are asked, the answers checked and counted."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from harness.llm.protocol import Model
from harness.llm.spending import MeteredModel, Spending
from harness.specs.reasons import ReasonCode
from harness.specs.usage import Usage
from harness.verify.judge.answer_cache import AnswerCache
from harness.verify.judge.asking import Asking
from harness.verify.judge.identity import JudgeIdentity
from harness.verify.judge.known_answers import known_questions
from harness.verify.judge.prompts import Prompts, Shown
from harness.verify.judge.questions import Brief, Question
from harness.verify.judge.shown_text import shown
from harness.verify.judge.voting import Opinion, Vote, VoteFault, is_wrong, opinion, void_words

MAX_SHOWN_CHARS = 400_000
"""Of patch and manifest, about 100,000 tokens. A larger one isn't cut: what is cut away can't be judged."""
PARALLEL_CALLS = 4
UNREACHED = "the judge could not be reached; the votes in judge.jsonl say why"
"""In a verdict's words, which hold no address: what the provider said stands with the votes."""


@dataclass(frozen=True)
class Judging:
    """What a judge said of one submission. `opinions` are by criterion; `void` says why none of them counts.

    `misled` says that it answered wrongly what is known, `removed` is the number of invisible characters that it
    wasn't shown.
    """

    opinions: Mapping[str, Opinion]
    votes: tuple[Vote, ...] = ()
    void: str = ""
    misled: bool = False
    removed: int = 0
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True)
class Judge:
    """A named model in the role of the judge. `build` makes a model for one judging; `slots` are shared by all."""

    identity: JudgeIdentity
    prompts: Prompts
    build: Callable[[], Model]
    cache: AnswerCache = field(default_factory=AnswerCache)
    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(PARALLEL_CALLS))

    async def ask(self, brief: Brief, spending: Spending | None = None, trusting: bool = False) -> Judging:
        """Put every question of the brief, and two whose answers are known. `spending` is of all judgings.

        `trusting` takes a judge at its word, as the published verifier does: nothing is asked whose answer is known,
        and no answer need quote the patch. Never raises for what a model or its provider does: that makes votes
        which don't count.
        """
        seen = Shown.of(brief)
        if (size := len(seen.patch) + len(seen.tests)) > MAX_SHOWN_CHARS:
            words = f"patch and manifest have {size} characters; a judge is shown at most {MAX_SHOWN_CHARS}"
            return _unasked(brief, ReasonCode.JUDGE_UNAVAILABLE, words, seen.removed)
        try:
            known = () if trusting else known_questions(seen.patch, brief.calls)
        except ValueError as error:
            return _unasked(brief, ReasonCode.JUDGE_UNPARSEABLE, str(error), seen.removed)
        spent = Spending(within=spending)
        model = MeteredModel(self.build(), spent)
        tests = {name: shown(text).text for name, text in brief.tests.items()}
        asking = Asking(self.identity, self.prompts, self.cache, self.slots, model, seen, tests, trusting)
        votes = await asking.votes([*known, *brief.questions])
        return _counted(brief.questions, known, votes, seen.removed, spent.usage)


def _counted(
    questions: Sequence[Question], known: Sequence[Question], votes: Sequence[Vote], removed: int, usage: Usage
) -> Judging:
    of = {item: [vote for vote in votes if vote.question == item.id] for item in (*known, *questions)}
    opinions = {item.id: opinion(item, of[item]) for item in questions}
    if void := void_words({item: of[item] for item in known}):
        code = ReasonCode.JUDGE_UNPARSEABLE
        if any(vote.fault is VoteFault.UNAVAILABLE for item in known for vote in of[item]):
            code, void = ReasonCode.JUDGE_UNAVAILABLE, UNREACHED
        opinions = {name: Opinion(votes=item.votes, missing=code, words=void) for name, item in opinions.items()}
    misled = is_wrong({item: of[item] for item in known})
    return Judging(opinions, tuple(votes), void, misled, removed, usage)


def _unasked(brief: Brief, code: ReasonCode, words: str, removed: int) -> Judging:
    nothing = Opinion(missing=code, words=words)
    return Judging({question.id: nothing for question in brief.questions}, void=words, removed=removed)
