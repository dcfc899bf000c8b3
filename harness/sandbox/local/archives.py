"""What a local sandbox's directories hold, read without following any link."""

import os
import stat
import tarfile
from collections.abc import Generator, Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from harness.sandbox.archives import MAX_OUTPUT_FILES, MAX_OUTPUTS_BYTES, Outputs
from harness.sandbox.local.place import Place

_TYPES = {stat.S_IFDIR: tarfile.DIRTYPE, stat.S_IFIFO: tarfile.FIFOTYPE, stat.S_IFREG: tarfile.REGTYPE}
_CHUNK_BYTES = 1 << 18


def tar_of(place: Place, path: str) -> Generator[bytes, None, None]:
    """An uncompressed tar of a directory, in chunks. Raises FileNotFoundError, SandboxLost."""
    waiting = bytearray()
    for piece in _pieces(place, path):
        waiting += piece
        if len(waiting) >= _CHUNK_BYTES:
            yield bytes(waiting)
            waiting.clear()
    yield bytes(waiting)


def _pieces(place: Place, path: str) -> Iterator[bytes]:
    name = PurePosixPath(path).name
    with place.open(path) as top:
        for directory, directories, files, fd in os.fwalk(".", dir_fd=top, follow_symlinks=False):
            inside = f"{name}/{directory}".removesuffix("/.").replace("/./", "/")
            if directory == ".":
                yield _header(_entry(inside, os.fstat(fd)))
            for child in sorted([*directories, *files]):
                yield from _member(f"{inside}/{child}", child, fd)
    yield bytes(2 * tarfile.BLOCKSIZE)


def _member(inside: str, child: str, fd: int) -> Iterator[bytes]:
    try:
        status = os.stat(child, dir_fd=fd, follow_symlinks=False)
        _make_readable(status, child, fd)
        if stat.S_ISLNK(status.st_mode):
            entry = _entry(inside, status)
            entry.type, entry.linkname = tarfile.SYMTYPE, os.readlink(child, dir_fd=fd)
            yield _header(entry)
        elif stat.S_ISREG(status.st_mode):
            with _open(child, fd) as content:
                yield from _regular(_entry(inside, os.fstat(content.fileno())), content)
        elif stat.S_IFMT(status.st_mode) in _TYPES:
            yield _header(_entry(inside, status))
    except FileNotFoundError:  # gone while we looked
        return


def _make_readable(status: os.stat_result, child: str, fd: int) -> None:
    """An agent may have taken its own right to read. No link is followed, whatever `child` has become meanwhile."""
    wanted = {stat.S_IFDIR: 0o500, stat.S_IFREG: 0o400}.get(stat.S_IFMT(status.st_mode), 0)
    if status.st_mode & wanted != wanted and status.st_uid == os.getuid():
        found = os.open(child, os.O_PATH | os.O_NOFOLLOW, dir_fd=fd)
        try:
            if stat.S_IFMT(os.fstat(found).st_mode) == stat.S_IFMT(status.st_mode):
                Path(f"/proc/self/fd/{found}").chmod(stat.S_IMODE(status.st_mode) | wanted)
        finally:
            os.close(found)


def _regular(entry: tarfile.TarInfo, content: BinaryIO) -> Iterator[bytes]:
    """Exactly the bytes that the header tells of, whatever becomes of the file meanwhile."""
    yield _header(entry)
    left = entry.size
    while left and (data := content.read(min(left, _CHUNK_BYTES))):
        left -= len(data)
        yield data
    while left:
        data = bytes(min(left, _CHUNK_BYTES))
        left -= len(data)
        yield data
    yield bytes(-entry.size % tarfile.BLOCKSIZE)


def _header(entry: tarfile.TarInfo) -> bytes:
    return entry.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")


def read_outputs(place: Place, path: str) -> Outputs:
    """The regular files below a directory, up to the caps. Raises SandboxLost."""
    files: dict[str, bytes] = {}
    room = MAX_OUTPUTS_BYTES
    count = 0
    try:
        with place.open(path) as top:
            for directory, _, names, fd in os.fwalk(".", dir_fd=top, follow_symlinks=False):
                for name in sorted(names):
                    count += 1
                    status = os.stat(name, dir_fd=fd, follow_symlinks=False)
                    if count > MAX_OUTPUT_FILES or status.st_size > room:
                        return Outputs(files, complete=False)
                    if stat.S_ISREG(status.st_mode):
                        with _open(name, fd) as content:
                            files[str(PurePosixPath(directory, name))] = content.read(room)
                        room -= status.st_size
    except FileNotFoundError:
        return Outputs(files, complete=True)
    return Outputs(files, complete=True)


def _open(name: str, fd: int) -> BinaryIO:
    return os.fdopen(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=fd), "rb")


def _entry(name: str, status: os.stat_result) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type = _TYPES.get(stat.S_IFMT(status.st_mode), tarfile.REGTYPE)
    entry.mode, entry.mtime = stat.S_IMODE(status.st_mode), int(status.st_mtime)
    entry.size = status.st_size if entry.type == tarfile.REGTYPE else 0
    return entry
