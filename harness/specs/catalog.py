"""The data folders: tasks, repos, rubrics, scaffolds, models; of one catalog or of several."""

import difflib
import fnmatch
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Protocol, TypeVar, cast

from pydantic import BaseModel, ConfigDict

from harness.specs.catalog_places import (
    BUILT_IN,
    CatalogPlace,
    Places,
    default_directory,
    known_places,
    place_of,
)
from harness.specs.errors import UserError
from harness.specs.model_file import ModelFile
from harness.specs.registry import Registry
from harness.specs.repo import Repo
from harness.specs.scaffold import Scaffold
from harness.specs.task import Task
from harness.specs.tracks import BEHAVIOUR, TRACK_FACTS, Address, TaskCatalog, TaskOptions, TrackName, address_of
from harness.specs.yaml_files import check_name, load_yaml

T = TypeVar("T")


CATALOGS: Registry[Path | str | Callable[[], Path]] = Registry(
    "catalog", "testwright.catalogs", {BUILT_IN: "harness.specs.catalog_places:default_directory"}
)
"""Catalogs that packages bring along: behind each name is a folder, or a function that returns it."""


class TrackFacts(Protocol):
    """The part of a track that reading its tasks needs, before anything runs."""

    def directories(self, place: str) -> list[Path]:
        """Return the task directories that `TRACK:PLACE` stands for, outside of any catalog, sorted.

        Args:
            place: A path, as somebody typed it.

        Raises:
            UserError: There is none, or tasks of the track lie in catalogs only.
        """
        ...

    def load(self, directory: Path, catalog: TaskCatalog, options: TaskOptions) -> Task:
        """Return the task in a directory.

        Args:
            directory: The task's.
            catalog: Has its repository and rubric.
            options: How tasks of other people are read.

        Raises:
            UserError: For the first file that is absent or wrong.
        """
        ...


def _facts(track: str) -> TrackFacts:
    return cast("TrackFacts", TRACK_FACTS.get(track))


class Catalog:
    """The tasks, repositories, rubrics, scaffolds and models of one or several folders, which it loads by name.

    Its methods raise UserError for names that don't exist and files that are wrong. `directory` is where new tasks
    and
    repositories go: that of the first of `places`. A task or repository that several of them have is known as
    `CATALOG/NAME`, any other as `NAME` too; of a scaffold or a model the first one counts. A task's repository is
    its
    own catalog's, else another's. A whole task takes its public half's place.

    A task is also found by `TRACK:GLOB` (`design:*`, those of a track in the catalog) and, outside of the catalog,
    by
    `TRACK:DIRECTORY` (`swe-atlas:DIRECTORY`); `options` say how those are read. `left_out` has what is wrong with
    tasks
    that a glob or tag fits and that can't be read: one of them doesn't take the others away.
    """

    def __init__(
        self,
        places: Places = None,
        options: TaskOptions | None = None,
        left_out: dict[str, str] | None = None,
    ) -> None:
        self.left_out: dict[str, str] = {} if left_out is None else left_out
        self.places = known_places(places)
        self.directory = self.places[0].directory
        self.options = options or TaskOptions()
        self.repo: Callable[[str], Repo] = cache(self._repo)
        self.task: Callable[[str], Task] = cache(self._task)
        self.scaffold: Callable[[str], Scaffold] = cache(self._scaffold)
        self.model: Callable[[str], ModelFile] = cache(self._model)

    def reading(self, options: TaskOptions) -> "Catalog":
        """Return the same catalog, tasks outside of it read with these options."""
        return Catalog(self.places, options, self.left_out)

    def holding(self, task: Task) -> "Catalog":
        """Return the same catalogs, that of a task before the others: its rubric and honest suites lie there."""
        own = [place for place in self.places if place.directory == task.directory.parent.parent]
        if not own or own[0] == self.places[0]:
            return self
        others = (place for place in self.places if place != own[0])
        return Catalog((own[0], *others), self.options, self.left_out)

    def names(self, folder: str) -> list[str]:
        """Return the names of what lies in `folder`, sorted. Scaffolds are also those that are built in."""
        return sorted(self._directories(folder))

    def _directories(self, folder: str) -> dict[str, Path]:
        """Return the directories in `folder` that hold its YAML file, by the names that they are listed by."""
        found: defaultdict[str, list[CatalogPlace]] = defaultdict(list)
        for place in self._searched(folder):
            for path in place.directory.glob(f"{folder}/*/{folder[:-1]}.yaml"):
                found[path.parent.name].append(CatalogPlace(place.name, path.parent))
        listed: dict[str, Path] = {}
        for name, ways in found.items():
            if folder == "scaffolds" or len(ways) == 1:
                listed[name] = ways[0].directory
                continue
            several = [way for way in ways if not _is_public_half(way.directory)]
            if len(several) <= 1:
                listed[name] = (several or ways)[0].directory
            else:
                listed |= {f"{way.name}/{name}": way.directory for way in several}
        return listed

    def _searched(self, folder: str) -> list[CatalogPlace]:
        """Return where to look for what is in `folder`, in order."""
        built_in, known = place_of(default_directory(), BUILT_IN), {place.directory for place in self.places}
        is_searched = folder == "scaffolds" and built_in.directory not in known
        return [*self.places, *([built_in] if is_searched else [])]

    def _directory(self, folder: str, name: str) -> Path | None:
        """Return where what has this name lies, `CATALOG/NAME` included; None where there is none.

        Raises UserError for a name that several catalogs have.
        """
        known = self._directories(folder)
        if name in known:
            return known[name]
        for place in self._searched(folder):
            own = place.directory / folder / name.removeprefix(f"{place.name}/")
            if name == f"{place.name}/{own.name}" and (own / f"{folder[:-1]}.yaml").is_file():
                return own
        if several := [each for each in sorted(known) if each.endswith(f"/{name}")]:
            raise UserError(f"{folder[:-1]} {name!r} is in several catalogs; say {' or '.join(several)}")
        return None

    def model_names(self) -> list[str]:
        """Return the model files, which a catalog may do without: they are no directories."""
        return sorted(self._model_files())

    def _model_files(self) -> Mapping[str, Path]:
        places = reversed(self.places)  # the first one counts
        return {path.stem: path for place in places for path in place.directory.glob("models/*.yaml")}

    def select(self, patterns: Iterable[str], exclude: Iterable[str] = (), repos: Iterable[str] = ()) -> list[Task]:
        """Return tasks, in order.

        Args:
            patterns: Ids, globs, `tag:NAME`, `TRACK:GLOB` or `TRACK:PATH`.
            exclude: Patterns of tasks to leave out.
            repos: Take tasks of these repositories alone; empty: of all.

        Raises:
            UserError: A pattern takes none, a task that is named can't be read, or none can.
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
                raise UserError(f"{name}: {count} of the chosen directories are tasks of this name; choose one")
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
        """Return the chosen tasks that patterns leave out.

        One that lies outside is also known by its directory's name. Raises UserError for a pattern that fits nothing.
        """
        outside = {name: Path(address.place).name for name in chosen if (address := address_of(name))}
        found: set[str] = set()
        for pattern in patterns:
            there = {name for name, directory in outside.items() if fnmatch.fnmatchcase(directory, pattern)}
            found |= there or set(self.match([pattern]))
        return found

    def match(self, patterns: Iterable[str]) -> list[str]:
        """Return the names that patterns stand for; none of the tasks need be right.

        Raises:
            UserError: A pattern takes none.
        """
        names = self.names("tasks")
        found: list[str] = []
        for pattern in patterns:
            if not pattern:
                raise UserError("the name of a task is empty; name one, or '*' for all")
            if address := address_of(pattern):
                matches = self._of_track(address, names) or [
                    f"{address.track}:{directory}" for directory in _facts(address.track).directories(address.place)
                ]
            elif pattern.startswith("tag:"):
                matches = self._tagged(pattern.removeprefix("tag:"), names)
            else:
                matches = fnmatch.filter(names, pattern) or self._with_catalog(pattern, names)
            if not matches and (names or pattern != "*"):
                raise UserError(self._without_file("tasks", pattern) or _unknown_task(pattern, names))
            found += matches
        return found

    def _with_catalog(self, pattern: str, names: Iterable[str]) -> list[str]:
        """Return the tasks that `CATALOG/GLOB` stands for. Raises UserError for a name that several catalogs have."""
        listed = {f"{place.name}/{name}": name for place in self.places for name in names
                  if (place.directory / "tasks" / name).is_dir()}  # fmt: skip
        found = [listed[each] for each in fnmatch.filter(listed, pattern)]
        is_there = not found and self._directory("tasks", pattern)
        return [pattern] if is_there else found

    def _of_track(self, address: Address, names: Iterable[str]) -> list[str]:
        """Return the catalog's own tasks of a track whose names fit `TRACK:GLOB`."""
        return [name for name in fnmatch.filter(names, address.place) if self._track(name) == address.track]

    def _track(self, name: str) -> str:
        """Return the track of a task that need not be right otherwise; empty where it has none that is known."""
        try:
            return load_yaml(self._file("tasks", name), _Head).track
        except UserError:
            return ""

    def _tagged(self, tag: str, names: Iterable[str]) -> list[str]:
        """Return the tasks with a tag, raising UserError where there is none, with a tag that is written alike."""
        tasks = {name: task for name in names if (task := self._task_or_fault(name, must=False))}
        found = [name for name, task in tasks.items() if tag in task.file.tags]
        if not found:
            known = sorted({known for task in tasks.values() for known in task.file.tags})
            raise UserError(_unknown("tag", tag, known, prefix="tag:"))
        return found

    def _file(self, folder: str, name: str) -> Path:
        if directory := self._directory(folder, name):
            return directory / f"{folder[:-1]}.yaml"
        is_task, names = folder == "tasks", self.names(folder)
        unknown = _unknown_task(name, names) if is_task else _unknown(folder[:-1], name, names)
        raise UserError(self._without_file(folder, name) or unknown)

    def _without_file(self, folder: str, name: str) -> str:
        """Return what is wrong with a directory that is there and lacks its YAML file.

        Returns:
            Empty where there is no directory.
        """
        for place in self.places:
            if (own := place.directory / folder / name).is_dir():
                return f"{own}: has no {folder[:-1]}.yaml, which says what it is"
        return ""

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
        files = self._model_files()
        if name not in files:
            raise UserError(_unknown("model", name, sorted(files)))
        return load_yaml(files[name], ModelFile)

    def _task(self, name: str) -> Task:
        if address := address_of(name):
            directories = _facts(address.track).directories(address.place)
            if len(directories) > 1:
                raise UserError(f"{name}: {len(directories)} tasks lie there; name the directory of one")
            return _facts(address.track).load(directories[0], self, self.options)
        path = self._file("tasks", name)
        home = next(place for place in self.places if place.directory == path.parents[2])
        task = _facts(load_yaml(path, _Head).track).load(path.parent, _Home(self, home), self.options)
        self._check_half(task)
        return task if name == task.id else task.model_copy(update={"listed_as": name})

    def _check_half(self, task: Task) -> None:
        """Raise UserError where the public half of a whole task says that it was split from another one."""
        for place in self.places if len(self.places) > 1 and not task.is_public_half else ():
            path = place.directory / "tasks" / task.id / Task.DESCRIPTION
            if path.is_file() and (digest := load_yaml(path, _Head).private_digest) not in ("", task.digest):
                other = f"({task.digest[:12]}, and not {digest[:12]})"
                words = f"{task.directory} isn't its private half, or has changed {other}"
                raise UserError(f"{path}: {words}; split the task again (testwright task split)")


class _Home:
    """The catalog that a task lies in, for its track: a repository that it lacks may be in another one."""

    def __init__(self, every: Catalog, place: CatalogPlace) -> None:
        self._every, self._place = every, place
        self.directory = place.directory

    def repo(self, name: str) -> Repo:
        own = (self.directory / "repos" / name / "repo.yaml").is_file()
        return self._every.repo(f"{self._place.name}/{name}" if own and len(self._every.places) > 1 else name)


class _Head(BaseModel):
    """The part of a task's file that must be known before the rest can be read."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    track: TrackName = BEHAVIOUR
    private_digest: str = ""


def _is_public_half(directory: Path) -> bool:
    """Return whether a directory holds the public half of a task; one that can't be read holds none."""
    try:
        return bool(load_yaml(directory / Task.DESCRIPTION, _Head).private_digest)
    except UserError:
        return False


def _is_of(repo: Repo, glob: str) -> bool:
    """Return whether a repository has this name; one of an image has upstream's, the last part of its address."""
    upstream = repo.upstream.rstrip("/").rpartition("/")[2].removesuffix(".git")
    return any(fnmatch.fnmatchcase(name, glob) for name in (repo.name, upstream))


def _unknown(kind: str, name: str, names: Sequence[str], prefix: str = "") -> str:
    close = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean '{prefix}{close[0]}'?" if close else f"known: {', '.join(names) or 'none'}"
    return f"unknown {kind} {name!r}; {hint}"


_BESIDE = ("browser/*/*", "briefs/*")
"""The tasks that come with this package and lie in no catalog: each is known by `TRACK:NAME` alone."""


def beside_catalogs() -> dict[str, list[str]]:
    """Return track -> the names of its tasks that come with this package and lie in no catalog; no track is imported.

    Those that can't be read are left out.
    """
    found: defaultdict[str, list[str]] = defaultdict(list)
    for folder in _BESIDE:
        for path in sorted(default_directory().glob(f"{folder}/{Task.DESCRIPTION}")):
            with suppress(UserError):
                found[load_yaml(path, _Head).track].append(path.parent.name)
    return dict(found)


def _unknown_task(name: str, names: Sequence[str]) -> str:
    """Return the message for a task that isn't in the catalog: it may be of a track whose tasks lie elsewhere."""
    others = {f"{track}:{each}": each for track, found in beside_catalogs().items() for each in found}
    same = [address for address, each in others.items() if fnmatch.fnmatchcase(each, name)]
    if not same and difflib.get_close_matches(name, names, n=1):
        return _unknown("task", name, names)
    if "*" in name and same:
        same = [f"{same[0].partition(':')[0]}:{name}"]
    close = difflib.get_close_matches(name, others.values(), n=1)
    meant = [*same, *(address for address, each in others.items() if each in close)]
    return f"unknown task {name!r}; did you mean {meant[0]!r}?" if meant else _unknown("task", name, names)
