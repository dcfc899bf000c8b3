"""A gateway before the scripted provider, as tests start it, and requests in each dialect."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from harness.models.allowance import Allowance, Spending
from harness.models.build import ServedModel
from harness.models.gateway.access import GatewayAccess
from harness.models.gateway.dialects.protocol import DialectName
from harness.models.gateway.records import GatewayRecord, GatewayRecords, PromptRecord
from harness.models.gateway.server import GatewayServer, serve_gateway
from harness.models.protocol import FailedRequest, Message, MessageRole
from harness.models.rate_limits import SYSTEM_CLOCK, Clock, RateLimiter
from harness.models.replay import MessageRecord
from harness.plugins.scripted_provider.server import Provider
from harness.specs.model_file import ModelFile, Retries
from harness.specs.task import TaskLimits
from tests.support.vendor_clients import Client, Heard, chat, messages, responses

KEY = "sk-honeytoken-0123456789"
GENEROUS = TaskLimits(steps=100, wall_seconds=1000, cost_usd=100)
OPENAI, ANTHROPIC, GEMINI = "openai/unheard-of", "anthropic/unheard-of", "gemini/unheard-of"
PRICES = {"input": 10, "output": 100}
NATIVE = {
    DialectName.CHAT: OPENAI,
    DialectName.RESPONSES: OPENAI,
    DialectName.MESSAGES: ANTHROPIC,
    DialectName.GOOGLE: GEMINI,
}
_BASES = {"openai": "/v1", "anthropic": "", "gemini": "/v1beta"}


def served_by(
    provider: Provider,
    name: str,
    clock: Clock = SYSTEM_CLOCK,
    attempts: int = 3,
    key: str | None = KEY,
    **wishes: Any,
) -> ServedModel:
    """A model at the scripted provider; `wishes` are keys of its file."""
    retries = Retries(attempts=attempts, first_wait=0, longest_wait=0)
    base = provider.url + _BASES[name.partition("/")[0]]
    told = {"model": name, "api_base": base, "retries": retries, "prices": PRICES, **wishes}
    file = ModelFile.model_validate(told)
    return ServedModel(name, file, key, RateLimiter(file.limits, clock=clock))


@dataclass
class Trial:
    """An agent's side of a gateway, and what has been recorded."""

    gateway: GatewayServer
    access: GatewayAccess
    allowance: Allowance
    records: list[GatewayRecords]
    failed: list[FailedRequest]

    def url(self, dialect: DialectName) -> str:
        return self.access.base_url(dialect, self.gateway.url)

    @property
    def messages(self) -> list[tuple[str, MessageRole, str]]:
        found = [record for record in self.records if isinstance(record, MessageRecord)]
        return [(record.conversation, record.message.role, record.message.content) for record in found]

    @property
    def answers(self) -> list[MessageRecord]:
        return [record for record in self.records if isinstance(record, MessageRecord) and record.usage]

    @property
    def prompts(self) -> list[PromptRecord]:
        return [record for record in self.records if isinstance(record, PromptRecord)]

    @property
    def summary(self) -> GatewayRecord:
        last = self.records[-1]
        assert isinstance(last, GatewayRecord)
        return last


@asynccontextmanager
async def opened(
    provider: Provider,
    name: str,
    task_limits: TaskLimits = GENEROUS,
    within: Spending | None = None,
    calls: Path | None = None,
    clock: Clock = SYSTEM_CLOCK,
    **wishes: Any,
) -> AsyncIterator[Trial]:
    allowance = Allowance(task_limits, within, clock)
    records: list[GatewayRecords] = []
    failed: list[FailedRequest] = []
    async with serve_gateway(port=0) as gateway:
        served = served_by(provider, name, clock, **wishes)
        with allowance.observed_by(failed.append):
            async with gateway.open(served, allowance, records.append, calls) as access:
                yield Trial(gateway, access, allowance, records, failed)


@dataclass(frozen=True)
class Got:
    status: int
    body: bytes
    headers: dict[str, str]

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[Any]:
        lines = [line for line in self.body.decode().splitlines() if line.startswith("data: {")]
        return [json.loads(line.removeprefix("data: ")) for line in lines]


async def post(
    url: str, body: Any, key: str, headers: dict[str, str] | None = None, socket: Path | None = None
) -> Got:
    """A request with nothing but what it says; `body` may be bytes. Names of headers come in small letters."""
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    heads = {"Authorization": f"Bearer {key}", "Content-Type": "application/json", **(headers or {})}
    connector = aiohttp.UnixConnector(str(socket)) if socket else None
    async with aiohttp.ClientSession(connector=connector) as http, http.post(url, data=sent, headers=heads) as got:
        return Got(got.status, await got.read(), {name.lower(): value for name, value in got.headers.items()})


async def get(url: str, key: str, headers: dict[str, str] | None = None) -> Got:
    heads = {"Authorization": f"Bearer {key}", **(headers or {})}
    async with aiohttp.ClientSession() as http, http.get(url, headers=heads) as got:
        return Got(got.status, await got.read(), {name.lower(): value for name, value in got.headers.items()})


def path_of(dialect: DialectName, streaming: bool = False) -> str:
    """Below a dialect's base."""
    method = "streamGenerateContent?alt=sse" if streaming else "generateContent"
    return {
        DialectName.CHAT: "/chat/completions",
        DialectName.RESPONSES: "/responses",
        DialectName.MESSAGES: "/v1/messages",
        DialectName.GOOGLE: f"/v1beta/models/some-model:{method}",
    }[dialect]


def asking(dialect: DialectName, *said: Message, system: str = "", tools: tuple[str, ...] = ()) -> dict[str, Any]:
    """A request with a history, as each vendor's agents send it."""
    match dialect:
        case DialectName.CHAT:
            return _chat(said, system, tools)
        case DialectName.RESPONSES:
            return _responses(said, system, tools)
        case DialectName.MESSAGES:
            return _messages(said, system, tools)
        case DialectName.GOOGLE:
            return _google(said, system, tools)


SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}}


def _chat(said: tuple[Message, ...], system: str, tools: tuple[str, ...]) -> dict[str, Any]:
    sent: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
    for message in said:
        one: dict[str, Any] = {"role": message.role.value, "content": message.content}
        if message.tool_calls:
            one["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in message.tool_calls
            ]
        if message.role is MessageRole.TOOL:
            one["tool_call_id"] = message.tool_call_id
        sent.append(one)
    functions = [{"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in tools]
    return {"model": "gpt-mini", "messages": sent} | ({"tools": functions} if tools else {})


def _responses(said: tuple[Message, ...], system: str, tools: tuple[str, ...]) -> dict[str, Any]:
    items: list[dict[str, Any]] = []
    for message in said:
        kind = "output_text" if message.role is MessageRole.ASSISTANT else "input_text"
        if message.role is MessageRole.TOOL:
            answer = {"call_id": message.tool_call_id, "output": message.content}
            items.append({"type": "function_call_output", **answer})
        elif message.content:
            part = {"type": kind, "text": message.content}
            items.append({"type": "message", "role": message.role.value, "content": [part]})
        for call in message.tool_calls:
            called = {"call_id": call.id, "name": call.name, "arguments": call.arguments}
            items.append({"type": "function_call", **called})
    functions = [{"type": "function", "name": name, "parameters": SCHEMA} for name in tools]
    body: dict[str, Any] = {"model": "codex-mini", "input": items, "store": False}
    return body | ({"instructions": system} if system else {}) | ({"tools": functions} if tools else {})


def _messages(said: tuple[Message, ...], system: str, tools: tuple[str, ...]) -> dict[str, Any]:
    sent = []
    for message in said:
        blocks: list[dict[str, Any]] = [{"type": "text", "text": message.content}] if message.content else []
        if message.role is MessageRole.TOOL:
            blocks = [{"type": "tool_result", "tool_use_id": message.tool_call_id, "content": message.content}]
        for call in message.tool_calls:
            given = json.loads(call.arguments)
            blocks.append({"type": "tool_use", "id": call.id, "name": call.name, "input": given})
        sent.append({"role": "assistant" if message.role is MessageRole.ASSISTANT else "user", "content": blocks})
    functions = [{"name": name, "input_schema": SCHEMA} for name in tools]
    body: dict[str, Any] = {"model": "claude-small", "max_tokens": 500, "messages": sent}
    return body | ({"system": system} if system else {}) | ({"tools": functions} if tools else {})


def _google(said: tuple[Message, ...], system: str, tools: tuple[str, ...]) -> dict[str, Any]:
    turns = []
    for message in said:
        parts: list[dict[str, Any]] = [{"text": message.content}] if message.content else []
        if message.role is MessageRole.TOOL:
            parts = [{"functionResponse": {"name": "bash", "response": {"output": message.content}}}]
        parts += [
            {"functionCall": {"name": call.name, "args": json.loads(call.arguments)}} for call in message.tool_calls
        ]
        turns.append({"role": "model" if message.role is MessageRole.ASSISTANT else "user", "parts": parts})
    declared = [{"functionDeclarations": [{"name": name, "parameters": SCHEMA} for name in tools]}]
    body: dict[str, Any] = {"contents": turns}
    body |= {"systemInstruction": {"parts": [{"text": system}]}} if system else {}
    return body | ({"tools": declared} if tools else {})


async def google(url: str, prompt: str, streaming: bool, key: str = "k") -> Heard:
    """As Google's client asks and reads. `url` has no version."""
    body = {"contents": [{"role": "user", "parts": [{"text": prompt}]}]}
    got = await post(f"{url}{path_of(DialectName.GOOGLE, streaming)}", body, "", {"x-goog-api-key": key})
    assert got.status == 200, got.body
    chunks = got.events if streaming else [got.json]
    parts = [part for chunk in chunks for part in chunk["candidates"][0]["content"]["parts"]]
    calls = [part["functionCall"] for part in parts if "functionCall" in part]
    usage = chunks[-1]["usageMetadata"]
    return Heard(
        text="".join(part["text"] for part in parts if "text" in part and not part.get("thought")),
        thinking="".join(part["text"] for part in parts if part.get("thought")),
        calls=[(call["name"], call["args"]) for call in calls],
        ids=[call["id"] for call in calls],
        stop=chunks[-1]["candidates"][0]["finishReason"],
        counts={
            "input": usage["promptTokenCount"],
            "output": usage["candidatesTokenCount"] + usage["thoughtsTokenCount"],
            "reasoning": usage["thoughtsTokenCount"],
            "cache_read": usage["cachedContentTokenCount"],
        },
    )


CLIENTS: dict[DialectName, Client] = {
    DialectName.CHAT: chat,
    DialectName.RESPONSES: responses,
    DialectName.MESSAGES: messages,
    DialectName.GOOGLE: google,
}


async def ask(trial: Trial, dialect: DialectName, prompt: str, streaming: bool = False) -> Heard:
    """One question through the gateway, by the vendor's own client where there is one."""
    base = trial.url(dialect).removesuffix("/v1")  # which OpenAI's clients add
    return await CLIENTS[dialect](base, prompt, streaming, trial.access.token)


async def send(trial: Trial, dialect: DialectName, body: dict[str, Any], streaming: bool = False) -> Got:
    """A request of one's own through the gateway."""
    if streaming and dialect is not DialectName.GOOGLE:
        body = {**body, "stream": True}
    headers = {"anthropic-version": "2023-06-01"} if dialect is DialectName.MESSAGES else {}
    return await post(trial.url(dialect) + path_of(dialect, streaming), body, trial.access.token, headers)
