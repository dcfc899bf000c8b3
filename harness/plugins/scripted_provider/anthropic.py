"""Anthropic's messages, as a server checks and answers them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from harness.plugins.scripted_provider.dialect import Turn, arguments_object, content_text, is_positive, pieces, sse
from harness.plugins.scripted_provider.failures import ErrorAnswer, ErrorKind, Json, RequestRefused, anthropic_error
from harness.plugins.scripted_provider.scenario import Reply, Stop, Tokens

_NAMES = """model messages max_tokens system tools tool_choice stream temperature top_p top_k stop_sequences thinking
metadata service_tier container context_management mcp_servers output_config output_format inference_geo
cache_control speed betas diagnostics user_profile_id compaction billing_policy thread fallbacks workspace_id
fallback_credit_token"""
_KNOWN = frozenset(_NAMES.split())
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_CALL_ID = re.compile(r"[a-zA-Z0-9_-]+")
_MARKERS = 4


def check(request: Json, *, counting: bool = False) -> None:
    """Check a request, `counting` one to count tokens only.

    Raises:
        RequestRefused: For the first thing that is wrong.
    """
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
    """Check a later instruction as newer models take it: after a user's turn, at the end or before an assistant's."""
    where = f"messages.{position}"
    if position == 0:
        raise RequestRefused(f"{where}: use the top-level 'system' parameter for the initial system prompt")
    before, after = messages[position - 1], messages[position + 1 : position + 2]
    if before.get("role") != "user":
        raise RequestRefused(f"{where}: a `system` message must immediately follow a `user` message")
    if after and not (isinstance(after[0], dict) and after[0].get("role") == "assistant"):
        raise RequestRefused(f"{where}: a `system` message must be the last one or precede an `assistant` message")
    if any(
        block.get("type") != "text"
        for block in _anthropic_request_blocks(messages[position])
        if isinstance(block, dict)
    ):
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
    blocks = _anthropic_request_blocks(message)
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
    """Check that each tool call, and nothing else, is answered at the beginning of the user's turn that follows."""
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
    """Yield role and blocks, where neighbours of the same role are one turn."""
    role, blocks = str(messages[0]["role"]), list[Json]()
    for message in messages:
        if message["role"] != role:
            yield role, blocks
            role, blocks = str(message["role"]), []
        blocks.extend(_anthropic_request_blocks(message))
    yield role, blocks


def _leading_results(blocks: list[Json]) -> list[str]:
    found = []
    for block in blocks:
        if block.get("type") != "tool_result":
            break
        found.append(str(block.get("tool_use_id")))
    return found


def _anthropic_request_blocks(message: Json) -> list[Json]:
    content = message.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content or [])


def _all_blocks(request: Json) -> Iterator[Json]:
    system = request.get("system")
    yield from (part for part in (system if isinstance(system, list) else []) if isinstance(part, dict))
    yield from request.get("tools") or []
    for message in request["messages"]:
        for block in _anthropic_request_blocks(message):
            yield block
            inner = block.get("content")
            yield from (part for part in (inner if isinstance(inner, list) else []) if isinstance(part, dict))


def _ends_in_space(block: Json) -> bool:
    text = str(block.get("text", ""))
    return block.get("type") == "text" and text != text.rstrip()


class ServedAnthropicMessages:
    """See `ServedDialect`. Anthropic's messages."""

    path = "/v1/messages"

    def check_headers(self, headers: Mapping[str, str]) -> None:
        bearer = headers.get("Authorization", "").removeprefix("Bearer").strip()
        if not (headers.get("x-api-key", "").strip() or bearer):
            raise RequestRefused("x-api-key header is required", kind=ErrorKind.UNAUTHORIZED)
        if "anthropic-version" not in headers:
            raise RequestRefused("anthropic-version: header is required")

    def read(self, request: Json) -> str:
        check(request)
        return request_text(request)

    def answer(self, turn: Turn) -> Json:
        return {
            **_head(turn),
            "content": [block for block, _ in _blocks(turn)],
            "stop_reason": _stop_reason(turn.reply),
            **_stop_details(turn.reply),
            **_usage(turn.reply.usage),
        }

    def events(self, turn: Turn) -> list[bytes]:
        tokens = turn.reply.usage
        first = {**_head(turn), "content": [], "stop_reason": None, **_usage(tokens, output=1)}
        delta = {"stop_reason": _stop_reason(turn.reply), "stop_sequence": None, **_stop_details(turn.reply)}
        data: list[Json] = [{"type": "message_start", "message": first}, {"type": "ping"}]
        for index, (block, deltas) in enumerate(_blocks(turn)):
            data.append({"type": "content_block_start", "index": index, "content_block": _emptied(block)})
            data += [{"type": "content_block_delta", "index": index, "delta": part} for part in deltas]
            data.append({"type": "content_block_stop", "index": index})
        data += [{"type": "message_delta", "delta": delta, **_usage(tokens)}, {"type": "message_stop"}]
        return [sse(event, event["type"]) for event in data]

    def error(
        self, kind: ErrorKind, message: str | None = None, param: str | None = None, code: str | None = None
    ) -> ErrorAnswer:
        return anthropic_error(kind, message, param, code)


def request_text(request: Json) -> str:
    """Return all text of a request, for rules that look for words."""
    messages = (content_text(message) for message in request["messages"])
    return "\n".join(filter(None, [content_text(request.get("system")), *messages]))


def _head(turn: Turn) -> Json:
    return {
        "id": f"msg_{turn.number:04d}",
        "type": "message",
        "role": "assistant",
        "model": turn.model,
        "stop_sequence": None,
    }


def _blocks(turn: Turn) -> list[tuple[Json, list[Json]]]:
    """Return each content block, and the deltas that it is streamed in."""
    reply = turn.reply
    blocks: list[tuple[Json, list[Json]]] = []
    if reply.thinking:
        deltas: list[Json] = [{"type": "thinking_delta", "thinking": piece} for piece in pieces(reply.thinking)]
        deltas.append({"type": "signature_delta", "signature": "scripted"})
        blocks.append(({"type": "thinking", "thinking": reply.thinking, "signature": "scripted"}, deltas))
    if reply.text:
        deltas = [{"type": "text_delta", "text": piece} for piece in pieces(reply.text)]
        blocks.append(({"type": "text", "text": reply.text, "citations": None}, deltas))
    for position, call in enumerate(reply.calls):
        block = {
            "type": "tool_use",
            "id": turn.call_id("toolu", position),
            "name": call.name,
            "input": arguments_object(call),
        }
        blocks.append((block, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(call.text)]))
    return blocks


def _emptied(block: Json) -> Json:
    """Return a block as it starts in a stream."""
    empty = {"thinking": "", "signature": "", "text": "", "input": {}}
    return {key: empty.get(key, value) for key, value in block.items()}


def _stop_reason(reply: Reply) -> str:
    match reply.stop:
        case Stop.LENGTH:
            return "max_tokens"
        case Stop.REFUSAL | Stop.FILTERED:
            return "refusal"
        case None:
            return "tool_use" if reply.calls else "end_turn"


def _stop_details(reply: Reply) -> Json:
    refused = reply.stop in (Stop.REFUSAL, Stop.FILTERED)
    return {"stop_details": {"type": "refusal", "category": None, "explanation": None} if refused else None}


def _usage(tokens: Tokens | None, output: int | None = None) -> Json:
    """Return usage as Anthropic counts it: tokens that the cache gave or took apart from the rest of the input."""
    if tokens is None:
        return {}
    usage: Json = {
        "input_tokens": tokens.input - tokens.cache_read - tokens.cache_write,
        "cache_creation_input_tokens": tokens.cache_write,
        "cache_read_input_tokens": tokens.cache_read,
        "output_tokens": tokens.output if output is None else output,
    }
    if tokens.reasoning and output is None:
        usage["output_tokens_details"] = {"thinking_tokens": tokens.reasoning}
    return {"usage": usage}
