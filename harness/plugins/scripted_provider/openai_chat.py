"""OpenAI's chat completions, as a server checks and answers them."""

import re
from collections.abc import Mapping
from typing import Any

from harness.plugins.scripted_provider.dialect import Turn, check_bearer, content_text, is_positive, pieces, sse
from harness.plugins.scripted_provider.failures import ErrorAnswer, ErrorKind, Json, RequestRefused, openai_error
from harness.plugins.scripted_provider.scenario import Call, Reply, Stop, Tokens

_ROLES = ("developer", "system", "user", "assistant", "tool")
_NAMES = """model messages tools tool_choice parallel_tool_calls stream stream_options temperature top_p n stop seed
user max_tokens max_completion_tokens presence_penalty frequency_penalty logit_bias logprobs top_logprobs
response_format reasoning_effort verbosity metadata store service_tier modalities audio prediction
prompt_cache_key prompt_cache_retention prompt_cache_options safety_identifier web_search_options functions
function_call moderation"""
_KNOWN = frozenset(_NAMES.split())
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def check(request: Json) -> None:
    """Check a request.

    Raises:
        RequestRefused: For the first thing that is wrong.
    """
    if not isinstance(request.get("model"), str) or not request["model"]:
        raise RequestRefused("you must provide a model parameter")
    for name in request:
        if name not in _KNOWN:
            raise RequestRefused(f"Unrecognized request argument supplied: {name}")
    for name in ("max_tokens", "max_completion_tokens"):
        if request.get(name) is not None and not is_positive(request[name]):
            raise _invalid(name, "integer below minimum value. Expected a value >= 1", "integer_below_min_value")
    if not isinstance(request.get("stream_options"), dict | None):
        raise _invalid("stream_options", "expected an object", "invalid_type")
    if request.get("stream_options") is not None and not request.get("stream"):
        raise RequestRefused("The 'stream_options' parameter is only allowed when 'stream' is enabled.")
    _check_tools(request.get("tools"))
    if "messages" not in request:
        raise RequestRefused(
            "Missing required parameter: 'messages'.", param="messages", code="missing_required_parameter"
        )
    if not isinstance(request["messages"], list) or not request["messages"]:
        raise _invalid("messages", "empty array. Expected an array with minimum length 1", "empty_array")
    _check_messages(request["messages"])


def _invalid(param: str, words: str, code: str = "invalid_value") -> RequestRefused:
    return RequestRefused(f"Invalid '{param}': {words}.", param=param, code=code)


def _check_tools(tools: Any) -> None:
    if tools is None:
        return
    if not isinstance(tools, list) or not tools:
        raise _invalid("tools", "empty array. Expected an array with minimum length 1", "empty_array")
    for position, tool in enumerate(tools):
        function = tool.get("function") if isinstance(tool, dict) and tool.get("type") == "function" else None
        if not isinstance(function, dict):
            raise RequestRefused(f"Missing required parameter: 'tools[{position}].function'.", param="tools")
        if not _TOOL_NAME.fullmatch(str(function.get("name", ""))):
            raise _invalid(f"tools[{position}].function.name", "string does not match pattern '^[a-zA-Z0-9_-]+$'")


def _check_messages(messages: list[Any]) -> None:
    pending: list[str] = []
    for position, message in enumerate(messages):
        role = message.get("role") if isinstance(message, dict) else None
        if role not in _ROLES:
            raise _invalid(f"messages[{position}].role", f"'{role}'. Supported values are: {', '.join(_ROLES)}")
        if role == "tool":
            _check_result(message, position, pending)
            continue
        _check_answered(pending)
        pending = _check_spoken(message, position)
    _check_answered(pending)


def _check_result(message: Json, position: int, pending: list[str]) -> None:
    """Check a tool's message: it must answer a call of the assistant's message before it, which is then done with."""
    answered = message.get("tool_call_id")
    if answered not in pending:
        raise RequestRefused(
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
            "'tool_calls'.",
            param=f"messages.[{position}].role",
        )
    if not isinstance(message.get("content"), str | list):
        raise _invalid(f"messages[{position}].content", "expected a string or an array", "invalid_type")
    pending.remove(answered)


def _check_answered(pending: list[str]) -> None:
    if pending:
        raise RequestRefused(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(pending)}",
            param="messages",
        )


def _check_spoken(message: Json, position: int) -> list[str]:
    """Check any message but a tool's, and return the ids of its tool calls."""
    where = f"messages[{position}]"
    calls = message.get("tool_calls")
    content = message.get("content")
    if calls is not None and (message["role"] != "assistant" or not isinstance(calls, list) or not calls):
        raise _invalid(f"{where}.tool_calls", "empty array. Expected an array with minimum length 1", "empty_array")
    if not isinstance(content, str | list) and not (
        message["role"] == "assistant" and (calls or message.get("refusal"))
    ):
        raise _invalid(f"{where}.content", "expected a string or an array of objects, but got null", "invalid_type")
    return [_call_id(call, f"{where}.tool_calls[{number}]") for number, call in enumerate(calls or [])]


def _call_id(call: Any, where: str) -> str:
    function = call.get("function") if isinstance(call, dict) and call.get("type") == "function" else None
    if not isinstance(function, dict) or not function.get("name") or not isinstance(function.get("arguments"), str):
        raise _invalid(f"{where}.function", "expected a name, and arguments as a string", "invalid_type")
    if not isinstance(call.get("id"), str) or not call["id"]:
        raise RequestRefused(f"Missing required parameter: '{where}.id'.", param=f"{where}.id")
    return str(call["id"])


# Answers carry the time at which they were made; a fixed one makes two playings the same.
CREATED = 1735689600


class ServedOpenAIChat:
    """See `ServedDialect`. OpenAI's chat completions."""

    path = "/v1/chat/completions"

    def check_headers(self, headers: Mapping[str, str]) -> None:
        check_bearer(headers)

    def read(self, request: Json) -> str:
        check(request)
        return "\n".join(content_text(message) for message in request["messages"])

    def answer(self, turn: Turn) -> Json:
        choice = {
            "index": 0,
            "message": _message(turn),
            "logprobs": None,
            "finish_reason": _finish(turn.reply),
        }
        return {**_head(turn, "chat.completion"), "choices": [choice], **_usage(turn.reply)}

    def events(self, turn: Turn) -> list[bytes]:
        wants_usage = bool((turn.request.get("stream_options") or {}).get("include_usage"))
        head = _head(turn, "chat.completion.chunk")
        filler: Json = {"usage": None} if wants_usage else {}
        deltas = [*_deltas(turn), ({}, _finish(turn.reply))]
        events = [sse({**head, "choices": [_chunk_choice(delta, finish)], **filler}) for delta, finish in deltas]
        if wants_usage and turn.reply.usage:
            events.append(sse({**head, "choices": [], **_usage(turn.reply)}))
        return [*events, sse("[DONE]")]

    def error(
        self, kind: ErrorKind, message: str | None = None, param: str | None = None, code: str | None = None
    ) -> ErrorAnswer:
        return openai_error(kind, message, param, code)


def _head(turn: Turn, kind: str) -> Json:
    return {"id": f"chatcmpl-{turn.number:04d}", "object": kind, "created": CREATED, "model": turn.model}


def _message(turn: Turn) -> Json:
    reply = turn.reply
    message: Json = {"role": "assistant", "content": reply.text, "refusal": None}
    if reply.stop is Stop.REFUSAL:
        message |= {"content": None, "refusal": reply.text}
    if reply.thinking:
        message["reasoning_content"] = reply.thinking
    if reply.calls:
        message["content"] = reply.text or None
        message["tool_calls"] = [_call(turn, call, position) for position, call in enumerate(reply.calls)]
    return message


def _call(turn: Turn, call: Call, position: int) -> Json:
    function = {"name": call.name, "arguments": call.text}
    return {"id": turn.call_id("call", position), "type": "function", "function": function}


def _deltas(turn: Turn) -> list[tuple[Json, str | None]]:
    reply = turn.reply
    said = "refusal" if reply.stop is Stop.REFUSAL else "content"
    deltas: list[Json] = [{"role": "assistant", "content": None if reply.calls else "", "refusal": None}]
    deltas += [{"reasoning_content": piece} for piece in pieces(reply.thinking)]
    deltas += [{said: piece} for piece in pieces(reply.text)]
    for position, call in enumerate(reply.calls):
        whole = _call(turn, call, position)
        first = {**whole, "index": position, "function": {"name": call.name, "arguments": ""}}
        deltas.append({"tool_calls": [first]})
        for piece in pieces(call.text):
            deltas.append({"tool_calls": [{"index": position, "function": {"arguments": piece}}]})
    return [(delta, None) for delta in deltas]


def _chunk_choice(delta: Json, finish: str | None) -> Json:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}


def _finish(reply: Reply) -> str:
    match reply.stop:
        case Stop.LENGTH:
            return "length"
        case Stop.FILTERED:
            return "content_filter"
        case Stop.REFUSAL | None:
            return "tool_calls" if reply.calls else "stop"


def _usage(reply: Reply) -> Json:
    return {"usage": _counts(reply.usage)} if reply.usage else {}


def _counts(tokens: Tokens) -> dict[str, Any]:
    cost = {} if tokens.cost_usd is None else {"cost": tokens.cost_usd}
    return {
        "prompt_tokens": tokens.input,
        "completion_tokens": tokens.output,
        "total_tokens": tokens.input + tokens.output,
        "prompt_tokens_details": {
            "cached_tokens": tokens.cache_read,
            "cache_write_tokens": tokens.cache_write,
            "audio_tokens": 0,
        },
        "completion_tokens_details": {
            "reasoning_tokens": tokens.reasoning,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
        **cost,
    }
