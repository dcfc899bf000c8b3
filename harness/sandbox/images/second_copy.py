"""A second copy of an image, whose layers are files of their own on the engine's disk.

Containers of one image see the same files of its layers: what one does to their pages in the cache another can see.
An engine knows a layer by the sum of its archive, so a layer whose archive ends with more zeros is another one with
the same files, owners and times (in whole seconds). The copy has as many layers as the image, and shares with the
copy of another image what both images share.
"""

import asyncio
import gzip
import hashlib
import io
import json
import posixpath
import shutil
import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, cast

from harness.sandbox.images.disk_budget import OURS
from harness.sandbox.images.engine_images import EngineImages, engine_images
from harness.sandbox.tarfiles import tarfile
from harness.specs.errors import ImageUnavailable

_PADDING = bytes(tarfile.RECORDSIZE)
"""Behind the end of an archive, where whoever unpacks it takes it for more of the end."""
_GZIP = b"\x1f\x8b"


def copy_tag(digest: str) -> str:
    """Return the name of the second copy of an image with this digest of ours."""
    return f"{OURS}control:{digest[:12]}"


async def make_second_copy(reference: str, digest: str) -> str:
    """Return the tag of an image's second copy, made if it isn't there.

    Raises:
        ImageUnavailable: It can't be made.
    """
    tag = copy_tag(digest)
    async with engine_images() as engine:
        if await engine.find(tag) is None:
            await _copy(engine, reference, tag)
    return tag


async def _copy(engine: EngineImages, reference: str, tag: str) -> None:
    with tempfile.TemporaryDirectory(prefix="testwright-") as directory:
        saved, copied = Path(directory) / "saved.tar", Path(directory) / "copied.tar"
        await engine.save(reference, saved)
        await asyncio.to_thread(pad_layers, saved, copied, tag)
        saved.unlink()
        await engine.load(copied)


def pad_layers(saved: Path, copied: Path, tag: str) -> None:
    """Write an archive of `docker save` again, as one of other layers with the same files, called `tag`.

    Raises:
        ImageUnavailable: It isn't such an archive.
    """
    try:
        with tarfile.open(saved, "r:") as source, tarfile.open(copied, "w") as target:
            [entry] = json.loads(_read(source, "manifest.json"))
            config = json.loads(_read(source, entry["Config"]))
            names = [f"layer-{number}.tar" for number in range(len(entry["Layers"]))]
            layers = zip(names, entry["Layers"], strict=True)
            sums = [_add_padded(source, layer, target, name) for name, layer in layers]
            config["rootfs"]["diff_ids"] = [f"sha256:{each}" for each in sums]
            _add(target, "config.json", config)
            _add(target, "manifest.json", [{"Config": "config.json", "RepoTags": [tag], "Layers": names}])
    except (tarfile.TarError, zlib.error, EOFError, ValueError, KeyError, TypeError, OSError) as error:
        raise ImageUnavailable(f"no second copy of an image can be made for {tag}: {error}") from error


def _read(source: tarfile.TarFile, name: str) -> bytes:
    return _open(source, name).read()


def _open(source: tarfile.TarFile, name: str) -> IO[bytes]:
    """Open a regular member, also by a link to it: that is how equal layers are saved."""
    member = source.getmember(name)
    while member.issym():
        member = source.getmember(posixpath.normpath(posixpath.join(posixpath.dirname(member.name), member.linkname)))
    return cast("IO[bytes]", source.extractfile(member))


def _add_padded(source: tarfile.TarFile, layer: str, target: tarfile.TarFile, name: str) -> str:
    """Add a layer with more zeros at its end; its sum."""
    with _open(source, layer) as file, tempfile.TemporaryFile() as padded:
        is_packed = file.read(len(_GZIP)) == _GZIP
        file.seek(0)
        with gzip.open(file) if is_packed else file as unpacked:
            shutil.copyfileobj(unpacked, padded, 1 << 20)
        padded.write(_PADDING)
        facts = tarfile.TarInfo(name)
        facts.size = padded.tell()
        padded.seek(0)
        digest = hashlib.file_digest(padded, "sha256")
        padded.seek(0)
        target.addfile(facts, padded)
    return digest.hexdigest()


def _add(target: tarfile.TarFile, name: str, content: dict[str, Any] | Sequence[Any]) -> None:
    data = json.dumps(content).encode()
    facts = tarfile.TarInfo(name)
    facts.size = len(data)
    target.addfile(facts, io.BytesIO(data))
