"""A model that repeats a recorded model's messages, and notices where commands give other results.

The part of a trajectory that a model takes part in, and reading JSON lines that a crash may have cut.

It is in this package, not beside the rest of the trajectory, since replay reads it.

A model that gives scripted messages: for tests, dry runs and hostile fixtures.
"""

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import takewhile, zip_longest
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json

from harness.models.protocol import Completion, Message, MessageRole, StopReason, Tool, ToolCall
from harness.specs.errors import ProviderError, ProviderFault, UserError
from harness.specs.schema_faults import plain_words
from harness.specs.usage import Usage
from harness.specs.yaml_files import FileModel, load_yaml


def now() -> datetime:
    """Return the time in UTC."""
    return datetime.now(UTC)


class MessageRecord(BaseModel):
    """One message. `usage` and `stop` are set exactly for a model's answers; `step` counts those, prompts have 0.

    `conversation` is empty for the only or first one; agents with subagents have several, whose records mingle.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["message"] = "message"
    time: datetime = Field(default_factory=now)
    step: int
    conversation: str = ""
    message: Message
    usage: Usage | None = None
    stop: StopReason | None = None


def read_json_lines(path: Path) -> list[tuple[int, Any]]:
    """Return line number and value of each line, but for a last line that was cut while it was written.

    Raises:
        UserError: The file can't be read, or another line isn't JSON.
    """
    try:
        *whole, last = path.read_bytes().split(b"\n")
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None
    values = []
    for number, line in enumerate([*whole, last], start=1):
        try:
            if line:
                values.append((number, from_json(line)))
        except ValueError:
            if number <= len(whole):
                raise UserError(f"{path}:{number}: not a line of JSON") from None
    return values


def read_messages(path: Path) -> list[MessageRecord]:
    """Return the messages of a trajectory, in order.

    Raises:
        UserError: The file holds something else.
    """
    messages = []
    for number, value in read_json_lines(path):
        if not isinstance(value, dict) or "kind" not in value:
            raise UserError(f"{path}:{number}: not a record of a trajectory")
        if value["kind"] == "message":
            try:
                messages.append(MessageRecord.model_validate(value))
            except ValidationError as error:
                raise UserError(f"{path}:{number}: {plain_words(error.errors()[0]['msg'])}") from None
    if not any(record.message.role is MessageRole.ASSISTANT for record in messages):
        raise UserError(f"{path}: holds no assistant's message to replay")
    return messages


_EXCERPT_CHARS = 80
_BEFORE_CHARS = 20
"""Characters of an excerpt before the first difference."""
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
"""Parts that differ between two runs of the same command though nothing has changed. Other numbers count."""


class Divergence(NamedTuple):
    """After `step` (0: before the first) the conversation isn't what was recorded."""

    step: int
    description: str

    def __str__(self) -> str:
        return f"replay differs after step {self.step}: {self.description}"


class ReplayModel:
    """A model that repeats the assistant's messages of a trajectory, with their tokens and a cost of 0.

    One instance replays one trial. Raises UserError for a file that is no trajectory, ProviderError at its end.
    """

    def __init__(self, path: Path) -> None:
        self.name = f"replay:{path}"
        self.divergences: list[Divergence] = []
        self._turns = _turns(read_messages(path))
        self._next = 0

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Completion:  # noqa: ARG002
        if self._next == len(self._turns):
            raise ProviderError("the recording ends here", ProviderFault.ENDED)
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
    """The recorded model's input since its last message, and its answer."""

    heard: list[Message]
    answer: MessageRecord


def _turns(records: Sequence[MessageRecord]) -> list[_Turn]:
    turns = []
    heard: list[Message] = []
    for record in records:
        if record.message.role is MessageRole.ASSISTANT:
            turns.append(_Turn(heard, record))
            heard = []
        else:
            heard.append(record.message)
    return turns


def _since_last_answer(messages: Sequence[Message]) -> list[Message]:
    found = []
    for message in reversed(messages):
        if message.role is MessageRole.ASSISTANT:
            break
        found.append(message)
    return found[::-1]


def _difference(recorded: Sequence[Message], given: Sequence[Message]) -> str:
    """Return the first difference that isn't volatile, in one line; empty when there is none."""
    if len(recorded) != len(given):
        return f"{len(recorded)} messages recorded, {len(given)} now"
    for old, new in zip(recorded, given, strict=True):
        pairs = zip_longest(normalise(old.content).splitlines(), normalise(new.content).splitlines(), fillvalue="")
        for number, (was, now) in enumerate(pairs, start=1):
            if was != now:
                same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(was, now, strict=False)))
                start = max(0, same - _BEFORE_CHARS)
                return f"line {number}: recorded {_excerpt(was, start)}, now {_excerpt(now, start)}"
    return ""


def normalise(text: str) -> str:
    """Return the text without durations, dates, names of temporary files and addresses in memory."""
    for pattern, replacement in _VOLATILE:
        text = pattern.sub(replacement, text)
    return text


def _excerpt(line: str, start: int) -> str:
    """Quote a line from `start` on, with dots where something is left out."""
    shown = line[start : start + _EXCERPT_CHARS]
    return repr(f"{'...' if start else ''}{shown}{'...' if start + len(shown) < len(line) else ''}")


class ScriptedMessage(BaseModel):
    """A message of the model, and the commands that it calls the tool `bash` with."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str = ""
    commands: tuple[str, ...] = ()


class MessageScript(FileModel):
    """The file of `-m scripted:PATH`."""

    messages: tuple[ScriptedMessage, ...] = Field(min_length=1)


class ScriptedModel:
    """A model that gives the same completions in the same order to any question, and then raises ProviderError."""

    def __init__(self, completions: Sequence[Completion], name: str = "scripted") -> None:
        self.name = name
        self._completions = iter(completions)

    @classmethod
    def from_file(cls, path: Path) -> "ScriptedModel":
        """Read a script.

        Raises:
            UserError: It is wrong; the message names file and line.
        """
        script = load_yaml(path, MessageScript)
        return cls([say(message.text, *message.commands) for message in script.messages], name=f"scripted:{path}")

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Completion:  # noqa: ARG002
        completion = next(self._completions, None)
        if completion is None:
            raise ProviderError("the script ends here", ProviderFault.ENDED)
        return completion


def say(text: str, *commands: str, usage: Usage | None = None) -> Completion:
    """Return a completion with a call of the tool `bash` for each command.

    Without `usage` one call that cost nothing.
    """
    calls = tuple(
        ToolCall(id=f"call-{number}", name="bash", arguments=json.dumps({"command": command}))
        for number, command in enumerate(commands, start=1)
    )
    return Completion(
        message=Message(role=MessageRole.ASSISTANT, content=text, tool_calls=calls),
        usage=usage or Usage(calls=1),
        stop=StopReason.TOOL_CALLS if calls else StopReason.END,
    )
