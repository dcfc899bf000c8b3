"""What the common scaffold says to its model: texts of the scaffold's templates."""

import re

from harness.agents.format_errors import Complaint
from harness.agents.request import REQUEST_VARIABLES, request_values
from harness.agents.templates import Templates
from harness.llm.allowance import Allowance
from harness.llm.protocol import Message, Role
from harness.sandbox.protocol import CommandResult
from harness.specs.scaffold import Scaffold
from harness.specs.task import Task

SUBMIT_COMMAND = "echo TESTWRIGHT_SUBMIT"
"""The trial ends at a command that consists of this alone; printing the word does nothing."""
_SUBMIT_WORD = re.compile(rf"\b{SUBMIT_COMMAND.split()[-1]}\b")

_PROMPT = (*REQUEST_VARIABLES, "command_seconds")
_LEFT = ("answers_left", "seconds_left", "usd_left")
_OBSERVATION = (
    *("command", "output", "exit_status", "timeout", "truncated", "observation_chars"),
    *("submit_hint", "submit_command", *_LEFT),
)
_FORMAT_ERROR = ("fault", "detail", "output_limit_reached", "errors_left", "submit_command", *_LEFT)
VARIABLES = {
    "request": REQUEST_VARIABLES,
    "system": _PROMPT,
    "task": _PROMPT,
    "observation": _OBSERVATION,
    "timeout": _OBSERVATION,
    "format_error": _FORMAT_ERROR,
    "reminder": ("manifest", "submit_command", *_LEFT),
}
"""The scaffold's templates, and what each is given."""


class MiniTexts:
    """Raises UserError for templates that can't work."""

    def __init__(self, task: Task, scaffold: Scaffold, allowance: Allowance) -> None:
        self._task, self._scaffold, self._allowance = task, scaffold, allowance
        self._templates = Templates(scaffold, VARIABLES)

    def prompts(self) -> list[Message]:
        values = request_values(self._task, SUBMIT_COMMAND)
        values["command_seconds"] = self._scaffold.limits.command_seconds
        return [
            Message(role=Role.SYSTEM, content=self._templates.render("system", **values)),
            Message(role=Role.USER, content=self._templates.render("task", **values), cache=True),
        ]

    def observation(self, command: str, result: CommandResult, timeout: float, chars: int) -> str:
        """What the model is shown of a command's end: cut to `chars` of output, otherwise as it was printed."""
        return self._templates.render(
            "timeout" if result.timed_out else "observation",
            command=command,
            output=readable(result),
            exit_status=result.exit_status,
            timeout=round(timeout, 1),
            truncated=result.truncated,
            observation_chars=chars,
            submit_hint=_SUBMIT_WORD.search(command) is not None,
            submit_command=SUBMIT_COMMAND,
            **self._left(),
        )

    def format_error(self, complaint: Complaint, output_limit_reached: bool, errors_left: int) -> str:
        """`errors_left` so many more in a row end the trial."""
        return self._templates.render(
            "format_error",
            fault=complaint.fault.value,
            detail=complaint.detail,
            output_limit_reached=output_limit_reached,
            errors_left=errors_left,
            submit_command=SUBMIT_COMMAND,
            **self._left(),
        )

    def reminder(self, manifest: str) -> str:
        """For a submission without a manifest. `manifest` is the name of one that is empty, or empty itself."""
        return self._templates.render("reminder", manifest=manifest, submit_command=SUBMIT_COMMAND, **self._left())

    def _left(self) -> dict[str, object]:
        left = self._allowance.left
        return {"answers_left": left.steps, "seconds_left": int(left.seconds), "usd_left": left.usd}


def readable(result: CommandResult) -> str:
    """What a command printed, as text that a provider takes."""
    return result.output.decode(errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
