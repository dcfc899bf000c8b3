"""The file with a repo's exported images: its format, and whether it is complete.

A tar of two members: `bundle.json`, then `images.tar` as `docker save` writes it.
"""

import hashlib
import io
import json
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from pydantic import BaseModel, ConfigDict

from harness.specs.errors import UserError
from harness.specs.loading import FileModel, validate

_INDEX, _IMAGES = "bundle.json", "images.tar"
_MAX_INDEX_BYTES = 1_000_000
_CHUNK = 1 << 20


class BundledImage(BaseModel):
    """`digest` is ours, over recipe and tree; empty for the dependencies' image, which has no tree."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reference: str
    digest: str = ""


class Bundle(FileModel):
    """`bundle.json`. `recipe` is the digest of the repo's recipe, `sha256` that of `images.tar`."""

    repo: str
    recipe: str
    architecture: str
    images: tuple[BundledImage, ...]
    sha256: str


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_bundle(path: Path, bundle: Bundle, images: Path) -> None:
    """Complete, or not there."""
    part = path.with_name(f"{path.name}.part")
    try:
        with tarfile.open(part, "w") as tar:
            index = bundle.model_dump_json(indent=2).encode() + b"\n"
            entry = tarfile.TarInfo(_INDEX)
            entry.size = len(index)
            tar.addfile(entry, io.BytesIO(index))
            entry = tarfile.TarInfo(_IMAGES)
            entry.size = images.stat().st_size
            with images.open("rb") as data:
                tar.addfile(entry, data)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def read_index(path: Path) -> Bundle:
    """What a file says that it holds. Raises UserError."""
    with _opened(path) as tar:
        return _index(tar, path)


def take_images(path: Path, bundle: Bundle, images: Path) -> None:
    """Write its images to `images`. Raises UserError where they aren't those of its index."""
    with _opened(path) as tar:
        _copy(_member(tar, _IMAGES), images)
    if sha256_of(images) != bundle.sha256:
        raise UserError(
            f"{path}: its images are not those that were exported (their sha256 differs); export it again"
        )
    _refuse_strangers(path, images, {image.reference for image in bundle.images})


@contextmanager
def _opened(path: Path) -> Iterator[tarfile.TarFile]:
    try:
        with tarfile.open(path, "r:") as tar:
            yield tar
    except (tarfile.TarError, EOFError, KeyError) as error:
        what = str(error).partition(":")[0]
        raise UserError(f"{path}: not a whole file of testwright repo export ({what}); export it again") from None
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None


def _index(tar: tarfile.TarFile, path: Path) -> Bundle:
    try:
        data = json.loads(_member(tar, _INDEX).read(_MAX_INDEX_BYTES))
    except ValueError:
        raise UserError(f"{path}: its {_INDEX} is not JSON; export it again") from None
    return validate(data, None, Bundle, f"{path}!{_INDEX}")


def _member(tar: tarfile.TarFile, name: str) -> IO[bytes]:
    content = tar.extractfile(name)
    if content is None:
        raise KeyError(f"{name} is no file")
    return content


def _copy(source: IO[bytes], destination: Path) -> None:
    with destination.open("wb") as file:
        while chunk := source.read(_CHUNK):
            file.write(chunk)


def _refuse_strangers(path: Path, images: Path, known: Iterable[str]) -> None:
    """An engine takes whatever name an archive gives; none but ours may be given away."""
    try:
        with tarfile.open(images) as tar:
            manifest = json.loads(_member(tar, "manifest.json").read(_MAX_INDEX_BYTES))
        named = {tag for image in manifest for tag in image.get("RepoTags") or []}
    except (tarfile.TarError, EOFError, KeyError, ValueError, TypeError, AttributeError) as error:
        raise UserError(f"{path}: its images can't be read ({error}); export it again") from None
    if named != set(known):
        odd = ", ".join(sorted(named ^ set(known)))
        raise UserError(f"{path}: its images are not those of its {_INDEX}: {odd}")
