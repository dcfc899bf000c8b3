"""A trial's files on a node and their copy in the run's directory: what has changed, and how it is copied.

The copy is always in a state that a crash of a single process could have left: every file is replaced whole, and the
records that say what is finished come last. A catalog of one's own travels as bytes, since nodes share no file system
with this machine.
"""

import io
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from harness.runs.records import naming, write_whole
from harness.sandbox.tarfiles import tarfile
from harness.specs.errors import UserError

PIECE_BYTES = 4_000_000
_TICK_NS = 50_000_000
_LAST = ("usage.json", "agent.json", "verdict-published.json", "verdict.json")


class FilePiece(NamedTuple):
    """Bytes of a file. `path` is below the folder of the trial's attempts: `1/agent.json`.

    `base` is how much of the file the copy has already, `start` where these bytes belong, `size` the file's.
    """

    path: str
    base: int
    start: int
    data: bytes
    size: int


class MirrorChange(NamedTuple):
    """Changes of a trial's files: attempts set aside, in their order, new contents, files that are gone."""

    asides: tuple[str, ...] = ()
    pieces: tuple[FilePiece, ...] = ()
    gone: tuple[str, ...] = ()


class _Stamp(NamedTuple):
    """A mark that tells one content of a file from another, but for one written in the same tick of the disk's clock.

    So a stamp of a file that was `young` when it was taken is no proof that nothing has changed.
    """

    inode: int
    size: int
    modified: int
    young: bool


class Mirror:
    """A record of a trial's files that tells, each time it is asked, what has changed in them."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = name
        self._known: dict[str, _Stamp] = {}

    def change(self) -> MirrorChange:
        """Return what has changed since the last call; at the first one, everything."""
        contents = dict(self._records())  # read before what they speak of, copied after it
        found = {path: _stamp(self._folder / path) for path in _files(self._folder, self._name)}
        asides = self._new_asides(found)
        changed = sorted((path for path in found if self._may_differ(path, found[path])), key=_order)
        pieces: list[FilePiece] = []
        for path in changed:
            pieces += self._pieces(path, found[path], contents.get(path))
        gone = tuple(self._known.keys() - found.keys())
        self._known = found
        return MirrorChange(asides, tuple(pieces), gone)

    def _records(self) -> Iterator[tuple[str, bytes]]:
        for name in _LAST:
            path = self._folder / self._name / name
            if path.is_file():
                yield f"{self._name}/{name}", path.read_bytes()

    def _new_asides(self, found: Iterable[str]) -> tuple[str, ...]:
        """Return the attempts that were set aside since; the first has what was known of the trial's directory."""
        folders = {path.partition("/")[0] for path in found if "/" in path} - {self._name}
        known = {path.partition("/")[0] for path in self._known}
        new = tuple(sorted(folders - known))
        for aside in new[:1]:
            moved = {path: stamp for path, stamp in self._known.items() if path.startswith(f"{self._name}/")}
            for path, stamp in moved.items():
                self._known[aside + path.removeprefix(self._name)] = stamp
                del self._known[path]
        return new

    def _may_differ(self, path: str, stamp: _Stamp) -> bool:
        old = self._known.get(path)
        if old is None or old[:3] != stamp[:3]:
            return True
        return old.young and not _only_grows(path)

    def _pieces(self, path: str, stamp: _Stamp, content: bytes | None) -> Iterator[FilePiece]:
        old = self._known.get(path)
        is_longer = old is not None and old.inode == stamp.inode and old.size < stamp.size
        base = old.size if old and is_longer and _only_grows(path) else 0
        if content is None:
            with (self._folder / path).open("rb") as file:
                file.seek(base)
                content = file.read(stamp.size - base)
        size = base + len(content)
        for start in range(0, len(content), PIECE_BYTES) or (0,):
            yield FilePiece(path, base, base + start, content[start : start + PIECE_BYTES], size)


def apply(change: MirrorChange, folder: Path, name: str) -> None:
    """Do to the copy of a trial's files what was done to them."""
    for aside in change.asides:
        if (folder / name).is_dir() and not (folder / aside).exists():
            (folder / name).rename(folder / aside)
    for piece in change.pieces:
        _write(folder / piece.path, piece)
    for path in change.gone:
        (folder / path).unlink(missing_ok=True)


def _write(path: Path, piece: FilePiece) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not piece.base and len(piece.data) == piece.size:
        write_whole(path, piece.data)
        return
    target = path if piece.base else path.with_name(f".{path.name}.incoming")
    with naming(target), target.open("r+b" if piece.start else "wb") as file:
        file.seek(piece.start)
        file.write(piece.data)
        file.flush()
        os.fsync(file.fileno())
    if not piece.base and piece.start + len(piece.data) == piece.size:
        target.replace(path)


def _files(folder: Path, name: str) -> Iterator[str]:
    """Return the files of the trial's directory, of those that were set aside, and the record of its attempts."""
    for place in [folder / name, *folder.glob(f"{name}.*")]:
        for path in place.rglob("*") if place.is_dir() else [place]:
            if path.is_file() and not path.is_symlink() and not path.name.startswith("."):
                yield path.relative_to(folder).as_posix()


def _stamp(path: Path) -> _Stamp:
    facts = path.stat()
    is_young = abs(time.time_ns() - facts.st_mtime_ns) < _TICK_NS
    return _Stamp(facts.st_ino, facts.st_size, facts.st_mtime_ns, is_young)


def _order(path: str) -> tuple[int, str]:
    """Return a key that sorts first the file that says whose a directory is, and last the file that ends it."""
    _, _, name = path.partition("/")
    if name == "trial.json":
        return -1, path
    return (1 + _LAST.index(name) if name in _LAST else 0), path


def _only_grows(path: str) -> bool:
    """Return whether a file is never written anew: one that is gone was renamed with its attempt's directory."""
    return path.endswith(("/trajectory.jsonl", ".attempts.jsonl", "/log.txt"))


_FOLDERS = ("repos", "tasks", "rubrics", "scaffolds", "models", "scripts/base-image")
MOST_BYTES = 200_000_000


def pack(catalog: Path) -> bytes:
    """Return a catalog's files as one archive.

    Raises:
        UserError: It is too large to be sent.
    """
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1) as tar:
        for folder in _FOLDERS:
            if (catalog / folder).is_dir():
                tar.add(catalog / folder, folder)
    if packed.tell() > MOST_BYTES:
        raise UserError(f"{catalog}: larger than {MOST_BYTES:,} bytes; a cluster's nodes can't be sent this catalog")
    return packed.getvalue()


def unpack(packed: bytes, directory: Path) -> Path:
    """Unpack a catalog as `directory`, and return that."""
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        tar.extractall(directory, filter="data")
    return directory
