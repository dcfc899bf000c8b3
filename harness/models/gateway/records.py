"""Records of the gateway beside messages."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from harness.models.replay import MessageRecord, now
from harness.specs.usage import Usage


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    time: datetime = Field(default_factory=now)


class PromptRecord(_Record):
    """A system prompt that was really sent, and the tools offered with it: once for each that is different.

    The prompt's text is the message before it, of the role `system`, for the first three of a conversation: some
    agents change a line of it with each call. `sha256` is of the text's UTF-8, `chars` its length, `tools_sha256` of
    the tools' definitions as sorted JSON; both are empty where there is none.
    """

    kind: Literal["prompt"] = "prompt"
    step: int
    conversation: str = ""
    sha256: str
    chars: int
    tools: tuple[str, ...] = ()
    tools_sha256: str = ""


class GatewayRecord(_Record):
    """A native agent's calls in numbers. `withheld` counts by kind what would leave the sandbox.

    `models` are the names that calls asked for; all of them went to the trial's one model. `unknown` are requests to
    paths that the gateway doesn't have: telemetry, sign-in, feature flags. `prompts` are different system prompts.
    """

    kind: Literal["gateway"] = "gateway"
    dialects: dict[str, int] = Field(default_factory=dict)
    models: dict[str, int] = Field(default_factory=dict)
    withheld: dict[str, int] = Field(default_factory=dict)
    unknown: dict[str, int] = Field(default_factory=dict)
    conversations: int = 0
    prompts: int = 0
    translated: bool = False


class CallRecord(_Record):
    """A line of `calls.jsonl`: one request of an agent. Sizes are in bytes, `seconds` from its beginning to its end.

    `status` is what the agent got. `step` is the number of the answer; 0 where there is none.
    """

    step: int = 0
    conversation: str = ""
    dialect: str
    path: str
    model: str
    stream: bool
    status: int
    seconds: float
    request_bytes: int
    usage: Usage | None = None
    fault: str = ""
    withheld: dict[str, int] = Field(default_factory=dict)


GatewayRecords = MessageRecord | PromptRecord | GatewayRecord
