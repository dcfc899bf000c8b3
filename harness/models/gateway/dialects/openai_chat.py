"""OpenAI's chat completions: reading requests and answers, and what is withheld.

OpenAI's chat completions as a stream: put together, and written.

OpenAI's errors, the same for both of its dialects.
"""

import json
from itertools import takewhile
from typing import Any

from harness.models.gateway.dialects.chat_parts import (
    ChatAnswer,
    chat_response,
    merged,
    read_usage,
    set_sampling,
    usage_json,
)
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
from harness.models.gateway.transport import DONE, event
from harness.models.gateway.withholding import OTHER_MODEL, URL_MEDIA, Withheld, is_remote
from harness.models.protocol import Message, MessageRole, ToolCall
from harness.specs.errors import ProviderFault
from harness.specs.model_file import ModelFile
from harness.specs.whole_text import whole_text


def chat_events(completion: Json, tells_usage: bool) -> list[bytes]:
    """Return a whole completion as the events of a stream."""
    head = {key: completion[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    choice = completion["choices"][0]
    delta = dict(choice["message"])
    if calls := delta.get("tool_calls"):
        delta["tool_calls"] = [{**call, "index": index} for index, call in enumerate(calls)]
    steps: list[tuple[Json, str | None]] = [(delta, None), ({}, choice["finish_reason"])]
    chunks = [{**head, "choices": [{"index": 0, "delta": part, "finish_reason": end}]} for part, end in steps]
    if tells_usage:
        chunks.append({**head, "choices": [], "usage": completion["usage"]})
    return [*map(event, chunks), DONE]


def wants_usage(body: Json) -> bool:
    """Return whether a stream is to end with the counts, which the provider tells only then."""
    options = body.get("stream_options")
    return isinstance(options, dict) and bool(options.get("include_usage"))


def is_only_usage(chunk: Json) -> bool:
    """Return whether a chunk is the one that is sent only where the counts are asked for."""
    return chunk.get("choices") == [] and isinstance(chunk.get("usage"), dict)


class ChatAssembler:
    """An assembler of chunks. The answer ends with `[DONE]`, or with the stream where a finish reason has come."""

    def __init__(self) -> None:
        self.heard = Heard()
        self._whole: Json = {}
        self._message: Json = {"role": "assistant", "content": None}
        self._calls: dict[int, Json] = {}

    def add(self, event: Json) -> None:
        if event.get("error"):
            self.heard.error = event
        if usage := read_usage(event.get("usage")):
            self.heard.usage = usage
            self._whole["usage"] = event["usage"]
        for choice in objects(event.get("choices"))[:1]:
            if isinstance(choice.get("delta"), dict):
                self._grow(choice["delta"])
            if choice.get("finish_reason"):
                self._whole["choices"] = [{"message": self._message, "finish_reason": choice["finish_reason"]}]
        if self._whole.get("choices"):
            self.heard.whole = self._whole

    def _grow(self, delta: Json) -> None:
        for key in ("content", "refusal", "reasoning_content", "reasoning"):
            if more := text(delta.get(key)):
                self._message[key] = text(self._message.get(key)) + more
        for position, part in enumerate(objects(delta.get("tool_calls"))):
            index = part["index"] if isinstance(part.get("index"), int) else position
            call = self._calls.setdefault(index, {"id": "", "function": {"name": "", "arguments": ""}})
            call["id"] = call["id"] or text(part.get("id"))
            for key, value in _said(part).items():
                if key in call["function"]:
                    call["function"][key] += text(value)
            self._message["tool_calls"] = [self._calls[at] for at in sorted(self._calls)]


def _said(part: Json) -> Json:
    """Return what a piece of a call says, in the words of a function; a tool that takes a text has others."""
    function, custom = part.get("function"), part.get("custom")
    if isinstance(function, dict):
        return function
    return {"name": custom.get("name"), "arguments": custom.get("input")} if isinstance(custom, dict) else {}


_CODES = {
    401: "invalid_api_key",
    404: "not_found",
    429: "rate_limit_exceeded",
}


def openai_error(status: int, message: str, fault: ProviderFault | None = None) -> Json:
    """Return an error as OpenAI's dialects have it."""
    code = "context_length_exceeded" if fault is ProviderFault.CONTEXT else _CODES.get(status)
    kind = "server_error" if status >= 500 else "invalid_request_error"
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


_SYSTEM = ("system", "developer")
_ROLES = {
    "assistant": MessageRole.ASSISTANT,
    "tool": MessageRole.TOOL,
    "function": MessageRole.TOOL,
    **dict.fromkeys(_SYSTEM, MessageRole.SYSTEM),
}
_PARAMETERS = (
    "messages",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "temperature",
    "top_p",
    "stop",
    "seed",
    "max_tokens",
    "max_completion_tokens",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "response_format",
    "reasoning_effort",
    "verbosity",
)
"""Parameters that translations pass on: all else could tell litellm where to send the request, and what with."""
_MORE = """model stream stream_options n logprobs top_logprobs user metadata store modalities audio prediction
prompt_cache_key prompt_cache_retention prompt_cache_options safety_identifier functions function_call moderation
top_k min_p repetition_penalty reasoning include_reasoning thinking enable_thinking thinking_budget
chat_template_kwargs usage vl_high_resolution_images"""
"""Parameters that go to a provider of this dialect besides, some of them to one alone."""
_KNOWN = frozenset((*_PARAMETERS, *_MORE.split()))


class OpenAIChat:
    """See `Dialect`. OpenAI's chat completions."""

    name = DialectName.CHAT

    def asked(self, body: Json) -> Asked:
        messages = objects(body.get("messages"))
        leading = list(takewhile(lambda message: message.get("role") in _SYSTEM, messages))
        tools = objects(body.get("tools"))
        return Asked(
            system=joined([content_text(message.get("content")) for message in leading]),
            messages=tuple(_message(message) for message in messages[len(leading) :]),
            tools=tuple(_tool_name(tool) for tool in tools),
            tools_sha256=digest(tools) if tools else "",
        )

    def withhold(self, body: Json, withheld: Withheld) -> None:
        withheld.tools(body, _hosted, lambda body: _forced(body.get("tool_choice")))
        withheld.drop(body, "web_search_options", "web-search")
        withheld.drop(body, "plugins", "web-search")
        withheld.drop(body, "models", OTHER_MODEL)
        withheld.others(body, _KNOWN)
        if "messages" in body:
            body["messages"] = withheld.parts(body["messages"], _remote, lambda note: {"type": "text", "text": note})

    def wish(self, body: Json, file: ModelFile) -> None:
        set_sampling(body, file, "max_tokens" if body.get("max_tokens") else "max_completion_tokens")
        if file.effort:
            body["reasoning_effort"] = file.effort.value

    def assembler(self) -> ChatAssembler:
        return ChatAssembler()

    def answer(self, whole: Json) -> ModelAnswer:
        read = chat_response(whole)
        completion = read.completion(read.usage.counts())
        return ModelAnswer(completion.message, completion.stop, completion.usage, read.usage.cost)

    def error(self, status: int, message: str, fault: ProviderFault | None = None) -> Json:
        return openai_error(status, message, fault)

    def chat(self, body: Json) -> Json:
        sent = {key: body[key] for key in _PARAMETERS if body.get(key) is not None}
        return sent | {"messages": merged(objects(body.get("messages")))}

    def told(self, whole: Json, body: Json, model: str, number: int) -> Json:  # noqa: ARG002
        answer = ChatAnswer.of(whole, number)
        message: Json = {"role": "assistant", "content": answer.text or None}
        if answer.reasoning:
            message["reasoning_content"] = answer.reasoning
        if answer.calls:
            message["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in answer.calls
            ]
        finish = answer.finish or ("tool_calls" if answer.calls else "stop")
        return {
            "id": f"chatcmpl-{number:06d}",
            "object": "chat.completion",
            "created": 0,
            "model": model,
            "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
            "usage": usage_json(answer.usage),
        }

    def events(self, told: Json, body: Json) -> list[bytes]:
        return chat_events(told, wants_usage(body))


def content_text(content: Any) -> str:
    """Return all text of a content, with a note for each image, file or sound."""
    if isinstance(content, str):
        return whole_text(content)
    return joined([_part_text(part) for part in objects(content)])


def _part_text(part: Json) -> str:
    image, inline = part.get("image_url"), part.get("file") or part.get("input_audio")
    if isinstance(image, dict):
        return media_note("image", image.get("url"))
    if isinstance(inline, dict):
        return media_note(text(part.get("type")), inline.get("file_data") or inline.get("data"))
    return whole_text(text(part.get("text")) or text(part.get("refusal")))


def _message(message: Json) -> Message:
    role = _ROLES.get(text(message.get("role")), MessageRole.USER)
    calls = objects(message.get("tool_calls")) if role is MessageRole.ASSISTANT else []
    return Message(
        role=role,
        content=content_text(message.get("content")) or whole_text(text(message.get("refusal"))),
        tool_calls=tuple(_call(call) for call in calls),
        tool_call_id=whole_text(text(message.get("tool_call_id"))) if role is MessageRole.TOOL else "",
    )


def _call(call: Json) -> ToolCall:
    function = call.get("function") or call.get("custom")
    said = function if isinstance(function, dict) else {}
    given = said.get("arguments", said.get("input"))
    arguments = given if isinstance(given, str) else json.dumps(given)
    name, call_id = text(said.get("name")), text(call.get("id"))
    return ToolCall(id=whole_text(call_id), name=whole_text(name), arguments=whole_text(arguments))


def _tool_name(tool: Json) -> str:
    function = tool.get("function") or tool.get("custom")
    return whole_text(text(function.get("name"))) if isinstance(function, dict) else ""


def _hosted(tool: Json) -> str | None:
    kind = text(tool.get("type")) or "unnamed"
    return None if kind in ("function", "custom") else kind


def _forced(choice: Any) -> str:
    return text(choice.get("type")) if isinstance(choice, dict) else ""


def _remote(part: Json) -> str | None:
    image, file = part.get("image_url"), part.get("file")
    if isinstance(image, dict | str):
        return URL_MEDIA if is_remote(image.get("url") if isinstance(image, dict) else image) else None
    if isinstance(file, dict):
        return "file" if "file_id" in file or "://" in text(file.get("file_data"))[:32] else None
    named = (part[key] for key in part if key.endswith("_url"))
    urls = (value.get("url") if isinstance(value, dict) else value for value in named)
    return URL_MEDIA if any(map(is_remote, urls)) else None
