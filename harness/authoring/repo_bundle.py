"""`testwright repo export` and `repo import`: images for hosts that can build nothing."""

import asyncio
import tempfile
from pathlib import Path

from harness.authoring.image_bundle import Bundle, BundledImage, read_index, sha256_of, take_images, write_bundle
from harness.authoring.repo_build import Tell, build_all
from harness.runs.interruption import run_to_end
from harness.sandbox.images.engine_images import engine_images
from harness.sandbox.images.recipe import read_recipe
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.image_facts import Build


def export_repo(catalog: Catalog, name: str, path: Path, tell: Tell) -> list[Build]:
    """Write the images of a repo and of its tasks to `path`, building what is missing.

    Raises UserError, ImageUnavailable.
    """
    if not path.absolute().parent.is_dir():
        raise UserError(f"{path}: there is no directory {path.parent}")
    built = build_all(catalog, [name], tell)
    tell(f"writing {path}")
    run_to_end(_export(catalog, name, built, path))
    return built


def import_repo(catalog: Catalog, path: Path, tell: Tell) -> list[Build]:
    """Load the images of a file into the engine, and keep their trees and records.

    Raises UserError for a file that is damaged or of another version of the repo, ImageUnavailable.
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
    built = build_all(catalog, [bundle.repo], tell)
    _check_digests(bundle, built, path)
    return built


async def _export(catalog: Catalog, name: str, built: list[Build], path: Path) -> None:
    recipe = read_recipe(catalog.repo(name))
    carried = [BundledImage(reference=recipe.tag("dependencies"))]
    carried += [BundledImage(reference=build.reference, digest=build.digest) for build in built]
    with tempfile.TemporaryDirectory(prefix="testwright-", dir=path.absolute().parent) as scratch:
        images = Path(scratch) / "images.tar"
        async with engine_images() as engine:
            await engine.save_all([image.reference for image in carried], images)
            stored = await engine.find(carried[0].reference)
        bundle = Bundle(
            repo=name,
            recipe=recipe.digest,
            architecture=stored.architecture if stored else "",
            images=tuple(carried),
            sha256=await asyncio.to_thread(sha256_of, images),
        )
        await asyncio.to_thread(write_bundle, path, bundle, images)


def _check_recipe(catalog: Catalog, bundle: Bundle, path: Path) -> None:
    if bundle.repo not in catalog.names("repos"):
        raise UserError(f"{path}: its images are of {bundle.repo!r}, which is not in this catalog")
    recipe = read_recipe(catalog.repo(bundle.repo))
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
