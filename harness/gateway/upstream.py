"""Where a model's provider is, which dialects it has, and how the key is sent to it."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness.gateway.dialects.protocol import DialectName
from harness.llm.build import ServedModel
from harness.llm.faults import no_key
from harness.llm.price_table import load_litellm

_CHAT, _RESPONSES = "/chat/completions", "/responses"
_PATHS = {DialectName.CHAT: _CHAT, DialectName.RESPONSES: _RESPONSES, DialectName.MESSAGES: "/v1/messages"}


@dataclass(frozen=True)
class Upstream:
    """`dialects` is empty where litellm has to translate. `model` is the provider's own name of the model."""

    model: str
    dialects: frozenset[DialectName] = frozenset()
    base: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def url(self, dialect: DialectName, method: str = "") -> str:
        """Of a dialect's calls. `method` follows the path of messages, or is what Google is to do with the model."""
        if dialect is DialectName.GOOGLE:
            return f"{self.base}/models/{self.model}:{method}"
        return f"{self.base}{_PATHS[dialect]}{method}"


@dataclass(frozen=True)
class _Vendor:
    base: str
    base_variables: tuple[str, ...]
    key_variables: tuple[str, ...]
    key_header: str
    dialects: frozenset[DialectName]


_VENDORS = {
    "anthropic": _Vendor(
        "https://api.anthropic.com",
        ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE"),
        ("ANTHROPIC_API_KEY",),
        "x-api-key",
        frozenset({DialectName.MESSAGES}),
    ),
    "openai": _Vendor(
        "https://api.openai.com/v1",
        ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
        ("OPENAI_API_KEY",),
        "authorization",
        frozenset({DialectName.CHAT, DialectName.RESPONSES}),
    ),
    "openrouter": _Vendor(
        "https://openrouter.ai/api/v1",
        ("OPENROUTER_API_BASE",),
        ("OPENROUTER_API_KEY",),
        "authorization",
        frozenset({DialectName.CHAT}),
    ),
    "gemini": _Vendor(
        "https://generativelanguage.googleapis.com/v1beta",
        ("GEMINI_API_BASE",),
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        "x-goog-api-key",
        frozenset({DialectName.GOOGLE}),
    ),
}
_COMPATIBLE = frozenset(
    {"dashscope", "deepseek", "fireworks_ai", "groq", "hosted_vllm", "lm_studio", "moonshot", "together_ai", "xai"}
)
"""Providers that speak chat completions as OpenAI does."""


def upstream_of(served: ServedModel) -> Upstream:
    """May import litellm, which takes seconds. Raises Fault where there is no key."""
    provider, _, model = served.file.model.partition("/")
    if vendor := _VENDORS.get(provider):
        base = served.file.api_base or _first(vendor.base_variables) or vendor.base
        key = served.key or _first(vendor.key_variables)
        if not key:
            raise no_key(f"set {' or '.join(vendor.key_variables)}, or api_key_env in a model file")
        return Upstream(model, vendor.dialects, base.rstrip("/"), _key_header(vendor.key_header, key))
    return _compatible(served) if provider in _COMPATIBLE else Upstream(model)


def _compatible(served: ServedModel) -> Upstream:
    """Of a provider that speaks chat completions at an address that litellm knows, or that the model's file names."""
    model, _, key, base = load_litellm().get_llm_provider(
        model=served.file.model, api_base=served.file.api_base, api_key=served.key
    )
    key = served.key or key
    headers = _key_header("authorization", key) if key else {}
    return Upstream(model, frozenset({DialectName.CHAT}), base.rstrip("/"), headers)


def _key_header(name: str, key: str) -> dict[str, str]:
    return {name: f"Bearer {key}" if name == "authorization" else key}


def _first(variables: Sequence[str]) -> str | None:
    return next((value for name in variables if (value := os.environ.get(name))), None)
