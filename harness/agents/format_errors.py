"""What is wrong with a model's message that no command can be read from."""

from enum import StrEnum
from typing import NamedTuple

_DETAIL_CHARS = 300


class FormatFault(StrEnum):
    """The scaffold's template says to the model what each of them means."""

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
    """About one tool call, or about the text (`call_id` None). `detail` says more where the fault has more to it."""

    call_id: str | None
    fault: FormatFault
    detail: str = ""


class FormatError(Exception):
    """A message whose commands can't be read, so that none is run. Each of its tool calls has a complaint."""

    def __init__(self, *complaints: Complaint) -> None:
        self.complaints = tuple(item._replace(detail=item.detail[:_DETAIL_CHARS]) for item in complaints)
        first = next(item for item in self.complaints if item.fault is not FormatFault.NOT_RUN)
        super().__init__(f"{first.fault}: {first.detail}" if first.detail else first.fault.value)
