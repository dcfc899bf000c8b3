"""Anthropic's messages to and from chat completions, for models of other providers."""

import json
from typing import Any

from harness.models.gateway.dialects.chat_parts import ChatAnswer, image_part, merged, sampling
from harness.models.gateway.dialects.protocol import Json, joined, objects, text
from harness.models.gateway.withholding import RefusedRequest
from harness.models.protocol import sendable_arguments

_STOPS = {"length": "max_tokens", "content_filter": "refusal", "tool_calls": "tool_use"}
_CHOICES = {"auto": "auto", "any": "required", "none": "none"}
_BUDGETS = ((2_048, "low"), (8_192, "medium"))
"""Budgets of thinking, in tokens, and the effort that comes nearest."""


def chat(body: Json) -> Json:
    """Return the request as chat completions say it.

    Raises:
        RefusedRequest: It has a tool that only this vendor has.
    """
    system = _texts(body.get("system"))
    messages: list[Json] = [{"role": "system", "content": system}] if system else []
    for message in objects(body.get("messages")):
        messages += _assistant(message) if message.get("role") == "assistant" else _user(message)
    names = {"temperature": "temperature", "top_p": "top_p", "stop_sequences": "stop", "max_tokens": "max_tokens"}
    sent = {"messages": merged(messages), **sampling(body, names)}
    if tools := [_tool(tool) for tool in objects(body.get("tools"))]:
        sent["tools"] = tools
        sent |= _choice(body.get("tool_choice"))
    return sent | _effort(body)


def _texts(content: Any) -> str:
    return content if isinstance(content, str) else joined([text(block.get("text")) for block in objects(content)])


def _assistant(message: Json) -> list[Json]:
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)
    calls = [
        {
            "id": text(block.get("id")),
            "type": "function",
            "function": {"name": text(block.get("name")), "arguments": json.dumps(block.get("input") or {})},
        }
        for block in blocks
        if block.get("type") == "tool_use"
    ]
    sent: Json = {"role": "assistant", "content": _texts([b for b in blocks if b.get("type") == "text"]) or None}
    if calls:
        sent["tool_calls"] = calls
    if signed := [block for block in blocks if block.get("type") == "thinking" and block.get("signature")]:
        sent["thinking_blocks"] = signed
    return [sent] if sent["content"] or calls else []


def _user(message: Json) -> list[Json]:
    """Return results as messages of their own, first; their pictures go into the user's message that follows."""
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)
    results: list[Json] = []
    parts: list[Json] = []
    for block in blocks:
        if block.get("type") == "tool_result":
            inner = block.get("content")
            said = _texts(inner) or "(empty)"
            results.append({"role": "tool", "tool_call_id": text(block.get("tool_use_id")), "content": said})
            parts += [part for part in map(_part, objects(inner)) if part["type"] != "text"]
        else:
            parts.append(_part(block))
    role = "system" if message.get("role") == "system" else "user"
    return results + ([{"role": role, "content": parts}] if parts else [])


def _part(block: Json) -> Json:
    source = block.get("source")
    if block.get("type") == "image" and isinstance(source, dict):
        return image_part(text(source.get("media_type")), text(source.get("data")))
    if isinstance(source, dict) and source.get("type") == "base64":
        url = f"data:{text(source.get('media_type'))};base64,{text(source.get('data'))}"
        return {"type": "file", "file": {"filename": text(block.get("title")) or "document", "file_data": url}}
    inner = source.get("data") if isinstance(source, dict) else block.get("text")
    return {"type": "text", "text": text(inner) or "(empty)"}


def _tool(tool: Json) -> Json:
    if text(tool.get("type")) not in ("", "custom"):
        raise RefusedRequest(f"the tool {tool['type']} is Anthropic's own; this trial's model is another provider's")
    function = {"name": tool.get("name"), "description": tool.get("description") or ""}
    return {"type": "function", "function": {**function, "parameters": tool.get("input_schema") or {}}}


def _choice(choice: Any) -> Json:
    if not isinstance(choice, dict):
        return {}
    kind = text(choice.get("type"))
    named = {"type": "function", "function": {"name": choice.get("name")}}
    found: Json = {"tool_choice": named if kind == "tool" else _CHOICES.get(kind, "auto")}
    if choice.get("disable_parallel_tool_use"):
        found["parallel_tool_calls"] = False
    return found


def _effort(body: Json) -> Json:
    config, thinking = body.get("output_config"), body.get("thinking")
    if isinstance(config, dict) and config.get("effort"):
        return {"reasoning_effort": config["effort"]}
    budget = thinking.get("budget_tokens") if isinstance(thinking, dict) else None
    if not isinstance(budget, int):
        return {}
    return {"reasoning_effort": next((effort for most, effort in _BUDGETS if budget <= most), "high")}


def told(whole: Json, model: str, number: int) -> Json:
    """Return a chat completion as Anthropic's messages have it."""
    answer = ChatAnswer.of(whole, number)
    blocks: list[Json] = list(answer.signed)
    if answer.reasoning and not blocks:
        blocks.append({"type": "thinking", "thinking": answer.reasoning, "signature": ""})
    if answer.text:
        blocks.append({"type": "text", "text": answer.text})
    for call in answer.calls:
        given = json.loads(sendable_arguments(call.arguments or "{}"))
        blocks.append({"type": "tool_use", "id": call.id, "name": call.name, "input": given})
    usage = answer.usage
    stop = "tool_use" if answer.calls else "refusal" if answer.is_refusal else _STOPS.get(answer.finish, "end_turn")
    return {
        "id": f"msg_{number:06d}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": blocks,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {
            "input_tokens": usage.input - usage.cache_read - usage.cache_write,
            "cache_read_input_tokens": usage.cache_read,
            "cache_creation_input_tokens": usage.cache_write,
            "output_tokens": usage.output,
        },
    }
