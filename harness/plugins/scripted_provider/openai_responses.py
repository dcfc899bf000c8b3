"""OpenAI's responses, as a server checks and answers them."""

from collections.abc import Mapping
from typing import Any

from harness.plugins.scripted_provider.dialect import Turn, check_bearer, content_text, is_positive, pieces, sse
from harness.plugins.scripted_provider.failures import ErrorAnswer, ErrorKind, Json, RequestRefused, openai_error
from harness.plugins.scripted_provider.openai_chat import CREATED
from harness.plugins.scripted_provider.scenario import Stop, Tokens

_NAMES = """model input instructions tools tool_choice parallel_tool_calls stream stream_options temperature top_p
top_logprobs max_output_tokens max_tool_calls reasoning text metadata store service_tier truncation user include
background conversation previous_response_id prompt prompt_cache_key prompt_cache_retention prompt_cache_options
safety_identifier context_management client_metadata moderation"""
_KNOWN = frozenset(_NAMES.split())
_ROLES = ("developer", "system", "user", "assistant")


def check(request: Json) -> None:
    """Check a request.

    Raises:
        RequestRefused: For the first thing that is wrong.
    """
    for name in ("model", "input"):
        if not request.get(name):
            raise RequestRefused(
                f"Missing required parameter: '{name}'.", param=name, code="missing_required_parameter"
            )
    for name in request:
        if name not in _KNOWN:
            raise RequestRefused(f"Unknown parameter: '{name}'.", param=name, code="unknown_parameter")
    if request.get("max_output_tokens") is not None and not is_positive(request["max_output_tokens"]):
        raise RequestRefused(
            "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 1.",
            param="max_output_tokens",
            code="integer_below_min_value",
        )
    if request.get("previous_response_id"):
        # Nothing is kept between requests: a client has to send the whole conversation.
        raise RequestRefused(
            f"Previous response with id '{request['previous_response_id']}' not found.",
            param="previous_response_id",
            code="previous_response_not_found",
        )
    if not isinstance(request.get("tools"), list | None):
        raise RequestRefused("Invalid type for 'tools': expected an array of objects.", param="tools")
    for position, tool in enumerate(request.get("tools") or []):
        if not isinstance(tool, dict) or (tool.get("type") == "function" and not tool.get("name")):
            raise RequestRefused(f"Missing required parameter: 'tools[{position}].name'.", param="tools")
    if not isinstance(request["input"], str | list):
        raise RequestRefused("Invalid type for 'input': expected a string or an array.", param="input")
    if isinstance(request["input"], list):
        _check_items(request["input"])


def _check_items(items: list[Any]) -> None:
    calls: dict[str, bool] = {}
    for position, item in enumerate(items):
        kind = item.get("type", "message" if "role" in item else None) if isinstance(item, dict) else None
        if kind is None:
            raise RequestRefused(f"Missing required parameter: 'input[{position}].type'.", param="input")
        if kind == "message" and item.get("role") not in _ROLES:
            raise RequestRefused(
                f"Invalid value: '{item.get('role')}'. Supported values are: {', '.join(_ROLES)}.",
                param=f"input[{position}].role",
                code="invalid_value",
            )
        if kind == "function_call":
            calls[str(item.get("call_id"))] = False
        if kind == "function_call_output":
            answered = str(item.get("call_id"))
            if answered not in calls:
                raise RequestRefused(
                    f"No tool call found for function call output with call_id {answered}.", param="input"
                )
            calls[answered] = True
    for call, done in calls.items():
        if not done:
            raise RequestRefused(f"No tool output found for function call {call}.", param="input")


class ServedOpenAIResponses:
    """See `ServedDialect`. OpenAI's responses."""

    path = "/v1/responses"

    def check_headers(self, headers: Mapping[str, str]) -> None:
        check_bearer(headers)

    def read(self, request: Json) -> str:
        check(request)
        return "\n".join(filter(None, [content_text(request.get("instructions")), content_text(request["input"])]))

    def answer(self, turn: Turn) -> Json:
        why = {Stop.LENGTH: "max_output_tokens", Stop.FILTERED: "content_filter"}
        reason = why.get(turn.reply.stop) if turn.reply.stop else None
        return {
            **_head(turn),
            "status": "incomplete" if reason else "completed",
            "incomplete_details": {"reason": reason} if reason else None,
            "output": _items(turn),
            "usage": _counts(turn.reply.usage) if turn.reply.usage else None,
        }

    def events(self, turn: Turn) -> list[bytes]:
        begun = {**_head(turn), "status": "in_progress", "incomplete_details": None, "output": [], "usage": None}
        final = self.answer(turn)
        data: list[Json] = [{"type": f"response.{name}", "response": begun} for name in ("created", "in_progress")]
        for index, item in enumerate(final["output"]):
            data.append({"type": "response.output_item.added", "output_index": index, "item": _emptied(item)})
            data += [{**event, "output_index": index, "item_id": item["id"]} for event in _item_events(item)]
            data.append({"type": "response.output_item.done", "output_index": index, "item": item})
        data.append({"type": f"response.{final['status']}", "response": final})
        numbered = ({**event, "sequence_number": number} for number, event in enumerate(data))
        return [sse(event, event["type"]) for event in numbered]

    def error(
        self, kind: ErrorKind, message: str | None = None, param: str | None = None, code: str | None = None
    ) -> ErrorAnswer:
        return openai_error(kind, message, param, code)


def _head(turn: Turn) -> Json:
    request = turn.request
    return {
        "id": f"resp_{turn.number:04d}",
        "object": "response",
        "created_at": CREATED,
        "model": turn.model,
        "error": None,
        "instructions": request.get("instructions"),
        "metadata": request.get("metadata") or {},
        "parallel_tool_calls": request.get("parallel_tool_calls", True),
        "temperature": request.get("temperature", 1.0),
        "top_p": request.get("top_p", 1.0),
        "tool_choice": request.get("tool_choice", "auto"),
        "tools": request.get("tools") or [],
    }


def _items(turn: Turn) -> list[Json]:
    reply, number = turn.reply, turn.number
    status = "incomplete" if reply.stop in (Stop.LENGTH, Stop.FILTERED) else "completed"
    items: list[Json] = []
    if reply.thinking:
        summary = [{"type": "summary_text", "text": reply.thinking}]
        items.append({"id": f"rs_{number:04d}", "type": "reasoning", "summary": summary})
    if reply.text:
        part: Json = {"type": "output_text", "text": reply.text, "annotations": []}
        if reply.stop is Stop.REFUSAL:
            part = {"type": "refusal", "refusal": reply.text}
        message = {"id": f"msg_{number:04d}", "type": "message", "role": "assistant"}
        items.append({**message, "status": status, "content": [part]})
    for position, call in enumerate(reply.calls):
        names = {"id": turn.call_id("fc", position), "call_id": turn.call_id("call", position), "name": call.name}
        items.append({"type": "function_call", **names, "arguments": call.text, "status": status})
    return items


def _emptied(item: Json) -> Json:
    """Return an item as it starts in a stream."""
    empty = {"content": [], "summary": [], "arguments": "", "status": "in_progress"}
    return {key: empty.get(key, value) for key, value in item.items()}


def _item_events(item: Json) -> list[Json]:
    """Return what is streamed between an item's beginning and its end."""
    match item["type"]:
        case "function_call":
            name = "response.function_call_arguments"
            done = {"type": f"{name}.done", "arguments": item["arguments"], "name": item["name"]}
            return [*({"type": f"{name}.delta", "delta": piece} for piece in pieces(item["arguments"])), done]
        case "reasoning":
            return _part_events("response.reasoning_summary", "summary_index", item["summary"][0], "text")
        case _:
            part = item["content"][0]
            said = "refusal" if part["type"] == "refusal" else "text"
            return _part_events("response.content", "content_index", part, said)


def _part_events(prefix: str, index: str, part: Json, said: str) -> list[Json]:
    """Return a part's beginning, its text in pieces, and its end. `said` is the part's key that holds the text."""
    names = {"summary_text": "response.reasoning_summary_text", "output_text": "response.output_text"}
    name = names.get(part["type"], "response.refusal")
    extra: Json = {"logprobs": []} if part["type"] == "output_text" else {}
    events: list[Json] = [{"type": f"{prefix}_part.added", "part": {**part, said: ""}}]
    events += [{"type": f"{name}.delta", "delta": piece, **extra} for piece in pieces(part[said])]
    events.append({"type": f"{name}.done", said: part[said], **extra})
    events.append({"type": f"{prefix}_part.done", "part": part})
    return [{**event, index: 0} for event in events]


def _counts(tokens: Tokens) -> Json:
    cost = {} if tokens.cost_usd is None else {"cost": tokens.cost_usd}
    return {
        "input_tokens": tokens.input,
        "input_tokens_details": {"cached_tokens": tokens.cache_read, "cache_write_tokens": tokens.cache_write},
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
        "total_tokens": tokens.input + tokens.output,
        **cost,
    }
