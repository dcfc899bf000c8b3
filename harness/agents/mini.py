"""The common scaffold: a model, a shell and one loop. Its texts are templates in the scaffold's directory."""

import re
from typing import ClassVar

from harness.agents.actions import BASH, Action, Complaint, FormatError, answer, parse_actions
from harness.agents.protocol import AgentContext, Finish
from harness.agents.templates import REQUEST_VARIABLES, Templates, request_values
from harness.agents.trajectory import Ending, ObservationRecord, Trajectory
from harness.models.allowance import Allowance
from harness.models.protocol import Completion, Message, MessageRole, StopReason, with_cache_marks
from harness.models.replay import MessageRecord
from harness.sandbox.protocol import AGENT_LOGS, MANIFEST_NAMES, CommandResult, Sandbox
from harness.specs.errors import UserError
from harness.specs.scaffold import Scaffold
from harness.specs.task import Task
from harness.specs.usage import Usage

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
    """The texts of a scaffold's templates. Making it raises UserError for templates that can't work."""

    def __init__(self, task: Task, scaffold: Scaffold, allowance: Allowance, phase: int = 1) -> None:
        self._task, self._scaffold, self._allowance, self._phase = task, scaffold, allowance, phase
        self._templates = Templates(scaffold, VARIABLES)

    def prompts(self) -> list[Message]:
        values = request_values(self._task, SUBMIT_COMMAND, self._phase)
        values["command_seconds"] = self._scaffold.limits.command_seconds
        return [
            Message(role=MessageRole.SYSTEM, content=self._templates.render("system", **values)),
            Message(role=MessageRole.USER, content=self._templates.render("task", **values), cache=True),
        ]

    def observation(self, command: str, result: CommandResult, timeout: float, chars: int) -> str:
        """Return a command's end as the model is shown it: `chars` of its output at most."""
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
        """Return the answer to a malformed message. So many `errors_left` more in a row end the trial."""
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
        """Return the answer to a submission without a manifest; `manifest` names an empty one, if there is one."""
        return self._templates.render("reminder", manifest=manifest, submit_command=SUBMIT_COMMAND, **self._left())

    def _left(self) -> dict[str, object]:
        left = self._allowance.left
        return {"answers_left": left.steps, "seconds_left": int(left.seconds), "usd_left": left.usd}


def readable(result: CommandResult) -> str:
    """Return what a command printed, as text that a provider takes."""
    return result.output.decode(errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}")


_LEAST_CHARS = 20
"""Shown of a command's output, however many commands an answer has."""
_MANIFEST_BYTES = 4096
"""Looked at to see whether a manifest is empty."""


class Interruption(Exception):
    """An early end of a step: the messages are appended, and the loop goes on unless the work is finished."""

    def __init__(self, *messages: Message, finish: Finish | None = None) -> None:
        super().__init__(finish)
        self.messages = messages
        self.finish = finish


class Mini:
    """The agent. Raises UserError for templates that can't work, and where there is no model."""

    needs_model: ClassVar[bool] = True

    def __init__(self, context: AgentContext) -> None:
        if context.model is None:
            raise UserError(f"scaffold {context.scaffold.name!r} needs a model")
        self.scaffold = context.scaffold
        self.model = context.model
        self.allowance = context.allowance
        self.conversation = f"phase-{context.phase}" if context.phase > 1 else ""
        self.texts = MiniTexts(context.task, context.scaffold, context.allowance, context.phase)

    async def work(self, sandbox: Sandbox, trajectory: Trajectory) -> Finish:
        return await _Loop(self, sandbox, trajectory).run()

    def prompts(self) -> list[Message]:
        """Return what the model is told first."""
        return self.texts.prompts()


class _Loop:
    """One trial's work: the conversation so far. What it has used up is the allowance's to know."""

    def __init__(self, agent: Mini, sandbox: Sandbox, trajectory: Trajectory) -> None:
        self.agent, self.sandbox, self.trajectory = agent, sandbox, trajectory
        self.limits = agent.scaffold.limits
        self.messages: list[Message] = []
        self.steps = agent.allowance.steps
        self.format_errors = 0
        self.reminded_at = 0

    async def run(self) -> Finish:
        self.append(*self.agent.prompts())
        self.trajectory.count_format_errors(0)
        while True:
            try:
                await self.step()
            except Interruption as interruption:
                self.append(*interruption.messages)
                if interruption.finish:
                    return interruption.finish

    async def step(self) -> None:
        await self.execute(self.actions(await self.query()))

    async def query(self) -> Completion:
        """Ask the model; a limit that is reached passes through, out of `work`."""
        completion = await self.agent.model.complete(with_cache_marks(self.messages), [BASH])
        self.steps += 1
        self.append(completion.message, usage=completion.usage, stop=completion.stop)
        return completion

    def actions(self, completion: Completion) -> list[Action]:
        """Return the commands that a message asks for. Where one of them is malformed none is run."""
        is_cut_off = completion.stop is StopReason.LENGTH
        try:
            found = parse_actions(completion.message, is_cut_off)
        except FormatError as error:
            self.format_errors += 1
            self.trajectory.count_format_errors(1)
            left = self.limits.format_errors - self.format_errors
            texts = self.agent.texts
            told = [answer(it.call_id, texts.format_error(it, is_cut_off, left)) for it in error.complaints]
            message = f"{self.format_errors} in a row; the last: {error}"
            finish = None if left > 0 else Finish(Ending.FORMAT_ERRORS, message)
            raise Interruption(*told, finish=finish) from None
        self.format_errors = 0
        return found

    async def execute(self, actions: list[Action]) -> None:
        """Run an answer's commands, which share what is shown of their output."""
        chars = self.limits.answer_chars
        for position, action in enumerate(actions):
            if action.command.strip() == SUBMIT_COMMAND:
                self.append(action.answer(await self.submit()))
                continue
            timeout = min(float(self.limits.command_seconds), self.agent.allowance.seconds_left())
            result = await self.sandbox.run(action.command, timeout)
            self.trajectory.add(ObservationRecord.of(self.steps, action.command, result))
            share = min(self.limits.observation_chars, max(_LEAST_CHARS, chars // (len(actions) - position)))
            chars -= min(share, len(readable(result)))
            self.append(action.answer(self.agent.texts.observation(action.command, result, timeout, share)))

    async def submit(self) -> str:
        """End the work; or return a reminder where there is no manifest and the model can still write one."""
        is_last = self.agent.allowance.left.steps == 0 or 0 < self.reminded_at < self.steps
        if is_last or (name := await self.empty_manifest()) is None:
            raise Interruption(finish=Finish(Ending.SUBMITTED))
        self.reminded_at = self.steps
        return self.agent.texts.reminder(name)

    async def empty_manifest(self) -> str | None:
        """Return the name of the manifest where it is empty, "" where there is none.

        Returns:
            None where one says something.
        """
        for name in MANIFEST_NAMES:
            try:
                data = await self.sandbox.read(f"{AGENT_LOGS}/{name}", _MANIFEST_BYTES)
            except (FileNotFoundError, IsADirectoryError):
                continue
            except OSError:  # no regular file, or one that its reader may not read: whoever takes it in decides
                return None
            return None if data.strip() else name
        return ""

    def append(self, *messages: Message, usage: Usage | None = None, stop: StopReason | None = None) -> None:
        for message in messages:
            self.messages.append(message)
            record = MessageRecord(
                step=self.steps, conversation=self.agent.conversation, message=message, usage=usage, stop=stop
            )
            self.trajectory.add(record)
