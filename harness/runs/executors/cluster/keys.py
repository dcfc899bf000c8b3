"""Which keys of this machine's environment a cluster's nodes get. They travel in memory, as a call's argument."""

import os
import re
from collections.abc import Mapping

from harness.llm.build import Models
from harness.runs.plan import RunConfig
from harness.specs.errors import UserError

NODE_KEYS = "TESTWRIGHT_NODE_KEYS"
"""More variables, separated by commas."""
_USUAL = re.compile(r"[A-Z0-9_]+_API_KEY|SWEREX_AUTH_TOKEN")


def usual_keys(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Name -> value of what goes by a usual name, and of what is asked for.

    Raises UserError for a variable that is asked for and isn't set.
    """
    asked = [name.strip() for name in environment.get(NODE_KEYS, "").split(",") if name.strip()]
    if missing := [name for name in asked if not environment.get(name)]:
        raise UserError(f"{NODE_KEYS} names {missing[0]}, which is not set; export it or put it into .env")
    names = (*filter(_USUAL.fullmatch, environment), *asked)
    return {name: environment[name] for name in names if environment[name]}


def model_keys(config: RunConfig, models: Models, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Those that the model files of a run name. Raises UserError."""
    named = (*config.models, *((config.judge,) if config.judge else ()))
    own = [file.api_key_env for name in named if (file := models.file(name)) and file.api_key_env]
    return {name: environment[name] for name in own if environment.get(name)}
