"""Replies of the scripted provider as plain data, for its dialects, where no package but pytest is installed."""

import json
import threading
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from harness.plugins.scripted_provider.failures import ErrorKind


class Stop(StrEnum):
    LENGTH = "length"
    REFUSAL = "refusal"
    FILTERED = "filtered"


class ScriptedFault(StrEnum):
    HANG = "hang"
    STALL = "stall"
    DROP_MIDWAY = "drop-midway"
    TRUNCATED = "truncated"


@dataclass(frozen=True)
class Failure:
    kind: ErrorKind
    message: "str | None" = None
    retry_after: "float | None" = None


@dataclass(frozen=True)
class Call:
    name: str
    arguments: "dict[str, Any] | str" = field(default_factory=dict)

    @property
    def text(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


@dataclass(frozen=True)
class Tokens:
    input: int = 100
    output: int = 20
    reasoning: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost_usd: "float | None" = None


@dataclass(frozen=True)
class Reply:
    """See the scenario's. `arrived` is set once the request is there; half of an answer comes before `gate` opens."""

    text: str = ""
    thinking: str = ""
    tool_calls: "tuple[Call, ...]" = ()
    stop: "Stop | None" = None
    usage: "Tokens | None" = Tokens()
    fault: "ScriptedFault | None" = None
    body: "str | None" = None
    error: "Failure | None" = None
    arrived: "threading.Event | None" = None
    gate: "threading.Event | None" = None

    @property
    def calls(self) -> "tuple[Call, ...]":
        return self.tool_calls
