"""Agents by name, and the agent that a scaffold names."""

from collections.abc import Sequence
from dataclasses import replace

from harness.agents.protocol import Agent, AgentClass, AgentContext, Finish, GatewaySeat
from harness.agents.trajectory import Ending, Trajectory
from harness.models.allowance import Allowance
from harness.models.protocol import Model
from harness.sandbox.egress.clients import Egress
from harness.sandbox.protocol import Sandbox
from harness.specs.errors import UserError
from harness.specs.registry import Registry
from harness.specs.scaffold import Scaffold
from harness.specs.task import Task
from harness.specs.yaml_files import line_of_key

AGENTS: Registry[AgentClass] = Registry(
    "agent",
    "testwright.agents",
    {
        "mini": "harness.agents.mini:Mini",
        "native": "harness.agents.native.agent:NativeAgent",
        "oracle": "harness.agents.controls:Oracle",
        "nop": "harness.agents.controls:Nop",
    },
)


def agent_class(scaffold: Scaffold) -> AgentClass:
    """Return the registered agent that runs a scaffold.

    Raises:
        UserError: Nobody registered it; the message names file and line.
    """
    name = scaffold.agent_name
    if name not in AGENTS.names:
        path = scaffold.directory / "scaffold.yaml"
        line = line_of_key(path, "agent" if scaffold.agent else "name")
        hint = "" if scaffold.agent else "; name one with the key 'agent'"
        raise UserError(f"{path}:{line}: {AGENTS.unknown(name)}{hint}")
    return AGENTS.get(name)


def is_native(scaffold: Scaffold) -> bool:
    """Return whether the model is reached through the gateway."""
    return scaffold.native is not None


def agent_context(
    task: Task,
    scaffold: Scaffold,
    model: Model | None = None,
    allowance: Allowance | None = None,
    gateway: GatewaySeat | None = None,
    egress: Egress | None = None,
) -> AgentContext:
    """Return what an agent of a trial is made of; its model is metered.

    Args:
        task: What it is asked for.
        scaffold: Its texts and limits.
        model: None where the trial has none, or a gateway serves it.
        allowance: Without one it gets the task's limits.
        gateway: A native agent's.
        egress: The package registries that it may reach; None: none.
    """
    allowance = allowance or Allowance(task.file.limits)
    return AgentContext(task, scaffold, allowance, allowance.metered(model) if model else None, gateway, egress)


class PhasedAgent:
    """Agents that work one after the other in the same sandbox, each in a conversation of its own."""

    def __init__(self, agents: Sequence[Agent]) -> None:
        self._agents = agents

    async def work(self, sandbox: Sandbox, trajectory: Trajectory) -> Finish:
        """See `Agent`. The next one begins once the one before it has submitted."""
        finish = Finish(Ending.SUBMITTED)
        for agent in self._agents:
            finish = await agent.work(sandbox, trajectory)
            if finish.ending is not Ending.SUBMITTED:
                break
        return finish


def build_agent(context: AgentContext) -> Agent:
    """Return the agent of a trial.

    Raises:
        UserError: The scaffold can't work: it lacks its model, say, or its templates are broken.
    """
    made = agent_class(context.scaffold)
    if made.needs_model and context.model is None and context.gateway is None:
        raise UserError(f"scaffold {context.scaffold.name!r} needs a model; name one with -m PROVIDER/MODEL")
    phases = context.scaffold.limits.phases
    if phases == 1:
        return made(context)
    return PhasedAgent([made(replace(context, phase=phase)) for phase in range(1, phases + 1)])
