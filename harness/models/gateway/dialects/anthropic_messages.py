"""Anthropic's messages: reading requests and answers, and what is withheld.

Anthropic's messages as a stream: put together, and written.
"""

import json

from pydantic import ValidationError

from harness.models.anthropic_format import AnthropicResponse, AnthropicUsage
from harness.models.gateway.dialects import anthropic_chat
from harness.models.gateway.dialects.chat_parts import set_effort, set_sampling
from harness.models.gateway.dialects.protocol import (
    Asked,
    DialectName,
    Heard,
    Json,
    ModelAnswer,
    digest,
    joined,
    media_note,
    objects,
    text,
)
from harness.models.gateway.transport import event
from harness.models.gateway.withholding import OTHER_MODEL, URL_MEDIA, Withheld, is_remote
from harness.models.protocol import Message, MessageRole, ToolCall
from harness.specs.errors import ProviderFault
from harness.specs.model_file import ModelFile
from harness.specs.whole_text import whole_text

_GROWING = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}


class MessageAssembler:
    """An assembler of streams of Anthropic's messages."""

    def __init__(self) -> None:
        self.heard = Heard()
        self._message: Json = {}
        self._blocks: dict[int, Json] = {}
        self._arguments: dict[int, str] = {}

    def add(self, event: Json) -> None:
        match event.get("type"):
            case "message_start" if isinstance(event.get("message"), dict):
                self._message = dict(event["message"])
                self._count(self._message.get("usage"))
            case "content_block_start" if isinstance(event.get("content_block"), dict):
                self._blocks[_index(event)] = dict(event["content_block"])
            case "content_block_delta" if isinstance(event.get("delta"), dict):
                self._grow(_index(event), event["delta"])
            case "message_delta":
                if isinstance(event.get("delta"), dict):
                    self._message |= event["delta"]
                self._count(event.get("usage"))
            case "message_stop":
                self.heard.whole = self._whole()
                self.heard.is_over = True
            case "error":
                self.heard.error = event

    def _grow(self, index: int, delta: Json) -> None:
        block = self._blocks.setdefault(index, {"type": "text", "text": ""})
        kind = text(delta.get("type"))
        if key := _GROWING.get(kind):
            block[key] = text(block.get(key)) + text(delta.get(key))
        elif kind == "input_json_delta":
            self._arguments[index] = self._arguments.get(index, "") + text(delta.get("partial_json"))

    def _count(self, usage: object) -> None:
        """Take counts over.

        Later ones replace earlier ones of the same name; the last event doesn't repeat them all.
        """
        if not isinstance(usage, dict):
            return
        known = self._message.get("usage")
        self._message["usage"] = {**(known if isinstance(known, dict) else {}), **usage}
        try:
            self.heard.usage = AnthropicUsage.model_validate(self._message["usage"]).counts()
        except ValidationError:
            return

    def _whole(self) -> Json:
        for index, written in self._arguments.items():
            self._blocks[index]["input"] = _object(written)
        return {**self._message, "content": [block for _, block in sorted(self._blocks.items())]}


def message_events(message: Json) -> list[bytes]:
    """Return a whole message as the events of a stream."""
    usage = message["usage"]
    first = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    events: list[Json] = [{"type": "message_start", "message": first}]
    for index, block in enumerate(message["content"]):
        empty, deltas = _begun(block)
        events.append({"type": "content_block_start", "index": index, "content_block": empty})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events += [{"type": "message_delta", "delta": delta, "usage": usage}, {"type": "message_stop"}]
    return [event(data, data["type"]) for data in events]


def _begun(block: Json) -> tuple[Json, list[Json]]:
    """Return a block as it begins in a stream, and what is added to it."""
    match block["type"]:
        case "thinking":
            deltas = [{"type": "thinking_delta", "thinking": block["thinking"]}]
            deltas.append({"type": "signature_delta", "signature": block.get("signature", "")})
            return {**block, "thinking": "", "signature": ""}, deltas
        case "text":
            return {**block, "text": ""}, [{"type": "text_delta", "text": block["text"]}]
        case "tool_use":
            written = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            return {**block, "input": {}}, [written]
        case _:
            return block, []


def _index(event: Json) -> int:
    index = event.get("index")
    return index if isinstance(index, int) else 0


def _object(written: str) -> object:
    try:
        return json.loads(written or "{}")
    except (ValueError, RecursionError):
        return {"malformed": written}


_NAMES = """model messages max_tokens system tools tool_choice stream temperature top_p top_k stop_sequences thinking
metadata context_management compaction output_config output_format cache_control"""
_KNOWN = frozenset(_NAMES.split())
_LOCAL_TOOLS = ("bash_", "text_editor_", "memory_", "tool_search_tool_")
"""The vendor's tools that the agent itself runs, or that only look through its list of tools."""
_ERRORS = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
}


class AnthropicMessages:
    """See `Dialect`. Anthropic's messages."""

    name = DialectName.MESSAGES

    def asked(self, body: Json) -> Asked:
        tools = objects(body.get("tools"))
        return Asked(
            system=content_text(body.get("system")),
            messages=tuple(part for message in objects(body.get("messages")) for part in _messages(message)),
            tools=tuple(whole_text(text(tool.get("name"))) for tool in tools),
            tools_sha256=digest(tools) if tools else "",
        )

    def withhold(self, body: Json, withheld: Withheld) -> None:
        withheld.tools(body, _hosted, _forced)
        withheld.drop(body, "mcp_servers", "mcp")
        withheld.drop(body, "container", "code-execution")
        withheld.drop(body, "fallbacks", OTHER_MODEL)
        withheld.others(body, _KNOWN)
        for key in ("messages", "system"):
            if key in body:
                body[key] = withheld.parts(body[key], _remote, lambda note: {"type": "text", "text": note})

    def wish(self, body: Json, file: ModelFile) -> None:
        set_sampling(body, file, "max_tokens")
        set_effort(body, file, "output_config")

    def assembler(self) -> MessageAssembler:
        return MessageAssembler()

    def answer(self, whole: Json) -> ModelAnswer:
        try:
            read = AnthropicResponse.model_validate(whole)
        except ValidationError as error:
            raise ValueError(f"the answer is no message: {error.errors()[0]['msg']}") from None
        completion = read.completion(read.usage.counts())
        return ModelAnswer(completion.message, completion.stop, completion.usage)

    def error(self, status: int, message: str, fault: ProviderFault | None = None) -> Json:
        if fault is ProviderFault.CONTEXT and "prompt is too long" not in message:
            message = f"prompt is too long: {message}"  # the words that this vendor's agents look for
        kind = _ERRORS.get(status, "api_error" if status >= 500 else "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "message": message}}

    def chat(self, body: Json) -> Json:
        return anthropic_chat.chat(body)

    def told(self, whole: Json, body: Json, model: str, number: int) -> Json:  # noqa: ARG002
        return anthropic_chat.told(whole, model, number)

    def events(self, told: Json, body: Json) -> list[bytes]:  # noqa: ARG002
        return message_events(told)


def content_text(content: object) -> str:
    """Return all text of a content, with a note for each image or document."""
    if isinstance(content, str):
        return whole_text(content)
    return joined([_block_text(block) for block in objects(content)])


def _block_text(block: Json) -> str:
    source = block.get("source")
    if isinstance(source, dict):
        return media_note(text(source.get("media_type")), source.get("data"))
    return whole_text(text(block.get("text"))) or content_text(block.get("content"))


def _messages(message: Json) -> list[Message]:
    content = message.get("content")
    role = message.get("role")
    if role == "assistant":
        return [_spoken(content)]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)
    found = [
        Message(
            role=MessageRole.TOOL,
            content=content_text(block.get("content")),
            tool_call_id=whole_text(text(block.get("tool_use_id"))),
        )
        for block in blocks
        if block.get("type") == "tool_result"
    ]
    said = joined([_block_text(block) for block in blocks if block.get("type") != "tool_result"])
    if said or not found:
        found.append(Message(role=MessageRole.SYSTEM if role == "system" else MessageRole.USER, content=said))
    return found


def _spoken(content: object) -> Message:
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)
    return Message(
        role=MessageRole.ASSISTANT,
        content="".join(whole_text(text(block.get("text"))) for block in blocks if block.get("type") == "text"),
        tool_calls=tuple(
            ToolCall(
                id=whole_text(text(block.get("id"))),
                name=whole_text(text(block.get("name"))),
                arguments=whole_text(json.dumps(block.get("input"))),
            )
            for block in blocks
            if block.get("type") == "tool_use"
        ),
    )


def _hosted(tool: Json) -> str | None:
    kind = text(tool.get("type"))
    return None if kind in ("", "custom") or kind.startswith(_LOCAL_TOOLS) else kind


def _forced(body: Json) -> str:
    choice = body.get("tool_choice")
    name = choice.get("name") if isinstance(choice, dict) else None
    return next((_hosted(tool) or "" for tool in objects(body.get("tools")) if name and tool.get("name") == name), "")


def _remote(block: Json) -> str | None:
    source = block.get("source")
    if block.get("type") == "container_upload":
        return "file"
    if not isinstance(source, dict):
        return None
    if source.get("type") == "file" or "file_id" in source:
        return "file"
    return URL_MEDIA if source.get("type") == "url" or is_remote(source.get("url")) else None
