"""Tasks on a stage, of the tracks `technique` and `e2e`: where they lie, and how one is read.

`e2e:NAME` is one that comes with this package, `e2e:PATH` a directory like those, or one that has them.
"""

import hashlib
from collections.abc import Iterable
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path
from typing import Annotated, ClassVar, Self

from pydantic import StringConstraints, model_validator

from harness.judging.submission.new_files import patch_of_files
from harness.plugins.browser.application import application_directory, application_repo, data_directory
from harness.plugins.browser.arms_file import ArmsFile
from harness.specs.errors import UserError
from harness.specs.rubric import GradedBy, Rubric
from harness.specs.task import Probe, Task, TaskFile, Twin
from harness.specs.yaml_files import FileModel, check_name, line_of_key, load_yaml

TECHNIQUE, E2E = "technique", "e2e"
"""The tracks, and the folders of their tasks."""
ARMS, RUBRIC, STABLE, PAGES = "arms.yaml", "rubric.yaml", "stable.yaml", "pages.py"
SUITES = "suites"
_OF_THIS_PACKAGE = "tests/fixtures/browser"
"""The folder of a checkout with the suites of this package's tasks, and walks through their pages."""
_TESTS = "reference/tests.patch"


Word = Annotated[str, StringConstraints(min_length=1, pattern=r"\S")]


class Stable(FileModel):
    """`stable.yaml` of an end-to-end task: what its tests may rely on, in the application's own words.

    The prompt names each; no arm of the same behaviour changes one. Roles and accessible names stay too.
    """

    routes: tuple[Word, ...]
    labels: tuple[Word, ...]
    texts: tuple[Word, ...]

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        if twice := [word for word in self.words if self.words.count(word) > 1]:
            raise ValueError(f"{twice[0]!r} is there twice")
        return self

    @property
    def words(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.routes, *self.labels, *self.texts)


def task_directories(place: str, track: str) -> list[Path]:
    """Return a task's own directory, all in a directory, or those of this package that a name or a glob matches.

    Raises:
        UserError: There is none.
    """
    path, own = Path(place), data_directory() / track
    if (path / Task.DESCRIPTION).is_file():
        return [path.resolve()]
    if path.is_dir():
        candidates: Iterable[Path] = path.iterdir()
    else:
        candidates = (item for item in own.iterdir() if fnmatch(item.name, path.name))
    found = sorted(item.resolve() for item in candidates if (item / Task.DESCRIPTION).is_file())
    if not found:
        known = ", ".join(sorted(item.name for item in own.iterdir()))
        raise UserError(f"{track}:{place}: no task directory there; those of this package: {known}")
    return found


class StagedTask(Task):
    """A task with an application. `arms` are its stages. Its reference lies as files, and is submitted as a patch.

    `stable` is what its tests may rely on, where it is an end-to-end task.
    """

    NEEDED: ClassVar[tuple[str, ...]] = (_TESTS, "reference/manifest.yaml")

    arms: ArmsFile
    stable: Stable | None

    @property
    def application(self) -> Path:
        """The folder of its application. Raises UserError where that is gone."""
        return application_directory(self.repo.name, self.directory)

    @property
    def address(self) -> str:
        return f"{self.track}:{self.directory}"

    @cached_property
    def probes(self) -> tuple[Probe, ...]:
        path = self.directory / ARMS
        return tuple(Probe(name=arm.probe, criterion=arm.criterion, path=path) for arm in self.arms.must_fail)

    @cached_property
    def twins(self) -> tuple[Twin, ...]:
        return ()

    @property
    def has_authored_placebo(self) -> bool:
        return False

    def patch(self, name: str) -> bytes:
        """Return a part's bytes: nothing is withheld, and a patch of tests is made of the files that it adds."""
        if name == "withheld.patch":
            return b""
        if name == _TESTS:
            return patch_of(self.directory / "reference")
        if name == "removal.patch":
            raise UserError(f"{self.address}: a task on a stage has no removal; its arms are in {ARMS}")
        return super().patch(name)

    @cached_property
    def digest(self) -> str:
        return self._over(self._files())

    @cached_property
    def digest_without_rubric(self) -> str:
        return self._over([path for path in self._files() if path.name != RUBRIC])

    def _over(self, paths: Iterable[Path]) -> str:
        """Digest files by names and bytes, and the application's: the same wherever the directory lies."""
        whole = hashlib.sha256(self.repo.source.sha256.encode())
        for path in paths:
            name = path.relative_to(self.directory).as_posix()
            whole.update(f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
        return whole.hexdigest()


def staged_task(task: Task) -> StagedTask:
    """Return a task on a stage as such.

    Raises:
        UserError: The task is of another track.
    """
    if isinstance(task, StagedTask):
        return task
    raise UserError(f"task {task.id}: it has no stage (-t {TECHNIQUE}:NAME, -t {E2E}:NAME)")


def load_task(directory: Path, track: str) -> StagedTask:
    """Return the task in a directory.

    Raises:
        UserError: A file is absent or wrong; the first one is named.
    """
    path = directory / Task.DESCRIPTION
    file = load_yaml(path, TaskFile)
    check_name(path, file.id)
    if file.track != track:
        raise UserError(f"{path}:{line_of_key(path, 'track')}: it is a task of the track {file.track}, not {track}")
    rubric, arms = load_yaml(directory / RUBRIC, Rubric), load_yaml(directory / ARMS, ArmsFile)
    if rubric.task != file.id:
        raise UserError(f"{directory / RUBRIC}:1: it is the rubric of {rubric.task}, not of {file.id}")
    probed = {item.id for item in rubric.criteria if GradedBy.PROBE in item.graded_by}
    named = {arm.criterion for arm in arms.must_fail}
    if odd := sorted(probed ^ named):
        words = f"criterion {odd[0]}: each one graded by probe has an arm in {ARMS}, and no other one has"
        raise UserError(f"{directory / RUBRIC}:1: {words}")
    stable = load_yaml(directory / STABLE, Stable) if track == E2E else None
    repo = application_repo(application_directory(file.repo, directory))
    return StagedTask(file=file, repo=repo, rubric=rubric, directory=directory, arms=arms, stable=stable)


def patch_of(directory: Path) -> bytes:
    """Return a patch that adds every file below `directory/tests`.

    Raises:
        UserError: There is none, or one is binary.
    """
    files = sorted(path for path in (directory / "tests").rglob("*") if path.is_file() and path.suffix != ".pyc")
    if not files:
        raise UserError(f"{directory / 'tests'}: no test file there")
    return patch_of_files(directory, files)


def suites_of(task: Task) -> Path:
    """Return where a task's suites lie: beside its other files, or in this checkout's tests."""
    return _of_package(task, task.id) or task.directory / SUITES


def walk_of(task: Task) -> Path:
    """Return where the walk through a task's pages lies, if there is one, in the same way."""
    return _of_package(task, f"pages/{task.id}.py") or task.directory / PAGES


def _of_package(task: Task, name: str) -> Path | None:
    is_ours = task.directory.is_relative_to(data_directory().resolve())
    return data_directory().parent / _OF_THIS_PACKAGE / name if is_ours else None
