"""A task: one request on one repo, with what is needed to check the answer, and its network policy."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator

from harness.specs.errors import UserError
from harness.specs.repo import LANGUAGE_FACTS, Drawing, Repo
from harness.specs.rubric import Rubric
from harness.specs.test_results import Slug, TestId
from harness.specs.tracks import BEHAVIOUR, TrackName
from harness.specs.yaml_files import FileModel, parse_yaml, read_text


class PackageClient(StrEnum):
    """Clients whose package registries an agent may reach."""

    PIP = "pip"
    NPM = "npm"
    GO = "go"


MAX_PATCH_BYTES = 10_000_000


class TaskKind(StrEnum):
    """Kinds of tests that a task asks for."""

    UNIT = "unit"
    INTEGRATION = "integration"
    ACCEPTANCE = "acceptance"
    E2E = "e2e"


class TaskLimits(BaseModel):
    """Limits of one trial: model steps, seconds by the clock, USD; and seconds of one arm.

    Those of an arm are seconds of an idle machine: docs/verification.md says when an arm is ended. The tests of one
    verification may take `verification_seconds` of their own time in all its arms together; without it so many as
    `of_verification` says.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    steps: int = Field(default=100, ge=1)
    wall_seconds: int = Field(default=3600, ge=1)
    cost_usd: float = Field(default=5.0, gt=0)
    arm_seconds: int = Field(default=120, ge=1)
    verification_seconds: int | None = Field(default=None, ge=1)

    def of_verification(self, arms: int) -> float:
        """Return the seconds of their own time that the tests of a verification may take in so many arms together.

        By default that is a quarter of an arm's limit for each arm, and five limits more for arms that take longer.
        """
        return self.verification_seconds or self.arm_seconds * (5 + arms / 4)


class TaskFile(FileModel):
    """`tasks/ID/task.yaml`."""

    id: Slug
    repo: Slug
    track: TrackName = Field(default=BEHAVIOUR, description="what kind of task it is, and so how it is graded")
    kind: TaskKind
    title: str
    limits: TaskLimits = TaskLimits()
    network: Literal["none"] | Annotated[tuple[PackageClient, ...], Field(min_length=1)] = Field(
        default="none", description="none, or the clients whose package registries agents may reach: [pip, npm, go]"
    )
    canary: str = ""
    tags: tuple[str, ...] = ()
    private_digest: str = Field(
        default="", description="of a public half alone: the digest of the whole task that it was split from"
    )

    @field_validator("network", mode="before")
    @classmethod
    def _known_network(cls, network: object) -> object:
        """Check that the network is one of the two forms, with one message for both."""
        known = [client.value for client in PackageClient]
        is_list = isinstance(network, list | tuple) and network and all(name in known for name in network)
        if network != "none" and not is_list:
            raise ValueError(f"write none, or a list of {', '.join(known)}")
        return network


class Probe(BaseModel):
    """A small mutant of the code's behaviour, tied to one criterion. `name` is the file's stem: `1.4` or `1.4-b`."""

    model_config = ConfigDict(frozen=True)

    name: str
    criterion: str
    path: Path

    @property
    def variant(self) -> str:
        """The name of the variant that is made of it."""
        return f"probe-{self.name}"


class Twin(BaseModel):
    """An authored equivalent mutant that matches one probe in place, size and form. `name` is the file's stem.

    `twins/1.4.patch` and `twins/1.4_2.patch` both belong to the probe `1.4`.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    path: Path

    @property
    def probe(self) -> str:
        """The name of the probe that it matches."""
        return self.name.partition("_")[0]

    @property
    def variant(self) -> str:
        """The name of the variant that is made of it."""
        return f"twin-{self.name}"


_NO_NAME = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


class Task(BaseModel):
    """A task with its repo and rubric, as loaded from a catalog."""

    model_config = ConfigDict(frozen=True)

    NEEDED: ClassVar[tuple[str, ...]] = ("removal.patch", "withheld.patch")
    """Parts of a whole task that `patch` must be able to give before anybody works on it."""

    DESCRIPTION: ClassVar[str] = "task.yaml"
    """The file of the task that says what it is."""

    file: TaskFile
    repo: Repo
    rubric: Rubric
    directory: Path
    listed_as: str = ""
    """`CATALOG/ID`, where it was found by that."""

    @property
    def id(self) -> str:
        """The task's name in its catalog."""
        return self.file.id

    def limited(self, limits: Mapping[str, float]) -> Self:
        """Return the task with other limits, by their names."""
        changed = TaskLimits.model_validate({**self.file.limits.model_dump(), **limits})
        copy = self.model_copy(update={"file": self.file.model_copy(update={"limits": changed})})
        copy.__dict__.pop("work_digest", None)  # a copy brings along what was computed of the original
        return copy

    @property
    def registries(self) -> tuple[PackageClient, ...]:
        """The clients whose package registries its agents may reach, in order."""
        return () if self.file.network == "none" else tuple(sorted(set(self.file.network)))

    @property
    def track(self) -> str:
        """The name of the task's kind."""
        return self.file.track

    @property
    def address(self) -> str:
        """The pattern by which a catalog finds the task."""
        return self.listed_as or self.id

    @property
    def is_public_half(self) -> bool:
        """Return whether the files that judge a suite are kept elsewhere: then no submission can be scored here."""
        return bool(self.file.private_digest)

    @property
    def needed(self) -> tuple[str, ...]:
        """The parts that `patch` must be able to give before anybody works on the task."""
        return ("withheld.patch",) if self.is_public_half else self.NEEDED

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks on how the task was read that count for nothing."""
        return ()

    @cached_property
    def prompt(self) -> str:
        """The request, as the agent gets it."""
        return read_text(self.directory / "prompt.md").strip() + "\n"

    @property
    def prompts(self) -> tuple[str, ...]:
        """The requests of an agent's phases, which follow one another in the same work directory."""
        return (self.prompt,)

    @property
    def is_whole_instruction(self) -> bool:
        """Return whether the prompt says all that an agent must know: how tests are run and submitted."""
        return False

    @property
    def objective(self) -> str:
        """The request without any word on how it is submitted: all that a judge needs of the prompt."""
        return self.prompt

    def path(self, name: str) -> Path:
        """Return the path of a part of the task (`removal.patch`, ...), whether or not it is there."""
        return self.directory / name

    def patch(self, name: str) -> bytes:
        """Return the bytes of a part of the task (`removal.patch`, ...).

        Raises:
            UserError: It is absent or too large.
        """
        path = self.path(name)
        try:
            if path.stat().st_size > MAX_PATCH_BYTES:
                raise UserError(f"{path}: larger than {MAX_PATCH_BYTES} bytes")
            return path.read_bytes()
        except OSError as error:
            raise UserError(f"{path}: {error.strerror or error}") from None

    @property
    def has_authored_placebo(self) -> bool:
        """Return whether the task's author wrote a placebo."""
        return (self.directory / "placebo.patch").is_file()

    @cached_property
    def probes(self) -> tuple[Probe, ...]:
        """The task's probes, in the order of their names."""
        paths = sorted((self.directory / "probes").glob("*.patch"))
        return tuple(Probe(name=path.stem, criterion=path.stem.partition("-")[0], path=path) for path in paths)

    @cached_property
    def twins(self) -> tuple[Twin, ...]:
        """The task's twins, in the order of their names."""
        paths = sorted((self.directory / "twins").glob("*.patch"))
        return tuple(Twin(name=path.stem, path=path) for path in paths)

    @cached_property
    def fuzz_files(self) -> tuple[Path, ...]:
        """Test files that call the touched code on drawn inputs: docs/twins.md."""
        return tuple(sorted(path for path in (self.directory / "fuzz").glob("*") if path.is_file()))

    @cached_property
    def drawing(self) -> Drawing | None:
        """The language's file beside the fuzz files where they run; None where none of them uses it."""
        drawing = LANGUAGE_FACTS.get(self.repo.language).drawing if self.fuzz_files else None
        is_used = drawing and any(drawing.used_as in path.read_bytes() for path in self.fuzz_files)
        return drawing if is_used else None

    @property
    def has_garbage(self) -> bool:
        """Return whether there is a second removal, which returns plausible wrong results instead of refusing."""
        return (self.directory / "garbage.patch").is_file()

    def probe_on_placebo(self, probe: Probe) -> Path | None:
        """Return the probe's mutant as a patch against the tree with the authored placebo.

        Returns:
            None where there is none.
        """
        path = self.directory / "probes-on-placebo" / f"{probe.name}.patch"
        return path if path.is_file() else None

    @cached_property
    def covers(self) -> dict[TestId, tuple[str, ...]]:
        """The criteria that each reference test is there for, from `reference/covers.yaml`.

        Raises:
            UserError: The file is wrong.
        """
        try:
            return {
                TestId(file, name): tuple(str(criterion) for criterion in criteria)
                for file, tests in self._covers.items()
                if file != "overlaps"
                for name, criteria in tests.items()
            }
        except (AttributeError, TypeError):
            raise self._no_covers() from None

    @cached_property
    def overlaps(self) -> dict[str, str]:
        """Criteria whose probes other criteria's tests notice, each with the reason, from `reference/covers.yaml`."""
        try:
            return {str(name): str(why) for name, why in (self._covers.get("overlaps") or {}).items()}
        except AttributeError:
            raise self._no_covers() from None

    @cached_property
    def _covers(self) -> Any:
        path = self.directory / "reference" / "covers.yaml"
        return parse_yaml(read_text(path), str(path))[0]

    def _no_covers(self) -> UserError:
        path = self.directory / "reference" / "covers.yaml"
        words = "expected FILE: {TEST: [CRITERION, ...]}, and beside files at most overlaps: {CRITERION: WHY}"
        return UserError(f"{path}:1: {words}")

    @cached_property
    def work_digest(self) -> str:
        """sha256 over all that an agent gets of the task, beside its image: nothing else can change its work."""
        repo, limits = self.repo, self.file.limits
        parts = {
            "task": self.id,
            "prompt": self.prompt,
            "is_whole_instruction": self.is_whole_instruction,
            "network": self.registries or "none",
            "limits": limits.model_dump(exclude={"arm_seconds", "verification_seconds"}),
            "repo": repo.model_dump(
                mode="json", include={"language", "test_paths", "workdir", "test_command", "env"}
            ),
            "container": repo.limits.model_dump(exclude={"test_seconds"}),
        }
        if later := self.prompts[1:]:
            parts["later_prompts"] = later
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    @cached_property
    def digest(self) -> str:
        """sha256 over everything that can change a verdict: the task's files and its rubric."""
        rubric = self.directory.parent.parent / "rubrics" / f"{self.id}.yaml"
        return self._digest([*self._files(), *([rubric] if self.rubric.criteria else [])])

    @cached_property
    def digest_without_rubric(self) -> str:
        """sha256 over all that agents and arms depend on. A rubric only decides how their work is graded."""
        return self._digest(self._files())

    def _files(self) -> list[Path]:
        """Return all of its files. Raises UserError for a name that isn't UTF-8 or has a control character."""
        files = sorted(path for path in self.directory.rglob("*") if path.is_file())
        for path in files:
            if _NO_NAME.search(name := path.relative_to(self.directory).as_posix()):
                words = "its name isn't UTF-8, or has a control character; rename it"
                raise UserError(f"{self.directory}/{repr(name)[1:-1]}: {words}")
        return files

    def _digest(self, paths: Sequence[Path]) -> str:
        whole = hashlib.sha256()
        for path in paths:
            name = path.relative_to(self.directory.parent.parent).as_posix()
            whole.update(f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
        if self.drawing and any(path in self.fuzz_files for path in paths):
            whole.update(f"drawing\0{hashlib.sha256(self.drawing.source).hexdigest()}\n".encode())
        return whole.hexdigest()
