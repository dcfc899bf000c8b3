"""Builds a site, in several processes where there is much to do.

`testwright report --site`.

Tasks against systems: every attempt, in as many pages as it takes.
"""

import gc
import multiprocessing
import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from harness.judging.languages.registry import LANGUAGES
from harness.results.activity.trials import TrialBehaviour
from harness.results.failing.funnel import WeightsFile
from harness.results.report.figures import counted
from harness.results.rows import TrialRow
from harness.results.site.comparison_pages import pairings, write_comparison
from harness.results.site.front_page import front_values, write_front
from harness.results.site.material import (
    FRONT,
    Material,
    SiteTrial,
    System,
    link,
    load_material,
    task_page,
    tasks_page,
)
from harness.results.site.pages import Pages
from harness.results.site.task_pages import write_task
from harness.results.site.topic_pages import write_activity, write_axes, write_criteria
from harness.results.site.trial_list import write_trial_list
from harness.results.site.trial_pages import write_trial
from harness.runs.plan import system_name
from harness.specs.catalog_places import Places
from harness.specs.errors import Extra, UserError, check_extra

_CELLS = 2_500
"""Attempts on one page."""


def write_matrix(pages: Pages, material: Material) -> None:
    """Write the pages of tasks against systems."""
    each = max(1, max((len(system.at(t)) for system in material.systems for t in material.task_names), default=1))
    size = max(1, _CELLS // max(1, len(material.systems) * each))
    chunks = [material.task_names[start : start + size] for start in range(0, len(material.task_names), size)]
    parts = [link(tasks_page(number)) for number in range(1, len(chunks) + 1)]
    for number, names in enumerate(chunks or [()], start=1):
        lines = [
            (
                name,
                link(task_page(name)),
                material.tasks.get(name),
                [(system, system.scores.get(name), system.at(name)) for system in material.systems],
            )
            for name in names
        ]
        pages.write(
            tasks_page(number), "tasks.html.j2", systems=material.systems, lines=lines, parts=parts, number=number
        )


_FEW = 12
"""The most pages that are written here rather than in other processes."""
_TOGETHER = 8
"""Trials of one piece of work."""
_MARK = "site.css"


@dataclass(frozen=True)
class Changes:
    """Tasks and systems, by name, of the trials whose rows are others than when the site was last built."""

    tasks: frozenset[str]
    systems: frozenset[str]

    def __bool__(self) -> bool:
        return bool(self.tasks or self.systems)


@dataclass
class SiteBuilder:
    """A builder that makes the same site again and again, only the pages that show what has changed since."""

    directories: Sequence[Path]
    out: Path
    catalog: Places = None
    is_live: bool = False
    weights: WeightsFile | None = None
    track: str = ""
    """The only track whose trials are shown; empty: all."""
    _known: dict[str, object] = field(default_factory=dict)
    _rows: dict[str, TrialRow] = field(default_factory=dict)
    _asked: object = None
    _behaviours: dict[str, TrialBehaviour | None] = field(default_factory=dict)

    def build(self) -> int:
        """Write all pages that are new, and return how many trials there are now.

        Raises:
            UserError: A run can't be read, or the folder can't be written.
        """
        check_folder(self.out)
        material = load_material(self.directories, self.catalog, self.track)
        pages = Pages(self.out, material.title, self.is_live)
        stamps = {trial.page: _stamp(trial) for trial in material.trials}
        changes = self._changes(material)
        changed = [
            (system, trial)
            for system in material.systems
            for trial in system.trials
            if self._known.get(trial.page) != stamps[trial.page] or trial.row.task in changes.tasks
        ]
        pages.write_static()
        shared = _shared_pages(pages, material, changes)
        _load_for_all(pages)
        with _at_work([*shared, *_trials_pages(pages, material, changed)], len(shared) + len(changed)) as done:
            front = front_values(material, self.weights) if changes else None
            found = chain.from_iterable(list(done)[len(shared) :])
        self._behaviours |= {trial.page: item for (_, trial), item in zip(changed, found, strict=True)}
        if front:
            write_front(pages, front)
            write_activity(pages, material, {page: item for page, item in self._behaviours.items() if item})
        self._known |= stamps
        return len(stamps)

    def _changes(self, material: Material) -> Changes:
        """Return what differs from the last time, and remember how it is now."""
        rows = {trial.page: trial.row for trial in material.trials}
        asked = [(run.name, run.rows.asked) for run in material.runs]
        differ = [trial.row for trial in material.trials if self._rows.get(trial.page) != trial.row]
        is_all = asked != self._asked
        tasks = material.task_names if is_all else [row.task for row in differ]
        names = [system_name(row.scaffold, row.model) for row in differ]
        systems = [system.name for system in material.systems] if is_all else names
        self._rows, self._asked = rows, asked
        return Changes(frozenset(tasks), frozenset(systems))


def check_folder(out: Path) -> None:
    """Check that a folder is empty, or holds a site: no other is written to.

    Raises:
        UserError: It has other files.
    """
    try:
        there = any(out.iterdir()) if out.exists() else False
    except OSError as error:
        raise UserError(f"{out}: can't be read: {error.strerror or error}") from None
    if there and not (out / _MARK).is_file():
        raise UserError(f"{out}: there are files that aren't a site's; name a new or an empty folder")


Piece = Callable[[], Any]


def _shared_pages(pages: Pages, material: Material, changes: Changes) -> list[Piece]:
    """Return all but the front and the trials' pages, as far as they show what has changed."""
    if not changes:
        return []
    pairs = [
        partial(write_comparison, pages, material, track, pair)
        for track in material.tracks
        for pair in pairings(track.systems, track.place)
        if changes.systems & {pair.first.name, pair.second.name}
    ]
    tasks = [partial(write_task, pages, material, name) for name in material.task_names if name in changes.tasks]
    lists = [write_axes, write_criteria, write_trial_list, write_matrix]
    return [*(partial(write, pages, material) for write in lists), *pairs, *tasks]


def _trials_pages(pages: Pages, material: Material, trials: Sequence[tuple[System, SiteTrial]]) -> list[Piece]:
    """Return pieces of work that write the trials' pages; each returns what the agents did."""
    starts = range(0, len(trials), _TOGETHER)
    return [partial(_write_trials, pages, material, trials[start : start + _TOGETHER]) for start in starts]


def _write_trials(
    pages: Pages, material: Material, trials: Sequence[tuple[System, SiteTrial]]
) -> list[TrialBehaviour | None]:
    return [write_trial(pages, material, system, trial) for system, trial in trials]


_pieces: list[Piece] = []
"""Work of the processes of a pool: they inherit it, so that nothing has to be sent to them."""


@contextmanager
def _at_work(pieces: list[Piece], pages: int) -> Iterator[Iterator[Any]]:
    """Provide what each returns, in order; meanwhile this process can do something else. They write so many pages."""
    cores = len(os.sched_getaffinity(0))
    if pages <= _FEW or cores == 1:
        yield (piece() for piece in pieces)
        return
    _pieces[:] = pieces
    # Nothing here makes cycles worth looking for: reference counts free the pages one by one.
    gc.disable()
    gc.freeze()
    try:
        with ProcessPoolExecutor(min(cores, 8), mp_context=multiprocessing.get_context("fork")) as pool:
            yield pool.map(_done_there, range(len(pieces)))
    finally:
        gc.unfreeze()
        gc.enable()
        _pieces.clear()


def _load_for_all(pages: Pages) -> None:
    """Load, before processes fork, what each would otherwise load for itself."""
    pages.load_templates()
    for name in LANGUAGES.names:
        with suppress(UserError):
            LANGUAGES.get(name)


def _done_there(index: int) -> Any:
    return _pieces[index]()


def _stamp(trial: SiteTrial) -> object:
    """Return a value that changes where a file of the trial does."""
    paths = [trial.directory, *trial.directory.glob("*"), *trial.directory.glob("submission/*")]
    return frozenset((path.name, _changed_at(path)) for path in paths)


def _changed_at(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


def report_site(
    directories: list[Path],
    out: Path,
    catalog: Places,
    weights: WeightsFile | None = None,
    others: Iterable[object] = (),
    track: str = "",
) -> int:
    """Build a site and say where it begins.

    Args:
        directories: Runs.
        out: An empty folder, or one that holds a site.
        catalog: Has the tasks, as far as they are still there.
        weights: For the composite score.
        others: The values of options that ask for something else than a site: none may be given.
        track: The site's, where the runs have several.

    Returns:
        The exit status.

    Raises:
        UserError: A run can't be read, the folder has other files, or another form is asked for as well.
    """
    if any(others):
        raise UserError("--site excludes --export, --format, --json and --csv; ask for these in another command")
    check_extra(Extra.SITE, "report --site")
    trials = SiteBuilder(directories, out, catalog, weights=weights, track=track).build()
    print(f"{counted(trials, 'trial')} in {out}; open {shlex.quote(str(out / FRONT))}")
    return 0
