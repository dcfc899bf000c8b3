"""`agent.json`: facts about an agent's work beside the submission and the trajectory."""

from harness.specs.loading import FileModel
from harness.specs.usage import Usage


class AgentFile(FileModel):
    """`agent.json`: written once the submission is safely on disk. The agent is never paid again after that.

    `identity` is the trial's. `message` says more of an ending than its name. `seconds` is wall time, with the
    sandbox's start and the reading of the submission. `counted_seconds` is what the agent's clock showed,
    `model_seconds` the part of it in which a model composed an answer; `waiting_seconds` of failed requests and rate
    limits are in neither. `format_errors` are malformed calls; null where the agent doesn't tell of them.
    """

    identity: str = ""
    ending: str
    message: str = ""
    steps: int
    usage: Usage
    seconds: float
    refusal: str = ""
    remarks: tuple[str, ...] = ()
    counted_seconds: float = 0.0
    model_seconds: float = 0.0
    waiting_seconds: float = 0.0
    failed_requests: int = 0
    format_errors: int | None = None
