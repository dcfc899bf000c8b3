"""The common scaffold: a model, a shell and one loop. Its texts are templates in the scaffold's directory."""

from typing import ClassVar

from harness.agents.actions import BASH, Action, FormatError, answers, parse_actions
from harness.agents.protocol import AgentContext, Ending, Finish
from harness.agents.templates import Templates
from harness.agents.trajectory import ObservationRecord, Trajectory
from harness.languages.registry import language_of
from harness.llm.cache_marks import with_cache_marks
from harness.llm.protocol import Completion, Message, Role, StopReason
from harness.llm.recording import MessageRecord
from harness.sandbox.protocol import CommandResult, Sandbox
from harness.specs.errors import UserError
from harness.specs.usage import Usage

SUBMIT_COMMAND = "echo TESTWRIGHT_SUBMIT"
"""The trial ends at a command that consists of this alone; printing the word does nothing."""

_LIMITS = ("steps", "wall_seconds", "cost_usd", "command_seconds")
_PROMPT = (
    "task_prompt",
    "is_whole_instruction",
    "workdir",
    "language",
    "id_form",
    "id_examples",
    "test_paths",
    "test_command",
    "submit_command",
    *_LIMITS,
)
_OBSERVATION = ("command", "output", "exit_status", "timeout", "truncated", "observation_chars")
VARIABLES = {
    "system": _PROMPT,
    "task": _PROMPT,
    "observation": _OBSERVATION,
    "timeout": _OBSERVATION,
    "format_error": ("fault", "detail", "output_limit_reached", "submit_command"),
}
"""The scaffold's templates, and what each is given."""


class Interruption(Exception):
    """Ends a step early: the messages are appended, and the loop goes on unless the work is finished."""

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
        self.task = context.task
        self.scaffold = context.scaffold
        self.model = context.model
        self.allowance = context.allowance
        self.templates = Templates(self.scaffold, VARIABLES)

    async def work(self, sandbox: Sandbox, trajectory: Trajectory) -> Finish:
        return await _Loop(self, sandbox, trajectory).run()

    def prompts(self) -> list[Message]:
        repo, limits = self.task.repo, self.task.file.limits
        ids = language_of(repo).ids
        values = {
            "task_prompt": self.task.prompt,
            "is_whole_instruction": self.task.is_whole_instruction,
            "workdir": repo.workdir,
            "language": repo.language,
            "id_form": ids.words,
            "id_examples": ids.examples,
            "test_paths": repo.test_paths,
            "test_command": repo.test_command,
            "submit_command": SUBMIT_COMMAND,
            "steps": limits.steps,
            "wall_seconds": limits.wall_seconds,
            "cost_usd": limits.cost_usd,
            "command_seconds": self.scaffold.limits.command_seconds,
        }
        return [
            Message(role=Role.SYSTEM, content=self.templates.render("system", **values)),
            Message(role=Role.USER, content=self.templates.render("task", **values), cache=True),
        ]


class _Loop:
    """One trial's work: the conversation so far. What it has used up is the allowance's to know."""

    def __init__(self, agent: Mini, sandbox: Sandbox, trajectory: Trajectory) -> None:
        self.agent, self.sandbox, self.trajectory = agent, sandbox, trajectory
        self.messages: list[Message] = []
        self.steps = 0
        self.format_errors = 0

    async def run(self) -> Finish:
        self.append(*self.agent.prompts())
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
        """The commands that a message asks for. Where one of them is malformed none is run."""
        try:
            found = parse_actions(completion.message)
        except FormatError as error:
            self.format_errors += 1
            text = self.agent.templates.render(
                "format_error",
                fault=error.fault.value,
                detail=error.detail,
                output_limit_reached=completion.stop is StopReason.LENGTH,
                submit_command=SUBMIT_COMMAND,
            )
            last = self.format_errors >= self.agent.scaffold.limits.format_errors
            message = f"{self.format_errors} in a row; the last: {error}"
            finish = Finish(Ending.FORMAT_ERRORS, message) if last else None
            raise Interruption(*answers(completion.message, text), finish=finish) from None
        self.format_errors = 0
        return found

    async def execute(self, actions: list[Action]) -> None:
        for action in actions:
            if action.command.strip() == SUBMIT_COMMAND:
                raise Interruption(finish=Finish(Ending.SUBMITTED))
            timeout = min(float(self.agent.scaffold.limits.command_seconds), self.agent.allowance.seconds_left())
            result = await self.sandbox.run(action.command, timeout)
            self.trajectory.add(ObservationRecord.of(self.steps, action.command, result))
            self.append(action.answer(self.observation(action.command, result, timeout)))

    def observation(self, command: str, result: CommandResult, timeout: float) -> str:
        """What the model is shown of a command's end: cut by the template, otherwise as it was printed."""
        return self.agent.templates.render(
            "timeout" if result.timed_out else "observation",
            command=command,
            output=result.output.decode(errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}"),
            exit_status=result.exit_status,
            timeout=round(timeout, 1),
            truncated=result.truncated,
            observation_chars=self.agent.scaffold.limits.observation_chars,
        )

    def append(self, *messages: Message, usage: Usage | None = None, stop: StopReason | None = None) -> None:
        for message in messages:
            self.messages.append(message)
            self.trajectory.add(MessageRecord(step=self.steps, message=message, usage=usage, stop=stop))
