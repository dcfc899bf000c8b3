"""Scaffolds: the program around the model."""

from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from harness.specs.ids import Slug
from harness.specs.loading import FileModel

_LOOP = "mini"
"""The agent of a loop that names no other."""


class ScaffoldKind(StrEnum):
    """A loop of ours around a model, a command line of somebody else's, or a control without a model."""

    LOOP = "loop"
    CLI = "cli"
    CONTROL = "control"


class ScaffoldLimits(BaseModel):
    """Of one trial, beside the task's own: seconds of one command, format errors in a row, characters shown."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    command_seconds: int = Field(default=120, ge=1)
    format_errors: int = Field(default=3, ge=1)
    observation_chars: int = Field(default=12_000, ge=200)


class Scaffold(FileModel):
    """`scaffolds/NAME/scaffold.yaml`. Templates are Jinja2 files in the same directory."""

    name: Slug
    kind: ScaffoldKind
    agent: str = Field(default="", description="registered agent; left out: mini for a loop, else the name above")
    title: str
    version: str
    limits: ScaffoldLimits = ScaffoldLimits()
    templates: dict[str, str] = Field(default_factory=dict)
    directory: Path = Field(default=Path(), exclude=True)

    @property
    def agent_name(self) -> str:
        """The registered agent that runs this scaffold."""
        return self.agent or (_LOOP if self.kind is ScaffoldKind.LOOP else self.name)
