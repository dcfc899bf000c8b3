"""A problem that a check found, and a finding of `doctor` about this machine."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class Severity(StrEnum):
    """Severities of a problem."""

    ERROR = "error"
    WARNING = "warning"


class Problem(BaseModel):
    """A fault that an author can mend.

    `where` is `file`, `file:line` or the name of a thing on this machine; `message` says what to do.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    where: str
    message: str
    severity: Severity = Severity.ERROR
    fixable: bool = False

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


class Health(StrEnum):
    """Outcomes of a finding."""

    OK = "ok"
    DEGRADED = "degraded"
    """Works, with something less; the words say what."""
    MISSING = "missing"


class Finding(BaseModel):
    """A result of `doctor`.

    `name` is of the thing examined; `words` say how it is and, unless it is well, what to do.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    health: Health
    words: str
