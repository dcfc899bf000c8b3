"""What `doctor` found out about this machine."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class Health(StrEnum):
    OK = "ok"
    DEGRADED = "degraded"
    """Works, with something less; the words say what."""
    MISSING = "missing"


class Finding(BaseModel):
    """`name` is of the thing examined; `words` say how it is and, unless it is well, what to do."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    health: Health
    words: str
