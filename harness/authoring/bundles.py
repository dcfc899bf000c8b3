"""`testwright repo export` and `repo import`: images for hosts that can build nothing.

The file with a repo's exported images: its format, and whether it is complete.

A tar of two members: `bundle.json`, then `images.tar` as `docker save` writes it.

`testwright scaffold export` and `scaffold import`: toolboxes for hosts that can install nothing.
"""

import asyncio
import hashlib
import io
import json
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, ClassVar

from pydantic import BaseModel, ConfigDict

from harness.authoring.repo_build import Tell, build_all, wanted
from harness.runs.concurrency import run_to_end
from harness.sandbox.images.engine_images import engine_images
from harness.sandbox.images.recipe import read_recipe
from harness.sandbox.tarfiles import tarfile
from harness.sandbox.toolboxes.recipe import ToolboxRecipe, read_toolbox_recipe, toolbox_image, toolbox_mount
from harness.specs.authoring_facts import Build
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.repo import Repo
from harness.specs.scaffold import Scaffold
from harness.specs.tracks import address_of
from harness.specs.yaml_files import FileModel, validate

_INDEX, _IMAGES = "bundle.json", "images.tar"
_MAX_INDEX_BYTES = 1_000_000
_CHUNK = 1 << 20


class BundledImage(BaseModel):
    """An image in a bundle.

    `digest` is ours, over recipe and tree; empty for the dependencies' image, which has no tree.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    reference: str
    digest: str = ""


class Bundle(FileModel):
    """`bundle.json`. `recipe` is the digest of the repo's recipe, `sha256` that of `images.tar`."""

    is_record: ClassVar[bool] = True

    repo: str
    tasks: tuple[str, ...] = ()
    """As `TRACK:ID`, where the file isn't of a whole repository of the catalog."""
    recipe: str
    architecture: str
    images: tuple[BundledImage, ...]
    sha256: str


def sha256_of(path: Path) -> str:
    """Return the sha256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_bundle(path: Path, bundle: Bundle, images: Path) -> None:
    """Write a bundle, whole or not at all."""
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
    """Return what a file says that it holds.

    Raises:
        UserError: It is no bundle.
    """
    with _opened(path) as tar:
        return _index(tar, path)


def take_images(path: Path, bundle: Bundle, images: Path) -> None:
    """Write its images to `images`.

    Raises:
        UserError: They aren't those that its index names.
    """
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
        raise UserError(
            f"{path}: not a whole file of testwright repo export or scaffold export ({what}); export it again"
        ) from None
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
    """Raise UserError for images that aren't ours: an engine takes whatever name an archive gives."""
    try:
        with tarfile.open(images) as tar:
            manifest = json.loads(_member(tar, "manifest.json").read(_MAX_INDEX_BYTES))
        named = {tag for image in manifest for tag in image.get("RepoTags") or []}
    except (tarfile.TarError, EOFError, KeyError, ValueError, TypeError, AttributeError) as error:
        raise UserError(f"{path}: its images can't be read ({error}); export it again") from None
    if named != set(known):
        odd = ", ".join(sorted(named ^ set(known)))
        raise UserError(f"{path}: its images are not those of its {_INDEX}: {odd}")


def export_repo(catalog: Catalog, name: str, path: Path, tell: Tell) -> list[Build]:
    """Write the images of a repo and of its tasks to a file; build what is missing.

    `name` may be tasks as `TRACK:GLOB` too, where all are of one repository.

    Raises:
        UserError: The repo isn't there, or the file's directory isn't, or the tasks are of several.
        ImageUnavailable: An image can't be built.
    """
    if not path.absolute().parent.is_dir():
        raise UserError(f"{path}: there is no directory {path.parent}")
    found = wanted(catalog, [name])
    if len(found) > 1:
        raise UserError(f"{name}: a file has the images of one repository; export the tasks of each by themselves")
    tasks = tuple(f"{task.file.track}:{task.id}" for task in found[0].tasks) if address_of(name) else ()
    built = build_all(catalog, [name], tell)
    tell(f"writing {path}")
    run_to_end(_export(found[0].repo, tasks, built, path))
    return built


def import_repo(catalog: Catalog, path: Path, tell: Tell) -> list[Build]:
    """Load the images of a file into the engine, and keep their trees and records.

    Raises:
        UserError: The file is damaged, or of another version of the repo.
        ImageUnavailable: The engine doesn't take them.
    """
    with tempfile.TemporaryDirectory(prefix="testwright-") as scratch:
        images = Path(scratch) / "images.tar"
        tell(f"reading {path}")
        bundle = read_index(path)
        _check_recipe(catalog, bundle, path)
        take_images(path, bundle, images)
        tell(f"loading {len(bundle.images)} images of {bundle.repo}")
        run_to_end(_load(bundle, images))
    # Nothing is built now: every image is there, and its tree is read from it and compared with its labels.
    built = build_all(catalog, bundle.tasks or [bundle.repo], tell)
    _check_digests(bundle, built, path)
    return built


async def _export(repo: Repo, tasks: tuple[str, ...], built: list[Build], path: Path) -> None:
    recipe = read_recipe(repo)
    carried = [BundledImage(reference=recipe.tag("dependencies"))]
    carried += [BundledImage(reference=build.reference, digest=build.digest) for build in built]
    with tempfile.TemporaryDirectory(prefix="testwright-", dir=path.absolute().parent) as scratch:
        images = Path(scratch) / "images.tar"
        async with engine_images() as engine:
            await engine.save_all([image.reference for image in carried], images)
            stored = await engine.find(carried[0].reference)
        bundle = Bundle(
            repo=repo.name,
            tasks=tasks,
            recipe=recipe.digest,
            architecture=stored.architecture if stored else "",
            images=tuple(carried),
            sha256=await asyncio.to_thread(sha256_of, images),
        )
        await asyncio.to_thread(write_bundle, path, bundle, images)


def _check_recipe(catalog: Catalog, bundle: Bundle, path: Path) -> None:
    if not bundle.tasks and bundle.repo not in catalog.names("repos"):
        raise UserError(f"{path}: its images are of {bundle.repo!r}, which is not in this catalog")
    try:
        first, *others = wanted(catalog, bundle.tasks or [bundle.repo])
    except UserError as error:
        raise UserError(f"{path}: its images are of a task that isn't here as it was there: {error}") from None
    if others:
        raise UserError(
            f"{path}: its images are of one repository, and here {', '.join(bundle.tasks)} are of several"
        )
    recipe = read_recipe(first.repo)
    if recipe.digest != bundle.recipe:
        raise UserError(
            f"{path}: its images are made from another recipe of {bundle.repo} than this catalog's "
            f"({bundle.recipe[:12]}, here {recipe.digest[:12]}); export them with the same version of testwright"
        )


def _check_digests(bundle: Bundle, built: list[Build], path: Path) -> None:
    told = {image.reference: image.digest for image in bundle.images if image.digest}
    for build in built:
        if told.get(build.reference, build.digest) != build.digest:
            raise UserError(f"{path}: {build.reference} holds another tree than was exported; docker rmi it")


async def _load(bundle: Bundle, images: Path) -> None:
    async with engine_images() as engine:
        here = await engine.architecture()
        if bundle.architecture != here:
            raise UserError(f"{bundle.repo}: its images are for {bundle.architecture}, and this engine runs {here}")
        await engine.load(images)


def export_scaffold(catalog: Catalog, name: str, path: Path, tell: Tell) -> list[Build]:
    """Write a native scaffold's toolbox to a file; install it first where it isn't here.

    Raises:
        UserError: The scaffold isn't native, or the file's directory isn't there.
        ImageUnavailable: The toolbox can't be made.
    """
    if not path.absolute().parent.is_dir():
        raise UserError(f"{path}: there is no directory {path.parent}")
    began = time.monotonic()
    recipe = _recipe(catalog.scaffold(name))
    tell(f"toolbox of {name}")
    run_to_end(_scaffold_bundle_export(recipe, path, tell))
    return [Build(name, recipe.tag, recipe.digest, time.monotonic() - began)]


def import_scaffold(catalog: Catalog, path: Path, tell: Tell) -> list[Build]:
    """Load a toolbox into the engine; nothing is fetched.

    Raises:
        UserError: The file is damaged, or of another version of the scaffold.
        ImageUnavailable: The engine doesn't take it.
    """
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="testwright-") as scratch:
        images = Path(scratch) / "images.tar"
        tell(f"reading {path}")
        bundle = read_index(path)
        if bundle.repo not in catalog.names("scaffolds"):
            raise UserError(f"{path}: it is of {bundle.repo!r}, which is no scaffold of this catalog")
        recipe = _recipe(catalog.scaffold(bundle.repo))
        if recipe.digest != bundle.recipe:
            raise UserError(
                f"{path}: it is made from other locks of {bundle.repo} than this catalog's ({bundle.recipe[:12]}, "
                f"here {recipe.digest[:12]}); export it with the same version of testwright"
            )
        take_images(path, bundle, images)
        tell(f"loading the toolbox of {bundle.repo}")
        run_to_end(_scaffold_bundle_load(recipe, bundle, images))
    return [Build(bundle.repo, recipe.tag, recipe.digest, time.monotonic() - began)]


def _recipe(scaffold: Scaffold) -> ToolboxRecipe:
    if scaffold.native is None:
        raise UserError(f"scaffold {scaffold.name!r} is no native one; there is nothing to carry")
    return read_toolbox_recipe(scaffold)


async def _scaffold_bundle_export(recipe: ToolboxRecipe, path: Path, tell: Tell) -> None:
    with tempfile.TemporaryDirectory(prefix="testwright-", dir=path.absolute().parent) as scratch:
        images = Path(scratch) / "images.tar"
        async with engine_images() as engine:
            tag = await toolbox_image(engine, recipe.scaffold)
            tell(f"writing {path}")
            await engine.save_all([tag], images)
            stored = await engine.find(tag)
        bundle = Bundle(
            repo=recipe.scaffold.name,
            recipe=recipe.digest,
            architecture=stored.architecture if stored else "",
            images=(BundledImage(reference=tag, digest=recipe.digest),),
            sha256=await asyncio.to_thread(sha256_of, images),
        )
        await asyncio.to_thread(write_bundle, path, bundle, images)


async def _scaffold_bundle_load(recipe: ToolboxRecipe, bundle: Bundle, images: Path) -> None:
    async with engine_images() as engine:
        here = await engine.architecture()
        if bundle.architecture != here:
            raise UserError(f"{bundle.repo}: its toolbox is for {bundle.architecture}, and this engine runs {here}")
        await engine.load(images)
    await toolbox_mount(recipe.scaffold)
