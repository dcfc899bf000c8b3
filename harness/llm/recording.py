"""The part of a trajectory that a model takes part in, and reading JSON lines that a crash may have cut.

It is in this package, not beside the rest of the trajectory, since replay reads it.
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json

from harness.llm.protocol import Message, Role, StopReason
from harness.specs.errors import UserError
from harness.specs.usage import Usage


def now() -> datetime:
    return datetime.now(UTC)


class MessageRecord(BaseModel):
    """One message. `usage` and `stop` are set exactly for a model's answers; `step` counts those, prompts have 0.

    `conversation` is empty for the only or first one; agents with subagents have several, whose records mingle.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["message"] = "message"
    time: datetime = Field(default_factory=now)
    step: int
    conversation: str = ""
    message: Message
    usage: Usage | None = None
    stop: StopReason | None = None


def read_json_lines(path: Path) -> list[tuple[int, Any]]:
    """Line number and value of each line; a last line that was cut while it was written is left out.

    Raises UserError for a file that can't be read and for any other line that isn't JSON.
    """
    try:
        *whole, last = path.read_bytes().split(b"\n")
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None
    values = []
    for number, line in enumerate([*whole, last], start=1):
        try:
            if line:
                values.append((number, from_json(line)))
        except ValueError:
            if number <= len(whole):
                raise UserError(f"{path}:{number}: not a line of JSON") from None
    return values


def read_messages(path: Path) -> list[MessageRecord]:
    """The messages of a trajectory, in order. Raises UserError where the file holds something else."""
    messages = []
    for number, value in read_json_lines(path):
        if not isinstance(value, dict) or "kind" not in value:
            raise UserError(f"{path}:{number}: not a record of a trajectory")
        if value["kind"] == "message":
            try:
                messages.append(MessageRecord.model_validate(value))
            except ValidationError as error:
                raise UserError(f"{path}:{number}: {error.errors()[0]['msg']}") from None
    if not any(record.message.role is Role.ASSISTANT for record in messages):
        raise UserError(f"{path}: holds no assistant's message to replay")
    return messages
