"""A model that repeats a recorded model's messages, and notices where commands give other results."""

import re
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from harness.llm.protocol import Completion, Message, Role, StopReason, Tool
from harness.llm.recording import MessageRecord, read_messages
from harness.specs.errors import ProviderError
from harness.specs.usage import Usage

_EXCERPT_CHARS = 80
_VOLATILE = (
    (re.compile(r" \(\d+ answers?, \d+ seconds(?:, \$\d+\.\d\d)? left\)"), ""),  # a replay costs nothing
    (re.compile(r"\b\d+(?:\.\d+)?(?: ?(?:ns|us|µs|ms|s)| (?:milli|micro)?seconds?)\b"), "<duration>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z| ?[+-]\d\d:?\d\d)?)?"), "<date>"),
    (re.compile(r"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d{1,2} +\d\d:?\d\d\b"), "<date>"),
    (re.compile(r"((?:/var)?/tmp|/var/folders/[^/\s]+/[^/\s]+/T)/[\w.+-]+"), r"\1/<name>"),
    (re.compile(r"\bpytest-\d+\b"), "pytest-<n>"),
    (re.compile(r"\b0x[0-9a-fA-F]+\b"), "<address>"),
    (re.compile(r"={3,}"), "==="),  # pytest pads its summary to the width that the duration leaves
)
"""What differs between two runs of the same command though nothing has changed. Other numbers count."""


class Divergence(NamedTuple):
    """After `step` (0: before the first) the conversation isn't what was recorded."""

    step: int
    description: str

    def __str__(self) -> str:
        return f"replay differs after step {self.step}: {self.description}"


class ReplayModel:
    """Gives the assistant's messages of a trajectory in order, their tokens counted and their cost as 0.

    One instance replays one trial. Raises UserError for a file that is no trajectory, ProviderError at its end.
    """

    def __init__(self, path: Path) -> None:
        self.name = f"replay:{path}"
        self.divergences: list[Divergence] = []
        self._turns = _turns(read_messages(path))
        self._next = 0

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Completion:  # noqa: ARG002
        if self._next == len(self._turns):
            raise ProviderError("the recording ends here")
        turn = self._turns[self._next]
        if description := _difference(turn.heard, _since_last_answer(messages)):
            self.divergences.append(Divergence(self._next, description))
        self._next += 1
        usage = turn.answer.usage or Usage(calls=1)
        return Completion(
            message=turn.answer.message,
            usage=usage.model_copy(update={"cost_usd": 0.0}),
            stop=turn.answer.stop or StopReason.END,
        )


class _Turn(NamedTuple):
    """What the recorded model was told since its last message, and what it answered."""

    heard: list[Message]
    answer: MessageRecord


def _turns(records: Sequence[MessageRecord]) -> list[_Turn]:
    turns = []
    heard: list[Message] = []
    for record in records:
        if record.message.role is Role.ASSISTANT:
            turns.append(_Turn(heard, record))
            heard = []
        else:
            heard.append(record.message)
    return turns


def _since_last_answer(messages: Sequence[Message]) -> list[Message]:
    found = []
    for message in reversed(messages):
        if message.role is Role.ASSISTANT:
            break
        found.append(message)
    return found[::-1]


def _difference(recorded: Sequence[Message], given: Sequence[Message]) -> str:
    """The first difference that isn't volatile, in one line; empty when there is none."""
    if len(recorded) != len(given):
        return f"{len(recorded)} messages recorded, {len(given)} now"
    for old, new in zip(recorded, given, strict=True):
        pairs = zip_longest(normalise(old.content).splitlines(), normalise(new.content).splitlines(), fillvalue="")
        for number, (was, now) in enumerate(pairs, start=1):
            if was != now:
                return f"line {number}: recorded {_excerpt(was)}, now {_excerpt(now)}"
    return ""


def normalise(text: str) -> str:
    """The text without durations, dates, names of temporary files and addresses in memory."""
    for pattern, replacement in _VOLATILE:
        text = pattern.sub(replacement, text)
    return text


def _excerpt(line: str) -> str:
    return repr(line if len(line) <= _EXCERPT_CHARS else f"{line[:_EXCERPT_CHARS]}...")
