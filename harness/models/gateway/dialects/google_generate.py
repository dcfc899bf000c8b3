"""Google's generateContent: reading requests and answers, and what is withheld.

Google's generateContent as a stream, put together: each event is a part of the answer in the same form.
"""

import json
from typing import Any

from harness.models.gateway.dialects import google_chat
from harness.models.gateway.dialects.chat_parts import set_sampling
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
from harness.models.gateway.withholding import STORED, URL_MEDIA, RefusedRequest, Withheld, kind_of
from harness.models.price_table import load_litellm
from harness.models.protocol import Message, MessageRole, StopReason, ToolCall
from harness.specs.errors import ProviderFault
from harness.specs.model_file import ModelFile
from harness.specs.usage import Usage
from harness.specs.whole_text import whole_text


class ContentAssembler:
    """An assembler of streams of Google's generateContent."""

    def __init__(self) -> None:
        self.heard = Heard()
        self._parts: list[Json] = []
        self._whole: Json = {}

    def add(self, event: Json) -> None:
        if "error" in event:
            self.heard.error = event
            return
        for key in ("usageMetadata", "promptFeedback", "responseId", "modelVersion"):
            if key in event:
                self._whole[key] = event[key]
        self.heard.usage = counts(self._whole.get("usageMetadata"))
        for candidate in objects(event.get("candidates"))[:1]:
            content = candidate.get("content")
            for part in objects(content.get("parts")) if isinstance(content, dict) else []:
                self._add(part)
            if candidate.get("finishReason"):
                made = {"content": {"role": "model", "parts": self._parts}, "finishReason": candidate["finishReason"]}
                self._whole["candidates"] = [made]
        if "candidates" in self._whole or "promptFeedback" in self._whole:
            self.heard.whole = self._whole

    def _add(self, part: Json) -> None:
        """Add a part; texts of one kind in a row are one part."""
        last = self._parts[-1] if self._parts else {}
        is_text = "text" in part and "text" in last
        if is_text and bool(part.get("thought")) == bool(last.get("thought")):
            last["text"] = text(last["text"]) + text(part["text"])
        else:
            self._parts.append(dict(part))


def counts(usage: Any) -> Usage:
    """Return tokens without cost.

    This vendor counts thoughts beside the answer, and tools' results beside the prompt.
    """
    found = usage if isinstance(usage, dict) else {}

    def number(key: str) -> int:
        value = found.get(key)
        return value if isinstance(value, int) and value > 0 else 0

    thoughts = number("thoughtsTokenCount")
    return Usage(
        calls=1,
        input=number("promptTokenCount") + number("toolUsePromptTokenCount"),
        output=number("candidatesTokenCount") + thoughts,
        reasoning=thoughts,
        cache_read=number("cachedContentTokenCount"),
        cost_usd=None,
    )


_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    413: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_STOPS = {"STOP": StopReason.END, "FINISH_REASON_UNSPECIFIED": StopReason.END, "MAX_TOKENS": StopReason.LENGTH}
_BROKEN_CALLS = ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL")
_NAMES = """model contents tools labels store systemInstruction toolConfig generationConfig safetySettings
system_instruction tool_config generation_config safety_settings"""
_KNOWN = frozenset(_NAMES.split())
_LOCAL_TOOLS = ("functiondeclarations",)


class GoogleGenerate:
    """See `Dialect`. Google's generateContent."""

    name = DialectName.GOOGLE

    def asked(self, body: Json) -> Asked:
        declared = [part for tool in objects(body.get("tools")) for part in declarations(tool)]
        contents = body.get("contents")
        turns = [contents] if isinstance(contents, dict) else objects(contents)
        return Asked(
            system=parts_text(parts_of(either(body, "systemInstruction"))),
            messages=tuple(message for turn in turns for message in _messages(turn)),
            tools=tuple(whole_text(text(tool.get("name"))) for tool in declared),
            tools_sha256=digest(declared) if declared else "",
        )

    def withhold(self, body: Json, withheld: Withheld) -> None:
        if either(body, "cachedContent"):
            raise withheld.refuse(STORED, "'cachedContent'")
        self._withhold_tools(body, withheld)
        withheld.others(body, _KNOWN)
        for key in ("contents", "systemInstruction", "system_instruction"):
            if key in body:
                body[key] = withheld.parts(body[key], _remote, lambda note: {"text": note})

    def _withhold_tools(self, body: Json, withheld: Withheld) -> None:
        """Take tools out of the request: here one object holds several kinds, each under a key of its own."""
        if isinstance(body.get("tools"), dict):  # one alone needn't be in a list
            body["tools"] = [body["tools"]]
        tools = objects(body.get("tools"))
        gone = [key for tool in tools for key in tool if _bare(key) not in _LOCAL_TOOLS]
        kept = [left for tool in tools if (left := {key: value for key, value in tool.items() if key not in gone})]
        for key in gone:
            withheld.count(kind_of(key))
        if gone and not kept:
            raise RefusedRequest(f"the tool {gone[0]} is not available here: it would leave the sandbox")
        if gone:
            body["tools"] = kept

    def wish(self, body: Json, file: ModelFile) -> None:
        config = dict(either(body, "generationConfig") or {})
        set_sampling(config, file, "maxOutputTokens")
        if file.effort:
            config |= _thinking(file)
        if config:
            body.pop("generation_config", None)
            body["generationConfig"] = config

    def assembler(self) -> ContentAssembler:
        return ContentAssembler()

    def answer(self, whole: Json) -> ModelAnswer:
        candidates = objects(whole.get("candidates"))
        feedback = whole.get("promptFeedback")
        if not candidates and not isinstance(feedback, dict):
            raise ValueError("the answer has no candidates")
        first = candidates[0] if candidates else {}
        message = _spoken(parts_of(first.get("content")))
        reason = text(first.get("finishReason")) or ("STOP" if candidates else "SAFETY")
        stop = _STOPS.get(reason, StopReason.END if reason in _BROKEN_CALLS else StopReason.REFUSAL)
        if message.tool_calls and stop is StopReason.END:
            stop = StopReason.TOOL_CALLS
        return ModelAnswer(message, stop, counts(whole.get("usageMetadata")))

    def error(self, status: int, message: str, fault: ProviderFault | None = None) -> Json:
        if fault is ProviderFault.CONTEXT:
            message = f"The input token count exceeds the maximum number of tokens allowed: {message}"
        name = _STATUSES.get(status, "INTERNAL" if status >= 500 else "FAILED_PRECONDITION")
        return {"error": {"code": status, "message": message, "status": name}}

    def chat(self, body: Json) -> Json:
        return google_chat.chat(body)

    def told(self, whole: Json, body: Json, model: str, number: int) -> Json:  # noqa: ARG002
        return google_chat.told(whole, model, number)

    def events(self, told: Json, body: Json) -> list[bytes]:  # noqa: ARG002
        return [event(told)]


def either(body: Json, key: str) -> Any:
    """Return a value by its name in either of the spellings that the vendor takes."""
    snake = "".join(f"_{char.lower()}" if char.isupper() else char for char in key)
    return body.get(key, body.get(snake))


def parts_of(content: Any) -> list[Json]:
    """Return the parts of a content; none of one that isn't well formed."""
    if isinstance(content, str):
        return [{"text": content}]
    if isinstance(content, list):
        return objects(content)
    return parts_of(content.get("parts") or []) if isinstance(content, dict) else []


def parts_text(parts: list[Json]) -> str:
    """Return the text of parts, without the model's thoughts."""
    return joined([_part_text(part) for part in parts if not part.get("thought")])


def declarations(tool: Json) -> list[Json]:
    """Return the functions that a tool declares."""
    return objects(either(tool, "functionDeclarations"))


def response_text(response: Any) -> str:
    """Return what a function gave back: mostly an object with one text in it."""
    if isinstance(response, dict):
        for key in ("output", "error", "result"):
            if isinstance(response.get(key), str) and len(response) == 1:
                return whole_text(response[key])
    return whole_text(json.dumps(response))


def _part_text(part: Json) -> str:
    inline = either(part, "inlineData")
    if isinstance(inline, dict):
        return media_note(text(either(inline, "mimeType")), inline.get("data"))
    return whole_text(text(part.get("text")))


def _messages(turn: Json) -> list[Message]:
    parts = parts_of(turn)
    if turn.get("role") == "model":
        return [_spoken(parts).model_copy(update={"signed": ()})]
    found = []
    for part in parts:
        answer = either(part, "functionResponse")
        if isinstance(answer, dict):
            name = whole_text(text(answer.get("id")) or text(answer.get("name")))
            said = joined([response_text(answer.get("response")), parts_text(objects(answer.get("parts")))])
            found.append(Message(role=MessageRole.TOOL, content=said, tool_call_id=name))
    said = parts_text([part for part in parts if either(part, "functionResponse") is None])
    return [*found, Message(role=MessageRole.USER, content=said)] if said or not found else found


def _spoken(parts: list[Json]) -> Message:
    calls = [call for part in parts if isinstance(call := either(part, "functionCall"), dict)]
    return Message(
        role=MessageRole.ASSISTANT,
        content="".join(whole_text(text(part.get("text"))) for part in parts if not part.get("thought")),
        tool_calls=tuple(
            ToolCall(
                id=whole_text(text(call.get("id"))) or f"call-{number}",
                name=whole_text(text(call.get("name"))),
                arguments=whole_text(json.dumps(call.get("args") or {})),
            )
            for number, call in enumerate(calls, start=1)
        ),
        signed=tuple(part for part in parts if part.get("thought")),
    )


def _bare(key: str) -> str:
    return key.replace("_", "").lower()


def _remote(part: Json) -> str | None:
    return URL_MEDIA if any(_bare(key) == "filedata" for key in part) else None


def _thinking(file: ModelFile) -> Json:
    """Return the setting of the effort: some models have a budget and others a level, and litellm knows which."""
    assert file.effort is not None
    found = load_litellm().get_optional_params(
        model=file.model.partition("/")[2], custom_llm_provider="gemini", reasoning_effort=file.effort.value
    )
    config = found.get("thinkingConfig")
    return {"thinkingConfig": config} if isinstance(config, dict) else {}
