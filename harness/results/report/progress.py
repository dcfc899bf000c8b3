"""Progress for people while trials run: a line for each trial at work at a terminal, plain lines in a pipe.

The time that is left is estimated from the trials that have ended.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import fmean
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.table import Column

from harness.results.report.tables import printable
from harness.runs.outcome import Observer, Phase, Progress, Stand
from harness.runs.plan import Trial
from harness.specs.reasons import Verdict


class Remaining:
    """A count and clock of a run's trials. Trials that only turned out to be done already aren't timed.

    `clock` gives seconds.
    """

    def __init__(self, total: int, clock: Callable[[], float] = monotonic) -> None:
        self.total = total
        self.done = 0
        self.known = 0
        """Of `done`, those that an earlier start had finished."""
        self._clock = clock
        self._began: dict[object, float] = {}
        self._worked: set[object] = set()
        self._took: list[float] = []
        self._most_at_once = 1

    def began(self, trial: object) -> None:
        """Note that a trial has begun. A second try goes on with the time of the first."""
        self._began.setdefault(trial, self._clock())
        self._most_at_once = max(self._most_at_once, len(self._began))

    def worked(self, trial: object) -> None:
        """Note that there was something to do for a trial."""
        self._worked.add(trial)

    def ended(self, trial: object, verdict: str = "") -> bool:
        """Count a trial that has ended; return whether this start had anything to do for it."""
        took = self._clock() - self._began.pop(trial, self._clock())
        self.done += 1
        if trial in self._worked:
            self._took.append(took)
            return True
        is_known = verdict in (Verdict.RESOLVED, Verdict.FAILED, Verdict.INVALID)
        self.known += is_known
        return not is_known

    @property
    def seconds(self) -> float | None:
        """The seconds that are left; None where nothing tells.

        Trials at work have their own time still to go, the others the mean of all.
        """
        left = self.total - self.done
        if not left:
            return 0.0
        if not self._took:
            return None
        mean, now = fmean(self._took), self._clock()
        at_work = [max(0.0, mean - (now - began)) for began in self._began.values()]
        waiting = max(0, left - len(at_work))
        return max((sum(at_work) + waiting * mean) / self._most_at_once, max(at_work, default=0.0))

    def __str__(self) -> str:
        """Return `3 of 12 done, 2 of them before, about 4 min left`."""
        seconds = self.seconds
        before = f", {self.known} of them before" if self.known else ""
        about = f", about {_about(seconds)} left" if seconds else ""
        return f"{self.done} of {self.total} done{before}{about}"


def _about(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes / 60:.1f} h"


_LINES = 12
"""The most trials at work that have a line: more would fill the terminal."""
_WITH_BAR = 110
"""Columns of a terminal that has room for bars beside names and words."""


@contextmanager
def watching(total: int) -> Iterator[Observer]:
    """Provide an observer for `run_all` that shows the progress of `total` trials on stderr."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield _Lines(console, total)
        return
    with Bar(*_columns(console.width), console=console, transient=True, expand=True) as bar:
        yield _Terminal(bar, total)


def _columns(width: int) -> tuple[ProgressColumn, ...]:
    """Return what a line shows: the words whole, the trial's name as far as there is room, a bar where there is."""
    name = TextColumn("{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True))
    words = TextColumn("{task.fields[words]}", markup=False, table_column=Column(no_wrap=True))
    bar = (BarColumn(bar_width=20),) if width >= _WITH_BAR else ()
    return (name, words, *bar, TimeElapsedColumn(table_column=Column(no_wrap=True)))


def warn(line: str) -> None:
    """Print a warning on standard error."""
    Console(stderr=True, highlight=False).print(printable(f"warning: {line}", 500), markup=False, soft_wrap=True)


class _Terminal:
    """A live display: each trial at work with its progress, below them the whole run and the time that is left."""

    def __init__(self, bar: Bar, total: int) -> None:
        self._bar = bar
        self._remaining = Remaining(total)
        self._lines: dict[str, TaskID] = {}
        self._whole = bar.add_task("trials", total=total, words=str(self._remaining))

    def __call__(self, trial: Trial, progress: Progress, words: str, stand: Stand | None) -> None:
        place = str(trial.place)
        match progress:
            case Progress.STARTED:
                self._remaining.began(place)
                if place not in self._lines and len(self._lines) < _LINES:
                    self._lines[place] = self._bar.add_task(printable(trial.label), total=None, words=str(progress))
            case Progress.AT_WORK:
                self._at_work(trial, stand)
            case Progress.RETRIED:
                self._bar.console.print(printable(f"{trial.label}: {progress}, {words}"), markup=False)
            case Progress.FINISHED:
                if (line := self._lines.pop(place, None)) is not None:
                    self._bar.remove_task(line)
                if self._remaining.ended(place, words):
                    self._bar.console.print(printable(f"{trial.label}: {words}"), markup=False)
        self._bar.update(self._whole, completed=self._remaining.done, words=str(self._remaining))

    def _at_work(self, trial: Trial, stand: Stand | None) -> None:
        if stand is None:
            return
        if stand.phase is not Phase.IMAGE:
            self._remaining.worked(str(trial.place))
        if (line := self._lines.get(str(trial.place))) is not None:
            self._bar.update(line, words=str(stand), completed=stand.done, total=stand.most or None)


class _Lines:
    """A line for each phase of each trial, and for its end; none for a trial that needed nothing."""

    def __init__(self, console: Console, total: int) -> None:
        self._console = console
        self._remaining = Remaining(total)
        self._phases: dict[str, Phase] = {}
        self._begun: dict[str, str] = {}
        """Trials of which nothing has been printed yet, with what happened."""

    def __call__(self, trial: Trial, progress: Progress, words: str, stand: Stand | None) -> None:
        place = str(trial.place)
        match progress:
            case Progress.STARTED:
                self._remaining.began(place)
                self._phases.pop(place, None)
                self._begun[place] = f"{progress} {words}".rstrip()
                return
            case Progress.AT_WORK:
                if begun := self._begun.pop(place, ""):
                    self._print(trial, begun)
                if stand is None or self._phases.get(place) is stand.phase:
                    return
                self._phases[place] = stand.phase
                if stand.phase is Phase.IMAGE:
                    return
                self._remaining.worked(place)
                self._print(trial, str(stand.phase))
                return
            case Progress.FINISHED:
                is_silent = self._begun.pop(place, None) is not None
                if not self._remaining.ended(place, words) and is_silent:
                    return
                words = f"{words} ({self._remaining})"
            case Progress.RETRIED:
                pass
        self._print(trial, f"{progress} {words}".rstrip())

    def _print(self, trial: Trial, words: str) -> None:
        self._console.print(printable(f"{trial.label}: {words}"), markup=False, soft_wrap=True)
