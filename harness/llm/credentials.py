"""Whether a model's provider exists and its key is there, before anything is asked."""

import difflib
import os

from harness.llm.price_table import load_litellm
from harness.specs.errors import UserError
from harness.specs.model_file import ModelFile

_VARIABLES = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    "openai": ("OPENAI_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
}
"""Of providers about which litellm, whose import takes seconds, needn't be asked: one of them has the key."""
_ALSO = {
    "cohere": ("CO_API_KEY",),
    "cohere_chat": ("CO_API_KEY",),
    "huggingface": ("HF_TOKEN",),
    "replicate": ("REPLICATE_API_TOKEN",),
}
"""Variables that a provider's client reads beside the one that litellm names."""


def check_provider(name: str, file: ModelFile, key: str | None) -> None:
    """Raises UserError for a provider that nobody knows, and for a key that isn't set.

    `key` is the one that the model's file names, None where it names none. May import litellm, which takes seconds.
    """
    _check_known(name, file)
    if key is None and (missing := missing_keys(file)):
        remedy = "export it or put it into .env, or name a variable of your own as api_key_env in a model file"
        raise UserError(f"model {name}: there is no key: {missing[0]} is not set; {remedy}")


def missing_keys(file: ModelFile) -> tuple[str, ...]:
    """The provider's usual variables for a key, where none of them is set. Empty where one is, or none is needed.

    Providers whose credentials can lie elsewhere (AWS, Google Cloud, Azure) are taken to have them.
    """
    provider = _provider(file)
    if variables := _VARIABLES.get(provider):
        return () if any(map(os.environ.get, variables)) else variables
    if any(map(os.environ.get, _ALSO.get(provider, ()))):
        return ()
    litellm = load_litellm()
    missing = tuple(litellm.validate_environment(file.model)["missing_keys"])
    if not missing or not all(variable.endswith("_API_KEY") for variable in missing):
        return ()
    _, _, key, _ = litellm.get_llm_provider(model=file.model, api_base=file.api_base)
    return () if key else missing


def _provider(file: ModelFile) -> str:
    return file.model.partition("/")[0]


def _check_known(name: str, file: ModelFile) -> None:
    provider = _provider(file)
    if provider in _VARIABLES:
        return
    known = sorted(str(getattr(each, "value", each)) for each in load_litellm().provider_list)
    if provider not in known:
        close = difflib.get_close_matches(provider, known, n=1)
        hint = f"did you mean '{close[0]}/...'?" if close else "docs/models.md names the forms"
        raise UserError(f"model {name}: unknown provider {provider!r}; {hint}")
