"""OpenAI's responses to and from chat completions, for models of other providers."""

import json
from typing import Any

from harness.models.gateway.dialects.chat_parts import ChatAnswer, merged, sampling
from harness.models.gateway.dialects.protocol import Json, joined, objects, text
from harness.models.gateway.withholding import RefusedRequest

_FREEFORM = "input"
"""The one argument of a tool that takes a text and no JSON, where the provider has only functions."""


def chat(body: Json) -> Json:
    """Return the request as chat completions say it.

    Raises:
        RefusedRequest: It has a tool that only this vendor has.
    """
    messages: list[Json] = []
    if instructions := text(body.get("instructions")):
        messages.append({"role": "system", "content": instructions})
    given = body.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else objects(given)
    for item in items:
        _append(messages, item)
    names = {"temperature": "temperature", "top_p": "top_p", "max_output_tokens": "max_tokens"}
    sent = {"messages": merged(messages), **sampling(body, names)}
    if tools := [part for tool in objects(body.get("tools")) for part in _tools(tool)]:
        sent |= {"tools": tools} | _choice(body.get("tool_choice"))
        if body.get("parallel_tool_calls") is False:
            sent["parallel_tool_calls"] = False
    reasoning = body.get("reasoning")
    if isinstance(reasoning, dict) and reasoning.get("effort"):
        sent["reasoning_effort"] = reasoning["effort"]
    return sent | _form(body.get("text"))


def _append(messages: list[Json], item: Json) -> None:
    """Append an item; calls join the assistant's message before them, so that all their results can follow it."""
    kind = text(item.get("type")) or "message"
    if kind == "message":
        role = text(item.get("role"))
        messages.append({"role": "system" if role == "developer" else role or "user", "content": _content(item)})
    elif kind in ("function_call", "custom_tool_call"):
        arguments = text(item.get("arguments")) or json.dumps({_FREEFORM: text(item.get("input"))})
        call = {
            "id": text(item.get("call_id")),
            "type": "function",
            "function": {"name": text(item.get("name")), "arguments": arguments},
        }
        if not messages or messages[-1]["role"] != "assistant":
            messages.append({"role": "assistant", "content": None})
        messages[-1].setdefault("tool_calls", []).append(call)
    elif kind.endswith("_output"):
        said = _content({"content": item.get("output")})
        content = said if isinstance(said, str) else joined([text(part.get("text")) for part in said])
        messages.append({"role": "tool", "tool_call_id": text(item.get("call_id")), "content": content or "(empty)"})


def _content(item: Json) -> str | list[Json]:
    content = item.get("content")
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return text(content.get("content")) or json.dumps(content)
    return [_part(part) for part in objects(content)]


def _part(part: Json) -> Json:
    if url := text(part.get("image_url")):
        return {"type": "image_url", "image_url": {"url": url}}
    if data := text(part.get("file_data")):
        return {"type": "file", "file": {"filename": text(part.get("filename")) or "file", "file_data": data}}
    return {"type": "text", "text": text(part.get("text")) or text(part.get("refusal"))}


def _tools(tool: Json) -> list[Json]:
    """Take a namespace apart into its tools; a tool that takes a text gets one argument."""
    kind = text(tool.get("type"))
    name, description = text(tool.get("name")), text(tool.get("description"))
    if kind == "namespace":
        return [part for inner in objects(tool.get("tools")) for part in _tools(inner)]
    if kind == "function":
        parameters = tool.get("parameters") or {"type": "object", "properties": {}}
    elif kind == "custom":
        grammar = tool.get("format")
        if isinstance(grammar, dict) and grammar.get("definition"):
            description += f"\n\nThe text must follow this grammar:\n{grammar['definition']}"
        properties = {_FREEFORM: {"type": "string", "description": "the whole text, as it is"}}
        parameters = {"type": "object", "properties": properties, "required": [_FREEFORM]}
    else:
        raise RefusedRequest(f"the tool {kind} is OpenAI's own; this trial's model is another provider's")
    return [{"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}]


def _choice(choice: Any) -> Json:
    if isinstance(choice, str):
        return {"tool_choice": choice}
    if isinstance(choice, dict) and choice.get("name"):
        return {"tool_choice": {"type": "function", "function": {"name": choice["name"]}}}
    return {}


def _form(options: Any) -> Json:
    form = options.get("format") if isinstance(options, dict) else None
    if not isinstance(form, dict) or form.get("type") != "json_schema":
        return {}
    schema = {key: form[key] for key in ("name", "schema", "strict") if key in form}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def freeform_tools(body: Json) -> frozenset[str]:
    """Return the tools of a request that take a text: their calls have a form of their own."""
    tools = objects(body.get("tools"))
    return frozenset(text(tool.get("name")) for tool in tools if tool.get("type") == "custom")


def told(whole: Json, model: str, number: int, freeform: frozenset[str]) -> Json:
    """Return a chat completion as OpenAI's responses have it."""
    answer = ChatAnswer.of(whole, number)
    output: list[Json] = []
    if answer.reasoning:
        summary = [{"type": "summary_text", "text": answer.reasoning}]
        output.append({"id": f"rs_{number:06d}", "type": "reasoning", "summary": summary})
    if answer.text:
        part: Json = {"type": "output_text", "text": answer.text, "annotations": []}
        if answer.is_refusal:
            part = {"type": "refusal", "refusal": answer.text}
        head = {"id": f"msg_{number:06d}", "type": "message", "role": "assistant", "status": "completed"}
        output.append({**head, "content": [part]})
    for position, call in enumerate(answer.calls):
        names = {"id": f"fc_{number:06d}_{position}", "call_id": call.id, "name": call.name, "status": "completed"}
        if call.name in freeform:
            output.append({"type": "custom_tool_call", **names, "input": _freeform(call.arguments)})
        else:
            output.append({"type": "function_call", **names, "arguments": call.arguments or "{}"})
    reason = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(answer.finish)
    usage = answer.usage
    return {
        "id": f"resp_{number:06d}",
        "object": "response",
        "created_at": 0,
        "model": model,
        "status": "incomplete" if reason else "completed",
        "error": None,
        "incomplete_details": {"reason": reason} if reason else None,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": usage.input,
            "input_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write},
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": usage.reasoning},
            "total_tokens": usage.input + usage.output,
        },
    }


def _freeform(arguments: str) -> str:
    try:
        given = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    return text(given.get(_FREEFORM)) if isinstance(given, dict) else arguments
