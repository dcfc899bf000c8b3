"""Tars to and from containers: files placed and outputs read, each within caps."""

import io
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import BinaryIO, NamedTuple, cast

from harness.sandbox.protocol import PlacedFile

MTIME = 978307200
"""Of everything placed: 2001-01-01, the date of the base commit."""
MAX_OUTPUT_FILES = 2_000
MAX_OUTPUTS_BYTES = 50_000_000
"""Of one job's outputs, all files together."""


class Outputs(NamedTuple):
    files: dict[str, bytes]
    complete: bool


def pack(
    files: Iterable[PlacedFile],
    uid: int,
    gid: int,
    directories: Mapping[str, tarfile.TarInfo | None],
    of_root: Iterable[PlacedFile] = (),
) -> bytes:
    """A tar, relative to `/`, of files and of every directory above them, those `of_root` too.

    `directories` are those above the files: as they are in the image, so that unpacking leaves them as they were,
    or None where they are new.
    """
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path, present in sorted(directories.items()):
            tar.addfile(_directory(path, present, uid, gid))
        for file in sorted(files):
            tar.addfile(_file(file, uid, gid), io.BytesIO(file.data))
        for file in sorted(of_root):
            tar.addfile(_file(file, 0, 0), io.BytesIO(file.data))
    return archive.getvalue()


def parents(files: Iterable[PlacedFile]) -> set[str]:
    """Every directory above the files but `/`."""
    return {str(parent) for file in files for parent in PurePosixPath(file.path).parents if str(parent) != "/"}


def read_outputs(chunks: Iterator[bytes]) -> Outputs:
    """The regular files of a directory's tar as a container engine streams it, up to the caps."""
    files: dict[str, bytes] = {}
    room = MAX_OUTPUTS_BYTES
    with tarfile.open(fileobj=cast("BinaryIO", ChunkReader(chunks)), mode="r|") as tar:
        for count, member in enumerate(tar):
            if count > MAX_OUTPUT_FILES or member.size > room:
                return Outputs(files, complete=False)
            content = tar.extractfile(member) if member.isreg() else None
            if content is not None:
                files[member.name.partition("/")[2]] = content.read()
                room -= member.size
    return Outputs(files, complete=True)


def first_member(chunks: Iterator[bytes]) -> tarfile.TarInfo | None:
    with tarfile.open(fileobj=cast("BinaryIO", ChunkReader(chunks)), mode="r|") as tar:
        return tar.next()


def first_file(chunks: Iterator[bytes]) -> bytes:
    with tarfile.open(fileobj=cast("BinaryIO", ChunkReader(chunks)), mode="r|") as tar:
        member = tar.next()
        content = tar.extractfile(member) if member and member.isreg() else None
        return content.read() if content else b""


class ChunkReader:
    """Chunks as a file to read from."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._buffer = bytearray()

    def read(self, size: int) -> bytes:
        while len(self._buffer) < size and (chunk := next(self._chunks, b"")):
            self._buffer += chunk
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        return data


def _directory(path: str, present: tarfile.TarInfo | None, uid: int, gid: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(path.strip("/"))
    entry.type = tarfile.DIRTYPE
    if present is None:
        entry.uid, entry.gid, entry.mode, entry.mtime = uid, gid, 0o755, MTIME
    else:
        entry.uid, entry.gid, entry.mode, entry.mtime = present.uid, present.gid, present.mode, present.mtime
    return entry


def _file(file: PlacedFile, uid: int, gid: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(file.path.strip("/"))
    entry.size, entry.mode, entry.mtime = len(file.data), file.mode, MTIME
    entry.uid, entry.gid = uid, gid
    return entry
