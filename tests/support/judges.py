"""Judges that aren't models: they read the conversation as one would, and answer by rule."""

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.judging.verify.judge.asking import AnswerCache
from harness.judging.verify.judge.judge import Judge
from harness.judging.verify.judge.prompts import Prompts
from harness.judging.verify.judge.questions import JudgeIdentity, VoteCounts
from harness.models.protocol import Completion, Message, MessageRole, StopReason, Tool
from harness.specs.catalog import Catalog
from harness.specs.usage import Usage

_PATCH = re.compile(r"^=== patch (?P<nonce>\w+) begins\n(?P<data>.*?)\n=== patch (?P=nonce) ends$", re.DOTALL | re.M)
_KNOWN = re.compile(r"^Tests that (?:call|stand in a file whose path ends with) '(?P<name>[^']+)'", re.M)
_STATEMENT = re.compile(r"\n\n(?P<statement>.*?)\n\n", re.DOTALL)
COST = Usage(calls=1, input=100, output=10, cost_usd=0.001)


@dataclass(frozen=True)
class Heard:
    """What a judge is asked: the statement, and the patch without the marks in front of its lines."""

    statement: str
    patch: str
    known: str = ""
    repair: bool = False


def hear(conversation: str) -> Heard:
    """From a conversation's text, messages joined by line breaks."""
    found = _PATCH.search(conversation)
    patch = "\n".join(line.removeprefix("| ") for line in found["data"].split("\n"))
    question = conversation[found.end() :].rpartition("Is this statement true")[2]
    statement = _STATEMENT.search(question)["statement"]
    known = _KNOWN.match(statement)
    return Heard(statement, patch, known["name"] if known else "", "could not be read" in question)


def _heard(messages: Sequence[Message]) -> Heard:
    return hear("\n".join(message.content for message in messages))


def reply(answer: str, quote: str = "", why: str = "") -> str:
    return json.dumps({"answer": answer, "quote": quote, "why": why})


def known_reply(heard: Heard) -> str:
    """The right answer to a question whose answer is known."""
    line = next((line for line in heard.patch.split("\n") if heard.known in line), "")
    return reply("met", line) if line else reply("unmet")


@dataclass
class RuleJudge:
    """Answers what is known rightly and everything else by `rule`; a rule's text is said as it is, errors raised."""

    rule: Callable[[Heard], str | Exception | Completion]
    name: str = "rule"
    heard: list[Heard] = field(default_factory=list)
    conversations: list[list[Message]] = field(default_factory=list)

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Completion:
        heard = _heard(messages)
        self.heard.append(heard)
        self.conversations.append(list(messages))
        said = known_reply(heard) if heard.known else self.rule(heard)
        if isinstance(said, Exception):
            raise said
        return said if isinstance(said, Completion) else completion(said)


@dataclass
class FooledJudge(RuleJudge):
    """Answers everything by its rule, also what is known."""

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Completion:
        self.heard.append(_heard(messages))
        return completion(str(self.rule(self.heard[-1])))


def completion(text: str, stop: StopReason = StopReason.END) -> Completion:
    return Completion(message=Message(role=MessageRole.ASSISTANT, content=text), usage=COST, stop=stop)


def added_line(heard: Heard) -> str:
    """Some line of the patch that can be quoted."""
    return next(line for line in heard.patch.split("\n") if line.startswith("+") and len(line) > 6)


def judge_with(model: RuleJudge, cache: Path | None = None, votes: VoteCounts | None = None, slots: int = 4) -> Judge:
    prompts = Prompts.of(Catalog())
    identity = JudgeIdentity(model=model.name, model_digest="0", prompts=prompts.digest, votes=votes or VoteCounts())
    return Judge(identity, prompts, lambda: model, AnswerCache(cache), asyncio.Semaphore(slots))
