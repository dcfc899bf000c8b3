"""Anthropic's messages, as a server answers them."""

from collections.abc import Mapping

from harness.llm.scripted_provider.anthropic_request import check
from harness.llm.scripted_provider.dialect import Turn, arguments_object, content_text, pieces, sse
from harness.llm.scripted_provider.failures import ErrorAnswer, ErrorKind, Json, RequestRefused, anthropic_error
from harness.llm.scripted_provider.scenario import Reply, Stop, Tokens


class AnthropicMessages:
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
    """Each content block, and the deltas that it is streamed in."""
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
    """A block as it starts in a stream."""
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
    """Anthropic counts what came from the cache or went into it apart from the rest of the input."""
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
