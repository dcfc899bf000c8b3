"""Files of ours that hold one model, written so that a crash at any moment loses nothing."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from harness.specs.loading import FileModel

FileT = TypeVar("FileT", bound=FileModel)
LineT = TypeVar("LineT", bound=BaseModel)


def read_record(path: Path, model: type[FileT]) -> FileT | None:
    """A record of ours, or None where it is absent or was cut by a crash."""
    try:
        return model.model_validate_json(path.read_bytes())
    except (OSError, ValueError):
        return None


def read_lines(path: Path, model: type[LineT]) -> list[LineT]:
    """The records of a file with one to a line, without those that can't be read; none where there is no file."""
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
    partial = path.with_name(f".{path.name}.partial")
    with naming(path), partial.open("wb") as file:
        file.write(data.encode() if isinstance(data, str) else data)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


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
    """Errors of the disk in this block name the file: what write and fsync raise by themselves doesn't."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise
