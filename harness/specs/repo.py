"""A pinned repository: source at one version, dependencies, a test command, a report format."""

import hashlib
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from harness.specs.globs import Glob
from harness.specs.ids import Slug
from harness.specs.languages import LANGUAGE_FACTS, LanguageName
from harness.specs.loading import FileModel
from harness.specs.report_formats import ReportFormat

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


PackageName = Annotated[str, StringConstraints(pattern=r"^(@[a-z0-9][a-z0-9._-]{0,79}/)?[a-z0-9][a-z0-9.-]{0,79}$")]
"""The name of a package; those of npm may have a scope (`@of/left`)."""


class Source(_Part):
    """Where upstream's release comes from, pinned by its hash. `package` has a scope on npm alone.

    `sha256` is that of the release's archive; of a Debian source package, that of its .dsc, which has the others;
    of an image that others made, that of the Dockerfile that names it. An archive lies beside repo.yaml as
    `source.tar`, however it is compressed.
    """

    kind: Literal["pypi", "debian", "npm", "archive", "image"]
    package: PackageName
    version: str
    sha256: Sha256

    @model_validator(mode="after")
    def _scope_of_npm_alone(self) -> Self:
        if self.package.startswith("@") and self.kind != "npm":
            raise ValueError(f"package: {self.package} has a scope, and only packages of npm have one")
        return self


class RepoLimits(_Part):
    """What one container of this repo may use. MiB, cores, processes, MiB, seconds per test."""

    memory_mb: int = Field(default=2048, ge=64)
    cpus: float = Field(default=2, gt=0)
    pids: int = Field(default=512, ge=16)
    disk_mb: int = Field(default=2048, ge=16)
    test_seconds: int = Field(default=60, ge=1)


HiddenPath = Annotated[str, StringConstraints(pattern=r"^(/\.?[^/.:\x00][^/:\x00]*)+$")]
"""Absolute, without `.` and `..`."""


class ArmSettings(_Part):
    """What the containers that run arms get beside the limits.

    `hidden` are files and directories of the image that no arm sees: compilers, disassemblers, build caches and
    whatever else of the code under test, or of what reads programs, the repository's own tests can do without. The
    agent has them, and so have the containers that build variants. `taken_away` is what the run script itself deletes
    in an arm before it runs a test.
    """

    hidden: tuple[HiddenPath, ...] = ()
    taken_away: tuple[HiddenPath, ...] = ()


class LocalRecipe(_Part):
    """How the sandbox without an engine gets its environment: a venv with these locked requirements."""

    requirements: str = "requirements.lock"


class Repo(FileModel):
    """`repos/NAME/repo.yaml`. Globs are relative to the tree's root; `**` crosses directories.

    Without `report` it is the format that is usual for the language.
    """

    name: Slug
    language: LanguageName
    upstream: str
    version: str
    licence: str
    notices: tuple[str, ...] = Field(default=(), description="licence and notice files of the release")
    source: Source
    report: ReportFormat
    test_paths: tuple[Glob, ...] = Field(min_length=1)
    runner_files: tuple[Glob, ...] = ()
    workdir: str = "/app"
    test_command: str = "run_tests"
    env: dict[str, str] = Field(default_factory=dict)
    limits: RepoLimits = RepoLimits()
    arms: ArmSettings = ArmSettings()
    local: LocalRecipe | None = None
    directory: Path = Field(default=Path(), exclude=True)

    is_published: ClassVar[bool] = False
    """Whether its tasks have the layout of others: names of tests as logs have them, test files told by place."""

    model_config = ConfigDict(json_schema_extra=lambda schema: schema["required"].remove("report"))

    @model_validator(mode="before")
    @classmethod
    def _usual_report(cls, data: Any) -> Any:
        if not isinstance(data, dict) or "report" in data or data.get("language") not in LANGUAGE_FACTS.names:
            return data
        return {**data, "report": LANGUAGE_FACTS.get(data["language"]).report}

    @cached_property
    def digest(self) -> str:
        """sha256 over what `repo.yaml` says of how tests are run and judged; an image's digest has the rest."""
        return hashlib.sha256(self.model_dump_json(include=set(_JUDGED_BY)).encode()).hexdigest()


_JUDGED_BY = ("language", "report", "test_paths", "runner_files", "workdir", "test_command", "env", "limits", "arms")
