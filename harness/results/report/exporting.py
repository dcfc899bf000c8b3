"""Results as files of other programs' formats."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from harness.results.report.tables import printable
from harness.results.run_rows import RunRows
from harness.specs.errors import InfrastructureError, UserError
from harness.specs.registry import Registry

DEFAULT = "parquet"
_MARK = ".testwright-export"
"""An empty file in each folder of an export."""


class Exporter(Protocol):
    """A function that writes the rows of runs as files of one format."""

    def __call__(self, runs: Sequence[RunRows], directory: Path, as_json: bool) -> int:
        """Write into `directory`, say what was written (as JSON where asked), and return the exit status.

        Raises:
            UserError: The folder can't be written, or the format's package isn't installed.
        """
        ...


EXPORTS: Registry[Exporter] = Registry("export format", "testwright.exports", {})
"""Export formats by name; each is imported when it is first used. They come from plugins alone."""


def export_runs(
    runs: Sequence[RunRows], directory: Path | None, form: str | None, as_json: bool, others: Iterable[object] = ()
) -> int:
    """Write runs as files of a format; a run's files are told by the name of its folder.

    Args:
        runs: Rows of each run.
        directory: Folder to write into.
        form: Name of a registered format; parquet where none is named.
        as_json: Say what was written as JSON.
        others: Values of options that an export has no use for: none may be given.

    Raises:
        UserError: The format is unknown, the folder can't be written, or two runs' folders are called alike.
    """
    if directory is None:
        raise UserError(f"--format {printable(form or '')} says what --export writes; add --export DIR")
    if any(others):
        raise UserError("--export excludes --weights and --csv; ask for these in another command")
    form = form or DEFAULT
    if form not in EXPORTS.names:
        raise UserError(f"--format {printable(form)}: no such format; known: {', '.join(EXPORTS.names)}")
    names = [run.directory.resolve().name for run in runs]
    if len(set(names)) < len(names):
        raise UserError(f"two runs are called {max(names, key=names.count)!r}; export each into a folder of its own")
    exporter = EXPORTS.get(form)
    with claimed(directory):
        return exporter(runs, directory, as_json)


@contextmanager
def claimed(directory: Path) -> Iterator[None]:
    """Take a folder for an export; where an error leaves it new and empty, take it back.

    Raises:
        UserError: The folder has other files, or can't be written.
    """
    is_new = not directory.exists()
    _claim(directory)
    try:
        yield
    except (UserError, InfrastructureError):
        if is_new and [*directory.iterdir()] == [directory / _MARK]:
            (directory / _MARK).unlink()
            directory.rmdir()
        raise


def _claim(directory: Path) -> None:
    """Take a folder that is new, empty or an export's already; leave another's files alone.

    Raises:
        UserError: The folder has other files, or can't be written.
    """
    mark = directory / _MARK
    try:
        if directory.exists() and any(directory.iterdir()) and not mark.is_file():
            raise UserError(f"{directory}: there are files that aren't an export's; name a new or an empty folder")
        directory.mkdir(parents=True, exist_ok=True)
        mark.touch()
    except OSError as error:
        raise UserError(f"{directory}: can't be written: {error.strerror or error}") from None
