"""Files of ours that hold one model, written so that a crash at any moment loses nothing."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TypeVar

from pydantic import BaseModel

from harness.specs.yaml_files import FileModel

FileT = TypeVar("FileT", bound=FileModel)
LineT = TypeVar("LineT", bound=BaseModel)


def read_record(path: Path, model: type[FileT]) -> FileT | None:
    """Return a record of ours, or None where it is absent or was cut by a crash."""
    try:
        return model.model_validate_json(path.read_bytes())
    except (OSError, ValueError):
        return None


def read_lines(path: Path, model: type[LineT]) -> list[LineT]:
    """Return a file's records, one to a line, without those that can't be read; none where there is no file."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return []
    records = []
    for line in lines:
        try:
            records.append(model.model_validate_json(line))
        except ValueError:
            continue
    return records


def write_whole(path: Path, data: str | bytes) -> None:
    """Replace a file whole: a reader finds the old one or the new one, never a part."""
    partial = _partial(path)
    try:
        with _opened(partial) as file:
            file.write(data.encode() if isinstance(data, str) else data)
            file.truncate()
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:  # it names the other file, or both, or none
        raise type(error)(error.errno, error.strerror, str(path)) from None


def reserve(path: Path, size: int) -> None:
    """Take room on the disk for a file that `write_whole` writes later, whoever fills the disk in the meantime.

    Raises:
        OSError: There is no room; it names the file.
    """
    partial = _partial(path)
    with naming(path):
        try:
            with partial.open("wb") as file:
                os.posix_fallocate(file.fileno(), 0, size)
        except OSError:
            partial.unlink(missing_ok=True)
            raise


def give_back(path: Path) -> None:
    """Let go of room that was reserved for a file and not used."""
    with suppress(OSError):
        _partial(path).unlink()


def is_there(path: Path) -> bool:
    """Return whether a file or directory is there; not where the disk doesn't let us know."""
    try:
        return path.exists()
    except OSError:
        return False


def _partial(path: Path) -> Path:
    return path.with_name(f".{path.name}.partial")


def _opened(partial: Path) -> BinaryIO:
    """Open a file for writing from its begin: the space that is reserved there is used first."""
    try:
        return partial.open("r+b")
    except FileNotFoundError:
        return partial.open("wb")


def append_line(path: Path, line: str) -> None:
    """Append a line, after one that a crash has cut too; it is on the disk when this returns."""
    with naming(path), path.open("ab+") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            line = line if file.read(1) == b"\n" else f"\n{line}"
        file.write(f"{line}\n".encode())
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name the file in errors of the disk within this block: those of write and fsync don't by themselves."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


PATCH = "patch.diff"
MANIFEST = "manifest.yaml"
