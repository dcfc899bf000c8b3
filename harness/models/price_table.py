"""Prices and abilities of models, by litellm's table. The table has no date, so litellm's version identifies it."""

import asyncio
import os
import warnings
from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import Any

from harness.specs.model_file import ModelFile
from harness.specs.usage import Usage

PROVIDER = "provider"
MODEL_FILE = "model file"
_TELLING = ("openrouter/",)
"""Providers whose every answer says what it cost."""


@cache
def load_litellm() -> Any:
    """Import litellm, which takes seconds; nothing of it may go to the network or the terminal."""
    # Without it the import fetches a price table from the network and waits when there is none.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    # Else it reads a .env of its own choice: whichever lies above its installation.
    os.environ["LITELLM_MODE"] = "PRODUCTION"
    import litellm

    # Two models whose first calls come at once would import what both clients share in two threads, and one of them
    # would see it half made.
    import_module("anthropic")
    import_module("openai")

    # Its types make pydantic warn, into the terminal of somebody who can do nothing about it.
    warnings.filterwarnings("ignore", category=UserWarning, module=r"pydantic\b")
    litellm.suppress_debug_info = True
    return litellm


async def litellm_module() -> Any:
    """Return litellm, imported when it is first asked for."""
    return await asyncio.to_thread(load_litellm)


def priced(file: ModelFile, usage: Usage, said: float | None = None) -> Usage:
    """Return `usage` with its cost: the provider's, else by the file's prices, else by the table, else unknown."""
    if said is not None:
        return usage.model_copy(update={"cost_usd": said, "priced_by": (PROVIDER,)})
    if usage.input + usage.output == 0:
        return usage.model_copy(update={"cost_usd": None})
    if file.prices:
        return usage.model_copy(update={"cost_usd": file.prices.cost(usage), "priced_by": (MODEL_FILE,)})
    cost = _by_table(file.model, usage)
    by = (f"litellm {version('litellm')}",) if cost is not None else ()
    return usage.model_copy(update={"cost_usd": cost, "priced_by": by})


def has_price(file: ModelFile) -> bool:
    """Return whether the cost of every call will be known."""
    if file.prices or file.model.startswith(_TELLING):
        return True
    return _by_table(file.model, Usage(input=1_000, output=1_000)) is not None


def knows_tools(model: str) -> bool | None:
    """Return whether a model calls tools; None for one that the table doesn't have."""
    litellm = load_litellm()
    if _entry(model) is None:
        return None
    return bool(litellm.supports_function_calling(model))


def thinks_adaptively(model: str) -> bool:
    """Return whether a model decides itself how much it thinks."""
    return bool((_entry(model) or {}).get("supports_adaptive_thinking"))


def _entry(model: str) -> Any:
    table = load_litellm().model_cost
    return table.get(model) or table.get(model.partition("/")[2])


def _by_table(model: str, usage: Usage) -> float | None:
    """Return USD; None for a model that the table doesn't have, or has without a price, where it says 0."""
    litellm = load_litellm()
    try:
        costs = litellm.cost_per_token(model=model, usage_object=_litellm_usage(litellm, usage))
    except Exception:  # litellm raises a bare Exception for a model that its table doesn't have
        return None
    return float(sum(costs)) or None


def _litellm_usage(litellm: Any, usage: Usage) -> Any:
    return litellm.Usage(
        prompt_tokens=usage.input,
        completion_tokens=usage.output,
        total_tokens=usage.input + usage.output,
        reasoning_tokens=usage.reasoning or None,
        cache_read_input_tokens=usage.cache_read,
        cache_creation_input_tokens=usage.cache_write,
        prompt_tokens_details={
            "cached_tokens": usage.cache_read,
            "cache_creation_tokens": usage.cache_write,
        },
    )
