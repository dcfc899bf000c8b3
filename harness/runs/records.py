"""Files of ours that hold one model, written so that a crash at any moment loses nothing."""

import os
from pathlib import Path
from typing import TypeVar

from harness.specs.loading import FileModel

FileT = TypeVar("FileT", bound=FileModel)


def read_record(path: Path, model: type[FileT]) -> FileT | None:
    """A record of ours, or None where it is absent or was cut by a crash."""
    try:
        return model.model_validate_json(path.read_bytes())
    except (OSError, ValueError):
        return None


def write_whole(path: Path, data: str | bytes) -> None:
    """Replace a file whole: a reader finds the old one or the new one, never a part."""
    partial = path.with_name(f".{path.name}.partial")
    with partial.open("wb") as file:
        file.write(data.encode() if isinstance(data, str) else data)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
