"""OpenAI's responses as a stream: put together, and written."""

from harness.gateway.dialects.protocol import Heard, Json, text
from harness.gateway.sse import event

_ENDS = ("response.completed", "response.incomplete")
_PARTS = {
    "output_text": ("response.content_part", "content_index", "response.output_text", "text"),
    "refusal": ("response.content_part", "content_index", "response.refusal", "refusal"),
    "summary_text": (
        "response.reasoning_summary_part",
        "summary_index",
        "response.reasoning_summary_text",
        "text",
    ),
}
"""What the events of a part are called: of the part, of its place, of its text; and where its text is."""


class ResponseAssembler:
    """The last event brings the whole; where its output is empty, the items that came one by one are it."""

    def __init__(self) -> None:
        self.heard = Heard()
        self._items: list[Json] = []

    def add(self, event: Json) -> None:
        kind, response = text(event.get("type")), event.get("response")
        if kind == "response.output_item.done" and isinstance(event.get("item"), dict):
            self._items.append(event["item"])
        elif kind in _ENDS and isinstance(response, dict):
            self.heard.whole = {**response, "output": response.get("output") or self._items}
            self.heard.is_over = True
        elif kind == "response.failed" and isinstance(response, dict):
            self.heard.error = {"error": response.get("error")}
        elif kind == "error":
            self.heard.error = event


def response_events(response: Json) -> list[bytes]:
    """A whole response as the events of a stream."""
    begun = {**response, "status": "in_progress", "incomplete_details": None, "output": [], "usage": None}
    data: list[Json] = [{"type": f"response.{name}", "response": begun} for name in ("created", "in_progress")]
    for index, item in enumerate(response["output"]):
        place = {"output_index": index, "item_id": item["id"]}
        data.append({"type": "response.output_item.added", "output_index": index, "item": _emptied(item)})
        data += [{**step, **place} for step in _steps(item)]
        data.append({"type": "response.output_item.done", "output_index": index, "item": item})
    data.append({"type": f"response.{response['status']}", "response": response})
    return [event({**step, "sequence_number": number}, step["type"]) for number, step in enumerate(data)]


def _emptied(item: Json) -> Json:
    """An item as it begins in a stream."""
    empty = {"content": [], "summary": [], "arguments": "", "input": "", "status": "in_progress"}
    return {key: empty.get(key, value) for key, value in item.items()}


def _steps(item: Json) -> list[Json]:
    """What comes between an item's beginning and its end."""
    for key, name in (
        ("arguments", "response.function_call_arguments"),
        ("input", "response.custom_tool_call_input"),
    ):
        if key in item:
            return [{"type": f"{name}.delta", "delta": item[key]}, {"type": f"{name}.done", key: item[key]}]
    parts = item.get("content") or item.get("summary") or []
    return [step for number, part in enumerate(parts) for step in _part_steps(part, number)]


def _part_steps(part: Json, number: int) -> list[Json]:
    prefix, index, name, said = _PARTS[part["type"]]
    logprobs: Json = {"logprobs": []} if part["type"] == "output_text" else {}
    steps: list[Json] = [
        {"type": f"{prefix}.added", "part": {**part, said: ""}},
        {"type": f"{name}.delta", "delta": part[said], **logprobs},
        {"type": f"{name}.done", said: part[said], **logprobs},
        {"type": f"{prefix}.done", "part": part},
    ]
    return [{**step, index: number} for step in steps]
