"""Recipes of toolboxes, the names computed from them, and toolboxes on a Docker engine.

Toolboxes on a Docker engine: an image of nothing but the toolbox, and a volume that is filled from it once.
"""

import json
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from harness import __version__
from harness.sandbox.host import cache_directory, locked
from harness.sandbox.images.building import build, ensure_base_image, log_of
from harness.sandbox.images.engine_images import EngineImages, StoredImage, engine_images
from harness.sandbox.images.recipe import base_recipe, digest_of
from harness.sandbox.protocol import Mount, Volume
from harness.specs.errors import ImageUnavailable, UserError
from harness.specs.scaffold import Scaffold

TOOLBOX = "/opt/testwright"
"""The toolbox's place in sandboxes. Loaders in it know this path; it may have at most 19 characters."""
PYTHON = f"{TOOLBOX}/bin/python3"
HASHES = "SHA256SUMS"
_DIGITS = 12
_OWN = ("Dockerfile", "assemble.py")
_PROGRAMS = "programs.json"


@dataclass(frozen=True)
class ToolboxRecipe:
    """The recipe of a toolbox.

    `digest` is over the scaffold's locks, its programs' names and what makes toolboxes here.
    """

    scaffold: Scaffold
    digest: str

    @property
    def tag(self) -> str:
        """Tag of the image that holds nothing but the toolbox."""
        return f"testwright/{self.scaffold.catalog_name}-toolbox:{self.digest[:_DIGITS]}"

    @property
    def volume(self) -> str:
        """The name of the toolbox's volume."""
        return f"testwright-{self.scaffold.catalog_name}-toolbox-{self.digest[:_DIGITS]}"

    def lay_out(self, context: Path) -> None:
        """Copy all that a build sees to an empty directory."""
        for name in _OWN:
            shutil.copy(Path(__file__).with_name(name), context / name)
        for name in self.scaffold.install.locks:
            shutil.copy(self.scaffold.directory / name, context / name)
        (context / _PROGRAMS).write_bytes(_programs(self.scaffold))


def read_toolbox_recipe(scaffold: Scaffold) -> ToolboxRecipe:
    """Read the recipe of a scaffold's toolbox.

    Raises:
        UserError: A lock is absent.
    """
    parts = {name: Path(__file__).with_name(name).read_bytes() for name in _OWN}
    for name in scaffold.install.locks:
        path = scaffold.directory / name
        if not path.is_file():
            raise UserError(f"{path}: scaffold.yaml installs with {scaffold.install.installer}, and it isn't there")
        parts[name] = path.read_bytes()
    parts[_PROGRAMS] = _programs(scaffold)
    parts["base"] = base_recipe().read_bytes()
    return ToolboxRecipe(scaffold, digest_of(parts))


def _programs(scaffold: Scaffold) -> bytes:
    return json.dumps(scaffold.install.programs, sort_keys=True).encode()


_BAD_HASH = re.compile(r"EINTEGRITY|DO NOT MATCH THE HASHES")


async def toolbox_mount(scaffold: Scaffold) -> Mount:
    """Return a scaffold's toolbox, built if it isn't there.

    Raises:
        UserError: What was fetched doesn't match its hashes.
        ImageUnavailable: It can't be fetched or built.
    """
    recipe = read_toolbox_recipe(scaffold)
    async with locked(f"toolbox-{recipe.volume}"), engine_images() as images:
        stored = await images.find(recipe.tag) or await _build(images, recipe)
        if not await _is_filled(images, recipe, stored):
            await images.fill_volume(recipe.tag, recipe.volume, TOOLBOX)
            _record(recipe).parent.mkdir(parents=True, exist_ok=True)
            _record(recipe).write_text(await _id(images, recipe, stored))
    return Mount(Volume(recipe.volume), TOOLBOX)


async def toolbox_image(images: EngineImages, scaffold: Scaffold) -> str:
    """Return the tag of a toolbox's image, built if it isn't there.

    Raises:
        UserError: What was fetched doesn't match its hashes.
        ImageUnavailable: It can't be fetched or built.
    """
    recipe = read_toolbox_recipe(scaffold)
    async with locked(f"toolbox-{recipe.volume}"):
        if await images.find(recipe.tag) is None:
            await _build(images, recipe)
    return recipe.tag


async def _build(images: EngineImages, recipe: ToolboxRecipe) -> StoredImage:
    base = await ensure_base_image(images)
    labels = {"testwright.toolbox": recipe.digest, "testwright.version": __version__}
    with tempfile.TemporaryDirectory(prefix="testwright-") as context:
        recipe.lay_out(Path(context))
        try:
            await build(Path(context), recipe.scaffold.install.target, recipe.tag, {"BASE": base}, labels)
        except ImageUnavailable as error:
            raise _explained(recipe, error) from None
    stored = await images.find(recipe.tag)
    if stored is None:
        raise ImageUnavailable(f"{recipe.tag}: built, and gone again; is another engine behind the docker command?")
    return stored


def _explained(recipe: ToolboxRecipe, error: ImageUnavailable) -> Exception:
    scaffold, log = recipe.scaffold, log_of(recipe.tag)
    if log.is_file() and _BAD_HASH.search(log.read_text(errors="replace")):
        lock = scaffold.directory / scaffold.install.locks[-1]
        return UserError(
            f"{lock}: what was fetched for scaffold {scaffold.name!r} doesn't match its hash (log: {log})"
        )
    return error


async def _is_filled(images: EngineImages, recipe: ToolboxRecipe, stored: StoredImage) -> bool:
    """Return whether we have seen the volume filled to its end. One that wasn't is removed."""
    made = await images.volume_time(recipe.volume)
    if not made:
        return False
    record = _record(recipe)
    if record.is_file() and record.read_text() == f"{stored.engine_id} {made}":
        return True
    # In use, it was filled: only then is it mounted. Another cache has the record of it.
    return not await images.remove_volume(recipe.volume)


async def _id(images: EngineImages, recipe: ToolboxRecipe, stored: StoredImage) -> str:
    return f"{stored.engine_id} {await images.volume_time(recipe.volume)}"


def _record(recipe: ToolboxRecipe) -> Path:
    return cache_directory() / "toolboxes" / recipe.volume
