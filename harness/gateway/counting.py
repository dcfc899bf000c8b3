"""Tokens of a request, counted for an agent that asks: by the provider where it can, else about."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import aiohttp

from harness.gateway.access import GatewayAccess
from harness.gateway.dialects.protocol import Dialect, DialectName, Json
from harness.gateway.headers import sent_on
from harness.gateway.upstream import upstream_of
from harness.gateway.withholding import RefusedRequest, Withheld
from harness.llm.faults import Fault
from harness.llm.price_table import litellm_module

_SECONDS = 30.0
_METHODS = {DialectName.MESSAGES: "/count_tokens", DialectName.GOOGLE: "countTokens"}


async def count_tokens(
    http: aiohttp.ClientSession, access: GatewayAccess, dialect: Dialect, body: Json, headers: Mapping[str, str]
) -> Json:
    """Costs nothing and is no step. Where the provider can't be asked, or fails, the count is an estimate."""
    asked = dialect.asked(body)
    with suppress(RefusedRequest):
        dialect.withhold(body, Withheld(access.known_ids))
    said = None
    with suppress(Fault, aiohttp.ClientError, TimeoutError, ValueError):
        async with asyncio.timeout(_SECONDS):
            said = await _counted(http, access, dialect, body, headers)
    if said is not None:
        return said
    texts = [asked.system, *(f"{message.content} {message.tool_calls}" for message in asked.messages)]
    count = await _about("\n".join(texts) + json.dumps(body.get("tools") or ""))
    return {"totalTokens": count} if dialect.name is DialectName.GOOGLE else {"input_tokens": count}


async def _counted(
    http: aiohttp.ClientSession, access: GatewayAccess, dialect: Dialect, body: Json, headers: Mapping[str, str]
) -> Json | None:
    upstream = await asyncio.to_thread(upstream_of, access.served)
    if dialect.name not in upstream.dialects:
        return None
    if "model" in body:
        body["model"] = upstream.model
    url = upstream.url(dialect.name, _METHODS[dialect.name])
    sent = sent_on(headers, upstream.headers)
    async with http.post(url, data=json.dumps(body), headers=sent, allow_redirects=False) as answer:
        said: Any = await answer.json(content_type=None) if answer.status == 200 else None
    return said if isinstance(said, dict) else None


async def _about(text: str) -> int:
    litellm = await litellm_module()
    return int(await asyncio.to_thread(litellm.token_counter, model="", text=text))
