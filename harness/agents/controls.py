"""The controls: `oracle` hands in the reference, `nop` hands in nothing."""

from harness.agents.protocol import AgentResult, Ending
from harness.agents.trajectory import EndRecord, HeaderRecord, ObservationRecord, Trajectory
from harness.sandbox.protocol import AGENT_LOGS, Sandbox
from harness.specs.scaffold import Scaffold
from harness.specs.task import Task
from harness.specs.usage import Usage

_PATCH = "reference.patch"
# It lies beside the manifest, a place that every engine maps, so that the tree gets nothing but the tests.
_APPLY = f'git apply "${{TESTWRIGHT_AGENT_LOGS:-{AGENT_LOGS}}}/{_PATCH}"'


class Oracle:
    """Applies the reference as an agent would: with a command, in the sandbox."""

    def __init__(self, task: Task, scaffold: Scaffold) -> None:
        self.task = task
        self.scaffold = scaffold

    async def work(self, sandbox: Sandbox, trajectory: Trajectory) -> AgentResult:
        """Raises UserError for a task without a reference. A patch that doesn't apply is the verdict's to tell."""
        trajectory.add(_header(self.task, self.scaffold))
        await sandbox.write(f"{AGENT_LOGS}/{_PATCH}", self.task.patch("reference/tests.patch"))
        await sandbox.write(f"{AGENT_LOGS}/manifest.yaml", self.task.patch("reference/manifest.yaml"))
        result = await sandbox.run(_APPLY, self.scaffold.limits.command_seconds)
        trajectory.add(ObservationRecord.of(1, _APPLY, result))
        return _end(trajectory, steps=1)


class Nop:
    """Does nothing: what the verdict is without any work."""

    def __init__(self, task: Task, scaffold: Scaffold) -> None:
        self.task = task
        self.scaffold = scaffold

    async def work(self, sandbox: Sandbox, trajectory: Trajectory) -> AgentResult:  # noqa: ARG002
        trajectory.add(_header(self.task, self.scaffold))
        return _end(trajectory, steps=0)


def _header(task: Task, scaffold: Scaffold) -> HeaderRecord:
    return HeaderRecord(scaffold=scaffold.name, scaffold_version=scaffold.version, task=task.id)


def _end(trajectory: Trajectory, steps: int) -> AgentResult:
    result = AgentResult(Ending.SUBMITTED, steps, Usage())
    trajectory.add(EndRecord(ending=result.ending, steps=result.steps, usage=result.usage))
    return result
