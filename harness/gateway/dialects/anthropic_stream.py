"""Anthropic's messages as a stream: put together, and written."""

import json

from pydantic import ValidationError

from harness.gateway.dialects.protocol import Heard, Json, text
from harness.gateway.sse import event
from harness.llm.anthropic_format import AnthropicUsage

_GROWING = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}


class MessageAssembler:
    def __init__(self) -> None:
        self.heard = Heard()
        self._message: Json = {}
        self._blocks: dict[int, Json] = {}
        self._arguments: dict[int, str] = {}

    def add(self, event: Json) -> None:
        match event.get("type"):
            case "message_start" if isinstance(event.get("message"), dict):
                self._message = dict(event["message"])
                self._count(self._message.get("usage"))
            case "content_block_start" if isinstance(event.get("content_block"), dict):
                self._blocks[_index(event)] = dict(event["content_block"])
            case "content_block_delta" if isinstance(event.get("delta"), dict):
                self._grow(_index(event), event["delta"])
            case "message_delta":
                if isinstance(event.get("delta"), dict):
                    self._message |= event["delta"]
                self._count(event.get("usage"))
            case "message_stop":
                self.heard.whole = self._whole()
                self.heard.is_over = True
            case "error":
                self.heard.error = event

    def _grow(self, index: int, delta: Json) -> None:
        block = self._blocks.setdefault(index, {"type": "text", "text": ""})
        kind = text(delta.get("type"))
        if key := _GROWING.get(kind):
            block[key] = text(block.get(key)) + text(delta.get(key))
        elif kind == "input_json_delta":
            self._arguments[index] = self._arguments.get(index, "") + text(delta.get("partial_json"))

    def _count(self, usage: object) -> None:
        """Later counts replace earlier ones of the same name; the last event doesn't repeat them all."""
        if not isinstance(usage, dict):
            return
        known = self._message.get("usage")
        self._message["usage"] = {**(known if isinstance(known, dict) else {}), **usage}
        try:
            self.heard.usage = AnthropicUsage.model_validate(self._message["usage"]).counts()
        except ValidationError:
            return

    def _whole(self) -> Json:
        for index, written in self._arguments.items():
            self._blocks[index]["input"] = _object(written)
        return {**self._message, "content": [block for _, block in sorted(self._blocks.items())]}


def message_events(message: Json) -> list[bytes]:
    """A whole message as the events of a stream."""
    usage = message["usage"]
    first = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    events: list[Json] = [{"type": "message_start", "message": first}]
    for index, block in enumerate(message["content"]):
        empty, deltas = _begun(block)
        events.append({"type": "content_block_start", "index": index, "content_block": empty})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events += [{"type": "message_delta", "delta": delta, "usage": usage}, {"type": "message_stop"}]
    return [event(data, data["type"]) for data in events]


def _begun(block: Json) -> tuple[Json, list[Json]]:
    """A block as it begins in a stream, and what is added to it."""
    match block["type"]:
        case "thinking":
            deltas = [{"type": "thinking_delta", "thinking": block["thinking"]}]
            deltas.append({"type": "signature_delta", "signature": block.get("signature", "")})
            return {**block, "thinking": "", "signature": ""}, deltas
        case "text":
            return {**block, "text": ""}, [{"type": "text_delta", "text": block["text"]}]
        case "tool_use":
            written = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            return {**block, "input": {}}, [written]
        case _:
            return block, []


def _index(event: Json) -> int:
    index = event.get("index")
    return index if isinstance(index, int) else 0


def _object(written: str) -> object:
    try:
        return json.loads(written or "{}")
    except (ValueError, RecursionError):
        return {"malformed": written}
