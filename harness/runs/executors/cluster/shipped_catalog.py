"""A catalog of one's own as bytes, for nodes that share no file system with this machine."""

import io
import tarfile
from pathlib import Path

from harness.specs.errors import UserError

_FOLDERS = ("repos", "tasks", "rubrics", "scaffolds", "models", "scripts/base-image")
MOST_BYTES = 200_000_000


def pack(catalog: Path) -> bytes:
    """Raises UserError where it is too large to be sent."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1) as tar:
        for folder in _FOLDERS:
            if (catalog / folder).is_dir():
                tar.add(catalog / folder, folder)
    if packed.tell() > MOST_BYTES:
        raise UserError(f"{catalog}: larger than {MOST_BYTES:,} bytes; a cluster's nodes can't be sent this catalog")
    return packed.getvalue()


def unpack(packed: bytes, folder: Path) -> Path:
    """The catalog's directory below `folder`."""
    directory = folder / "catalog"
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        tar.extractall(directory, filter="data")
    return directory
