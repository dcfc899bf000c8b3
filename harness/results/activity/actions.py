"""Actions of an agent, step by step, from its trajectory: atomic commands and calls of other tools, by kind."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from harness.agents.trajectory import ObservationRecord, Record
from harness.models.protocol import MessageRole, ToolCall
from harness.models.replay import MessageRecord
from harness.results.activity import vocabulary
from harness.results.activity.shell import AtomicCommand, atomic_commands
from harness.results.activity.vocabulary import Kind
from harness.sandbox.protocol import AGENT_LOGS


def kind_of_command(command: AtomicCommand, test_command: str = "run_tests") -> Kind:
    """Return the kind of a command. `test_command` is the repository's own."""
    program, words = command.program, command.arguments
    if _runs_tests(command, test_command):
        return Kind.TESTS
    if _manages_packages(program, words):
        return Kind.PACKAGES
    if any(not name.startswith("/tmp/") for name in command.writes) or _edits_in_place(program, words):
        return Kind.WRITE
    if program == "git":
        return vocabulary.GIT.get(next(iter(command.operands), ""), Kind.OTHER)
    if program in vocabulary.PROGRAMS:
        found = vocabulary.PROGRAMS[program]
        # `| head` looks at what another command prints, not at a file
        return Kind.OTHER if command.is_filter and found in (Kind.READ, Kind.SEARCH) else found
    if program in vocabulary.INTERPRETERS:
        return Kind.WRITE if _WRITES_FILES.search(command.text + command.body) else Kind.BUILD_RUN
    is_file = "/" in command.name or PurePosixPath(program).suffix in (".sh", ".py")
    return Kind.BUILD_RUN if is_file else Kind.OTHER


def kind_of_tool(name: str) -> Kind | None:
    """Return the kind of a native agent's own tool.

    Returns:
        None for a shell, whose commands tell, OTHER for an unknown one.
    """
    plain = _plain(name)
    if plain in vocabulary.SHELL_TOOLS:
        return None
    return vocabulary.TOOLS.get(plain, Kind.OTHER)


def asks_the_web(tool: str) -> bool:
    """Return whether a native agent's own tool asks other hosts, whatever it is told."""
    return _plain(tool) in vocabulary.WEB_TOOLS


def _plain(tool: str) -> str:
    return re.sub(r"[^a-z]", "", tool.lower())


def _runs_tests(command: AtomicCommand, test_command: str) -> bool:
    program, words = command.program, command.arguments
    if program == test_command.rpartition("/")[2] or program in vocabulary.TEST_RUNNERS:
        return "--collect-only" not in words and "--version" not in words
    first = next(iter(command.operands), "")
    if program in vocabulary.INTERPRETERS and "-m" in words:
        following = words[words.index("-m") + 1 :]
        return bool(following) and following[0] in vocabulary.TEST_MODULES
    if program in vocabulary.WITH_A_TEST_COMMAND:
        return first in ("test", "t") or (first == "run" and any(word.startswith("test") for word in words[1:]))
    if program in ("npx", "bunx", "uv", "poetry"):
        return any(word in vocabulary.TEST_RUNNERS for word in command.operands)
    return program in ("make", "ninja") and any(word in ("test", "check", "tests") for word in words)


def _manages_packages(program: str, words: tuple[str, ...]) -> bool:
    if program in ("python", "python3") and words[:2] in (("-m", "pip"), ("-m", "venv"), ("-m", "ensurepip")):
        return True
    if program in vocabulary.PACKAGE_MANAGERS:
        return True
    asked = next((word for word in words if not word.startswith("-")), "")
    return program in vocabulary.WITH_PACKAGE_COMMANDS and asked in vocabulary.PACKAGE_COMMANDS


def _edits_in_place(program: str, words: tuple[str, ...]) -> bool:
    return program in ("sed", "perl") and any(re.fullmatch(r"-[a-zA-Z]*i.*|--in-place.*", word) for word in words)


_WRITES_FILES = re.compile(r"open\([^()]*['\"][wax]b?\+?['\"]|\.write_(?:text|bytes)\(|writeFile(?:Sync)?\(")
"""Signs that a script of a few lines changes files."""


_EDITORS_THAT_READ = frozenset({"view"})
"""Commands of an editor tool with several that only read."""


@dataclass(frozen=True)
class ToolUse:
    """One thing that an agent asked for: text for a shell, or another tool's arguments.

    `position` counts calls from 0. `exit_status` and `seconds` are None where they aren't known. Of a native agent's
    tool the status is what its text says; the seconds go from the answer that asked for it, alone, to the request
    that brought its result, as the gateway saw them. `is_error` says what can be known without a status.
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
class AgentAction:
    """An atomic command of a call, or the call itself where its tool isn't a shell: then `command` has no program."""

    call: ToolUse
    kind: Kind
    command: AtomicCommand


def calls(records: Sequence[Record]) -> tuple[ToolUse, ...]:
    """Return the commands as the harness ran them; of native agents, the tool calls in their models' answers."""
    observed = [record for record in records if isinstance(record, ObservationRecord)]
    if observed:
        return tuple(
            ToolUse(
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


def actions(found: Iterable[ToolUse], test_command: str = "run_tests") -> tuple[AgentAction, ...]:
    """Return what an agent did, in order. Pure. `test_command` is the repository's own."""
    return tuple(action for call in found for action in _actions(call, test_command))


def _native_calls(messages: Sequence[MessageRecord]) -> Iterator[ToolUse]:
    results = {item.message.tool_call_id: item for item in messages if item.message.role is MessageRole.TOOL}
    answered = [item for item in messages if item.message.role is MessageRole.ASSISTANT and item.usage is not None]
    asked = [(item, call) for item in answered for call in item.message.tool_calls]
    for position, (answer, call) in enumerate(asked):
        result = results.get(call.id)
        head = result.message.content[:_HEAD_CHARS].lower() if result else ""
        is_shell = kind_of_tool(call.name) is None
        status = _STATUS.search(head) if is_shell else None
        alone = result and len(answer.message.tool_calls) == 1
        yield ToolUse(
            position,
            answer.step,
            call.name,
            _shell_text(call) if is_shell else call.arguments,
            exit_status=int(status[1]) if status else None,
            is_error=_tells_of_failure(head),
            seconds=(result.time - answer.time).total_seconds() if result and alone else None,
        )


def _actions(call: ToolUse, test_command: str) -> Iterator[AgentAction]:
    kind = Kind.READ if _only_reads(call) else kind_of_tool(call.tool)
    if kind is not None:
        yield AgentAction(call, kind, AtomicCommand("", text=call.text))
        return
    for command in atomic_commands(call.text):
        yield AgentAction(call, kind_of_command(command, test_command), command)


def writes_manifest_alone(action: AgentAction) -> bool:
    """Return whether an edit is of the manifest, or of whatever else lies there, and of no file of the repository."""
    if action.command.program:
        writing_tee = action.command.operands if action.command.program == "tee" else ()
        targets = (*action.command.writes, *writing_tee)
    else:
        arguments = _arguments(action.call.text)
        targets = tuple(str(arguments[name]) for name in _FILE_ARGUMENTS if name in arguments)
    return bool(targets) and all(_LOGS.match(target) for target in targets)


_FILE_ARGUMENTS = ("file_path", "filePath", "path", "absolute_path")
_LOGS = re.compile(rf"{AGENT_LOGS}/|\$\{{?TESTWRIGHT_AGENT_LOGS\b")


def _only_reads(call: ToolUse) -> bool:
    arguments = _arguments(call.text) if call.tool != "bash" else {}
    return arguments.get("command") in _EDITORS_THAT_READ


def _shell_text(call: ToolCall) -> str:
    """Return the command in a shell tool's arguments: a text, or words of which the last is a script."""
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


_HEAD_CHARS = 400
"""Characters at the head of a result: its own text comes later, and may say anything."""
_STATUS = re.compile(r"(?:exit code:? |exited with code |\"exit_code\": ?)(-?\d{1,4})\b")


def _tells_of_failure(head: str) -> bool:
    """Return whether a native agent's tool says that a command failed: they have no common field for it."""
    if "exit code: 0" in head or "exited with code 0" in head or '"exit_code":0' in head:
        return False
    return any(mark in head for mark in ("exit code", "exited with code", '"exit_code"', "error:", "<error>"))
