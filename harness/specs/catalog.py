"""The data folders: tasks, repos, rubrics, scaffolds, models."""

import difflib
import fnmatch
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Protocol, TypeVar, cast

from pydantic import BaseModel, ConfigDict

from harness.specs.errors import UserError
from harness.specs.model_file import ModelFile
from harness.specs.repo import Repo
from harness.specs.scaffold import Scaffold
from harness.specs.task import Task
from harness.specs.tracks import BEHAVIOUR, TRACK_FACTS, Address, TaskCatalog, TaskOptions, TrackName, address_of
from harness.specs.yaml_files import load_yaml

T = TypeVar("T")


def default_directory() -> Path:
    """Return the catalog that an installed wheel carries, or the checkout's own folders."""
    package = Path(__file__).resolve().parent.parent
    return package / "catalog" if (package / "catalog").is_dir() else package.parent


class TrackFacts(Protocol):
    """A track's facts before anything runs."""

    def directories(self, place: str) -> list[Path]:
        """Return the task directories that `TRACK:PLACE` stands for, outside of any catalog, sorted.

        Raises UserError where there is none, or where tasks of the track lie in catalogs only.
        """
        ...

    def load(self, directory: Path, catalog: TaskCatalog, options: TaskOptions) -> Task:
        """Return the task in a directory. Raises UserError for the first file that is absent or wrong."""
        ...


def _facts(track: str) -> TrackFacts:
    return cast("TrackFacts", TRACK_FACTS.get(track))


class Catalog:
    """Loads by name; raises UserError for names that don't exist and files that are wrong.

    A task is also found by `TRACK:GLOB` (`design:*`, those of a track in the catalog) and, outside of the catalog, by
    `TRACK:DIRECTORY` (`swe-atlas:DIRECTORY`); `options` say how those are read.
    `left_out` has what is wrong with tasks that a glob or tag fits and that can't be read: one of them doesn't take
    the others away.
    """

    def __init__(
        self,
        directory: Path | None = None,
        options: TaskOptions | None = None,
        left_out: dict[str, str] | None = None,
    ) -> None:
        self.left_out: dict[str, str] = {} if left_out is None else left_out
        self.directory = (directory or default_directory()).resolve()
        self.options = options or TaskOptions()
        if not (self.directory / "tasks").is_dir():
            raise UserError(f"{self.directory}: no catalog here (it needs folders tasks, repos, rubrics, scaffolds)")
        self.repo: Callable[[str], Repo] = cache(self._repo)
        self.task: Callable[[str], Task] = cache(self._task)
        self.scaffold: Callable[[str], Scaffold] = cache(self._scaffold)
        self.model: Callable[[str], ModelFile] = cache(self._model)

    def reading(self, options: TaskOptions) -> "Catalog":
        """Return the same catalog, tasks outside of it read with these options."""
        return Catalog(self.directory, options, self.left_out)

    def names(self, folder: str) -> list[str]:
        """Return the directories in `folder` that hold its YAML file, sorted.

        Scaffolds are also those that are built in.
        """
        places = {self.directory, default_directory()} if folder == "scaffolds" else {self.directory}
        found = (path for place in places for path in (place / folder).glob(f"*/{folder[:-1]}.yaml"))
        return sorted({path.parent.name for path in found})

    def model_names(self) -> list[str]:
        """Return the model files, which a catalog may do without: they are no directories."""
        return sorted(path.stem for path in (self.directory / "models").glob("*.yaml"))

    def select(self, patterns: Iterable[str], exclude: Iterable[str] = (), repos: Iterable[str] = ()) -> list[Task]:
        """Tasks by id, glob, `tag:NAME`, `TRACK:GLOB` or `TRACK:PATH`, in order; of `repos` alone where given.

        Raises UserError for a pattern without one, for a task that is named and can't be read, and where none can.
        """
        asked = tuple(patterns)
        names = self.chosen(asked, exclude, repos)
        tasks = [task for name in names if (task := self._task_or_fault(name, name in asked)) is not None]
        if names and not tasks:
            raise UserError(self.left_out[names[0]])
        if not names and asked and not self.names("tasks"):
            raise UserError(f"{self.directory / 'tasks'}: no tasks here yet; testwright task new makes one")
        for name, count in Counter(task.id for task in tasks).items():
            if count > 1:
                raise UserError(f"{name}: {count} of the chosen directories are tasks of this name; rename one")
        return tasks

    def chosen(self, patterns: Iterable[str], exclude: Iterable[str] = (), repos: Iterable[str] = ()) -> list[str]:
        """Return the names of those that `select` takes, sorted; without `repos` none of them need be right."""
        names = set(self.match(patterns))
        names -= self._excluded(names, exclude)
        if globs := tuple(repos):
            tasks = {name: self._task_or_fault(name, must=False) for name in names}
            names = {name for name, task in tasks.items() if task and any(_is_of(task.repo, glob) for glob in globs)}
        return sorted(names)

    def _task_or_fault(self, name: str, must: bool) -> Task | None:
        """Return None for a task that can't be read, unless it must be: then this raises UserError."""
        try:
            return self.task(name)
        except UserError as error:
            if must or address_of(name):
                raise
            self.left_out[name] = str(error)
            return None

    def _excluded(self, chosen: Iterable[str], patterns: Iterable[str]) -> set[str]:
        """Return the chosen tasks that patterns leave out. One that lies outside is also known by its directory's
        name. Raises UserError for a pattern that fits nothing.
        """
        outside = {name: Path(address.place).name for name in chosen if (address := address_of(name))}
        found: set[str] = set()
        for pattern in patterns:
            there = {name for name, directory in outside.items() if fnmatch.fnmatchcase(directory, pattern)}
            found |= there or set(self.match([pattern]))
        return found

    def match(self, patterns: Iterable[str]) -> list[str]:
        """Return the names that patterns stand for; none of the tasks need be right. Raises as `select` does."""
        names = self.names("tasks")
        found: list[str] = []
        for pattern in patterns:
            if address := address_of(pattern):
                matches = self._of_track(address, names) or [
                    f"{address.track}:{directory}" for directory in _facts(address.track).directories(address.place)
                ]
            elif pattern.startswith("tag:"):
                matches = self._tagged(pattern.removeprefix("tag:"), names)
            else:
                matches = fnmatch.filter(names, pattern)
            if not matches and (names or pattern != "*"):
                own = self.directory / "tasks" / pattern
                raise UserError(_without_file(own, "tasks") or _unknown("task", pattern, names))
            found += matches
        return found

    def _of_track(self, address: Address, names: Iterable[str]) -> list[str]:
        """Return the catalog's own tasks of a track whose names fit `TRACK:GLOB`."""
        return [name for name in fnmatch.filter(names, address.place) if self._track(name) == address.track]

    def _track(self, name: str) -> str:
        """Return the track of a task that need not be right otherwise; empty where it has none that is known."""
        try:
            return load_yaml(self.directory / "tasks" / name / Task.DESCRIPTION, _Head).track
        except UserError:
            return ""

    def _tagged(self, tag: str, names: Iterable[str]) -> list[str]:
        """Raises UserError where no task has the tag, with one that is written alike."""
        tasks = [task for name in names if (task := self._task_or_fault(name, must=False))]
        found = [task.id for task in tasks if tag in task.file.tags]
        if not found:
            known = sorted({known for task in tasks for known in task.file.tags})
            raise UserError(_unknown("tag", tag, known, prefix="tag:"))
        return found

    def _file(self, folder: str, name: str) -> Path:
        names = self.names(folder)
        own = self.directory / folder / name
        if name not in names:
            raise UserError(_without_file(own, folder) or _unknown(folder[:-1], name, names))
        place = own if (own / f"{folder[:-1]}.yaml").is_file() else default_directory() / folder / name
        return place / f"{folder[:-1]}.yaml"

    def _repo(self, name: str) -> Repo:
        path = self._file("repos", name)
        repo = load_yaml(path, Repo)
        check_name(path, repo.name)
        return repo.model_copy(update={"directory": path.parent})

    def _scaffold(self, name: str) -> Scaffold:
        path = self._file("scaffolds", name)
        scaffold = load_yaml(path, Scaffold)
        check_name(path, scaffold.name)
        return scaffold.model_copy(update={"directory": path.parent, "ablation": None})

    def _model(self, name: str) -> ModelFile:
        names = self.model_names()
        if name not in names:
            raise UserError(_unknown("model", name, names))
        return load_yaml(self.directory / "models" / f"{name}.yaml", ModelFile)

    def _task(self, name: str) -> Task:
        if address := address_of(name):
            directories = _facts(address.track).directories(address.place)
            if len(directories) > 1:
                raise UserError(f"{name}: {len(directories)} tasks lie there; name the directory of one")
            return _facts(address.track).load(directories[0], self, self.options)
        path = self._file("tasks", name)
        return _facts(load_yaml(path, _Head).track).load(path.parent, self, self.options)


class _Head(BaseModel):
    """The part of a task's file that must be known before the rest can be read."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    track: TrackName = BEHAVIOUR


def _is_of(repo: Repo, glob: str) -> bool:
    """Return whether a repository has this name; one of an image has that of upstream, the last part of its
    address.
    """
    upstream = repo.upstream.rstrip("/").rpartition("/")[2].removesuffix(".git")
    return any(fnmatch.fnmatchcase(name, glob) for name in (repo.name, upstream))


def check_name(path: Path, name: str) -> None:
    """Raises UserError where what lies in a directory has another name than that."""
    if name != path.parent.name:
        raise UserError(f"{path}:1: says it is {name!r}, but its directory is {path.parent.name!r}; rename one")


def _without_file(directory: Path, folder: str) -> str:
    """Return what is wrong with a directory that is there and lacks its YAML file; empty where there is no
    directory.
    """
    return f"{directory}: has no {folder[:-1]}.yaml, which says what it is" if directory.is_dir() else ""


def _unknown(kind: str, name: str, names: Sequence[str], prefix: str = "") -> str:
    close = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean '{prefix}{close[0]}'?" if close else f"known: {', '.join(names) or 'none'}"
    return f"unknown {kind} {name!r}; {hint}"
