"""OpenAI's chat completions, as a server answers them."""

from collections.abc import Mapping
from typing import Any

from harness.llm.scripted_provider.dialect import Turn, check_bearer, content_text, pieces, sse
from harness.llm.scripted_provider.failures import ErrorAnswer, ErrorKind, Json, openai_error
from harness.llm.scripted_provider.openai_chat_request import check
from harness.llm.scripted_provider.scenario import Call, Reply, Stop, Tokens

# Answers carry the time at which they were made; a fixed one makes two playings the same.
CREATED = 1735689600


class OpenAIChat:
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
