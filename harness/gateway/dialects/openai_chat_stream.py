"""OpenAI's chat completions as a stream: put together, and written."""

from harness.gateway.dialects.chat_parts import read_usage
from harness.gateway.dialects.protocol import Heard, Json, objects, text
from harness.gateway.sse import DONE, event


def chat_events(completion: Json, tells_usage: bool) -> list[bytes]:
    """A whole completion as the events of a stream."""
    head = {key: completion[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    choice = completion["choices"][0]
    delta = dict(choice["message"])
    if calls := delta.get("tool_calls"):
        delta["tool_calls"] = [{**call, "index": index} for index, call in enumerate(calls)]
    steps: list[tuple[Json, str | None]] = [(delta, None), ({}, choice["finish_reason"])]
    chunks = [{**head, "choices": [{"index": 0, "delta": part, "finish_reason": end}]} for part, end in steps]
    if tells_usage:
        chunks.append({**head, "choices": [], "usage": completion["usage"]})
    return [*map(event, chunks), DONE]


def wants_usage(body: Json) -> bool:
    """Whether a stream is to end with the counts, which the provider tells only then."""
    options = body.get("stream_options")
    return isinstance(options, dict) and bool(options.get("include_usage"))


def is_only_usage(chunk: Json) -> bool:
    """Whether a chunk is the one that is sent only where the counts are asked for."""
    return chunk.get("choices") == [] and isinstance(chunk.get("usage"), dict)


class ChatAssembler:
    """Chunks as one answer. It ends with `[DONE]`, or with the stream where a finish reason has come."""

    def __init__(self) -> None:
        self.heard = Heard()
        self._whole: Json = {}
        self._message: Json = {"role": "assistant", "content": None}
        self._calls: dict[int, Json] = {}

    def add(self, event: Json) -> None:
        if "error" in event:
            self.heard.error = event
        if usage := read_usage(event.get("usage")):
            self.heard.usage = usage
            self._whole["usage"] = event["usage"]
        for choice in objects(event.get("choices"))[:1]:
            if isinstance(choice.get("delta"), dict):
                self._grow(choice["delta"])
            if choice.get("finish_reason"):
                self._whole["choices"] = [{"message": self._message, "finish_reason": choice["finish_reason"]}]
        if self._whole.get("choices"):
            self.heard.whole = self._whole

    def _grow(self, delta: Json) -> None:
        for key in ("content", "refusal", "reasoning_content", "reasoning"):
            if more := text(delta.get(key)):
                self._message[key] = text(self._message.get(key)) + more
        for position, part in enumerate(objects(delta.get("tool_calls"))):
            index = part["index"] if isinstance(part.get("index"), int) else position
            call = self._calls.setdefault(index, {"id": "", "function": {"name": "", "arguments": ""}})
            call["id"] = call["id"] or text(part.get("id"))
            for key, value in part["function"].items() if isinstance(part.get("function"), dict) else ():
                if key in call["function"]:
                    call["function"][key] += text(value)
            self._message["tool_calls"] = [self._calls[at] for at in sorted(self._calls)]
