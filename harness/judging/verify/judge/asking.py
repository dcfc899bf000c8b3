"""The calls of one judging, and the answers that come of them.

The cache of answers, by the hash of everything that they depend on.
"""

import asyncio
import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from pydantic import ValidationError

from harness.judging.verify.judge.prompts import Prompts, Shown
from harness.judging.verify.judge.questions import MANIFEST, Answer, JudgeIdentity, Question
from harness.judging.verify.judge.replies import (
    JudgeReply,
    Unreadable,
    Vote,
    VoteFault,
    backed,
    quoted_test,
    read_reply,
)
from harness.models.protocol import Message, Model, StopReason
from harness.specs.errors import BudgetExhausted, ProviderError, first_error
from harness.specs.usage import Usage


class AnswerCache:
    """A directory of replies. Without a directory it remembers nothing.

    An entry that was cut or spoilt is as good as none. What is in it is checked like any other reply.
    """

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = directory

    def get(self, key: str) -> JudgeReply | None:
        """Return the stored answer; None where there is none that can be read."""
        if self._directory is None:
            return None
        try:
            return JudgeReply.model_validate_json(self._place(self._directory, key).read_bytes())
        except (OSError, ValidationError):
            return None

    def put(self, key: str, reply: JudgeReply) -> None:
        """Store an answer, whole or not at all; two processes with the same answer may both write it."""
        if self._directory is None:
            return
        place = self._place(self._directory, key)
        place.parent.mkdir(parents=True, exist_ok=True)
        partial = place.with_name(f".{key}.{uuid4().hex}")
        with partial.open("w") as file:
            file.write(reply.model_dump_json())
            file.flush()
            os.fsync(file.fileno())
        partial.replace(place)

    @staticmethod
    def _place(directory: Path, key: str) -> Path:
        return directory / key[:2] / f"{key}.json"


def cache_key(**parts: Any) -> str:
    """Return the sha256 over everything that an answer depends on."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


TRIES = 2
"""Tries of one vote: a reply that can't be read is asked for once more."""


class _Turn(NamedTuple):
    question: Question
    number: int


@dataclass(frozen=True)
class Asking:
    """A judge and the submission before it: `tests` are the listed ones' texts, as it is shown them.

    `trusting` lets an answer stand that quotes nothing. `nonce` marks the fences; the agent couldn't know it.
    """

    identity: JudgeIdentity
    prompts: Prompts
    cache: AnswerCache
    slots: asyncio.Semaphore
    model: Model
    seen: Shown
    tests: Mapping[str, str]
    trusting: bool = False
    nonce: str = field(default_factory=lambda: secrets.token_hex(16))

    async def votes(self, questions: Sequence[Question]) -> list[Vote]:
        """Ask one question alone, so that the provider keeps what all share, then the others side by side.

        Where the first can't be had, the others aren't tried: a provider that is down answers none.
        """
        remembered = {turn: self._remembered(turn) for turn in _turns(questions)}
        votes = [vote for vote in remembered.values() if vote]
        open_turns = [turn for turn, vote in remembered.items() if vote is None]
        if not open_turns:
            return votes
        opening = self.prompts.opening(self.seen, self.nonce)
        first = await self._vote(opening, open_turns[0])
        if first.fault is VoteFault.UNAVAILABLE:
            return [*votes, first, *(_lost(turn, first.words) for turn in open_turns[1:])]
        with first_error():
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._vote(opening, turn)) for turn in open_turns[1:]]
        return [*votes, first, *(task.result() for task in tasks)]

    def _remembered(self, turn: _Turn) -> Vote | None:
        reply = self.cache.get(self._key(turn))
        return self._checked(turn, reply, Usage(), cached=True) if reply else None

    def _key(self, turn: _Turn) -> str:
        return cache_key(
            request=self.seen.request,
            tests=self.seen.tests,
            patch=self.seen.patch,
            removed=self.seen.removed,
            statement=turn.question.statement,
            prompts=self.identity.prompts,
            model=self.identity.model,
            parameters=self.identity.model_digest,
            vote=turn.number,
        )

    async def _vote(self, opening: Sequence[Message], turn: _Turn) -> Vote:
        usage, fault = Usage(), ""
        for _ in range(TRIES):
            messages = self.prompts.asking(opening, turn.question.statement, self.nonce, fault)
            try:
                async with self.slots:
                    completion = await self.model.complete(messages, ())
            except ProviderError as error:
                return _lost(turn, str(error), usage + error.usage)
            except BudgetExhausted as error:
                return _lost(turn, str(error), usage)
            usage += completion.paid
            try:
                reply = _read(completion.stop, completion.message.content)
            except Unreadable as error:
                fault = str(error)
            else:
                self.cache.put(self._key(turn), reply)
                return self._checked(turn, reply, usage)
        return _vote(turn, fault=VoteFault.UNPARSEABLE, words=fault, usage=usage)

    def _checked(self, turn: _Turn, reply: JudgeReply, usage: Usage, cached: bool = False) -> Vote:
        vote = _vote(turn, **dict(reply), cached=cached, usage=usage)
        if self.trusting:
            words = ""
        elif not backed(reply, self.seen.patch, turn.question.of_absence):
            words = "its quote is not in the patch" if reply.quote.strip() else "it quotes nothing of the patch"
        elif turn.question.id == MANIFEST and reply.answer is Answer.UNMET:
            test = quoted_test(reply, self.tests)
            vote, words = vote.model_copy(update={"test": test}), "" if test else "its quote is in no listed test"
        else:
            words = ""
        return vote.model_copy(update={"fault": VoteFault.NOT_IN_PATCH, "words": words}) if words else vote


def _turns(questions: Sequence[Question]) -> Iterator[_Turn]:
    """Yield the first vote of each question, then the second of each that has two, and so on."""
    for number in range(1, max(question.votes for question in questions) + 1):
        yield from (_Turn(question, number) for question in questions if number <= question.votes)


def _read(stop: StopReason, text: str) -> JudgeReply:
    match stop:
        case StopReason.REFUSAL:
            raise Unreadable("it is a refusal")
        case StopReason.LENGTH:
            raise Unreadable("it was cut at the limit of tokens")
        case StopReason.END | StopReason.TOOL_CALLS:
            return read_reply(text)


def _lost(turn: _Turn, words: str, usage: Usage | None = None) -> Vote:
    return _vote(turn, fault=VoteFault.UNAVAILABLE, words=words, usage=usage or Usage())


def _vote(turn: _Turn, **facts: object) -> Vote:
    question, number = turn
    return Vote.model_validate({"question": question.id, "statement": question.statement, "number": number, **facts})
