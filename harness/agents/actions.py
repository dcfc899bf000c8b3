"""Reading the commands that a model's message asks for."""

import re
from enum import StrEnum
from typing import Annotated, NamedTuple

from pydantic import BaseModel, StringConstraints, ValidationError

from harness.llm.protocol import Message, Role, Tool, ToolCall

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

_FENCED = re.compile(r"^```bash[ \t]*\r?\n(.*?)^```[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_DETAIL_CHARS = 300


class Action(NamedTuple):
    """`call_id` is None for a command found in text: a user's message answers it, not a tool's."""

    command: str
    call_id: str | None

    def answer(self, text: str) -> Message:
        return _answer(self.call_id, text)


class FormatFault(StrEnum):
    """What is wrong with a message; the scaffold's template says so to the model."""

    NO_COMMAND = "no-command"
    SEVERAL_BLOCKS = "several-blocks"
    UNKNOWN_TOOL = "unknown-tool"
    MALFORMED_ARGUMENTS = "malformed-arguments"


class FormatError(Exception):
    """A message that asks for no command, or not in a way that can be read. `detail` is cut to a line or two."""

    def __init__(self, fault: FormatFault, detail: str) -> None:
        super().__init__(f"{fault}: {detail[:_DETAIL_CHARS]}" if detail else fault.value)
        self.fault = fault
        self.detail = detail[:_DETAIL_CHARS]


class _BashArguments(BaseModel):
    # A shell's command can't hold a NUL. Keys that a model makes up are no reason to refuse its command.
    command: Annotated[str, StringConstraints(strict=True, pattern=r"^[^\x00]+$")]


def parse_actions(message: Message) -> list[Action]:
    """Tool calls in their order, or else the one fenced bash block of the text. Raises FormatError."""
    if message.tool_calls:
        return [Action(_command(call), call.id) for call in message.tool_calls]
    blocks = _FENCED.findall(message.content)
    if len(blocks) > 1:
        raise FormatError(FormatFault.SEVERAL_BLOCKS, str(len(blocks)))
    if not blocks or not blocks[0].strip() or "\0" in blocks[0]:
        raise FormatError(FormatFault.NO_COMMAND, "")
    return [Action(blocks[0], None)]


def answers(message: Message, text: str) -> list[Message]:
    """The same text for each tool call, since providers insist that each is answered; else for the user's turn."""
    return [_answer(call.id, text) for call in message.tool_calls] or [_answer(None, text)]


def _command(call: ToolCall) -> str:
    if call.name != BASH.name:
        raise FormatError(FormatFault.UNKNOWN_TOOL, call.name)
    try:
        return _BashArguments.model_validate_json(call.arguments).command
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        detail = f"{where}: {first['msg']}" if where else first["msg"]
        raise FormatError(FormatFault.MALFORMED_ARGUMENTS, detail) from None


def _answer(call_id: str | None, text: str) -> Message:
    if call_id is None:
        return Message(role=Role.USER, content=text)
    return Message(role=Role.TOOL, content=text, tool_call_id=call_id)
