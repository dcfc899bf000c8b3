"""Searching every layer of a saved image, into archives and compressed files.

Settings of this machine that builds use and no image may keep: proxies, indexes, private certificates.
"""

import bz2
import io
import json
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from requests.utils import DEFAULT_CA_BUNDLE_PATH

from harness.sandbox.images.client_config import ca_bundle, npm_registry, pip_own_hosts, pip_settings, proxies
from harness.sandbox.tarfiles import tarfile

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
    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        """Return at most so many bytes."""
        ...


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
        """Return the image's configuration and history, as JSON."""
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
    """Yield the file itself and whatever can be unpacked from it, as far as caps of size and depth allow."""
    yield file
    if depth < _MAX_DEPTH:
        try:
            yield from _inner(file, depth)
        except _BROKEN:  # it only looked like an archive
            return


def files_of(archive: Path) -> Iterator[FoundFile]:
    """Yield every file of a tar on disk, and whatever can be unpacked from it."""
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


_PACKAGED = re.compile(r"usr/share/(ca-certificates|python-wheels)/|usr/local/bin/node$")
"""Node.js has the public ones compiled in."""
_CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----(.+?)-----END CERTIFICATE-----", re.DOTALL)


def secret_texts() -> dict[str, bytes]:
    """Return name of a setting -> its value. The values never go into a message."""
    found = {name: value for name, value in proxies().items() if name.upper() != "NO_PROXY"}
    for key, values in pip_settings().items():
        for number, value in enumerate(values, start=1):
            if not any(host in value for host in pip_own_hosts()):  # everybody's, so no secret
                found[f"pip's {key} {number}"] = value
    if registry := npm_registry():
        found["npm's registry"] = registry
    return {name: value.encode() for name, value in found.items()}


def private_certificates() -> frozenset[bytes]:
    """Return the certificates that this machine trusts and the public bundle doesn't have, as `certificates` does."""
    bundle, public = ca_bundle(), Path(DEFAULT_CA_BUNDLE_PATH)
    if bundle is None or bundle.resolve() == public.resolve():
        return frozenset()
    return certificates(bundle.read_bytes()) - certificates(public.read_bytes())


def certificates(data: bytes) -> frozenset[bytes]:
    """Return the PEM certificates in a file, without line ends."""
    return frozenset(b"".join(body.split()) for body in _CERTIFICATE.findall(data))


def published(places: Mapping[bytes, Iterable[str]]) -> frozenset[bytes]:
    """Return, of certificates found in an image by place, those that the packages in everybody's image bring."""
    return frozenset(body for body, paths in places.items() if any(_PACKAGED.match(path) for path in paths))
