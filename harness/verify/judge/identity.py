"""What makes two judges the same."""

from pydantic import BaseModel, ConfigDict

from harness.verify.judge.questions import VoteCounts


class JudgeIdentity(BaseModel):
    """Two that agree in this give the same verdicts. The digests are of the model's parameters and the prompts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str
    model_digest: str
    prompts: str
    votes: VoteCounts = VoteCounts()
