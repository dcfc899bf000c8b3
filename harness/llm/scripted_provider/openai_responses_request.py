"""What OpenAI's responses refuse of a request, in OpenAI's words."""

from typing import Any

from harness.llm.scripted_provider.dialect import is_positive
from harness.llm.scripted_provider.failures import Json, RequestRefused

_NAMES = """model input instructions tools tool_choice parallel_tool_calls stream stream_options temperature top_p
top_logprobs max_output_tokens max_tool_calls reasoning text metadata store service_tier truncation user include
background conversation previous_response_id prompt prompt_cache_key prompt_cache_retention prompt_cache_options
safety_identifier context_management client_metadata moderation"""
_KNOWN = frozenset(_NAMES.split())
_ROLES = ("developer", "system", "user", "assistant")


def check(request: Json) -> None:
    """Raises RequestRefused for the first thing that is wrong."""
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
