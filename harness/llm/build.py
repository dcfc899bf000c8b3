"""From a model's name to the model."""

import re
from pathlib import Path

from harness.llm.litellm_model import LiteLLMModel
from harness.llm.protocol import Model
from harness.llm.replay import ReplayModel
from harness.llm.scripted import ScriptedModel
from harness.specs.errors import UserError

FORMS = "PROVIDER/MODEL, replay:TRAJECTORY.jsonl or scripted:SCRIPT.yaml"


def build_model(name: str) -> Model:
    """A model for one trial: replayed and scripted ones remember how far they are. Raises UserError."""
    kind, separator, path = name.partition(":")
    if separator and path:
        if kind == "replay":
            return ReplayModel(Path(path))
        if kind == "scripted":
            return ScriptedModel.from_file(Path(path))
    if re.fullmatch(r"[a-z0-9_.-]+/\S+", name):
        return LiteLLMModel(name)
    raise UserError(f"unknown model {name!r}; name one as {FORMS}")
