"""The common scaffold: a model, a shell and one loop. Its words are templates in the scaffold's directory."""

import asyncio
import time
from collections.abc import Callable
from typing import NoReturn

from harness.agents.actions import BASH, Action, FormatError, answers, parse_actions
from harness.agents.protocol import AgentResult, Ending
from harness.agents.templates import Templates
from harness.agents.trajectory import EndRecord, FaultRecord, HeaderRecord, ObservationRecord, Trajectory
from harness.llm.cache_marks import with_cache_marks
from harness.llm.protocol import Completion, Message, Model, Role, StopReason
from harness.llm.recording import MessageRecord
from harness.sandbox.protocol import CommandResult, LimitReached, Sandbox
from harness.specs.errors import ProviderError, ProviderFault
from harness.specs.scaffold import Scaffold
from harness.specs.task import Task
from harness.specs.usage import Usage

SUBMIT_COMMAND = "echo TESTWRIGHT_SUBMIT"
"""The trial ends at a command that consists of this alone; printing the word does nothing."""

_LIMITS = ("steps", "wall_seconds", "cost_usd", "command_seconds")
_PROMPT = (
    "task_prompt",
    "is_whole_instruction",
    "workdir",
    "language",
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
    """Ends a step early: the messages are appended, and the loop goes on unless there is an ending."""

    def __init__(self, *messages: Message, ending: Ending | None = None) -> None:
        super().__init__(ending)
        self.messages = messages
        self.ending = ending


class Mini:
    """The agent. Raises UserError for templates that can't work. `clock` counts seconds for the wall limit."""

    def __init__(
        self, task: Task, scaffold: Scaffold, model: Model, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.task = task
        self.scaffold = scaffold
        self.model = model
        self.clock = clock
        self.templates = Templates(scaffold, VARIABLES)

    async def work(self, sandbox: Sandbox, trajectory: Trajectory) -> AgentResult:
        return await _Loop(self, sandbox, trajectory).run()

    def prompts(self) -> list[Message]:
        repo, limits = self.task.repo, self.task.file.limits
        values = {
            "task_prompt": self.task.prompt,
            "is_whole_instruction": self.task.is_whole_instruction,
            "workdir": repo.workdir,
            "language": repo.language.value,
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
    """One trial's work: the conversation so far and what it has used up."""

    def __init__(self, agent: Mini, sandbox: Sandbox, trajectory: Trajectory) -> None:
        self.agent, self.sandbox, self.trajectory = agent, sandbox, trajectory
        self.limits = agent.task.file.limits
        self.deadline = agent.clock() + self.limits.wall_seconds
        self.messages: list[Message] = []
        self.steps = 0
        self.usage = Usage()
        self.counted_usd = 0.0
        self.format_errors = 0

    async def run(self) -> AgentResult:
        agent = self.agent
        scaffold, version = agent.scaffold.name, agent.scaffold.version
        self.trajectory.add(
            HeaderRecord(scaffold=scaffold, scaffold_version=version, model=agent.model.name, task=agent.task.id)
        )
        self.append(*agent.prompts())
        ending = None
        while ending is None:
            try:
                await self.step()
            except Interruption as interruption:
                self.append(*interruption.messages)
                ending = interruption.ending
        self.trajectory.add(
            EndRecord(ending=ending, steps=self.steps, usage=self.usage, counted_usd=self.counted_usd)
        )
        return AgentResult(ending, self.steps, self.usage)

    async def step(self) -> None:
        await self.execute(self.actions(await self.query()))

    async def query(self) -> Completion:
        """Ask the model, if the limits allow it."""
        if self.steps >= self.limits.steps:
            raise Interruption(ending=Ending.STEP_LIMIT)
        if self.counted_usd >= self.limits.cost_usd:
            raise Interruption(ending=Ending.COST_LIMIT)
        try:
            async with asyncio.timeout(self.seconds_left()):
                completion = await self.agent.model.complete(with_cache_marks(self.messages), [BASH])
        except TimeoutError:
            raise Interruption(ending=Ending.WALL_LIMIT) from None
        except ProviderError as error:
            self.fail(error)
        self.steps += 1
        self.count(completion.usage)
        self.append(completion.message, usage=completion.usage, stop=completion.stop)
        return completion

    def fail(self, error: ProviderError) -> NoReturn:
        """A conversation that has grown too long is the agent's own end; other faults are nobody's."""
        self.count(error.usage)
        self.trajectory.add(FaultRecord(step=self.steps, fault=error.fault, words=str(error), usage=error.usage))
        if error.fault is ProviderFault.CONTEXT:
            raise Interruption(ending=Ending.CONTEXT_LIMIT) from None
        raise error

    def count(self, usage: Usage) -> None:
        self.usage += usage
        self.counted_usd += usage.cost_usd or 0.0

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
            ending = Ending.FORMAT_ERRORS if last else None
            raise Interruption(*answers(completion.message, text), ending=ending) from None
        self.format_errors = 0
        return found

    async def execute(self, actions: list[Action]) -> None:
        for action in actions:
            if action.command.strip() == SUBMIT_COMMAND:
                raise Interruption(ending=Ending.SUBMITTED)
            timeout = min(float(self.agent.scaffold.limits.command_seconds), self.seconds_left())
            try:
                result = await self.sandbox.run(action.command, timeout)
            except LimitReached as error:
                raise Interruption(ending=Ending.by_sandbox(error.limit)) from None
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

    def seconds_left(self) -> float:
        left = self.deadline - self.agent.clock()
        if left <= 0:
            raise Interruption(ending=Ending.WALL_LIMIT)
        return left

    def append(self, *messages: Message, usage: Usage | None = None, stop: StopReason | None = None) -> None:
        for message in messages:
            self.messages.append(message)
            self.trajectory.add(MessageRecord(step=self.steps, message=message, usage=usage, stop=stop))
