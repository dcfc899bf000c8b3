"""What an agent prints about its work: a line of JSON for each event, in a form of each agent's own."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, assert_never

from harness.specs.native import EventFormat

_ERROR_CHARS = 500


class Event(NamedTuple):
    """`tools` are those that it tells of having called; `error` is empty but for an event that tells of one."""

    kind: str
    tools: tuple[str, ...] = ()
    error: str = ""


class EventSummary(NamedTuple):
    """How often each kind of event and each tool came, and the last error, cut."""

    events: dict[str, int]
    tools: dict[str, int]
    error: str


def summary(form: EventFormat, printed: bytes) -> EventSummary:
    """Of all that an agent has printed. Lines that are no events of this form don't count."""
    found = list(_events(_reader(form), printed))
    tools = Counter(tool for event in found for tool in event.tools)
    errors = [event.error for event in found if event.error]
    return EventSummary(
        dict(sorted(Counter(event.kind for event in found).items())),
        dict(sorted(tools.items())),
        errors[-1][:_ERROR_CHARS] if errors else "",
    )


Reader = Callable[[dict[str, Any]], Event]


def _events(read: Reader | None, printed: bytes) -> Iterator[Event]:
    if read is None:
        return
    for line in printed.splitlines():
        try:
            value = json.loads(line)
            if isinstance(value, dict) and isinstance(value.get("type"), str):
                yield read(value)
        except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
            continue


def _reader(form: EventFormat) -> Reader | None:
    match form:
        case "text":
            return None
        case "claude-code":
            return _claude_code
        case "codex":
            return _codex
        case "opencode":
            return _opencode
        case "gemini-cli":
            return _gemini_cli
        case _:
            assert_never(form)


def _claude_code(value: dict[str, Any]) -> Event:
    kind = value["type"]
    if kind == "assistant":
        parts = value["message"]["content"]
        return Event(kind, tuple(str(part["name"]) for part in parts if part["type"] == "tool_use"))
    if kind == "result" and value.get("is_error"):
        return Event(kind, error=str(value.get("result") or value.get("subtype") or "error"))
    return Event(kind)


def _codex(value: dict[str, Any]) -> Event:
    kind = value["type"]
    if kind == "item.completed":
        item = value["item"]
        is_tool = item["type"] not in ("agent_message", "reasoning", "error")
        return Event(kind, (str(item["type"]),) if is_tool else ())
    if kind in ("error", "turn.failed"):
        error = value.get("error") or {}
        return Event(kind, error=str(error.get("message") or value.get("message") or kind))
    return Event(kind)


def _opencode(value: dict[str, Any]) -> Event:
    kind = value["type"]
    if kind == "tool_use":
        return Event(kind, (str(value["part"]["tool"]),))
    if kind == "error":
        error = value["error"]
        return Event(kind, error=str(error.get("data", {}).get("message") or error.get("name") or kind))
    return Event(kind)


def _gemini_cli(value: dict[str, Any]) -> Event:
    kind = value["type"]
    if kind == "tool_use":
        return Event(kind, (str(value["tool_name"]),))
    if kind == "error":
        return Event(kind, error=str(value.get("message") or kind))
    if kind == "result" and value.get("status") == "error":
        return Event(kind, error=str((value.get("error") or {}).get("message") or "error"))
    return Event(kind)
