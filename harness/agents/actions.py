"""Commands that a model's message asks for: its tool calls, or the one shell block of its text.

A block that may end elsewhere than it seems to is refused, not cut. Fences are as CommonMark has them (version 0.31,
section 4.5): three or more backticks or tildes, indented by at most three spaces; a fence of the same character, at
least as long and with nothing behind it, ends the block.
"""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Annotated, NamedTuple

from pydantic import BaseModel, StringConstraints, ValidationError

from harness.models.protocol import Message, MessageRole, Tool, ToolCall

_DETAIL_CHARS = 300


class FormatFault(StrEnum):
    """Faults of a message. The scaffold's template tells the model what each of them means."""

    NO_COMMAND = "no-command"
    SEVERAL_BLOCKS = "several-blocks"
    UNCLOSED_BLOCK = "unclosed-block"
    INNER_FENCE = "inner-fence"
    CUT_OFF = "cut-off"
    UNKNOWN_TOOL = "unknown-tool"
    MALFORMED_ARGUMENTS = "malformed-arguments"
    NOT_RUN = "not-run"
    """Nothing is wrong with this call itself, but with another one of the message."""


class Complaint(NamedTuple):
    """A complaint about one tool call, or about the text (`call_id` None).

    `detail` says more where there is more to say.
    """

    call_id: str | None
    fault: FormatFault
    detail: str = ""


class FormatError(Exception):
    """A message whose commands can't be read, so that none is run. Each of its tool calls has a complaint."""

    def __init__(self, *complaints: Complaint) -> None:
        self.complaints = tuple(item._replace(detail=item.detail[:_DETAIL_CHARS]) for item in complaints)
        first = next(item for item in self.complaints if item.fault is not FormatFault.NOT_RUN)
        super().__init__(f"{first.fault}: {first.detail}" if first.detail else first.fault.value)


_SHELLS = frozenset({"bash", "sh", "shell"})
_FENCE = re.compile(r"([ \t]*)(`{3,}|~{3,})")
_HERE_DOCUMENT = re.compile(r"(?<!<)<<-?[ \t]*(?:'([^'\n]+)'|\"([^\"\n]+)\"|\\?(\w[\w.-]*))")


class _Fence(NamedTuple):
    """A line that may begin or end a block. `info` is what stands behind the mark."""

    line: int
    indent: str
    mark: str
    info: str

    @property
    def is_in_place(self) -> bool:
        return len(self.indent) <= 3 and "\t" not in self.indent

    @property
    def begins_shell(self) -> bool:
        return not _SHELLS.isdisjoint(word.lower() for word in self.info.split(maxsplit=1)[:1])

    def is_as_long_as(self, opening: "_Fence") -> bool:
        return self.mark[0] == opening.mark[0] and len(self.mark) >= len(opening.mark)


class _Block(NamedTuple):
    """A block of text, from a fence to the one that ends it; None where none does."""

    opening: _Fence
    closing: _Fence | None

    def holds(self, fence: _Fence) -> bool:
        return self.opening.line < fence.line and (self.closing is None or fence.line < self.closing.line)


def shell_block(text: str) -> str:
    """Return the command in the text's one block of bash, sh or shell, in whole.

    Raises:
        FormatError: There is none, there are several, or its end isn't clear.
    """
    lines = text.split("\n")
    fences = [fence for number, line in enumerate(lines) if (fence := _fence(number, line))]
    blocks = [block for block in _blocks(fences) if block.opening.begins_shell]
    if not blocks:
        raise _refused(FormatFault.NO_COMMAND)
    block = blocks[0]
    others = [fence for fence in fences if fence.begins_shell and fence != block.opening and not block.holds(fence)]
    if others:
        raise _refused(FormatFault.SEVERAL_BLOCKS, str(1 + len(others)))
    opening, closing = block
    if closing is None:
        raise _refused(FormatFault.UNCLOSED_BLOCK, opening.mark)
    long = [fence for fence in fences if fence.is_as_long_as(opening)]
    if any(fence.line > closing.line or (fence.begins_shell and block.holds(fence)) for fence in long):
        raise _refused(FormatFault.INNER_FENCE, opening.mark)
    inside = [_without_indent(line, opening) for line in lines[opening.line + 1 : closing.line]]
    if lines[opening.line].endswith("\r"):
        inside = [line.removesuffix("\r") for line in inside]
    if _is_cut_here_document(inside, lines[closing.line + 1 :]):
        raise _refused(FormatFault.INNER_FENCE, opening.mark)
    return "".join(f"{line}\n" for line in inside)


def _fence(number: int, line: str) -> _Fence | None:
    found = _FENCE.match(line)
    if not found:
        return None
    indent, mark = found.groups()
    info = line[found.end() :].strip()
    # Backticks behind backticks make code within a line, not a fence.
    return None if mark[0] == "`" and "`" in info else _Fence(number, indent, mark, info)


def _blocks(fences: Sequence[_Fence]) -> Iterator[_Block]:
    opening: _Fence | None = None
    for fence in fences:
        if not fence.is_in_place:
            continue
        if opening is None:
            opening = fence
        elif fence.is_as_long_as(opening) and not fence.info:
            yield _Block(opening, fence)
            opening = None
    if opening:
        yield _Block(opening, None)


def _is_cut_here_document(inside: Sequence[str], behind: Sequence[str]) -> bool:
    """Return whether a here-document begins in the block, and the line that ends it stands behind the block."""
    words = {next(filter(None, found.groups())) for found in _HERE_DOCUMENT.finditer("\n".join(inside))}
    ended = words.intersection(line.strip() for line in inside)
    return not (words - ended).isdisjoint(line.strip() for line in behind)


def _without_indent(line: str, opening: _Fence) -> str:
    """Return a line of a block that is itself indented, as in a list, without that indentation."""
    width = len(opening.indent)
    return line[min(width, len(line) - len(line.lstrip(" "))) :]


def _refused(fault: FormatFault, detail: str = "") -> FormatError:
    return FormatError(Complaint(None, fault, detail))


BASH = Tool(
    name="bash",
    description="Run a command in a new bash shell at the root of the repository.",
    parameters={
        "type": "object",
        "properties": {"command": {"type": "string", "description": "The bash command to run."}},
        "required": ["command"],
        "additionalProperties": False,
    },
)


class Action(NamedTuple):
    """A command of the model's.

    `call_id` is None for one found in text: a user's message answers it, not a tool's.
    """

    command: str
    call_id: str | None

    def answer(self, text: str) -> Message:
        return answer(self.call_id, text)


class _BashArguments(BaseModel):
    # A shell's command can't hold a NUL. Keys that a model makes up are no reason to refuse its command.
    command: Annotated[str, StringConstraints(strict=True, pattern=r"^[^\x00]+$")]


def parse_actions(message: Message, is_cut_off: bool = False) -> list[Action]:
    """Return a message's tool calls in their order, or else the one shell block of its text.

    Args:
        message: The model's.
        is_cut_off: It was ended by its limit: then nothing tells where a block in its text ends.

    Raises:
        FormatError: There is neither, or a call is malformed.
    """
    if message.tool_calls:
        return _of_calls(message.tool_calls)
    command = shell_block(message.content)
    if is_cut_off:
        raise FormatError(Complaint(None, FormatFault.CUT_OFF))
    if not command.strip() or "\0" in command:
        raise FormatError(Complaint(None, FormatFault.NO_COMMAND))
    return [Action(command, None)]


def answer(call_id: str | None, text: str) -> Message:
    """Return what answers a tool call, or a message without one."""
    if call_id is None:
        return Message(role=MessageRole.USER, content=text)
    return Message(role=MessageRole.TOOL, content=text, tool_call_id=call_id)


def _of_calls(calls: Sequence[ToolCall]) -> list[Action]:
    """Return the calls' commands; none of them where one can't be read.

    Providers insist that each call is answered.
    """
    read = [_read(call) for call in calls]
    actions = [item for item in read if isinstance(item, Action)]
    if len(actions) == len(read):
        return actions
    raise FormatError(
        *(Complaint(item.call_id, FormatFault.NOT_RUN) if isinstance(item, Action) else item for item in read)
    )


def _read(call: ToolCall) -> Action | Complaint:
    if call.name != BASH.name:
        return Complaint(call.id, FormatFault.UNKNOWN_TOOL, call.name)
    try:
        return Action(_BashArguments.model_validate_json(call.arguments).command, call.id)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        detail = f"{where}: {first['msg']}" if where else first["msg"]
        return Complaint(call.id, FormatFault.MALFORMED_ARGUMENTS, detail)
