"""Makes the model that a name stands for, and checks that its provider exists and its key is there."""

import difflib
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from harness.models.anthropic_model import AnthropicModel
from harness.models.keys import ALSO_READ, KEY_VARIABLES
from harness.models.litellm_model import LiteLLMModel
from harness.models.price_table import load_litellm
from harness.models.protocol import FaultObserver, Model, ignore_faults
from harness.models.rate_limits import Limiter, LimiterService, RateLimiters
from harness.models.replay import ReplayModel, ScriptedModel
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.model_file import MODEL_NAME, ModelFile
from harness.specs.secrets import declare_secret
from harness.specs.yaml_files import load_yaml


def check_provider(name: str, file: ModelFile, key: str | None) -> None:
    """Check that a model's provider is known and its key set. May import litellm, which takes seconds.

    Args:
        name: The model's, with its provider.
        file: Its settings.
        key: The key that the model's file names; None where it names none.

    Raises:
        UserError: Nobody knows the provider, or the key isn't set.
    """
    check_known(name, file)
    if key is None and (missing := missing_keys(file)):
        remedy = "export it or put it into .env, or name a variable of your own as api_key_env in a model file"
        raise UserError(f"model {name}: there is no key: {missing[0]} is not set; {remedy}")


def missing_keys(file: ModelFile) -> tuple[str, ...]:
    """Return the provider's usual variables for a key, where none of them is set.

    Empty where one is, or none is needed.

    Providers whose credentials can lie elsewhere (AWS, Google Cloud, Azure) are taken to have them.
    """
    provider = _provider(file)
    if variables := KEY_VARIABLES.get(provider):
        return () if any(map(os.environ.get, variables)) else variables
    if any(map(os.environ.get, ALSO_READ.get(provider, ()))):
        return ()
    litellm = load_litellm()
    missing = tuple(litellm.validate_environment(file.model)["missing_keys"])
    if not missing or not all(variable.endswith("_API_KEY") for variable in missing):
        return ()
    _, _, key, _ = litellm.get_llm_provider(model=file.model, api_base=file.api_base)
    return () if key else missing


def _provider(file: ModelFile) -> str:
    return file.model.partition("/")[0]


def check_known(name: str, file: ModelFile) -> None:
    """Check that a model's provider is known. May import litellm, which takes seconds.

    Raises:
        UserError: Nobody knows it.
    """
    provider = _provider(file)
    if provider in KEY_VARIABLES:
        return
    known = sorted(str(getattr(each, "value", each)) for each in load_litellm().provider_list)
    if provider not in known:
        close = difflib.get_close_matches(provider, known, n=1)
        hint = f"did you mean '{close[0]}/...'?" if close else "docs/models.md names the forms"
        raise UserError(f"model {name}: unknown provider {provider!r}; {hint}")


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

    def client(self, observe: FaultObserver = ignore_faults) -> Model:
        """Return a client of our own, which repeats requests as the model's file says."""
        model = AnthropicModel if self.file.model.startswith(_OWN_CLIENT) else LiteLLMModel
        return model(self.name, self.file, self.key, self.limiter, observe)


class Models:
    """The models of a run: every trial gets its own, and those of one name keep one rate limit together.

    `limiters` has the rate limits and the clock that times them and retries; None for limits that nobody else shares.
    """

    def __init__(self, catalog: Catalog, limiters: LimiterService | None = None) -> None:
        self._catalog = catalog
        self.limiters: LimiterService = limiters or RateLimiters()

    def build(self, name: str, observe: FaultObserver = ignore_faults) -> Model:
        """Return a model for one trial: replayed and scripted ones remember how far they are.

        Args:
            name: PROVIDER/MODEL, a model file's name, or what is replayed or scripted.
            observe: Told of each request to a provider that fails, also of those that are repeated.

        Raises:
            UserError: There is no such model, or its key isn't set.
        """
        kind, path = recording(name)
        if path and kind == "replay":
            return ReplayModel(path)
        if path:
            return ScriptedModel.from_file(path)
        return self._served(name).client(observe)

    def check(self, name: str, native: bool = False) -> None:
        """Check that a model can be asked at all: its file, its provider, its key.

        May import litellm, which takes seconds.

        Args:
            name: The model's.
            native: Whether an agent with a client of its own asks it.

        Raises:
            UserError: It can't be asked.
        """
        if not (native or self.file(name)):
            self.build(name)
            return
        served = self.served(name)
        check_provider(name, served.file, served.key)

    def served(self, name: str) -> ServedModel:
        """Return what an agent with a client of its own needs to be served this model.

        Raises:
            UserError: There is no such model, or it is replayed or scripted.
        """
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
        """Return the model file of a name; None for a model that is replayed or scripted.

        Raises:
            UserError: It is absent or wrong.
        """
        return None if recording(name)[1] else self._found(name)

    def _found(self, name: str) -> ModelFile:
        """Return the file of a name; that of a bare PROVIDER/MODEL has no settings."""
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


def recording(name: str) -> tuple[str, Path | None]:
    """Return `replay` or `scripted` and the file, for a model that is read from one; else no path."""
    kind, separator, path = name.partition(":")
    return (kind, Path(path)) if separator and path and kind in ("replay", "scripted") else ("", None)


def _key(name: str, file: ModelFile) -> str | None:
    """Return the key that the model's file names; None leaves it to the provider's usual variable."""
    if file.api_key_env is None:
        return None
    declare_secret(file.api_key_env)
    key = os.environ.get(file.api_key_env)
    if not key:
        raise UserError(f"model {name}: its api_key_env {file.api_key_env} is not set; export it or put it into .env")
    return key
