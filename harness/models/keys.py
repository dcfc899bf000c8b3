"""Variables of the environment that have providers' keys."""

import re

KEY_VARIABLES = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    "openai": ("OPENAI_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
}
"""Variables of providers about which litellm, whose import takes seconds, needn't be asked: one has the key."""
ALSO_READ = {
    "cohere": ("CO_API_KEY",),
    "cohere_chat": ("CO_API_KEY",),
    "huggingface": ("HF_TOKEN",),
    "replicate": ("REPLICATE_API_TOKEN",),
}
"""Variables that a provider's client reads beside the one that litellm names."""
BEARER = frozenset({"ANTHROPIC_AUTH_TOKEN"})
"""Variables whose value is sent as `Authorization: Bearer`, whatever header the provider's keys have."""
_OTHERS = {name for table in (KEY_VARIABLES, ALSO_READ) for names in table.values() for name in names}
_KEY = re.compile(r"[A-Z0-9_]+_API_KEY")


def is_key(variable: str) -> bool:
    """Return whether a variable has a key by its name."""
    return _KEY.fullmatch(variable) is not None or variable in _OTHERS
