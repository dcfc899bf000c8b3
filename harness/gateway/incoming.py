"""A request of an agent, as it came."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.gateway.dialects.protocol import Dialect, Json


@dataclass(frozen=True)
class Incoming:
    """A request as an agent sent it. `model` is the name it asks for; `method` is what Google is asked to do."""

    dialect: Dialect
    path: str
    model: str
    streaming: bool
    raw: bytes
    body: Json
    headers: Mapping[str, str]
    query: Mapping[str, str] = field(default_factory=dict)
    method: str = ""
