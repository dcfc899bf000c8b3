"""What every agent offers."""

from dataclasses import dataclass
from typing import Protocol

from harness.agents.ending import Ending as Ending
from harness.agents.trajectory import Trajectory
from harness.sandbox.protocol import Sandbox
from harness.specs.usage import Usage


@dataclass(frozen=True)
class AgentResult:
    ending: Ending
    steps: int
    usage: Usage


class Agent(Protocol):
    """Works in a started sandbox until it submits or a limit ends it.

    Raises ProviderError and SandboxLost, which are nobody's observation.
    """

    async def work(self, sandbox: Sandbox, trajectory: Trajectory) -> AgentResult: ...
