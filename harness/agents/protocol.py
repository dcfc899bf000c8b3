"""What every agent offers."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from harness.agents.trajectory import Trajectory
from harness.sandbox.protocol import Sandbox
from harness.specs.usage import Usage


class Ending(StrEnum):
    """Why an agent stopped. Whatever it was, what lies in the sandbox is the submission."""

    SUBMITTED = "submitted"
    STEP_LIMIT = "step-limit"
    WALL_LIMIT = "wall-limit"
    COST_LIMIT = "cost-limit"
    FORMAT_ERRORS = "format-errors"


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
