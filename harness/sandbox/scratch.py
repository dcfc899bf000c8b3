"""Temporary directories, and errors of the disk: they name the file and never become a verdict."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.specs.errors import ToolFailed


@contextmanager
def scratch_directory() -> Iterator[Path]:
    """A temporary directory. Raises ToolFailed where none can be made."""
    try:
        made = tempfile.TemporaryDirectory(prefix="testwright-", ignore_cleanup_errors=True)
    except OSError as error:
        raise ToolFailed(f"no temporary directory can be made: {error}") from None
    with made as name:
        yield Path(name)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Makes an error of the disk on which `path` is written a ToolFailed that names it."""
    try:
        yield
    except OSError as error:
        raise ToolFailed(f"{path}: {error.strerror or error}") from error
