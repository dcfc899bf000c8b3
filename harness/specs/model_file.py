"""Model files: a model by name, with where it is served, how it is asked and what it costs; and its short name."""

import hashlib
import json
from collections.abc import Iterable
from enum import StrEnum
from pathlib import PurePath
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field

from harness.specs.usage import Usage
from harness.specs.yaml_files import FileModel

MODEL_NAME = r"[a-z0-9_.-]+/\S+"
"""PROVIDER/MODEL, as litellm names it."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Effort(StrEnum):
    """Efforts of a reasoning model."""

    NONE = "none"
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"
    MAX = "max"


class Prices(_Part):
    """USD per million tokens. A cached token costs what an input token does where nothing else is said."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cache_read: float | None = Field(default=None, ge=0)
    cache_write: float | None = Field(default=None, ge=0)

    def cost(self, usage: Usage) -> float:
        """Return the cost in USD of some tokens.

        `usage.input` counts cached tokens too: those that were read or written are taken out of it first.
        """
        read = self.input if self.cache_read is None else self.cache_read
        write = self.input if self.cache_write is None else self.cache_write
        plain = usage.input - usage.cache_read - usage.cache_write
        tokens = plain * self.input + usage.cache_read * read + usage.cache_write * write + usage.output * self.output
        return tokens / 1_000_000


class Retries(_Part):
    """Requests in all for one answer, and the bounds in seconds of the growing random wait between them."""

    attempts: int = Field(default=6, ge=1, le=50)
    first_wait: float = Field(default=2, ge=0)
    longest_wait: float = Field(default=60, ge=0)


class RateLimits(_Part):
    """Rate limits that all trials of a run keep to together."""

    requests_per_minute: int | None = Field(default=None, ge=1)
    tokens_per_minute: int | None = Field(default=None, ge=1)
    concurrent_requests: int | None = Field(default=None, ge=1)


class ModelFile(FileModel):
    """`models/NAME.yaml`. What isn't said is left to the provider."""

    model: str = Field(pattern=f"^{MODEL_NAME}$")
    title: str = ""
    api_base: str | None = Field(default=None, pattern=r"^https?://[^/\s]+\S*$")
    api_key_env: str | None = Field(
        default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", description="name of the environment variable with the key"
    )
    temperature: float | None = Field(default=None, ge=0, le=2)
    effort: Effort | None = None
    max_tokens: int | None = Field(default=None, ge=1, description="of one answer")
    tools: bool | None = Field(default=None, description="false: commands as text; null: what litellm's table says")
    prices: Prices | None = None
    request_seconds: float = Field(default=600, gt=0, description="until one request must be answered")
    total_seconds: float = Field(default=1800, gt=0, description="the same with all repetitions and their waits")
    retries: Retries = Retries()
    limits: RateLimits = RateLimits()

    @property
    def digest(self) -> str:
        """sha256 over all settings that can change an answer.

        Of `api_base` the port is left out, since a server of one's own gets another one at each start; keys, prices,
        deadlines, retries and limits decide when and whether an answer comes, not which.
        """
        parts: dict[str, Any] = {
            "model": self.model,
            "served_at": _place(self.api_base),
            "temperature": self.temperature,
            "effort": self.effort,
            "max_tokens": self.max_tokens,
            "tools": self.tools,
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _place(api_base: str | None) -> str | None:
    if api_base is None:
        return None
    parts = urlsplit(api_base)
    return f"{parts.hostname}{parts.path.rstrip('/')}"


def called(model: str) -> str:
    """Return a model's short name: its provider's name for it, and for a file the file's name without its path.

    `replay:runs/a/trajectory.jsonl` is `replay:trajectory`, `settings/small.yaml` is `small`.
    """
    kind, separator, place = model.partition(":")
    if separator and kind in ("replay", "scripted"):
        return f"{kind}:{PurePath(place).stem or place}"
    is_file = model.endswith((".yaml", ".yml"))
    return PurePath(model).stem if is_file else model


def called_apart(models: Iterable[str]) -> dict[str, str]:
    """Return model -> short name; the whole name where two of these models would be called alike."""
    names = {model: called(model) for model in dict.fromkeys(models)}
    counts = list(names.values())
    return {model: model if counts.count(name) > 1 else name for model, name in names.items()}
