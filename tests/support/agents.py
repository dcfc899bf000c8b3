"""An agent's work outside of any run: in a small sandbox, under an allowance, with a trajectory."""

from pathlib import Path

from harness.agents.protocol import AgentResult
from harness.agents.registry import agent_context, build_agent
from harness.agents.supervision import supervise
from harness.agents.trajectory import FaultRecord, Trajectory, read_trajectory
from harness.models.allowance import Allowance
from harness.models.protocol import Model
from harness.sandbox.protocol import Sandbox
from harness.specs.scaffold import Scaffold
from harness.specs.task import Task


async def let_agent_work(
    task: Task,
    scaffold: Scaffold,
    model: Model | None,
    sandbox: Sandbox,
    path: Path,
    allowance: Allowance | None = None,
) -> AgentResult:
    """As a trial does it, in a sandbox that is started. `path` is the trajectory's."""
    context = agent_context(task, scaffold, model, allowance)
    agent = build_agent(context)
    with Trajectory(path) as trajectory:
        return await supervise(agent, context, sandbox, trajectory)


def faults(path: Path) -> list[FaultRecord]:
    """The failed requests of a trajectory."""
    return [record for record in read_trajectory(path) if isinstance(record, FaultRecord)]
