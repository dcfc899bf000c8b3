"""A pinned repository: source at one version, dependencies, a test command, a report format, a language.

The registries of languages and report formats are here, with the little that files on disk need to know about them.
Path globs: `*` and `?` within a directory, `**` for any directories, relative to the tree's root. Names that begin
with a dot are as any other, case counts, and every other character stands for itself.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Protocol, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from harness.specs.errors import UserError
from harness.specs.registry import Registry
from harness.specs.test_results import Slug
from harness.specs.yaml_files import FileModel

REPORT_FORMATS: Registry[object] = Registry(
    "report format",
    "testwright.readers",
    {
        "junit": "harness.judging.testing.junit:READER",
        "tap": "harness.judging.testing.tap:READER",
        "automake": "harness.judging.testing.automake:READER",
        "go-test": "harness.judging.testing.go_test:READER",
        "vitest": "harness.judging.testing.vitest:READER",
    },
)
"""Behind each name is a `harness.judging.testing.readers.Reader`; `reader_of` gives it, and checks that it is one."""
PUBLISHED = "published"
"""The format that a published task's own parser makes of its run script's output."""


def _known(name: str) -> str:
    if name not in REPORT_FORMATS.names:
        raise ValueError(REPORT_FORMATS.unknown(name))
    return name


ReportFormat = Annotated[str, AfterValidator(_known)]
"""The name of a registered report format; any other is an error of the file that has it."""


@dataclass(frozen=True)
class Frame:
    """The files that a language's repositories share, with places that each `repo.yaml` fills.

    A place is written `@NAME@` in a file and `name` in `frame:` of `repo.yaml`; its value is put there as it is.
    """

    directory: Path
    """It has `Dockerfile`, `run_tests.sh` with the modules that this one needs, or both; no other file."""
    places: Mapping[str, str | None]
    """Place -> the text of a repository that says nothing; None where it must say something.

    Places that other keys fill aren't named: see `harness/sandbox/images/frames.py`.
    """


@dataclass(frozen=True)
class Drawing:
    """A file that lies beside fuzz files wherever they run: it draws, makes each call twice and writes it down.

    It is in no tree that an agent gets, and in no arm of a submission's tests. `used_as` is in the text of each fuzz
    file that uses it.
    """

    name: str
    source: bytes
    used_as: bytes
    at_root: bool = False
    """It lies in the tree's root instead, from where a test in any folder can import it."""
    package: Callable[[bytes], bytes] | None = None
    """A function that gives the first line of its text from that of the fuzz file, where that must be the same."""

    def beside(self, fuzz: bytes) -> bytes:
        """Return its text as it lies beside a fuzz file."""
        return self.package(fuzz) + self.source if self.package else self.source


class LanguageFacts(Protocol):
    """The part of a language that reading a repository needs; `judging/languages/protocol.py` has the whole."""

    @property
    def title(self) -> str:
        """The language's name in sentences: `Python`."""
        ...

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The endings of its files' names, dot included."""
        ...

    @property
    def report(self) -> str:
        """The report format of a repository that names none."""
        ...

    @property
    def frame(self) -> Frame | None:
        """The Dockerfile and the run script of a repository that has none of its own."""
        ...

    @property
    def drawing(self) -> Drawing | None:
        """The file beside the fuzz files that use it; None where each has all that it needs."""
        ...


LANGUAGE_FACTS: Registry[LanguageFacts] = Registry(
    "language",
    "testwright.languages",
    {name: f"harness.judging.languages.{name}.language:LANGUAGE" for name in ("python", "go", "c", "typescript")},
)
"""The one place where the languages of this package are listed; each is imported when it is first used."""


def _languages_known(name: str) -> str:
    try:
        return LANGUAGE_FACTS.check(name)
    except UserError as error:
        raise ValueError(str(error)) from None


LanguageName = Annotated[str, AfterValidator(_languages_known)]
"""The name of a registered language."""


def checked_glob(glob: str) -> str:
    """Return `glob` if it has one meaning.

    Raises:
        ValueError: It isn't relative to the repository's root, or `**` isn't a whole part of it.
    """
    parts = glob.split("/")
    if any("**" in part and part != "**" for part in parts):
        raise ValueError(f"{glob!r}: '**' must be a whole part of the path, as in 'tests/**/*.py'")
    if any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"{glob!r}: a glob is relative to the repository's root, without '.', '..' or '//'")
    return glob


Glob = Annotated[str, StringConstraints(min_length=1, pattern=r"^[^/].*"), AfterValidator(checked_glob)]


def matches(path: str, globs: Iterable[str]) -> bool:
    """Return whether `path`, as git has it, matches at least one of the globs as a whole."""
    return bool(_matcher(tuple(globs)).fullmatch(path))


@lru_cache(maxsize=256)
def _matcher(globs: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(_pattern, globs)) or r"(?!)", re.DOTALL)


def _pattern(glob: str) -> str:
    """Return a glob as a pattern.

    `**` before other parts is any number of directories, at the end all that lies below.
    """
    *directories, last = glob.split("/")
    return "".join("(?:[^/]+/)*" if part == "**" else f"{_part(part)}/" for part in directories) + (
        ".+" if last == "**" else _part(last)
    )


def _part(part: str) -> str:
    return "".join({"*": "[^/]*", "?": "[^/]"}.get(letter) or re.escape(letter) for letter in part)


Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


PackageName = Annotated[str, StringConstraints(pattern=r"^(@[a-z0-9][a-z0-9._-]{0,79}/)?[a-z0-9][a-z0-9.-]{0,79}$")]
"""The name of a package; those of npm may have a scope (`@of/left`)."""


class Source(_Part):
    """The source of upstream's release, pinned by its hash. `package` has a scope on npm alone.

    `sha256` is that of the release's archive; of a Debian source package, that of its .dsc, which has the others;
    of an image that others made, that of the Dockerfile that names it. An archive lies beside repo.yaml as
    `source.tar`, however it is compressed; so does that of a commit, whose hash is `version`, and `tree` that of its
    tree.
    """

    kind: Literal["pypi", "debian", "npm", "archive", "git", "image"]
    package: PackageName
    version: str
    sha256: Sha256
    tree: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")] | None = None

    def as_key(self) -> bytes:
        """Return the bytes by which the source enters a digest."""
        return self.model_dump_json(exclude_none=True).encode()

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Self:
        if self.package.startswith("@") and self.kind != "npm":
            raise ValueError(f"package: {self.package} has a scope, and only packages of npm have one")
        if (self.kind == "git") is not (self.tree is not None):
            raise ValueError("tree: the hash of a commit's tree goes with kind: git, and with it alone")
        return self


class RepoLimits(_Part):
    """Limits of one container of this repo: memory in MiB, cores, processes, disk in MiB, and seconds of one test."""

    memory_mb: int = Field(default=2048, ge=64)
    cpus: float = Field(default=2, gt=0)
    pids: int = Field(default=512, ge=16)
    disk_mb: int = Field(default=2048, ge=16)
    test_seconds: int = Field(default=60, ge=1)


HiddenPath = Annotated[str, StringConstraints(pattern=r"^(/\.?[^/.:\x00][^/:\x00]*)+$")]
"""Absolute, without `.` and `..`."""


class ArmSettings(_Part):
    """Settings of the containers that run arms, beside the limits.

    `hidden` are files and directories of the image that no arm sees: compilers, disassemblers, build caches and
    whatever else of the code under test, or of what reads programs, the repository's own tests can do without. The
    agent has them, and so have the containers that build variants. `taken_away` is what the run script itself deletes
    in an arm before it runs a test.
    """

    hidden: tuple[HiddenPath, ...] = ()
    taken_away: tuple[HiddenPath, ...] = ()


class LocalRecipe(_Part):
    """The environment of the sandbox without an engine: a venv with these locked requirements."""

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
    frame: dict[str, str] = Field(
        default_factory=dict, description="what the language's Dockerfile and run script leave open: place -> text"
    )
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
