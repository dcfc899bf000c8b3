"""The protocol that every agent implements, and the context that an agent gets."""

from dataclasses import dataclass
from typing import Protocol

from harness.agents.trajectory import Ending, Trajectory
from harness.models.allowance import Allowance
from harness.models.build import ServedModel
from harness.models.gateway.server import GatewayServer
from harness.models.protocol import Model
from harness.sandbox.egress.clients import Egress
from harness.sandbox.protocol import Sandbox
from harness.specs.scaffold import Scaffold
from harness.specs.task import Task
from harness.specs.usage import Usage


@dataclass(frozen=True)
class GatewaySeat:
    """A native agent's way to its model: the run's gateway, and what it serves."""

    server: GatewayServer
    served: ServedModel


@dataclass(frozen=True)
class AgentContext:
    """Everything that an agent of one trial is made of.

    `model` is metered by `allowance`: its calls raise AllowanceExhausted once a limit is reached. It is None where
    the trial has no model. A native agent has a `gateway` in its place, which is metered by the same. `egress` is
    what it may reach of package registries; None: nothing. `phase` says which of the task's prompts it is told.
    """

    task: Task
    scaffold: Scaffold
    allowance: Allowance
    model: Model | None = None
    gateway: GatewaySeat | None = None
    egress: Egress | None = None
    phase: int = 1

    @property
    def model_name(self) -> str:
        """The model's name; empty where there is none."""
        if self.gateway:
            return self.gateway.served.name
        return self.model.name if self.model else ""


@dataclass(frozen=True)
class Finish:
    """The reason why an agent stopped. `message` tells a reader more than the ending does; it may be empty."""

    ending: Ending
    message: str = ""


class Agent(Protocol):
    """The author of one trial's tests.

    It records in the trajectory what it says, hears and runs. It needs no checks of steps, time or money: let
    AllowanceExhausted, LimitReached, MadeUnusable, ProviderError and SandboxLost pass, `supervise` catches them.
    """

    async def work(self, sandbox: Sandbox, trajectory: Trajectory) -> Finish:
        """Work in a started sandbox until the submission is ready: whatever lies there on return is submitted.

        Args:
            sandbox: Its files are the task's tree; the manifest belongs to `AGENT_LOGS`.
            trajectory: Where each message and command is to be recorded as it happens.

        Returns:
            Why the agent stopped.
        """
        ...


class AgentClass(Protocol):
    """A factory that is registered for an agent; calling it makes the agent of one trial.

    One is also made before a run begins, so that a scaffold that can't work is refused before anything is paid:
    calling it raises UserError for such a scaffold.
    """

    @property
    def needs_model(self) -> bool:
        """Return whether its trials have a model.

        Without one its runs have one trial per task and attempt, whatever -m says.
        """
        ...

    def __call__(self, context: AgentContext) -> Agent: ...


@dataclass(frozen=True)
class AgentResult:
    """An agent's end and what it used. Steps are answers of its model.

    `counted_seconds` are the agent's own, `model_seconds` the part of them in which a model composed an answer.
    `waiting_seconds` beside them were spent on failed requests, the waits after them and rate limits.
    `format_errors` are malformed calls of the model; None where the agent doesn't tell of them.
    """

    ending: Ending
    steps: int
    usage: Usage
    message: str = ""
    counted_seconds: float = 0.0
    model_seconds: float = 0.0
    waiting_seconds: float = 0.0
    failed_requests: int = 0
    format_errors: int | None = None
