"""A trajectory as events of Inspect's transcript: calls of the model, ends of tools, and what else was recorded."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from harness.agents.trajectory import HeaderRecord, ObservationRecord, Record
from harness.models.gateway.records import PromptRecord
from harness.models.protocol import Message, MessageRole, StopReason, ToolCall
from harness.models.replay import MessageRecord
from harness.results.report.tables import printable
from harness.specs.usage import Usage

_SOURCE = "testwright"
_STOPS = {
    StopReason.END: "stop",
    StopReason.TOOL_CALLS: "tool_calls",
    StopReason.LENGTH: "max_tokens",
    StopReason.REFUSAL: "content_filter",
}
_Json = dict[str, Any]


def identity(*parts: str) -> str:
    """Return 22 letters and digits, as Inspect's own are; the same for the same parts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:22]


def message_as(message: Message) -> _Json:
    """Return a message in Inspect's form."""
    made: _Json = {"role": message.role.value, "content": printable(message.content)}
    if message.role is MessageRole.ASSISTANT and message.tool_calls:
        made["tool_calls"] = [_tool_call(call) for call in message.tool_calls]
    if message.role is MessageRole.TOOL:
        made["tool_call_id"] = message.tool_call_id
    return made


def usage_as(usage: Usage) -> _Json:
    """Return tokens in Inspect's form, which counts cached tokens apart from the others, we among them."""
    return {
        "input_tokens": usage.input - usage.cache_read - usage.cache_write,
        "output_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "input_tokens_cache_read": usage.cache_read,
        "input_tokens_cache_write": usage.cache_write,
        "reasoning_tokens": usage.reasoning,
        "total_cost": usage.cost_usd,
    }


def events_of(trial: str, model: str, records: Sequence[Record], score: Mapping[str, Any] | None) -> list[_Json]:
    """Return a trial's events in their order.

    A call of the model has as its input what was said since the answer before it, not the whole conversation again.

    Args:
        trial: What the events' identities are made of.
        model: Name of the model.
        records: The trajectory.
        score: In Inspect's form; None where there is no verdict.
    """
    if not records:
        return []
    begun = records[0].time
    told = [*_told(model, records)]
    if score:
        told.append({"event": "score", "score": dict(score), "scorer": _SOURCE, "timestamp": _text(records[-1].time)})
    for number, event in enumerate(told):
        since = datetime.fromisoformat(event["timestamp"]) - begun
        event |= {"uuid": identity(trial, "event", str(number)), "working_start": since.total_seconds()}
    return told


def _told(model: str, records: Sequence[Record]) -> Iterator[_Json]:
    heard: dict[str, list[Message]] = {}
    calls: dict[str, tuple[ToolCall, datetime]] = {}
    ends: list[ObservationRecord] = []
    for record in records:
        if isinstance(record, ObservationRecord):
            ends.append(record)
        elif not isinstance(record, MessageRecord):
            if not isinstance(record, HeaderRecord | PromptRecord):
                yield _info(record)
        elif record.message.role is MessageRole.ASSISTANT:
            yield _model_event(model, record, heard.pop(record.conversation, []))
            calls |= {call.id: (call, record.time) for call in record.message.tool_calls}
        else:
            heard.setdefault(record.conversation, []).append(record.message)
            end = ends.pop(0) if ends else None
            if record.message.tool_call_id in calls:
                call, asked = calls.pop(record.message.tool_call_id)
                yield _tool_event(call, asked, record, end)
            elif end:  # of a model that has no tools, and writes its command as text
                call = ToolCall(id=f"step-{end.step}", name="bash", arguments=json.dumps({"command": end.command}))
                yield _tool_event(call, end.time, record, end)


def _model_event(model: str, record: MessageRecord, heard: Sequence[Message]) -> _Json:
    message = message_as(record.message)
    stop = _STOPS.get(record.stop, "unknown") if record.stop else "unknown"
    return {
        "event": "model",
        "timestamp": _text(record.time),
        "model": model,
        "input": [message_as(each) for each in heard],
        "tools": [],
        "tool_choice": "auto",
        "config": {},
        "output": {
            "model": model,
            "choices": [{"message": message, "stop_reason": stop}],
            "usage": usage_as(record.usage) if record.usage else None,
        },
        "completed": _text(record.time),
        **_of(record.conversation),
    }


def _tool_event(call: ToolCall, asked: datetime, record: MessageRecord, end: ObservationRecord | None) -> _Json:
    event: _Json = {
        "event": "tool",
        "timestamp": _text(asked),
        "completed": _text(record.time),
        **{name: value for name, value in _tool_call(call).items() if name != "parse_error"},
        "result": printable(record.message.content),
        **_of(record.conversation),
    }
    if end:
        facts = end.model_dump(mode="json", include={"exit_status", "seconds", "truncated", "timed_out"})
        event["metadata"] = {**event.get("metadata", {}), **facts}
        event["working_time"] = end.seconds
    return event


def _info(record: Record) -> _Json:
    data = record.model_dump(mode="json", exclude={"time"})
    return {"event": "info", "timestamp": _text(record.time), "source": f"{_SOURCE}: {record.kind}", "data": data}


def _of(conversation: str) -> _Json:
    """Return what tells the conversation of a subagent."""
    return {"metadata": {"conversation": conversation}} if conversation else {}


def _tool_call(call: ToolCall) -> _Json:
    """Return a call in Inspect's form; arguments that are no JSON object stay text, with an error beside them."""
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        arguments = None
    made: _Json = {"id": call.id, "function": call.name, "type": "function"}
    if isinstance(arguments, dict):
        return {**made, "arguments": arguments}
    return {**made, "arguments": {"text": printable(call.arguments)}, "parse_error": "not a JSON object"}


def _text(time: datetime) -> str:
    return time.isoformat()
