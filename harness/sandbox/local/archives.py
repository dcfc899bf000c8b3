"""What a local sandbox's directories hold, read without following any link."""

import os
import stat
import tarfile
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from harness.sandbox.archives import MAX_OUTPUT_FILES, MAX_OUTPUTS_BYTES, CappedFile, Outputs
from harness.sandbox.local.place import Place

_TYPES = {stat.S_IFDIR: tarfile.DIRTYPE, stat.S_IFIFO: tarfile.FIFOTYPE, stat.S_IFREG: tarfile.REGTYPE}


def export(place: Place, path: str, destination: Path, limit: int) -> None:
    """See `Sandbox.export_tree`."""
    name = PurePosixPath(path).name
    with (
        place.open(path) as top,
        CappedFile(destination, limit) as file,
        tarfile.open(fileobj=cast("BinaryIO", file), mode="w|", format=tarfile.PAX_FORMAT) as tar,
    ):
        for directory, directories, files, fd in os.fwalk(".", dir_fd=top, follow_symlinks=False):
            inside = f"{name}/{directory}".removesuffix("/.").replace("/./", "/")
            if directory == ".":
                tar.addfile(_entry(inside, os.fstat(fd)))
            for child in sorted([*directories, *files]):
                _add(tar, f"{inside}/{child}", child, fd)


def _add(tar: tarfile.TarFile, inside: str, child: str, fd: int) -> None:
    try:
        status = os.stat(child, dir_fd=fd, follow_symlinks=False)
        if stat.S_ISLNK(status.st_mode):
            entry = _entry(inside, status)
            entry.type, entry.linkname = tarfile.SYMTYPE, os.readlink(child, dir_fd=fd)
            tar.addfile(entry)
        elif stat.S_ISREG(status.st_mode):
            with _open(child, fd) as content:
                entry = _entry(inside, os.fstat(content.fileno()))
                tar.addfile(entry, content)
        elif stat.S_IFMT(status.st_mode) in _TYPES:
            tar.addfile(_entry(inside, status))
    except FileNotFoundError:  # gone while we looked
        return


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
