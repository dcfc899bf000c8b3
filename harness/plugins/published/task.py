"""A task in the published layout, as a Task. Its files are read in place; nothing is converted on disk.

`swe-atlas:PATH[/GLOB]`: which task directories a path stands for.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from harness.plugins.published import layout
from harness.plugins.published.layout import DESCRIPTION, ImageMap, ImageSource
from harness.specs.errors import UserError
from harness.specs.repo import LANGUAGE_FACTS, PUBLISHED, Repo, RepoLimits, Source
from harness.specs.rubric import Importance, Rubric
from harness.specs.task import Probe, Task, TaskFile, TaskKind, TaskLimits
from harness.specs.test_results import TestId
from harness.specs.tracks import TaskOptions
from harness.specs.yaml_files import read_text

NAME = "swe-atlas"


def task_directories(place: str) -> list[Path]:
    """Return a task's own directory, all that lie in a directory, or those that a glob matches; sorted.

    Raises:
        UserError: There is none.
    """
    path = Path(place)
    if (path / DESCRIPTION).is_file():
        return [path.resolve()]
    candidates = path.iterdir() if path.is_dir() else _matching(path)
    found = sorted(candidate.resolve() for candidate in candidates if (candidate / DESCRIPTION).is_file())
    if not found:
        raise UserError(f"{NAME}:{place}: no task directory there (one has a {DESCRIPTION})")
    return found


def _matching(path: Path) -> Iterator[Path]:
    """Yield what a glob below the root or the current directory matches."""
    root = Path(path.anchor)
    return root.glob(str(path.relative_to(path.anchor)))


PREFIX = "swe-atlas-"
"""Begins the id of every such task, so that none is taken for a task of the catalog."""
TOOLS = "/opt/published"
"""The place of run script and parser in an arm, outside the tree."""
TEST_PATHS = (
    "test/**", "tests/**", "**/test/**", "**/tests/**", "**/*_tests/**",
    "**/*_test.go", "**/*_test.py", "**/*.uts", "**/test_*", "**/*.test.*", "**/*.spec.*",
)  # fmt: skip
"""Paths that the published verifier takes for tests."""
_PIDS = 4096
_ANY_LANGUAGE = "python"
"""That of a task of which nothing is known; nothing of it is ever read."""
_PATHS = re.compile(rb"^\+\+\+ (?:b/)?([^\t\r\n]+)", re.MULTILINE)


class PublishedRepo(Repo):
    """The repository of one published task, as its image has it."""

    is_published: ClassVar[bool] = True


class PublishedTask(Task):
    """A task in the published layout. `directory` is the task's own; `told` are its remarks."""

    PARTS: ClassVar[dict[str, str]] = {
        "removal.patch": layout.REMOVAL,
        "reference/tests.patch": layout.REFERENCE,
        "reference/manifest.yaml": layout.SOLUTION,
    }
    DESCRIPTION: ClassVar[str] = layout.DESCRIPTION
    NEEDED: ClassVar[tuple[str, ...]] = tuple(PARTS)

    description: layout.Description
    image: ImageSource
    all_criteria: bool = False
    told: tuple[str, ...] = ()
    fault: str = ""
    """Why it can't be read; whoever needs its image is told."""

    @property
    def address(self) -> str:
        return f"{NAME}:{self.directory}"

    @property
    def remarks(self) -> tuple[str, ...]:
        return self.told

    @cached_property
    def prompt(self) -> str:
        """The whole instruction, as it is published."""
        return read_text(self.directory / layout.INSTRUCTION).strip() + "\n"

    @property
    def is_whole_instruction(self) -> bool:
        return True

    @cached_property
    def objective(self) -> str:
        return read_text(self.directory / layout.OBJECTIVE).strip() + "\n"

    @cached_property
    def is_underscored(self) -> bool:
        """Return whether its own published verifier compares names with underscores for spaces: one task's does."""
        return layout.replaces_spaces(self.directory)

    @property
    def has_authored_placebo(self) -> bool:
        return False

    @cached_property
    def probes(self) -> tuple[Probe, ...]:
        return ()

    @cached_property
    def covers(self) -> dict[TestId, tuple[str, ...]]:
        return {}

    @cached_property
    def overlaps(self) -> dict[str, str]:
        return {}

    def path(self, name: str) -> Path:
        return self.directory / self.PARTS.get(name, name)

    @cached_property
    def digest(self) -> str:
        return self._over(self._files(), whole=str(self.all_criteria))

    @cached_property
    def digest_without_rubric(self) -> str:
        return self._over([path for path in self._files() if path != self.directory / layout.RUBRIC])

    def _over(self, paths: list[Path], whole: str = "") -> str:
        """Digest files by names and bytes: the same wherever the directory lies."""
        digest = hashlib.sha256(whole.encode())
        for path in paths:
            name = path.relative_to(self.directory).as_posix()
            digest.update(f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
        return digest.hexdigest()


def read_published(directory: Path, options: TaskOptions) -> PublishedTask:
    """Return the task in a directory.

    Raises:
        UserError: A file is absent or wrong; the first one is named.
    """
    for name in layout.NEEDED:
        if not (directory / name).is_file():
            raise UserError(f"{directory / name}: the published layout needs this file, and it isn't there")
    description, remarks = layout.read_description(directory / layout.DESCRIPTION)
    criteria, more = layout.read_rubric(directory / layout.RUBRIC)
    if not options.all_criteria:
        criteria = [criterion for criterion in criteria if criterion.importance is Importance.MUST]
    if not criteria:
        raise UserError(f"{directory / layout.RUBRIC}: it has no must-have")
    images = ImageMap.read(options.image_map) if options.image_map else ImageMap({})
    name = _slug(directory)
    published = layout.base_image(directory / layout.DOCKERFILE)
    metadata = description.metadata
    return PublishedTask(
        file=_file(name, directory, description),
        repo=_repo(name, directory, description),
        rubric=Rubric(task=name, criteria=tuple(criteria)),
        directory=directory,
        description=description,
        image=images.source(published, metadata.repository, metadata.base_commit),
        all_criteria=options.all_criteria,
        told=(*remarks, *more),
    )


def unread(directory: Path, fault: str) -> PublishedTask:
    """Return what stands for a task that can't be read, among others that can: it has a name and the reason."""
    name = _slug(directory)
    repo = PublishedRepo(
        name=name,
        language=_ANY_LANGUAGE,
        upstream="",
        version="",
        licence="",
        source=Source(kind="image", package=name, version="", sha256=hashlib.sha256(b"").hexdigest()),
        report=PUBLISHED,
        test_paths=TEST_PATHS,
    )
    return PublishedTask(
        file=TaskFile(id=name, repo=name, track=NAME, kind=TaskKind.UNIT, title=name, tags=("swe-atlas",)),
        repo=repo,
        rubric=Rubric.none(name),
        directory=directory,
        description=layout.Description(
            task=layout.TaskTable(name=name), metadata=layout.MetadataTable(repository=name, base_commit="0" * 40)
        ),
        image=ImageSource(""),
        fault=fault,
    )


def _slug(directory: Path) -> str:
    plain = re.sub(r"[^a-z0-9.-]+", "-", directory.name.lower()).strip("-.")
    return f"{PREFIX}{plain or 'task'}"[:80]


def _file(name: str, directory: Path, description: layout.Description) -> TaskFile:
    lines = read_text(directory / layout.OBJECTIVE).strip().splitlines() or [description.task.name]
    return TaskFile(
        id=name,
        repo=name,
        track=NAME,
        kind=TaskKind.UNIT,
        title=lines[0][:100],
        limits=TaskLimits(
            wall_seconds=max(1, round(description.agent.timeout_sec)),
            arm_seconds=max(1, round(description.verifier.timeout_sec)),
        ),
        tags=("swe-atlas",),
    )


def _repo(name: str, directory: Path, description: layout.Description) -> Repo:
    limits, metadata = description.environment, description.metadata
    dockerfile = hashlib.sha256((directory / layout.DOCKERFILE).read_bytes()).hexdigest()
    return PublishedRepo(
        name=name,
        language=_language(directory),
        upstream=metadata.repository,
        version=metadata.base_commit,
        licence="",
        source=Source(kind="image", package=name, version=metadata.base_commit, sha256=dockerfile),
        report=PUBLISHED,
        test_paths=TEST_PATHS,
        runner_files=(
            "conftest.py",
            "pytest.ini",
            "setup.cfg",
            "tox.ini",
            "pyproject.toml",
            "package.json",
            "go.mod",
        ),
        test_command=f"{TOOLS}/run_tests",
        limits=RepoLimits(memory_mb=limits.memory_mb, cpus=limits.cpus, pids=_PIDS, disk_mb=limits.storage_mb),
        directory=directory,
    )


def _language(directory: Path) -> str:
    """Return the language of most files of the reference; of the code, where no test of it is in one that we know."""
    languages = {name: LANGUAGE_FACTS.get(name) for name in LANGUAGE_FACTS.names}
    for part in (layout.REFERENCE, layout.REMOVAL):
        paths = [path.decode(errors="replace") for path in _PATHS.findall((directory / part).read_bytes())]
        found = Counter(
            name for path in paths for name, language in languages.items() if path.endswith(language.suffixes)
        )
        if found:
            return found.most_common(1)[0][0]
    known = ", ".join(language.title for language in languages.values())
    raise UserError(f"{directory / layout.REMOVAL}: no file of a language that is known here ({known})")


def published_task(task: Task) -> PublishedTask:
    """Return a task of this layout as such.

    Raises:
        UserError: The task has another layout.
    """
    if isinstance(task, PublishedTask):
        return task
    raise UserError(f"task {task.id}: it hasn't the published layout (-t swe-atlas:PATH)")
