"""A call to a provider that has another dialect: as chat completions, which litellm speaks for all of them."""

import asyncio
import re
from collections.abc import Sequence
from typing import Any

from harness.models.build import ServedModel
from harness.models.faults import Fault
from harness.models.gateway.dialects.openai_chat import OpenAIChat
from harness.models.gateway.dialects.protocol import Dialect, Json, ModelAnswer
from harness.models.gateway.passing import Settle
from harness.models.gateway.transport import EVENTS, KEEP_ALIVE, Downstream
from harness.models.litellm_model import fault_of
from harness.models.price_table import litellm_module
from harness.specs.errors import ProviderFault
from harness.specs.usage import Usage

_MARKED = re.compile(r"claude|anthropic")
_MARK = {"cache_control": {"type": "ephemeral"}}
_PATIENCE = 45.0
"""Seconds until a stream begins before its answer is there: clients give up on one that says nothing."""
_BETWEEN = 15.0


async def translate(
    served: ServedModel,
    dialect: Dialect,
    body: Json,
    streaming: bool,
    down: Downstream,
    number: int,
    settle: Settle,
) -> None:
    """Ask, and answer the agent in its dialect.

    The answer comes in one piece: until then a stream has comments in it.

    Raises:
        RefusedRequest: The request can't be translated; the agent has no answer then.
        Fault: The provider failed; the agent has no answer then.
    """
    chat = dialect.chat(body)
    OpenAIChat().wish(chat, served.file)
    asking = asyncio.create_task(_ask(served, chat))
    try:
        await asyncio.wait({asking}, timeout=_PATIENCE)
        if streaming and not asking.done():
            await down.begin(200, EVENTS)
            while not asking.done():
                await down.write(KEEP_ALIVE)
                await asyncio.wait({asking}, timeout=_BETWEEN)
        whole = await asking
    finally:
        asking.cancel()
    counted, told = _told(dialect, whole, body, served.name, number)
    said = dialect.answer(told)
    await settle(ModelAnswer(said.message, counted.stop, counted.usage, counted.said_usd, said.ids))
    if not streaming:
        await down.json(200, told)
    else:
        if not down.status:
            await down.begin(200, EVENTS)
        for event in dialect.events(told, body):
            await down.write(event)
        await down.end()


def _told(dialect: Dialect, whole: Json, body: Json, model: str, number: int) -> tuple[ModelAnswer, Json]:
    try:
        return OpenAIChat().answer(whole), dialect.told(whole, body, model, number)
    except ValueError as error:
        raise Fault(ProviderFault.MALFORMED, str(error), usage=Usage(calls=1, cost_usd=None)) from None


async def _ask(served: ServedModel, chat: Json) -> Json:
    litellm = await litellm_module()
    file = served.file
    if _MARKED.search(file.model):
        chat = chat | {"messages": _marked(chat["messages"])}
    try:
        response = await litellm.acompletion(
            **_within(litellm, file.model, chat),
            model=file.model,
            api_base=file.api_base,
            api_key=served.key,
            timeout=file.request_seconds,
            # The agent repeats a request that failed.
            num_retries=0,
            max_retries=0,
            # What this model doesn't have is left out: the agent can't know.
            drop_params=True,
            # As in litellm_model.py.
            _skip_mcp_handler=True,
        )
    except tuple(litellm.exceptions.LITELLM_EXCEPTION_TYPES) as error:
        raise fault_of(litellm, error) from None
    except Exception as error:
        # litellm takes a request for what it should be: one that it can't make sense of is its agent's.
        raise Fault(ProviderFault.BAD_REQUEST, f"not understood: {type(error).__name__}: {error}") from None
    whole: Json = response.model_dump(warnings=False)
    return whole


def _within(litellm: Any, model: str, chat: Json) -> Json:
    """Lower the most tokens to what the model can give: agents ask for what their vendor's model gives."""
    entry = litellm.model_cost.get(model) or litellm.model_cost.get(model.partition("/")[2]) or {}
    most = entry.get("max_output_tokens")
    if not isinstance(most, int):
        return chat
    limits = ("max_tokens", "max_completion_tokens")
    return chat | {key: min(chat[key], most) for key in limits if isinstance(chat.get(key), int)}


def _marked(messages: Sequence[Json]) -> list[Json]:
    """Mark what to cache, as our own agent does: the prompt, the end, and the end one step before."""
    ends = [index for index, message in enumerate(messages) if message.get("role") in ("user", "tool")]
    system = [index for index, message in enumerate(messages) if message.get("role") == "system"]
    marks = {*system[-1:], *ends[-1:], *_before_last_answer(messages, ends)}
    return [_with_mark(message) if index in marks else message for index, message in enumerate(messages)]


def _before_last_answer(messages: Sequence[Json], ends: Sequence[int]) -> list[int]:
    answers = [index for index, message in enumerate(messages) if message.get("role") == "assistant"]
    return [index for index in ends if answers and index < answers[-1]][-1:]


def _with_mark(message: Json) -> Json:
    content = message.get("content")
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if not isinstance(parts, list) or not parts or not isinstance(parts[-1], dict):
        return message
    return {**message, "content": [*parts[:-1], {**parts[-1], **_MARK}]}
