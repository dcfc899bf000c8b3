"""OpenAI's responses: reading requests and answers, and what is withheld.

OpenAI's responses as a stream: put together, and written.
"""

import json
from typing import Any

from harness.models.gateway.dialects import responses_chat
from harness.models.gateway.dialects.chat_parts import set_effort, set_sampling
from harness.models.gateway.dialects.openai_chat import openai_error
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
from harness.models.gateway.withholding import STORED, URL_MEDIA, RefusedRequest, Withheld, is_remote
from harness.models.protocol import Message, MessageRole, StopReason, ToolCall
from harness.specs.errors import ProviderFault
from harness.specs.model_file import ModelFile
from harness.specs.usage import Usage
from harness.specs.whole_text import whole_text

_ENDS = ("response.completed", "response.incomplete")
_PARTS = {
    "output_text": ("response.content_part", "content_index", "response.output_text", "text"),
    "refusal": ("response.content_part", "content_index", "response.refusal", "refusal"),
    "summary_text": (
        "response.reasoning_summary_part",
        "summary_index",
        "response.reasoning_summary_text",
        "text",
    ),
}
"""Names of a part's events: of the part, of its place, of its text; and where its text is."""


class ResponseAssembler:
    """The last event brings the whole; where its output is empty, the items that came one by one are it."""

    def __init__(self) -> None:
        self.heard = Heard()
        self._items: list[Json] = []

    def add(self, event: Json) -> None:
        kind, response = text(event.get("type")), event.get("response")
        if kind == "response.output_item.done" and isinstance(event.get("item"), dict):
            self._items.append(event["item"])
        elif kind in _ENDS and isinstance(response, dict):
            self.heard.whole = {**response, "output": response.get("output") or self._items}
            self.heard.is_over = True
        elif kind == "response.failed" and isinstance(response, dict):
            self.heard.error = {"error": response.get("error")}
        elif kind == "error":
            self.heard.error = event


def response_events(response: Json) -> list[bytes]:
    """Return a whole response as the events of a stream."""
    begun = {**response, "status": "in_progress", "incomplete_details": None, "output": [], "usage": None}
    data: list[Json] = [{"type": f"response.{name}", "response": begun} for name in ("created", "in_progress")]
    for index, item in enumerate(response["output"]):
        place = {"output_index": index, "item_id": item["id"]}
        data.append({"type": "response.output_item.added", "output_index": index, "item": _emptied(item)})
        data += [{**step, **place} for step in _steps(item)]
        data.append({"type": "response.output_item.done", "output_index": index, "item": item})
    data.append({"type": f"response.{response['status']}", "response": response})
    return [event({**step, "sequence_number": number}, step["type"]) for number, step in enumerate(data)]


def _emptied(item: Json) -> Json:
    """Return an item as it begins in a stream."""
    empty = {"content": [], "summary": [], "arguments": "", "input": "", "status": "in_progress"}
    return {key: empty.get(key, value) for key, value in item.items()}


def _steps(item: Json) -> list[Json]:
    """Return what comes between an item's beginning and its end."""
    for key, name in (
        ("arguments", "response.function_call_arguments"),
        ("input", "response.custom_tool_call_input"),
    ):
        if key in item:
            return [{"type": f"{name}.delta", "delta": item[key]}, {"type": f"{name}.done", key: item[key]}]
    parts = item.get("content") or item.get("summary") or []
    return [step for number, part in enumerate(parts) for step in _part_steps(part, number)]


def _part_steps(part: Json, number: int) -> list[Json]:
    prefix, index, name, said = _PARTS[part["type"]]
    logprobs: Json = {"logprobs": []} if part["type"] == "output_text" else {}
    steps: list[Json] = [
        {"type": f"{prefix}.added", "part": {**part, said: ""}},
        {"type": f"{name}.delta", "delta": part[said], **logprobs},
        {"type": f"{name}.done", said: part[said], **logprobs},
        {"type": f"{prefix}.done", "part": part},
    ]
    return [{**step, index: number} for step in steps]


_LOCAL_TOOLS = ("function", "custom", "local_shell", "apply_patch", "namespace", "tool_search")
_SYSTEM = ("system", "developer")
_NAMES = """model input instructions tools tool_choice parallel_tool_calls stream stream_options temperature top_p
top_logprobs max_output_tokens max_tool_calls reasoning text metadata store truncation user include
previous_response_id prompt_cache_key prompt_cache_retention prompt_cache_options safety_identifier
context_management client_metadata moderation"""
_KNOWN = frozenset(_NAMES.split())
_REFUSED = ("conversation", "prompt")
"""Parameters that stand for texts which somebody has left with the provider."""


class OpenAIResponses:
    """See `Dialect`. OpenAI's responses."""

    name = DialectName.RESPONSES

    def asked(self, body: Json) -> Asked:
        messages = _messages(_items(body))
        leading = 0
        while leading < len(messages) and messages[leading].role is MessageRole.SYSTEM:
            leading += 1
        tools = objects(body.get("tools"))
        system = [whole_text(text(body.get("instructions"))), *(message.content for message in messages[:leading])]
        return Asked(
            system=joined(system),
            messages=tuple(messages[leading:]),
            tools=tuple(whole_text(text(tool.get("name")) or text(tool.get("type"))) for tool in tools),
            tools_sha256=digest(tools) if tools else "",
            continues=text(body.get("previous_response_id")),
        )

    def withhold(self, body: Json, withheld: Withheld) -> None:
        for key in _REFUSED:
            if body.get(key):
                raise withheld.refuse(STORED, f"'{key}'")
        for name in self.references(body):
            if name not in withheld.known:
                raise withheld.refuse(STORED, f"{name}, which is no answer of this trial,")
        withheld.tools(body, _hosted, _forced)
        withheld.drop(body, "background", STORED)
        withheld.others(body, _KNOWN)
        if isinstance(body.get("input"), list):
            body["input"] = withheld.parts(body["input"], _remote, lambda note: {"type": "input_text", "text": note})

    def references(self, body: Json) -> list[str]:
        """Return the answers, and items of answers, that a request names without saying them."""
        items = [text(item.get("id")) for item in _items(body) if item.get("type") == "item_reference"]
        return [name for name in (text(body.get("previous_response_id")), *items) if name]

    def wish(self, body: Json, file: ModelFile) -> None:
        set_sampling(body, file, "max_output_tokens")
        set_effort(body, file, "reasoning")

    def assembler(self) -> ResponseAssembler:
        return ResponseAssembler()

    def answer(self, whole: Json) -> ModelAnswer:
        output = objects(whole.get("output"))
        if whole.get("object") != "response" or not isinstance(whole.get("output"), list):
            raise ValueError("the answer is no response")
        message = next(iter(_messages(output)), Message(role=MessageRole.ASSISTANT))
        signed = tuple(item for item in output if item.get("type") == "reasoning")
        usage, cost = counts(whole.get("usage"))
        message = message.model_copy(update={"signed": signed})
        ids = tuple(text(part.get("id")) for part in (whole, *output))
        return ModelAnswer(message, _stop(whole, output), usage, cost, ids)

    def error(self, status: int, message: str, fault: ProviderFault | None = None) -> Json:
        return openai_error(status, message, fault)

    def chat(self, body: Json) -> Json:
        if self.references(body):
            raise RefusedRequest("answers are not kept here; send the whole conversation in 'input'")
        return responses_chat.chat(body)

    def told(self, whole: Json, body: Json, model: str, number: int) -> Json:
        return responses_chat.told(whole, model, number, responses_chat.freeform_tools(body))

    def events(self, told: Json, body: Json) -> list[bytes]:  # noqa: ARG002
        return response_events(told)


def counts(usage: Any) -> tuple[Usage, float | None]:
    """Return tokens without cost, and the cost in USD where the provider says one."""
    if not isinstance(usage, dict):
        return Usage(calls=1, cost_usd=None), None
    cached = usage.get("input_tokens_details")
    cost = usage.get("cost")
    counted = Usage(
        calls=1,
        input=_number(usage, "input_tokens"),
        output=_number(usage, "output_tokens"),
        reasoning=_number(usage.get("output_tokens_details"), "reasoning_tokens"),
        cache_read=_number(cached, "cached_tokens"),
        cache_write=_number(cached, "cache_write_tokens"),
        cost_usd=None,
    )
    return counted, float(cost) if isinstance(cost, int | float) else None


def _number(value: Any, key: str) -> int:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, int) and found > 0 else 0


def _stop(whole: Json, output: list[Json]) -> StopReason:
    details = whole.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else None
    if reason == "max_output_tokens":
        return StopReason.LENGTH
    parts = [part for item in output for part in objects(item.get("content"))]
    if reason == "content_filter" or any(part.get("type") == "refusal" for part in parts):
        return StopReason.REFUSAL
    return StopReason.TOOL_CALLS if any(_is_call(item) for item in output) else StopReason.END


def _items(body: Json) -> list[Json]:
    given = body.get("input")
    return [{"role": "user", "content": given}] if isinstance(given, str) else objects(given)


def _messages(items: list[Json]) -> list[Message]:
    """Return what the assistant says and calls in a row is one message; reasoning is none of its own."""
    found: list[Message] = []
    for item in items:
        message = _message(item)
        if message is None:
            continue
        if found and found[-1].role is message.role is MessageRole.ASSISTANT:
            last = found.pop()
            content = last.content + message.content
            message = Message(
                role=MessageRole.ASSISTANT, content=content, tool_calls=last.tool_calls + message.tool_calls
            )
        found.append(message)
    return found


def _message(item: Json) -> Message | None:
    kind = text(item.get("type")) or ("message" if "role" in item else "")
    call_id = whole_text(text(item.get("call_id")) or text(item.get("id")))
    if kind == "message":
        role = text(item.get("role"))
        mine = (
            MessageRole.ASSISTANT
            if role == "assistant"
            else MessageRole.SYSTEM
            if role in _SYSTEM
            else MessageRole.USER
        )
        return Message(role=mine, content=content_text(item.get("content")))
    if kind.endswith("_output"):
        return Message(role=MessageRole.TOOL, content=content_text(item.get("output")), tool_call_id=call_id)
    if _is_call(item):
        given = item.get("arguments", item.get("input", item.get("action")))
        arguments = given if isinstance(given, str) else json.dumps(given)
        name = whole_text(text(item.get("name")) or kind.removesuffix("_call"))
        call = ToolCall(id=call_id, name=name, arguments=whole_text(arguments))
        return Message(role=MessageRole.ASSISTANT, tool_calls=(call,))
    return None


def _is_call(item: Json) -> bool:
    return text(item.get("type")).endswith("_call")


def content_text(content: Any) -> str:
    """Return all text of a content, with a note for each image or file; a tool's result may be JSON."""
    if isinstance(content, str):
        return whole_text(content)
    if isinstance(content, dict):
        return whole_text(text(content.get("content")) or json.dumps(content))
    return joined([_part_text(part) for part in objects(content)])


def _part_text(part: Json) -> str:
    if inline := part.get("image_url") or part.get("file_data"):
        return media_note(text(part.get("type")), inline)
    return whole_text(text(part.get("text")) or text(part.get("refusal")))


def _hosted(tool: Json) -> str | None:
    kind = text(tool.get("type")) or "unnamed"
    if kind in _LOCAL_TOOLS:
        inner = [_hosted(part) for part in objects(tool.get("tools"))]  # of a namespace
        return next((name for name in inner if name), None)
    environment = tool.get("environment")
    is_local = isinstance(environment, dict) and environment.get("type") == "local"
    return None if kind == "shell" and is_local else kind


def _forced(body: Json) -> str:
    choice = body.get("tool_choice")
    return text(choice.get("type")) if isinstance(choice, dict) else ""


def _remote(part: Json) -> str | None:
    if part.get("file_id"):
        return "file"
    urls = (part.get("image_url"), part.get("file_url"))
    return URL_MEDIA if any(is_remote(url) for url in urls) or "://" in text(part.get("file_data"))[:32] else None
