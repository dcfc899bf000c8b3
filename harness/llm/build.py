"""Makes the model that a name stands for."""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from harness.llm.anthropic_model import AnthropicModel
from harness.llm.credentials import check_provider
from harness.llm.litellm_model import LiteLLMModel
from harness.llm.protocol import FaultObserver, Model, ignore_faults
from harness.llm.rate_limits import Limiter, LimiterService, RateLimiters
from harness.llm.replay import ReplayModel
from harness.llm.scripted import ScriptedModel
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.loading import load_yaml
from harness.specs.model_file import MODEL_NAME, ModelFile
from harness.specs.secrets import declare_secret

FORMS = "PROVIDER/MODEL, a model file's NAME or PATH.yaml, replay:TRAJECTORY.jsonl or scripted:SCRIPT.yaml"
_OWN_CLIENT = "anthropic/"


@dataclass(frozen=True)
class ServedModel:
    """A model that a provider serves, with what it takes to ask it: for whoever speaks to the provider himself.

    `key` is None where the provider's usual variable has it. `limiter` is shared by all who ask this model.
    """

    name: str
    file: ModelFile
    key: str | None = field(repr=False)
    limiter: Limiter


class Models:
    """The models of a run: every trial gets its own, and those of one name keep one rate limit together.

    `limiters` has the rate limits and the clock that times them and retries; None for limits that nobody else shares.
    """

    def __init__(self, catalog: Catalog, limiters: LimiterService | None = None) -> None:
        self._catalog = catalog
        self.limiters: LimiterService = limiters or RateLimiters()

    def build(self, name: str, observe: FaultObserver = ignore_faults) -> Model:
        """For one trial: replayed and scripted ones remember how far they are. Raises UserError.

        `observe` is told of each request to a provider that fails, also of those that are repeated.
        """
        kind, path = recording(name)
        if path and kind == "replay":
            return ReplayModel(path)
        if path:
            return ScriptedModel.from_file(path)
        served = self._served(name)
        model = AnthropicModel if served.file.model.startswith(_OWN_CLIENT) else LiteLLMModel
        return model(name, served.file, served.key, served.limiter, observe)

    def check(self, name: str, native: bool = False) -> None:
        """Whether a model can be asked at all: its file, its provider, its key. Raises UserError.

        `native` says that an agent with a client of its own asks it. May import litellm, which takes seconds.
        """
        if not (native or self.file(name)):
            self.build(name)
            return
        served = self.served(name)
        check_provider(name, served.file, served.key)

    def served(self, name: str) -> ServedModel:
        """For an agent with a client of its own. Raises UserError, also for a model that is replayed or scripted."""
        kind, path = recording(name)
        if path:
            raise UserError(
                f"model {name}: a native agent can't speak to a {kind} model; name one that a provider serves, as "
                "PROVIDER/MODEL or in a model file"
            )
        return self._served(name)

    def _served(self, name: str) -> ServedModel:
        file = self._found(name)
        return ServedModel(name, file, _key(name, file), self.limiters.limiter(name, file.limits))

    def file(self, name: str) -> ModelFile | None:
        """The model file of a name; None for a model that is replayed or scripted. Raises UserError."""
        return None if recording(name)[1] else self._found(name)

    def _found(self, name: str) -> ModelFile:
        """A bare PROVIDER/MODEL is a file without wishes."""
        if name.endswith((".yaml", ".yml")):
            return load_yaml(Path(name), ModelFile)
        if re.fullmatch(MODEL_NAME, name):
            return ModelFile(model=name)
        if name in self._catalog.model_names():
            return self._catalog.model(name)
        raise UserError(self._unknown(name))

    def _unknown(self, name: str) -> str:
        known = ", ".join(self._catalog.model_names()) or "none"
        return f"unknown model {name!r}; name one as {FORMS} (model files here: {known})"


def build_model(name: str, catalog: Catalog | None = None) -> Model:
    """One model that shares no limits with others. Raises UserError."""
    return Models(catalog or Catalog()).build(name)


def recording(name: str) -> tuple[str, Path | None]:
    """`replay` or `scripted` and the file, for a model that is read from one; else no path."""
    kind, separator, path = name.partition(":")
    return (kind, Path(path)) if separator and path and kind in ("replay", "scripted") else ("", None)


def _key(name: str, file: ModelFile) -> str | None:
    """None leaves it to the provider's usual variable."""
    if file.api_key_env is None:
        return None
    declare_secret(file.api_key_env)
    key = os.environ.get(file.api_key_env)
    if not key:
        raise UserError(f"model {name}: its api_key_env {file.api_key_env} is not set; export it or put it into .env")
    return key
