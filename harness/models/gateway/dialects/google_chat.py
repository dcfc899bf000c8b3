"""Google's generateContent to and from chat completions, for models of other providers."""

import json
from collections import deque
from typing import Any

from harness.models.gateway.dialects.chat_parts import ChatAnswer, image_part, merged, sampling
from harness.models.gateway.dialects.protocol import Json, joined, objects, text
from harness.models.protocol import sendable_arguments

_MODES = {"AUTO": "auto", "ANY": "required", "NONE": "none"}
_TYPES = frozenset({"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"})
_BUDGETS = ((2_048, "low"), (8_192, "medium"))


def chat(body: Json) -> Json:
    """Return a request of Google's as one for chat completions."""
    config = _get(body, "generationConfig")
    config = config if isinstance(config, dict) else {}
    messages = _system(_get(body, "systemInstruction"))
    contents = body.get("contents")
    calls = _Calls()
    for turn in [contents] if isinstance(contents, dict) else objects(contents):
        messages += calls.assistant(turn) if turn.get("role") == "model" else calls.user(turn)
    names = {"temperature": "temperature", "topP": "top_p", "maxOutputTokens": "max_tokens", "stopSequences": "stop"}
    sent = {"messages": merged(messages), **sampling(config, names), **_form(config), **_effort(config)}
    tools = [
        _tool(tool) for group in objects(body.get("tools")) for tool in objects(_get(group, "functionDeclarations"))
    ]
    if tools:
        sent |= {"tools": tools} | _choice(_get(body, "toolConfig"))
    return sent


class _Calls:
    """Ids for calls that come without one, and for the results that answer them: they go in order."""

    def __init__(self) -> None:
        self._count = 0
        self._open: dict[str, deque[str]] = {}

    def assistant(self, turn: Json) -> list[Json]:
        parts = _parts(turn)
        said = "".join(text(part.get("text")) for part in parts if not part.get("thought"))
        calls = [self._call(call) for part in parts if isinstance(call := _get(part, "functionCall"), dict)]
        message: Json = {"role": "assistant", "content": said or None}
        if calls:
            message["tool_calls"] = calls
        return [message] if said or calls else []

    def user(self, turn: Json) -> list[Json]:
        results: list[Json] = []
        parts: list[Json] = []
        for part in _parts(turn):
            answer = _get(part, "functionResponse")
            if isinstance(answer, dict):
                content = _result(answer.get("response"))
                results.append({"role": "tool", "tool_call_id": self._answered(answer), "content": content})
                parts += [_part(inner) for inner in objects(answer.get("parts"))]
            else:
                parts.append(_part(part))
        return results + ([{"role": "user", "content": parts}] if parts else [])

    def _call(self, call: Json) -> Json:
        self._count += 1
        name = text(call.get("name"))
        call_id = text(call.get("id")) or f"call_{self._count}"
        self._open.setdefault(name, deque()).append(call_id)
        function = {"name": name, "arguments": json.dumps(call.get("args") or {})}
        return {"id": call_id, "type": "function", "function": function}

    def _answered(self, answer: Json) -> str:
        waiting = self._open.get(text(answer.get("name"))) or deque()
        given = text(answer.get("id"))
        if given in waiting:
            waiting.remove(given)
            return given
        return given or (waiting.popleft() if waiting else "unknown")


def _get(body: Json, key: str) -> Any:
    snake = "".join(f"_{char.lower()}" if char.isupper() else char for char in key)
    return body.get(key, body.get(snake))


def _parts(turn: Json) -> list[Json]:
    return objects(turn.get("parts"))


def _system(instruction: Any) -> list[Json]:
    parts = instruction.get("parts") if isinstance(instruction, dict) else instruction
    said = parts if isinstance(parts, str) else joined([text(part.get("text")) for part in objects(parts)])
    return [{"role": "system", "content": said}] if said else []


def _part(part: Json) -> Json:
    inline = _get(part, "inlineData")
    if not isinstance(inline, dict):
        return {"type": "text", "text": text(part.get("text")) or "(empty)"}
    kind, data = text(_get(inline, "mimeType")), text(inline.get("data"))
    if kind.startswith("image/"):
        return image_part(kind, data)
    return {"type": "file", "file": {"filename": "file", "file_data": f"data:{kind};base64,{data}"}}


def _result(response: Any) -> str:
    if isinstance(response, dict) and len(response) == 1 and isinstance(response.get("output"), str):
        return response["output"] or "(empty)"
    return json.dumps(response)


def _tool(tool: Json) -> Json:
    schema = _get(tool, "parametersJsonSchema") or _schema(tool.get("parameters"))
    function = {"name": tool.get("name"), "description": text(tool.get("description"))}
    return {
        "type": "function",
        "function": {**function, "parameters": schema or {"type": "object", "properties": {}}},
    }


def _schema(schema: Any) -> Any:
    """Return a schema with its types in small letters: this vendor's own have them in capitals."""
    if isinstance(schema, list):
        return [_schema(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: value.lower() if key == "type" and isinstance(value, str) and value in _TYPES else _schema(value)
        for key, value in schema.items()
        if key not in ("propertyOrdering", "property_ordering")
    }


def _choice(config: Any) -> Json:
    calling = _get(config, "functionCallingConfig") if isinstance(config, dict) else None
    mode = text(calling.get("mode")).upper() if isinstance(calling, dict) else ""
    return {"tool_choice": _MODES[mode]} if mode in _MODES else {}


def _form(config: Json) -> Json:
    schema = _get(config, "responseJsonSchema") or _schema(_get(config, "responseSchema"))
    if isinstance(schema, dict):
        return {"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}}
    return {}


def _effort(config: Json) -> Json:
    thinking = _get(config, "thinkingConfig")
    if not isinstance(thinking, dict):
        return {}
    if level := text(_get(thinking, "thinkingLevel")):
        return {"reasoning_effort": level.lower()}
    budget = _get(thinking, "thinkingBudget")
    if not isinstance(budget, int) or budget <= 0:  # -1: as much as the model likes
        return {}
    return {"reasoning_effort": next((effort for most, effort in _BUDGETS if budget <= most), "high")}


def told(whole: Json, model: str, number: int) -> Json:
    """Return a chat completion as Google's generateContent has it."""
    answer = ChatAnswer.of(whole, number)
    parts: list[Json] = [{"text": answer.reasoning, "thought": True}] if answer.reasoning else []
    if answer.text:
        parts.append({"text": answer.text})
    for call in answer.calls:
        given = json.loads(sendable_arguments(call.arguments or "{}"))
        parts.append({"functionCall": {"id": call.id, "name": call.name, "args": given}})
    reason = "SAFETY" if answer.is_refusal else "MAX_TOKENS" if answer.finish == "length" else "STOP"
    usage = answer.usage
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": reason, "index": 0}],
        "usageMetadata": {
            "promptTokenCount": usage.input,
            "cachedContentTokenCount": usage.cache_read,
            "candidatesTokenCount": usage.output - usage.reasoning,
            "thoughtsTokenCount": usage.reasoning,
            "totalTokenCount": usage.input + usage.output,
        },
        "modelVersion": model,
        "responseId": f"resp-{number:06d}",
    }
