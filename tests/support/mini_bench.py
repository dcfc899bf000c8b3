"""The loop at work on a small task, in a sandbox of subprocesses and by a clock of its own."""

from pathlib import Path

from harness.agents.mini import SUBMIT_COMMAND
from harness.agents.protocol import AgentResult
from harness.agents.trajectory import ObservationRecord, read_trajectory
from harness.models.allowance import Allowance
from harness.models.protocol import Completion, Message, MessageRole, Model
from harness.models.replay import MessageRecord, ScriptedModel, say
from harness.sandbox.protocol import CommandResult
from tests.support.agents import let_agent_work
from tests.support.clocks import ManualClock
from tests.support.small_task import scaffold, small_task
from tests.support.subprocess_sandbox import SubprocessSandbox

SUBMIT = say("", SUBMIT_COMMAND)


class TimedSandbox(SubprocessSandbox):
    """Each command takes `seconds` of the clock."""

    def __init__(self, directory: Path, clock: ManualClock) -> None:
        super().__init__(directory)
        self.clock = clock
        self.seconds = 0.0

    async def run(self, command: str, timeout: float) -> CommandResult:
        result = await super().run(command, timeout)
        self.clock.seconds += self.seconds
        return result


class Bench:
    """A task, a sandbox and a trajectory below one directory. The sandbox has a manifest unless a test says no."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.clock = ManualClock()
        self.sandbox = TimedSandbox(directory / "sandbox", self.clock)
        self.has_manifest = True
        self.path = directory / "trajectory.jsonl"
        self.limits: dict[str, int] = {}
        self.task_limits: dict[str, float] = {}

    async def work(self, *completions: Completion) -> AgentResult:
        return await self.work_with(ScriptedModel(completions))

    async def work_with(self, model: Model) -> AgentResult:
        task = small_task(self.directory / "task", **self.task_limits)
        allowance = Allowance(task.file.limits, clock=self.clock)
        await self.sandbox.start()
        if self.has_manifest:
            (self.sandbox.logs / "manifest.yaml").write_text("[]")
        mini = scaffold("mini", **self.limits)
        return await let_agent_work(task, mini, model, self.sandbox, self.path, allowance)

    @property
    def messages(self) -> list[Message]:
        return [record.message for record in read_trajectory(self.path) if isinstance(record, MessageRecord)]

    @property
    def commands(self) -> list[str]:
        return [record.command for record in read_trajectory(self.path) if isinstance(record, ObservationRecord)]

    def replies(self, role: MessageRole) -> list[str]:
        return [message.content for message in self.messages[2:] if message.role is role]
