"""A local sandbox's directory: which files it has, and where the paths of the contract are on this machine.

It is read without following any link.
"""

import json
import os
import shutil
import stat
import tempfile
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Self

from harness.sandbox.archives import MAX_OUTPUT_FILES, MAX_OUTPUTS_BYTES, MTIME, Outputs
from harness.sandbox.protocol import AGENT_LOGS, Image, PlacedFile
from harness.sandbox.tarfiles import tarfile
from harness.specs.errors import SandboxLost, UserError

HOME = "/home/agent"
PROGRAMS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
SYSTEM = (*PROGRAMS, "/proc", "/dev", "/sys")
"""Comes from this machine as it is; nothing can be placed there."""
_LABELS = "labels.json"
_ETC = {
    "hosts": "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n127.0.0.1 box\n",
    "host.conf": "multi on\n",  # else the first line of a name is its only address: no ::1 for localhost
    "hostname": "box\n",
    "passwd": f"root:x:0:0:root:/root:/usr/sbin/nologin\nagent:x:1000:1000::{HOME}:/bin/bash\n",
    "group": "root:x:0:\nagent:x:1000:\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n",
}


def places() -> Path:
    """Return where all local sandboxes of this user are.

    Raises:
        UserError: Somebody else made it.
    """
    directory = Path(tempfile.gettempdir()) / f"testwright-local-{os.getuid()}"
    directory.mkdir(mode=0o700, exist_ok=True)
    status = directory.lstat()
    if status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise UserError(f"{directory}: not this user's alone; remove it, or set TMPDIR to another directory")
    return directory


class LocalDirectory:
    """A sandbox's directory. `files` in it is the sandbox's root: its work tree, logs, home and temporary files."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.files = directory / "files"

    @classmethod
    def make(cls, labels: Mapping[str, str]) -> Self:
        """Return a directory with nothing in it but its labels."""
        place = cls(Path(tempfile.mkdtemp(prefix="sandbox-", dir=places())))
        place.files.mkdir()
        (place.directory / _LABELS).write_text(json.dumps(dict(labels)))
        return place

    def fill(self, image: Image) -> None:
        """Copy the image's tree, and what belongs around it."""
        for path in (AGENT_LOGS, HOME, "/tmp", "/var/tmp", "/etc", "/run"):
            self.real(path).mkdir(parents=True)
        self.real(image.workdir).parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(Path(image.reference) / "tree", self.real(image.workdir), symlinks=True)
        for link in filter(Path.is_symlink, map(Path, PROGRAMS)):  # /bin -> usr/bin
            self.real(str(link)).symlink_to(link.readlink())
        for name, text in _ETC.items():
            (self.real("/etc") / name).write_text(text)

    @classmethod
    def all(cls) -> Iterator[tuple[Self, dict[str, str]]]:
        """Return all directories that there are, with their labels."""
        for path in places().glob(f"sandbox-*/{_LABELS}"):
            try:
                yield cls(path.parent), json.loads(path.read_text())
            except (OSError, ValueError):  # being made or removed just now
                continue

    @property
    def marks(self) -> str:
        """The beginning of the mark of each process, where processes are told by their marks."""
        return f"{self.directory.name}."

    @property
    def exists(self) -> bool:
        return self.files.is_dir()

    def real(self, path: str) -> Path:
        """Return an absolute path of the sandbox, on this machine. For trusted paths only: links are followed."""
        return self.files / path.lstrip("/")

    def put(self, files: tuple[PlacedFile, ...]) -> None:
        """Place files; directories above them keep their times, new ones get the constant."""
        for file in files:
            if not file.path.startswith("/") or any(PurePosixPath(file.path).is_relative_to(path) for path in SYSTEM):
                raise UserError(f"{file.path}: the local sandbox can't place files there")
        times: dict[Path, int] = {}
        for file in sorted(files):
            place = self.real(file.path)
            for parent in place.relative_to(self.files).parents:
                directory = self.files / parent
                times.setdefault(directory, directory.stat().st_mtime_ns if directory.exists() else MTIME * 10**9)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(file.data)
            place.chmod(file.mode)
            os.utime(place, (MTIME, MTIME))
        for directory, time in times.items():
            os.utime(directory, ns=(time, time))

    def remove(self) -> None:
        shutil.rmtree(self.directory, onerror=_make_writable)

    @contextmanager
    def open(self, path: str) -> Iterator[int]:
        """Provide a descriptor of a directory that the agent may have tampered with: no link on the way is followed.

        Raises:
            FileNotFoundError: It isn't there.
            SandboxLost: It can't be opened.
        """
        try:
            current = os.open(self.files, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            raise SandboxLost(f"{self.directory} is gone") from None
        try:
            for part in PurePosixPath(path).parts[1:]:
                try:
                    inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=current)
                except OSError:
                    raise FileNotFoundError(path) from None
                os.close(current)
                current = inner
            yield current
        finally:
            os.close(current)


def _make_writable(_function: object, path: str, _error: object) -> None:
    """Make writable what was left without the right to be removed; what is gone already is no error."""
    try:
        parent = Path(path).parent
        parent.chmod(0o700)
        if Path(path).is_dir() and not Path(path).is_symlink():
            Path(path).chmod(0o700)
            shutil.rmtree(path, ignore_errors=True)
        else:
            Path(path).unlink()
    except FileNotFoundError:
        return


_TYPES = {stat.S_IFDIR: tarfile.DIRTYPE, stat.S_IFIFO: tarfile.FIFOTYPE, stat.S_IFREG: tarfile.REGTYPE}
_CHUNK_BYTES = 1 << 18


def tar_of(place: LocalDirectory, path: str) -> Generator[bytes, None, None]:
    """Return an uncompressed tar of a directory, in chunks.

    Raises:
        FileNotFoundError: It isn't there.
        SandboxLost: It can't be read.
    """
    waiting = bytearray()
    for piece in _pieces(place, path):
        waiting += piece
        if len(waiting) >= _CHUNK_BYTES:
            yield bytes(waiting)
            waiting.clear()
    yield bytes(waiting)


def _pieces(place: LocalDirectory, path: str) -> Iterator[bytes]:
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
    """Give back the right to read, which an agent may have taken from itself; follow no link at `child`."""
    wanted = {stat.S_IFDIR: 0o500, stat.S_IFREG: 0o400}.get(stat.S_IFMT(status.st_mode), 0)
    if status.st_mode & wanted != wanted and status.st_uid == os.getuid():
        found = os.open(child, os.O_PATH | os.O_NOFOLLOW, dir_fd=fd)
        try:
            if stat.S_IFMT(os.fstat(found).st_mode) == stat.S_IFMT(status.st_mode):
                Path(f"/proc/self/fd/{found}").chmod(stat.S_IMODE(status.st_mode) | wanted)
        finally:
            os.close(found)


def _regular(entry: tarfile.TarInfo, content: BinaryIO) -> Iterator[bytes]:
    """Yield exactly the bytes that the header tells of, whatever becomes of the file meanwhile."""
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


def read_outputs(place: LocalDirectory, path: str) -> Outputs:
    """Return the regular files below a directory, up to the caps.

    Raises:
        SandboxLost: The directory can't be read.
    """
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
                        _make_readable(status, name, fd)
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
