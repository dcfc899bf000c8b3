"""What OpenAI's chat completions refuse of a request, in OpenAI's words."""

import re
from typing import Any

from harness.llm.scripted_provider.dialect import is_positive
from harness.llm.scripted_provider.failures import Json, RequestRefused

_ROLES = ("developer", "system", "user", "assistant", "tool")
_NAMES = """model messages tools tool_choice parallel_tool_calls stream stream_options temperature top_p n stop seed
user max_tokens max_completion_tokens presence_penalty frequency_penalty logit_bias logprobs top_logprobs
response_format reasoning_effort verbosity metadata store service_tier modalities audio prediction
prompt_cache_key prompt_cache_retention prompt_cache_options safety_identifier web_search_options functions
function_call moderation"""
_KNOWN = frozenset(_NAMES.split())
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def check(request: Json) -> None:
    """Raises RequestRefused for the first thing that is wrong."""
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
    """A tool's message: it must answer a call of the assistant's message before it, which is then done with."""
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
    """Any message but a tool's. Returns the ids of its tool calls."""
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
