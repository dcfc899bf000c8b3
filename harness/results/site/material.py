"""Material of a site: the runs, their systems and their tasks, and the place of each page in the site's folder."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from harness.results.leaderboard import Standing, leaderboard
from harness.results.rows import TrialRow
from harness.results.run_rows import RunRows, load_all, of_track, tracks_of
from harness.results.scores import ResolveRate, TaskScore, Who
from harness.runs.plan import chosen_tasks, slug, system_name
from harness.specs.catalog import Catalog
from harness.specs.catalog_places import Places
from harness.specs.errors import UserError
from harness.specs.model_file import called_apart
from harness.specs.task import Task
from harness.specs.tracks import BEHAVIOUR

FRONT, FIGURES, AXES, CRITERIA, ACTIVITY = (
    "index.html",
    "figures.html",
    "axes.html",
    "criteria.html",
    "activity.html",
)
TASKS, TRIALS, TRIAL_DATA = "tasks.html", "trials.html", "trials.js"


def tasks_page(number: int) -> str:
    """Return the matrix of tasks, from 1."""
    return TASKS if number == 1 else f"tasks-{number}.html"


def task_page(task: str) -> str:
    """Return the place of a task's page."""
    return f"tasks/{task}.html"


def trial_page(run: str, trial: TrialRow, part: int = 1) -> str:
    """Return the path of a trial's page. Further parts have the rest of a long trajectory.

    `run` is empty where the site has one run.
    """
    more = "" if part == 1 else f"-part-{part}"
    return str(PurePosixPath("trials", run, f"{trial.trial}{more}.html"))


def file_of(page: str, name: str) -> str:
    """Return a text file that belongs to a page."""
    return f"files/{page.removesuffix('.html')}/{name}"


def comparison_page(first: str, second: str, place: str = "") -> str:
    """Return the place of the page that compares two systems. `place` is empty where the site has one track."""
    return str(PurePosixPath("compare", place, f"{slug(first)}-and-{slug(second)}.html"))


def flip_page(first: str, second: str, task: str, place: str = "") -> str:
    """Return the place of the page of a task that flips between two systems."""
    return str(PurePosixPath("compare", place, f"{slug(first)}-and-{slug(second)}", f"{task}.html"))


def link(page: str) -> str:
    """Return a page's path as part of a URL, relative to the site's folder."""
    return quote(page)


def root_of(page: str) -> str:
    """Return what leads from a page to the site's folder: `../../`, or nothing."""
    return "../" * page.count("/")


def run_names(directories: list[Path]) -> list[str]:
    """Return a name for each run: the last part of its path, numbered where several have it."""
    found: list[str] = []
    for directory in directories:
        plain = slug(directory.resolve().name) or "run"
        number, name = 1, plain
        while name in found:
            number += 1
            name = f"{plain}-{number}"
        found.append(name)
    return found


@dataclass(frozen=True)
class SiteRun:
    """A run on a site. `place` is the folder of its trials' pages: empty where the site has one run."""

    name: str
    place: str
    rows: RunRows


@dataclass(frozen=True, eq=False)
class SiteTrial:
    """A trial, its row and its page."""

    run: SiteRun
    row: TrialRow

    @cached_property
    def page(self) -> str:
        return trial_page(self.run.place, self.row)

    @cached_property
    def link(self) -> str:
        return link(self.page)

    @cached_property
    def directory(self) -> Path:
        return self.run.rows.directory / "trials" / self.row.trial


@dataclass(frozen=True)
class System:
    """A scaffold with its model, over all runs, and its trials."""

    standing: Standing
    trials: tuple[SiteTrial, ...]
    label: str
    """The system's name for people."""
    style: int = 0
    """The number of its colour and mark, the same on every page."""

    @property
    def name(self) -> str:
        """Return what it is called in `run.yaml`."""
        return system_name(*self.standing.who)

    @property
    def rate(self) -> ResolveRate:
        return self.standing.rate

    @property
    def scores(self) -> Mapping[str, TaskScore]:
        return self.standing.scores

    def at(self, task: str) -> tuple[SiteTrial, ...]:
        """Return its trials at a task, by run and attempt."""
        return self._by_task.get(task, ())

    @cached_property
    def _by_task(self) -> dict[str, tuple[SiteTrial, ...]]:
        found: dict[str, tuple[SiteTrial, ...]] = {}
        for trial in self.trials:
            found[trial.row.task] = (*found.get(trial.row.task, ()), trial)
        return found


@dataclass(frozen=True)
class TrackResults:
    """The results at the tasks of one track. Tracks measure different things: no figure is over several of them.

    `place` is empty where the site has one track. `runs` have the rows of these tasks alone; `systems` are those that
    have such a row, the best first.
    """

    name: str
    place: str
    runs: tuple[RunRows, ...]
    systems: tuple[System, ...]

    @property
    def rows(self) -> list[TrialRow]:
        return [row for run in self.runs for row in run.trials]


@dataclass(frozen=True)
class Material:
    """All that pages are made from. `tasks` are those that are still there, `changed` those with other files now.

    `systems` are over all tracks, in the order of the first track that has them.
    """

    runs: tuple[SiteRun, ...]
    systems: tuple[System, ...]
    tracks: tuple[TrackResults, ...]
    track_of: Mapping[str, str]
    task_names: tuple[str, ...]
    tasks: Mapping[str, Task]
    changed: frozenset[str]
    trials: tuple[SiteTrial, ...]

    @property
    def title(self) -> str:
        return ", ".join(run.name for run in self.runs)


def load_material(directories: Sequence[Path], catalog: Places, track: str = "") -> Material:
    """Read runs, or their trials of one track.

    Raises:
        UserError: A directory holds no run, or is named twice.
    """
    loaded = load_all(directories)
    names = run_names(list(directories))
    if track:
        loaded = of_track(loaded, track)
    several = len(loaded) > 1
    runs = tuple(SiteRun(name, name if several else "", rows) for name, rows in zip(names, loaded, strict=True))
    trials = tuple(SiteTrial(run, row) for run in runs for row in run.rows.trials)
    whole = tuple(_systems(loaded, trials))
    named = sorted({task for system in whole for task in system.scores})
    tasks = dict(_tasks(runs, named, catalog))
    track_of = _tracks_of(loaded, named)
    known = {system.name: replace(system, style=style) for style, system in enumerate(sorted(whole, key=_name))}
    tracks = tuple(_tracks(loaded, trials, known))
    systems = tuple(known[name] for name in dict.fromkeys(_name(each) for track in tracks for each in track.systems))
    changed = frozenset(_changed(runs, tasks))
    return Material(runs, systems, tracks, track_of, tuple(named), tasks, changed, trials)


def _tracks_of(runs: Sequence[RunRows], names: Sequence[str]) -> dict[str, str]:
    """Return task -> track, as the first run says that was asked for the task."""
    asked = [(run, {task for tasks in run.asked.values() for task in tasks}) for run in runs]
    rows = [(run, {row.task for row in run.trials} | tasks) for run, tasks in asked]
    return {name: next(run.track_of(name) for run, tasks in rows if name in tasks) for name in names}


def _tracks(
    runs: Sequence[RunRows], trials: Sequence[SiteTrial], known: Mapping[str, System]
) -> Iterator[TrackResults]:
    """Yield tests of behaviour first, then the other tracks by name."""
    names = sorted(tracks_of(runs), key=lambda name: (name != BEHAVIOUR, name))
    for name in names:
        found = tuple(run.of_track(name) for run in runs)
        own = tuple(trial for trial in trials if trial.row.track == name)
        systems = [
            replace(each, label=known[each.name].label, style=known[each.name].style) for each in _systems(found, own)
        ]
        yield TrackResults(name, name if len(names) > 1 else "", found, tuple(systems))


def _name(system: System) -> str:
    return system.name


def _systems(runs: Sequence[RunRows], trials: Sequence[SiteTrial]) -> Iterator[System]:
    """Yield the best first."""
    found: dict[Who, list[SiteTrial]] = {}
    for trial in trials:
        found.setdefault(Who(trial.row.scaffold, trial.row.model), []).append(trial)
    standings = leaderboard(runs)
    models = called_apart(standing.who.model for standing in standings)
    for standing in standings:
        label = system_name(standing.who.scaffold, models[standing.who.model])
        yield System(standing, tuple(found.get(standing.who, ())), label)


def _tasks(runs: Sequence[SiteRun], names: Sequence[str], catalog: Places) -> Iterator[tuple[str, Task]]:
    """Yield the tasks that can be read: a site is also made where the tasks are gone."""
    try:
        known = Catalog(catalog)
    except UserError:
        return
    found: dict[str, Task] = {}
    for run in runs:
        try:
            for config in run.rows.file.configs if run.rows.file else ():
                found |= {task.id: task for task in chosen_tasks(known, config)}
        except UserError:
            continue
    for name in names:
        try:
            yield name, found.get(name) or known.task(name)
        except UserError:
            continue


def _changed(runs: Sequence[SiteRun], tasks: Mapping[str, Task]) -> Iterator[str]:
    for run in runs:
        for name, digest in run.rows.file.tasks.items() if run.rows.file else ():
            if name in tasks and tasks[name].digest != digest:
                yield name
