"""Scenarios of the scripted provider: a small YAML file, the same for every vendor's protocol, and its next reply."""

import json
import re
from collections import Counter
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from harness.plugins.scripted_provider.failures import ErrorKind
from harness.specs.yaml_files import FileModel


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Stop(StrEnum):
    """An answer's end other than by itself. `text` holds what was said until then."""

    LENGTH = "length"
    REFUSAL = "refusal"
    FILTERED = "filtered"


class ScriptedFault(StrEnum):
    """A fault of the connection or of a broken proxy in an answer that is otherwise fine."""

    HANG = "hang"
    """Nothing comes, until the client leaves."""
    STALL = "stall"
    """Half of it comes, and then nothing, until the client leaves."""
    DROP = "drop"
    """The connection ends before the first byte."""
    DROP_MIDWAY = "drop-midway"
    """The connection ends in the middle."""
    TRUNCATED = "truncated"
    """HTTP ends well, the JSON in it doesn't."""
    NOT_JSON = "not-json"
    WRONG_SHAPE = "wrong-shape"
    """JSON, but of no answer."""
    HTML = "html"
    """A proxy's error page, with status 200."""


class RetryAfter(StrEnum):
    """The headers in which providers say how long to wait."""

    SECONDS = "seconds"
    MILLISECONDS = "milliseconds"
    DATE = "date"


class Failure(_Part):
    """An error answer. Status and body are the vendor's own; `message` replaces the vendor's words."""

    kind: ErrorKind
    message: str | None = None
    retry_after: float | None = Field(default=None, ge=0, description="seconds to wait, whatever the form")
    retry_after_form: RetryAfter = RetryAfter.SECONDS


class Call(_Part):
    """A tool call. `arguments` as text are sent as they are, which needn't be JSON."""

    name: str
    arguments: dict[str, Any] | str = Field(default_factory=dict)

    @property
    def text(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


class Tokens(_Part):
    """Tokens that the provider says it has counted.

    `cache_read` and `cache_write` are parts of `input`, `reasoning` of `output`; `cost_usd` is said in OpenAI's
    formats only, as gateways do.
    """

    input: int = Field(default=100, ge=0)
    output: int = Field(default=20, ge=0)
    reasoning: int = Field(default=0, ge=0)
    cache_read: int = Field(default=0, ge=0)
    cache_write: int = Field(default=0, ge=0)
    cost_usd: float | None = None

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        if self.cache_read + self.cache_write > self.input or self.reasoning > self.output:
            raise ValueError("cached tokens are part of input, and reasoning is part of output")
        return self


class Reply(_Part):
    """One answer. `commands` are calls of the tool `bash`, after `tool_calls`; all of them are made in parallel."""

    text: str = ""
    thinking: str = ""
    tool_calls: tuple[Call, ...] = ()
    commands: tuple[str, ...] = ()
    stop: Stop | None = None
    usage: Tokens | None = Field(default=Tokens(), description="null: the provider says nothing about tokens")
    delay_seconds: float = Field(default=0, ge=0, description="before the first byte")
    chunk_delay_seconds: float = Field(default=0, ge=0, description="between pieces, of a stream or of a body")
    fault: ScriptedFault | None = None
    body: str | None = Field(default=None, description="sent with status 200 in place of any answer")
    error: Failure | None = None

    @property
    def calls(self) -> tuple[Call, ...]:
        return self.tool_calls + tuple(Call(name="bash", arguments={"command": text}) for text in self.commands)

    @model_validator(mode="after")
    def _is_one_thing(self) -> Self:
        said = bool(self.text or self.thinking or self.calls or self.stop)
        if said + (self.body is not None) + (self.error is not None) > 1:
            raise ValueError("a reply is an answer, a body or an error; write only one of them")
        if self.calls and self.stop in (Stop.REFUSAL, Stop.FILTERED):
            raise ValueError("who refuses calls no tool; leave out stop or the calls")
        return self


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from None
    return text


class ReplyRule(_Part):
    """Replies for requests whose text has a match of `when`, in order; all requests match where there is none.

    The text is that of system prompt, messages, tool calls and tool results, joined by line breaks.
    """

    when: Annotated[str, AfterValidator(_pattern)] | None = None
    replies: tuple[Reply, ...] = Field(min_length=1)
    repeat: bool = Field(default=False, description="the last reply is given again to whoever asks for more")

    def matches(self, text: str) -> bool:
        return self.when is None or re.search(self.when, text) is not None


class Scenario(FileModel):
    """The file of `testwright dev provider`. A request goes to the first rule that matches and has a reply left."""

    rules: tuple[ReplyRule, ...] = Field(min_length=1)
    models: tuple[str, ...] = Field(default=("scripted",), description="what the provider lists as its models")


class ScriptEnded(Exception):
    """No rule has a reply for a request; the message names the scenario."""


class Script:
    """A scenario being played. `name` is what its complaint is to be known by."""

    def __init__(self, scenario: Scenario, name: str) -> None:
        self.scenario = scenario
        self.name = name
        self._served: Counter[int] = Counter()

    def reply_to(self, text: str) -> Reply:
        """Return the reply to a request with this text.

        Raises:
            ScriptEnded: There is none left.
        """
        matching = [(number, rule) for number, rule in enumerate(self.scenario.rules) if rule.matches(text)]
        for number, rule in matching:
            if self._has_more(number, rule):
                reply = rule.replies[min(self._served[number], len(rule.replies) - 1)]
                self._served[number] += 1
                return reply
        why = f"the replies of all {len(matching)} matching rules are used up" if matching else "no rule matches"
        raise ScriptEnded(f"scenario {self.name} has no reply for this request: {why}")

    def _has_more(self, number: int, rule: ReplyRule) -> bool:
        return rule.repeat or self._served[number] < len(rule.replies)
