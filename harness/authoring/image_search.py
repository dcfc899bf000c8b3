"""Searching every layer of a saved image, into archives and compressed files."""

import bz2
import io
import json
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

_MAX_UNPACKED_BYTES = 200_000_000
_MAX_DEPTH = 3
_BROKEN = (
    OSError,
    EOFError,
    ValueError,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    tarfile.TarError,
    RuntimeError,
)


class _Decompressor(Protocol):
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


_COMPRESSED: tuple[tuple[bytes, Callable[[], _Decompressor]], ...] = (
    (b"\x1f\x8b", lambda: zlib.decompressobj(wbits=31)),  # gzip
    (b"BZh", bz2.BZ2Decompressor),
    (b"\xfd7zXZ\0", lzma.LZMADecompressor),
    *((magic, zlib.decompressobj) for magic in (b"x\x01", b"x^", b"x\x9c", b"x\xda")),  # a git object on its own
)


class FoundFile(NamedTuple):
    """A file of some layer; one inside an archive is `archive!inner`. What a later layer deletes is here as well."""

    path: str
    data: bytes


class SavedImage:
    """The tar that `docker save` writes, in the older layout or OCI's: both have a manifest.json."""

    def __init__(self, archive: Path) -> None:
        self._archive = archive

    def configuration(self) -> str:
        """The image's configuration and history, as JSON."""
        with tarfile.open(self._archive) as outer:
            return _read(outer, self._manifest(outer)["Config"]).decode()

    def files(self) -> Iterator[FoundFile]:
        with tarfile.open(self._archive) as outer:
            for name in self._manifest(outer)["Layers"]:
                layer = outer.extractfile(name)
                if layer is not None:
                    with tarfile.open(fileobj=layer) as inner:
                        yield from _members(inner, "", 0)

    def _manifest(self, outer: tarfile.TarFile) -> dict[str, Any]:
        (manifest,) = json.loads(_read(outer, "manifest.json"))
        return dict(manifest)


def unpacked(file: FoundFile, depth: int = 0) -> Iterator[FoundFile]:
    """The file itself and whatever can be unpacked from it, as far as caps of size and depth allow."""
    yield file
    if depth < _MAX_DEPTH:
        try:
            yield from _inner(file, depth)
        except _BROKEN:  # it only looked like an archive
            return


def files_of(archive: Path) -> Iterator[FoundFile]:
    """Every file of a tar on disk, and whatever can be unpacked from it."""
    with tarfile.open(archive) as tar:
        yield from _members(tar, "", 0)


def _inner(file: FoundFile, depth: int) -> Iterator[FoundFile]:
    inside = f"{file.path}!"
    for magic, decompressor in _COMPRESSED:
        if file.data.startswith(magic):
            content = decompressor().decompress(file.data, _MAX_UNPACKED_BYTES)
            yield from unpacked(FoundFile(inside, content), depth + 1)
    if file.data.startswith(b"PK\3\4"):
        with zipfile.ZipFile(io.BytesIO(file.data)) as archive:
            for entry in archive.infolist():
                if entry.file_size <= _MAX_UNPACKED_BYTES:
                    yield from unpacked(FoundFile(f"{inside}{entry.filename}", archive.read(entry)), depth + 1)
    if file.data[257:262] == b"ustar":
        with tarfile.open(fileobj=io.BytesIO(file.data)) as tar:
            yield from _members(tar, inside, depth + 1)


def _members(tar: tarfile.TarFile, inside: str, depth: int) -> Iterator[FoundFile]:
    for member in tar:
        # Inside archives a sparse member of a few bytes may claim to have gigabytes of zeros.
        too_large = depth > 0 and member.size > _MAX_UNPACKED_BYTES
        content = tar.extractfile(member) if member.isreg() and not too_large else None
        if content is not None:
            yield from unpacked(FoundFile(f"{inside}{member.name}", content.read()), depth)


def _read(tar: tarfile.TarFile, name: str) -> bytes:
    content = tar.extractfile(name)
    return content.read() if content else b""
