"""The data folders: tasks, repos, rubrics, scaffolds, models."""

import difflib
import fnmatch
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

from harness.specs.errors import UserError
from harness.specs.loading import load_yaml
from harness.specs.model_file import ModelFile
from harness.specs.repo import Repo
from harness.specs.rubric import GradedBy, Rubric
from harness.specs.scaffold import Scaffold
from harness.specs.swe_atlas.selection import SCHEME, is_published, task_directories
from harness.specs.swe_atlas.task import PublishedOptions, read_published
from harness.specs.task import Task, TaskFile
from harness.specs.variants import VARIANT_NAME

T = TypeVar("T")


def default_directory() -> Path:
    """The catalog that an installed wheel carries, or the checkout's own folders."""
    package = Path(__file__).resolve().parent.parent
    return package / "catalog" if (package / "catalog").is_dir() else package.parent


class Catalog:
    """Loads by name; raises UserError for names that don't exist and files that are wrong.

    A task is also found by `swe-atlas:DIRECTORY`, in the published layout; `published` says how those are read.
    """

    def __init__(self, directory: Path | None = None, published: PublishedOptions | None = None) -> None:
        self.directory = (directory or default_directory()).resolve()
        self.published = published or PublishedOptions()
        if not (self.directory / "tasks").is_dir():
            raise UserError(f"{self.directory}: no catalog here (it needs folders tasks, repos, rubrics, scaffolds)")
        self.repo: Callable[[str], Repo] = cache(self._repo)
        self.task: Callable[[str], Task] = cache(self._task)
        self.scaffold: Callable[[str], Scaffold] = cache(self._scaffold)
        self.model: Callable[[str], ModelFile] = cache(self._model)

    def reading(self, published: PublishedOptions) -> "Catalog":
        """The same catalog, tasks of the published layout read with these options."""
        return Catalog(self.directory, published)

    def names(self, folder: str) -> list[str]:
        """The directories in `folder` that hold its YAML file, sorted."""
        return sorted(path.parent.name for path in (self.directory / folder).glob(f"*/{folder[:-1]}.yaml"))

    def model_names(self) -> list[str]:
        """The model files, which a catalog may do without: they are no directories."""
        return sorted(path.stem for path in (self.directory / "models").glob("*.yaml"))

    def select(self, patterns: Iterable[str], exclude: Iterable[str] = ()) -> list[Task]:
        """Tasks by id, glob, `tag:NAME` or `swe-atlas:PATH`, in order. Raises UserError for a pattern without one."""
        chosen = set(self.match(patterns)) - set(self.match(exclude))
        tasks = [self.task(name) for name in sorted(chosen)]
        for name, count in Counter(task.id for task in tasks).items():
            if count > 1:
                raise UserError(f"{name}: {count} of the chosen directories are tasks of this name; rename one")
        return tasks

    def match(self, patterns: Iterable[str]) -> list[str]:
        """The names that patterns stand for; none of the tasks need be right. Raises as `select` does."""
        names = self.names("tasks")
        found: list[str] = []
        for pattern in patterns:
            if is_published(pattern):
                matches = [f"{SCHEME}{directory}" for directory in task_directories(pattern)]
            elif pattern.startswith("tag:"):
                tag = pattern.removeprefix("tag:")
                matches = [name for name in names if tag in self.task(name).file.tags]
            else:
                matches = fnmatch.filter(names, pattern)
            if not matches:
                raise UserError(_unknown("task", pattern, names))
            found += matches
        return found

    def _file(self, folder: str, name: str) -> Path:
        names = self.names(folder)
        if name not in names:
            raise UserError(_unknown(folder[:-1], name, names))
        return self.directory / folder / name / f"{folder[:-1]}.yaml"

    def _repo(self, name: str) -> Repo:
        path = self._file("repos", name)
        repo = load_yaml(path, Repo)
        _same_name(path, repo.name)
        return repo.model_copy(update={"directory": path.parent})

    def _scaffold(self, name: str) -> Scaffold:
        path = self._file("scaffolds", name)
        scaffold = load_yaml(path, Scaffold)
        _same_name(path, scaffold.name)
        return scaffold.model_copy(update={"directory": path.parent})

    def _model(self, name: str) -> ModelFile:
        names = self.model_names()
        if name not in names:
            raise UserError(_unknown("model", name, names))
        return load_yaml(self.directory / "models" / f"{name}.yaml", ModelFile)

    def _task(self, name: str) -> Task:
        return self._published_task(name) if is_published(name) else self._own_task(name)

    def _published_task(self, name: str) -> Task:
        directories = task_directories(name)
        if len(directories) > 1:
            raise UserError(f"{name}: {len(directories)} tasks lie there; name the directory of one")
        return read_published(directories[0], self.published)

    def _own_task(self, name: str) -> Task:
        path = self._file("tasks", name)
        file = load_yaml(path, TaskFile)
        _same_name(path, file.id)
        rubric_path = self.directory / "rubrics" / f"{name}.yaml"
        rubric = load_yaml(rubric_path, Rubric)
        if rubric.task != name:
            raise UserError(f"{rubric_path}:1: it is the rubric of {name}, but says 'task: {rubric.task}'")
        task = Task(file=file, repo=self.repo(file.repo), rubric=rubric, directory=path.parent)
        _check_probes(task)
        return task


def _same_name(path: Path, name: str) -> None:
    if name != path.parent.name:
        raise UserError(f"{path}:1: says it is {name!r}, but its directory is {path.parent.name!r}; rename one")


def _check_probes(task: Task) -> None:
    """Every probe file must belong to a criterion that a probe decides."""
    known = {criterion.id for criterion in task.rubric.criteria if GradedBy.PROBE in criterion.graded_by}
    for probe in task.probes:
        if not VARIANT_NAME.fullmatch(probe.name):
            raise UserError(f"{probe.path}: name it CRITERION.patch or CRITERION-SUFFIX.patch; use A-Z a-z 0-9 . _ -")
        if probe.criterion not in known:
            raise UserError(f"{probe.path}: no criterion {probe.criterion!r} graded by probe in the rubric")


def _unknown(kind: str, name: str, names: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(names) or 'none'}"
    return f"unknown {kind} {name!r}; {hint}"
