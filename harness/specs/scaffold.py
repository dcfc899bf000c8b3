"""Scaffolds: the program around the model."""

from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from harness.specs.ids import Slug
from harness.specs.loading import FileModel


class ScaffoldKind(StrEnum):
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
    title: str
    version: str
    limits: ScaffoldLimits = ScaffoldLimits()
    templates: dict[str, str] = Field(default_factory=dict)
    directory: Path = Field(default=Path(), exclude=True)
