"""Events that native agents print about their work: a line of JSON for each, in a form of each agent's own."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, assert_never

from harness.specs.scaffold import EventFormat
from harness.specs.whole_text import count_name, whole_text

_ERROR_CHARS = 500
_TELL_OF_MALFORMED_CALLS: frozenset[EventFormat] = frozenset({"claude-code", "opencode", "gemini-cli"})
_CLAUDE_CODE_REFUSES = ("<tool_use_error>InputValidationError", "<tool_use_error>Error: No such tool available")
_GEMINI_CLI_REFUSES = ("invalid_tool_params", "tool_not_registered")
_OPENCODE_REFUSES = "invalid"
"""The tool that opencode calls in place of one that can't be called so."""


class Event(NamedTuple):
    """An event that a native agent prints.

    `tools` are those that it says it called; `error` is empty for most events.

    `malformed` calls were refused by the agent: an unknown tool, or arguments that don't fit it.
    """

    kind: str
    tools: tuple[str, ...] = ()
    error: str = ""
    malformed: int = 0


class EventSummary(NamedTuple):
    """Counts of each kind of event and of each tool, and the last error, cut.

    `format_errors` are the malformed calls; None for a form that doesn't tell of them.
    """

    events: dict[str, int]
    tools: dict[str, int]
    error: str
    format_errors: int | None


def summary(form: EventFormat, printed: bytes) -> EventSummary:
    """Summarise all that an agent has printed. Lines that are no events of this form don't count."""
    kinds, tools = Counter[str](), Counter[str]()
    error, malformed = "", 0
    for event in _events(_reader(form), printed):
        count_name(kinds, event.kind)
        for tool in event.tools:
            count_name(tools, tool)
        error = event.error or error
        malformed += event.malformed
    return EventSummary(
        dict(sorted(kinds.items())),
        dict(sorted(tools.items())),
        whole_text(error[:_ERROR_CHARS]),
        malformed if form in _TELL_OF_MALFORMED_CALLS else None,
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
        case "claude-code" | "qwen-code":
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
    if kind == "user" and isinstance(parts := value["message"]["content"], list):
        results = [part for part in parts if part["type"] == "tool_result" and part.get("is_error")]
        return Event(kind, malformed=sum(str(part["content"]).startswith(_CLAUDE_CODE_REFUSES) for part in results))
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
        tool = str(value["part"]["tool"])
        return Event(kind, (tool,), malformed=int(tool == _OPENCODE_REFUSES))
    if kind == "error":
        error = value["error"]
        return Event(kind, error=str(error.get("data", {}).get("message") or error.get("name") or kind))
    return Event(kind)


def _gemini_cli(value: dict[str, Any]) -> Event:
    kind = value["type"]
    if kind == "tool_use":
        return Event(kind, (str(value["tool_name"]),))
    if kind == "tool_result" and value.get("status") == "error":
        return Event(kind, malformed=int((value.get("error") or {}).get("type") in _GEMINI_CLI_REFUSES))
    if kind == "error":
        return Event(kind, error=str(value.get("message") or kind))
    if kind == "result" and value.get("status") == "error":
        return Event(kind, error=str((value.get("error") or {}).get("message") or "error"))
    return Event(kind)
