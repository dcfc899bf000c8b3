"""What a person sees while trials run: a live line at a terminal, plain lines in a pipe."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from harness.report.plain import printable
from harness.runs.outcome import Observer, Progress
from harness.runs.plan import Trial


@contextmanager
def watching(total: int) -> Iterator[Observer]:
    """An observer for `run_all` that shows the progress of `total` trials on stderr."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield _plain(console)
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bar(*columns, console=console, transient=True) as bar:
        line = bar.add_task("trials", total=total)

        def observe(trial: Trial, progress: Progress, words: str) -> None:
            match progress:
                case Progress.STARTED:
                    bar.update(line, description=printable(f"{trial.label} {progress}"))
                case Progress.RETRIED:
                    bar.console.print(printable(f"{trial.label}: {progress}, {words}"), markup=False)
                case Progress.FINISHED:
                    bar.advance(line)
                    bar.console.print(printable(f"{trial.label}: {words}"), markup=False)

        yield observe


def warn(line: str) -> None:
    Console(stderr=True, highlight=False).print(printable(f"warning: {line}", 500), markup=False, soft_wrap=True)


def _plain(console: Console) -> Observer:
    def observe(trial: Trial, progress: Progress, words: str) -> None:
        console.print(printable(f"{trial.label}: {progress} {words}".rstrip()), markup=False, soft_wrap=True)

    return observe
