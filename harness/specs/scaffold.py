"""Scaffolds: the program around the model, and for native ones its programs and how one of them is run."""

from enum import StrEnum
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from harness.specs.test_results import Slug
from harness.specs.yaml_files import FileModel


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Installer(StrEnum):
    """`npm`: package.json and package-lock.json beside scaffold.yaml; `pip`: requirements.lock, with hashes."""

    NPM = "npm"
    PIP = "pip"


class Install(_Part):
    """The way of a scaffold into its toolbox. Without an installer there is nothing but a Python."""

    installer: Installer | None = None
    programs: dict[Slug, str] = Field(
        default_factory=dict, description="name in the toolbox's bin -> glob below the toolbox, of one file"
    )

    @property
    def target(self) -> str:
        """The stage to build in the toolboxes' Dockerfile."""
        return self.installer or "bare"

    @property
    def locks(self) -> tuple[str, ...]:
        """The names of the files beside scaffold.yaml that pin what is installed."""
        match self.installer:
            case Installer.NPM:
                return ("package.json", "package-lock.json")
            case Installer.PIP:
                return ("requirements.lock",)
            case None:
                return ()


class NativeDialect(StrEnum):
    """Protocols by which a command talks to its model; the words of the gateway."""

    CHAT = "chat"
    RESPONSES = "responses"
    MESSAGES = "messages"
    GOOGLE = "google"


EventFormat = Literal["text", "claude-code", "qwen-code", "codex", "opencode", "gemini-cli"]


class NativeCommand(_Part):
    """A command and what it finds around it. All texts are Jinja2 templates; docs/scaffolds.md lists their variables.

    The command gets no standard input. `files` are laid into its empty home directory.
    """

    command: tuple[str, ...] = Field(min_length=1)
    environment: dict[str, str] = Field(default_factory=dict)
    files: dict[str, str] = Field(default_factory=dict, description="path below $HOME -> content")
    dialect: NativeDialect
    events: EventFormat = "text"

    @field_validator("files")
    @classmethod
    def _below_home(cls, files: dict[str, str]) -> dict[str, str]:
        for path in files:
            if path.startswith("/") or ".." in path.split("/"):
                raise ValueError(f"{path!r} must be a path below $HOME")
        return files


_LOOP, _NATIVE = "mini", "native"
"""The agents of a loop and of a command line that name no other."""


class ScaffoldKind(StrEnum):
    """A loop of ours around a model, a command line of somebody else's, or a control without a model."""

    LOOP = "loop"
    CLI = "cli"
    CONTROL = "control"


class ScaffoldLimits(BaseModel):
    """Limits of one trial beside the task's own: seconds of one command, format errors in a row, characters shown.

    `observation_chars` are shown of one command's output, `answer_chars` of all that one answer asks for. `phases`
    are conversations one after the other in the same sandbox, for tasks that say what a later one is told.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    command_seconds: int = Field(default=120, ge=1)
    format_errors: int = Field(default=3, ge=1)
    observation_chars: int = Field(default=12_000, ge=200)
    answer_chars: int = Field(default=16_000, ge=200)
    phases: int = Field(default=1, ge=1, le=2)


class Ablation(BaseModel):
    """Changes that a run makes to a scaffold (`--set`): limits by name, its own and the task's, and templates' files.

    `base` is the scaffold's name in the catalog; that of the changed one says what was changed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    base: str
    limits: dict[str, float]
    templates: dict[str, Path]


class Scaffold(FileModel):
    """`scaffolds/NAME/scaffold.yaml`. Templates are Jinja2 files in the same directory."""

    name: Slug
    kind: ScaffoldKind
    agent: str = Field(
        default="", description="registered agent; left out: mini for a loop, native for a cli, else the name above"
    )
    title: str
    version: str
    limits: ScaffoldLimits = ScaffoldLimits()
    templates: dict[str, str] = Field(default_factory=dict)
    install: Install = Field(default=Install(), description="a native scaffold's programs")
    native: NativeCommand | None = Field(default=None, description="how a native scaffold is run")
    directory: Path = Field(default=Path(), exclude=True)
    ablation: Ablation | None = Field(default=None, exclude=True)

    @property
    def catalog_name(self) -> str:
        """The scaffold's name in the catalog, by which images and volumes are called whatever a run changes of it."""
        return self.ablation.base if self.ablation else self.name

    @property
    def agent_name(self) -> str:
        """The registered agent that runs this scaffold."""
        by_kind = {ScaffoldKind.LOOP: _LOOP, ScaffoldKind.CLI: _NATIVE, ScaffoldKind.CONTROL: self.name}
        return self.agent or by_kind[self.kind]
