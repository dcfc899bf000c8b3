"""What `scaffold.yaml` says of a scaffold of kind `cli`: its programs, and how one of them is run."""

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from harness.specs.ids import Slug


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Installer(StrEnum):
    """`npm`: package.json and package-lock.json beside scaffold.yaml; `pip`: requirements.lock, with hashes."""

    NPM = "npm"
    PIP = "pip"


class Install(_Part):
    """How a scaffold gets into its toolbox. Without an installer there is nothing but a Python."""

    installer: Installer | None = None
    programs: dict[Slug, str] = Field(
        default_factory=dict, description="name in the toolbox's bin -> glob below the toolbox, of one file"
    )

    @property
    def target(self) -> str:
        """Of the toolboxes' Dockerfile."""
        return self.installer or "bare"

    @property
    def locks(self) -> tuple[str, ...]:
        """Files beside scaffold.yaml."""
        match self.installer:
            case Installer.NPM:
                return ("package.json", "package-lock.json")
            case Installer.PIP:
                return ("requirements.lock",)
            case None:
                return ()


class NativeDialect(StrEnum):
    """How a command talks to its model; the words of the gateway."""

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
