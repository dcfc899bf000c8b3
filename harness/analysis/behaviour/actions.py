"""What an agent did, step by step, from its trajectory: each atomic command and each call of another tool."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from harness.agents.trajectory import ObservationRecord, Record
from harness.analysis.behaviour.kinds import kind_of_command, kind_of_tool
from harness.analysis.behaviour.shell import AtomicCommand, atomic_commands
from harness.analysis.behaviour.vocabulary import Kind
from harness.llm.protocol import Role, ToolCall
from harness.llm.recording import MessageRecord

_EDITORS_THAT_READ = frozenset({"view"})
"""What an editor that has several commands in one tool calls reading."""


@dataclass(frozen=True)
class Call:
    """One thing that an agent asked for: text for a shell, or another tool's arguments.

    `position` counts calls from 0. `exit_status` is None where it isn't known, as for native agents' tools;
    `is_error` says what can be known of it all the same.
    """

    position: int
    step: int
    tool: str
    text: str
    exit_status: int | None = None
    is_error: bool = False
    seconds: float | None = None
    timed_out: bool = False


@dataclass(frozen=True)
class Action:
    """An atomic command of a call, or the call itself where its tool isn't a shell: then `command` has no program."""

    call: Call
    kind: Kind
    command: AtomicCommand


def calls(records: Sequence[Record]) -> tuple[Call, ...]:
    """Commands as the harness ran them; of native agents, the calls of tools in their models' answers."""
    observed = [record for record in records if isinstance(record, ObservationRecord)]
    if observed:
        return tuple(
            Call(
                position=position,
                step=record.step,
                tool="bash",
                text=record.command,
                exit_status=record.exit_status,
                is_error=record.exit_status != 0,
                seconds=record.seconds,
                timed_out=record.timed_out,
            )
            for position, record in enumerate(observed)
        )
    return tuple(_native_calls([record for record in records if isinstance(record, MessageRecord)]))


def actions(found: Iterable[Call], test_command: str = "run_tests") -> tuple[Action, ...]:
    """Pure. `test_command` is the repository's own."""
    return tuple(action for call in found for action in _actions(call, test_command))


def _native_calls(messages: Sequence[MessageRecord]) -> Iterator[Call]:
    answers = {item.message.tool_call_id: item.message.content for item in messages if item.message.role is Role.TOOL}
    answered = [item for item in messages if item.message.role is Role.ASSISTANT and item.usage is not None]
    asked = [(item.step, call) for item in answered for call in item.message.tool_calls]
    for position, (step, call) in enumerate(asked):
        text = _shell_text(call) if kind_of_tool(call.name) is None else call.arguments
        yield Call(position, step, call.name, text, is_error=_tells_of_failure(answers.get(call.id, "")))


def _actions(call: Call, test_command: str) -> Iterator[Action]:
    kind = Kind.READ if _only_reads(call) else kind_of_tool(call.tool)
    if kind is not None:
        yield Action(call, kind, AtomicCommand("", text=call.text))
        return
    for command in atomic_commands(call.text):
        yield Action(call, kind_of_command(command, test_command), command)


def _only_reads(call: Call) -> bool:
    arguments = _arguments(call.text) if call.tool != "bash" else {}
    return arguments.get("command") in _EDITORS_THAT_READ


def _shell_text(call: ToolCall) -> str:
    """The command in a shell tool's arguments: a text, or words of which the last is a script."""
    arguments = _arguments(call.arguments)
    for name in ("command", "cmd", "script", "input"):
        value = arguments.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value:
            return str(value[-1]) if len(value) > 2 and "c" in str(value[1]) else " ".join(map(str, value))
    return ""


def _arguments(text: str) -> dict[str, object]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _tells_of_failure(answer: str) -> bool:
    """By what native agents' tools say of a command: there is no field for it that all have."""
    head = answer[:400].lower()
    if "exit code: 0" in head or "exited with code 0" in head or '"exit_code":0' in head:
        return False
    return any(mark in head for mark in ("exit code", "exited with code", '"exit_code"', "error:", "<error>"))
