"""A local sandbox's directory: which files it has, and where the paths of the contract are on this machine."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Self

from harness.sandbox.archives import MTIME
from harness.sandbox.protocol import AGENT_LOGS, Image, PlacedFile
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
    """Where all local sandboxes of this user are. Raises UserError where somebody else made it."""
    directory = Path(tempfile.gettempdir()) / f"testwright-local-{os.getuid()}"
    directory.mkdir(mode=0o700, exist_ok=True)
    status = directory.lstat()
    if status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise UserError(f"{directory}: not this user's alone; remove it, or set TMPDIR to another directory")
    return directory


class Place:
    """`directory/files` is the sandbox's root: its work tree, logs, home and temporary files."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.files = directory / "files"

    @classmethod
    def make(cls, labels: Mapping[str, str]) -> Self:
        """A directory with nothing in it but its labels."""
        place = cls(Path(tempfile.mkdtemp(prefix="sandbox-", dir=places())))
        place.files.mkdir()
        (place.directory / _LABELS).write_text(json.dumps(dict(labels)))
        return place

    def fill(self, image: Image) -> None:
        """A fresh copy of the image's tree, and what belongs around it."""
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
        """Those that there are, with their labels."""
        for path in places().glob(f"sandbox-*/{_LABELS}"):
            try:
                yield cls(path.parent), json.loads(path.read_text())
            except (OSError, ValueError):  # being made or removed just now
                continue

    @property
    def marks(self) -> str:
        """Begins the mark of each process, where processes are told by their marks."""
        return f"{self.directory.name}."

    @property
    def exists(self) -> bool:
        return self.files.is_dir()

    def real(self, path: str) -> Path:
        """An absolute path of the sandbox, on this machine. For trusted paths only: links are followed."""
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
        """A descriptor of a directory that the agent may have tampered with: no link on the way is followed.

        Raises FileNotFoundError, SandboxLost.
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
    """What was left without the right to be removed; what is gone already is no error."""
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
