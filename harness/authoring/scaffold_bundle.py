"""`testwright scaffold export` and `scaffold import`: toolboxes for hosts that can install nothing."""

import asyncio
import tempfile
import time
from pathlib import Path

from harness.authoring.image_bundle import Bundle, BundledImage, read_index, sha256_of, take_images, write_bundle
from harness.authoring.repo_build import Tell
from harness.runs.interruption import run_to_end
from harness.sandbox.images.engine_images import engine_images
from harness.sandbox.toolboxes.recipe import ToolboxRecipe, read_toolbox_recipe
from harness.sandbox.toolboxes.volumes import toolbox_image, toolbox_mount
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.image_facts import Build
from harness.specs.scaffold import Scaffold


def export_scaffold(catalog: Catalog, name: str, path: Path, tell: Tell) -> list[Build]:
    """Write a native scaffold's toolbox to `path`, installing it first where it isn't here.

    Raises UserError, ImageUnavailable.
    """
    if not path.absolute().parent.is_dir():
        raise UserError(f"{path}: there is no directory {path.parent}")
    began = time.monotonic()
    recipe = _recipe(catalog.scaffold(name))
    tell(f"toolbox of {name}")
    run_to_end(_export(recipe, path, tell))
    return [Build(name, recipe.tag, recipe.digest, time.monotonic() - began)]


def import_scaffold(catalog: Catalog, path: Path, tell: Tell) -> list[Build]:
    """Load a toolbox into the engine; nothing is fetched.

    Raises UserError for a file that is damaged or of another version of the scaffold, ImageUnavailable.
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
        run_to_end(_load(recipe, bundle, images))
    return [Build(bundle.repo, recipe.tag, recipe.digest, time.monotonic() - began)]


def _recipe(scaffold: Scaffold) -> ToolboxRecipe:
    if scaffold.native is None:
        raise UserError(f"scaffold {scaffold.name!r} is no native one; there is nothing to carry")
    return read_toolbox_recipe(scaffold)


async def _export(recipe: ToolboxRecipe, path: Path, tell: Tell) -> None:
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


async def _load(recipe: ToolboxRecipe, bundle: Bundle, images: Path) -> None:
    async with engine_images() as engine:
        here = await engine.architecture()
        if bundle.architecture != here:
            raise UserError(f"{bundle.repo}: its toolbox is for {bundle.architecture}, and this engine runs {here}")
        await engine.load(images)
    await toolbox_mount(recipe.scaffold)
