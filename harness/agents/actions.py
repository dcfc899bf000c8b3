"""Reading the commands that a model's message asks for."""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from pydantic import BaseModel, StringConstraints, ValidationError

from harness.agents.fences import shell_block
from harness.agents.format_errors import Complaint, FormatError, FormatFault
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


class Action(NamedTuple):
    """`call_id` is None for a command found in text: a user's message answers it, not a tool's."""

    command: str
    call_id: str | None

    def answer(self, text: str) -> Message:
        return answer(self.call_id, text)


class _BashArguments(BaseModel):
    # A shell's command can't hold a NUL. Keys that a model makes up are no reason to refuse its command.
    command: Annotated[str, StringConstraints(strict=True, pattern=r"^[^\x00]+$")]


def parse_actions(message: Message, is_cut_off: bool = False) -> list[Action]:
    """Tool calls in their order, or else the one shell block of the text. Raises FormatError.

    `is_cut_off` says that the message was ended by its limit: then nobody knows where a block in its text ends.
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
    """What answers a tool call, or a message without one."""
    if call_id is None:
        return Message(role=Role.USER, content=text)
    return Message(role=Role.TOOL, content=text, tool_call_id=call_id)


def _of_calls(calls: Sequence[ToolCall]) -> list[Action]:
    """The calls' commands; none of them where one can't be read. Providers insist that each call is answered."""
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
