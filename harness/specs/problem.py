"""A problem that a check found."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


class Problem(BaseModel):
    """`where` is `file`, `file:line` or the name of a thing on this machine; `message` says what to do."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    where: str
    message: str
    severity: Severity = Severity.ERROR
    fixable: bool = False

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"
