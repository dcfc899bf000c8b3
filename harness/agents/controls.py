"""The controls: `oracle` hands in the reference, `nop` hands in nothing."""

from typing import ClassVar

from harness.agents.protocol import AgentContext, Finish
from harness.agents.trajectory import Ending, ObservationRecord, Trajectory
from harness.sandbox.protocol import AGENT_LOGS, Sandbox

_PATCH = "reference.patch"
# It lies beside the manifest, a place that every engine maps, so that the tree gets nothing but the tests.
_APPLY = f'git apply "${{TESTWRIGHT_AGENT_LOGS:-{AGENT_LOGS}}}/{_PATCH}"'


class Oracle:
    """A control that applies the reference as an agent would: with a command, in the sandbox."""

    needs_model: ClassVar[bool] = False

    def __init__(self, context: AgentContext) -> None:
        self.context = context

    async def work(self, sandbox: Sandbox, trajectory: Trajectory) -> Finish:
        """Apply the reference's patch and submit its manifest. A patch that doesn't apply is left to the verdict.

        Raises:
            UserError: The task has no reference.
        """
        task, scaffold = self.context.task, self.context.scaffold
        await sandbox.write(f"{AGENT_LOGS}/{_PATCH}", task.patch("reference/tests.patch"))
        await sandbox.write(f"{AGENT_LOGS}/manifest.yaml", task.patch("reference/manifest.yaml"))
        result = await sandbox.run(_APPLY, scaffold.limits.command_seconds)
        trajectory.add(ObservationRecord.of(1, _APPLY, result))
        return Finish(Ending.SUBMITTED)


class Nop:
    """A control that does nothing: its verdict is that of no work at all."""

    needs_model: ClassVar[bool] = False

    def __init__(self, context: AgentContext) -> None:
        self.context = context

    async def work(self, sandbox: Sandbox, trajectory: Trajectory) -> Finish:  # noqa: ARG002
        return Finish(Ending.SUBMITTED)
