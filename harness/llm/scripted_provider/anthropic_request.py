"""What Anthropic's messages refuse of a request, in Anthropic's words."""

import re
from collections.abc import Iterator
from typing import Any

from harness.llm.scripted_provider.dialect import is_positive
from harness.llm.scripted_provider.failures import Json, RequestRefused

_NAMES = """model messages max_tokens system tools tool_choice stream temperature top_p top_k stop_sequences thinking
metadata service_tier container context_management mcp_servers output_config output_format inference_geo
cache_control speed betas diagnostics user_profile_id"""
_KNOWN = frozenset(_NAMES.split())
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_CALL_ID = re.compile(r"[a-zA-Z0-9_-]+")
_MARKERS = 4


def check(request: Json, *, counting: bool = False) -> None:
    """Raises RequestRefused for the first thing that is wrong. `counting`: a request to count tokens only."""
    required = ("model", "messages") if counting else ("model", "max_tokens", "messages")
    for name in required:
        if name not in request:
            raise RequestRefused(f"{name}: Field required")
    for name in request:
        if name not in _KNOWN:
            raise RequestRefused(f"{name}: Extra inputs are not permitted")
    if not isinstance(request["model"], str) or not request["model"]:
        raise RequestRefused("model: String should have at least 1 character")
    if not counting and not is_positive(request["max_tokens"]):
        raise RequestRefused("max_tokens: Input should be greater than or equal to 1")
    _check_thinking(request)
    _check_tools(request.get("tools"))
    _check_messages(request["messages"])
    marked = sum(1 for block in _all_blocks(request) if block.get("cache_control"))
    if marked > _MARKERS:
        raise RequestRefused(f"A maximum of {_MARKERS} blocks with cache_control may be provided. Found {marked}.")


def _check_thinking(request: Json) -> None:
    thinking = request.get("thinking")
    if thinking is None:
        return
    if not isinstance(thinking, dict):
        raise RequestRefused("thinking: Input should be a valid dictionary")
    budget = thinking.get("budget_tokens")
    if budget is not None and not is_positive(budget):
        raise RequestRefused("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
    if budget is not None and budget >= request.get("max_tokens", budget + 1):
        raise RequestRefused("`max_tokens` must be greater than `thinking.budget_tokens`.")
    if thinking.get("type") == "enabled" and request.get("temperature") not in (None, 1, 1.0):
        raise RequestRefused("`temperature` may only be set to 1 when thinking is enabled.")


def _check_tools(tools: Any) -> None:
    if tools is None:
        return
    if not isinstance(tools, list):
        raise RequestRefused("tools: Input should be a valid list")
    for position, tool in enumerate(tools):
        if not isinstance(tool, dict):
            raise RequestRefused(f"tools.{position}: Input should be a valid dictionary")
        if "type" in tool and tool["type"] != "custom":
            continue  # one of the vendor's own tools, which has no schema
        if not _TOOL_NAME.fullmatch(str(tool.get("name", ""))):
            raise RequestRefused(
                f"tools.{position}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
            )
        schema = tool.get("input_schema")
        if not isinstance(schema, dict) or schema.get("type") != "object":
            raise RequestRefused(f"tools.{position}.custom.input_schema.type: Field required")


def _check_messages(messages: Any) -> None:
    if not isinstance(messages, list) or not messages:
        raise RequestRefused("messages: at least one message is required")
    for position, message in enumerate(messages):
        role = message.get("role") if isinstance(message, dict) else None
        if role == "system":
            _check_system(messages, position)
        elif role not in ("user", "assistant"):
            raise RequestRefused(f'messages.{position}.role: Unexpected role "{role}"')
        _check_content(message, f"messages.{position}", is_last=position == len(messages) - 1)
    if messages[0]["role"] != "user":
        raise RequestRefused('messages: first message must use the "user" role')
    _check_results([message for message in messages if message["role"] != "system"])


def _check_system(messages: list[Any], position: int) -> None:
    """A later instruction, as newer models take them: behind a user's turn, at the end or before an assistant's."""
    where = f"messages.{position}"
    if position == 0:
        raise RequestRefused(f"{where}: use the top-level 'system' parameter for the initial system prompt")
    before, after = messages[position - 1], messages[position + 1 : position + 2]
    if before.get("role") != "user":
        raise RequestRefused(f"{where}: a `system` message must immediately follow a `user` message")
    if after and not (isinstance(after[0], dict) and after[0].get("role") == "assistant"):
        raise RequestRefused(f"{where}: a `system` message must be the last one or precede an `assistant` message")
    if any(block.get("type") != "text" for block in _blocks(messages[position]) if isinstance(block, dict)):
        raise RequestRefused(f"{where}: a `system` message may only have text content")


def _check_content(message: Json, where: str, is_last: bool) -> None:
    content = message.get("content")
    if not isinstance(content, str | list):
        raise RequestRefused(f"{where}.content: Input should be a valid list")
    if not content and not (is_last and message["role"] == "assistant"):
        raise RequestRefused(
            f"{where}: all messages must have non-empty content except for the optional final assistant message"
        )
    for number, block in enumerate(content if isinstance(content, list) else []):
        _check_block(block, message["role"], f"{where}.content.{number}")
    blocks = _blocks(message)
    if is_last and message["role"] == "assistant" and blocks and _ends_in_space(blocks[-1]):
        raise RequestRefused("messages: final assistant content cannot end with trailing whitespace")


def _check_block(block: Any, role: str, where: str) -> None:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "text" and not str(block.get("text", "")).strip():
        raise RequestRefused("messages: text content blocks must contain non-whitespace text")
    if kind == "tool_use":
        if role != "assistant":
            raise RequestRefused(f"{where}: `tool_use` blocks can only be in `assistant` messages")
        if not _CALL_ID.fullmatch(str(block.get("id", ""))):
            raise RequestRefused(f"{where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
        if not isinstance(block.get("input"), dict):
            raise RequestRefused(f"{where}.tool_use.input: Input should be a valid dictionary")
    if kind == "tool_result" and role != "user":
        raise RequestRefused(f"{where}: `tool_result` blocks can only be in `user` messages")
    if kind is None:
        raise RequestRefused(f"{where}.type: Field required")


def _check_results(messages: list[Json]) -> None:
    """Each tool call is answered at the beginning of the user's turn that follows, and nothing else is."""
    turns = list(_turns(messages))
    for (role, blocks), (_, following) in zip(turns, [*turns[1:], ("user", [])], strict=True):
        calls = [block["id"] for block in blocks if block.get("type") == "tool_use"] if role == "assistant" else []
        leading = _leading_results(following)
        missing = [call for call in calls if call not in leading]
        if missing:
            raise RequestRefused(
                f"messages: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the "
                "next message."
            )
        for answered in (block.get("tool_use_id") for block in following if block.get("type") == "tool_result"):
            if answered not in calls:
                raise RequestRefused(
                    f"messages: unexpected `tool_use_id` found in `tool_result` blocks: {answered}. Each "
                    "`tool_result` block must have a corresponding `tool_use` block in the previous message."
                )
    first = [block for block in turns[0][1] if block.get("type") == "tool_result"]
    if first:
        raise RequestRefused(
            f"messages.0: unexpected `tool_use_id` found in `tool_result` blocks: {first[0].get('tool_use_id')}"
        )


def _turns(messages: list[Json]) -> Iterator[tuple[str, list[Json]]]:
    """Role and blocks, where neighbours of the same role are one turn."""
    role, blocks = str(messages[0]["role"]), list[Json]()
    for message in messages:
        if message["role"] != role:
            yield role, blocks
            role, blocks = str(message["role"]), []
        blocks.extend(_blocks(message))
    yield role, blocks


def _leading_results(blocks: list[Json]) -> list[str]:
    found = []
    for block in blocks:
        if block.get("type") != "tool_result":
            break
        found.append(str(block.get("tool_use_id")))
    return found


def _blocks(message: Json) -> list[Json]:
    content = message.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content or [])


def _all_blocks(request: Json) -> Iterator[Json]:
    system = request.get("system")
    yield from (part for part in (system if isinstance(system, list) else []) if isinstance(part, dict))
    yield from request.get("tools") or []
    for message in request["messages"]:
        for block in _blocks(message):
            yield block
            inner = block.get("content")
            yield from (part for part in (inner if isinstance(inner, list) else []) if isinstance(part, dict))


def _ends_in_space(block: Json) -> bool:
    text = str(block.get("text", ""))
    return block.get("type") == "text" and text != text.rstrip()
