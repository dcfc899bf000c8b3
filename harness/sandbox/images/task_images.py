r"""Repo images and task images on a Docker engine.

    base -> dependencies -> repo image    (upstream complete)
                        \-> task image    (a layer of its own, so that none below it holds a withheld test)

A tag carries the hash of what the image is made from, so an image that is there is the right one.
"""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from harness import __version__
from harness.sandbox.git_tree import GitTree
from harness.sandbox.host import locked
from harness.sandbox.images.building import build, ensure_base_image
from harness.sandbox.images.engine_images import EngineImages, StoredImage, engine_images
from harness.sandbox.images.recipe import Recipe, digest_of, read_recipe, task_tag
from harness.sandbox.images.work_tree import (
    ImageFolder,
    ImageRecord,
    head_commit,
    image_place,
    pack_tree,
    task_tree,
    tree_digest,
    write_work_tree,
)
from harness.sandbox.protocol import Image
from harness.specs.errors import ImageUnavailable
from harness.specs.repo import Repo
from harness.specs.task import Task

_LABEL = "testwright"
_PACKAGES = ("sh", "-c", "dpkg-query --show; pip list --format=freeze --disable-pip-version-check; true")


async def repo_image(repo: Repo) -> Image:
    """Return upstream's release complete, as pinned, built if it isn't there.

    Raises:
        ImageUnavailable: It can't be built.
        UserError: The recipe is wrong.
    """
    recipe = read_recipe(repo)
    tag = recipe.tag("repo")
    place = image_place(tag)
    async with locked(place.name), engine_images() as images:
        stored = await images.find(tag)
        if stored is None or await images.find(recipe.tag("dependencies")) is None:
            stored = await _build_repo(images, recipe)
        record = place.record()
        if record is None or record.engine_id != stored.engine_id:
            with place.scratch() as scratch:
                tree = await _tree_of(images, tag, repo, Path(scratch))
                record = await _keep(images, recipe, stored, tree, place)
    return _image(repo, record, place)


async def task_image(task: Task) -> Image:
    """Return upstream's release without the withheld tests, its history one commit; built if it isn't there.

    Raises:
        ImageUnavailable: An image can't be built.
        UserError: withheld.patch doesn't apply.
    """
    recipe = read_recipe(task.repo)
    place = image_place(task_tag(task, recipe))
    async with locked(place.name), engine_images() as images:
        stored = await images.find(place.reference)
        record = place.record()
        if stored is None or record is None or record.engine_id != stored.engine_id:
            with place.scratch() as scratch:
                if stored is None:
                    tree = await _build_task(images, task, recipe, place.reference, Path(scratch))
                    stored = await _stored(images, place.reference)
                else:
                    tree = await _tree_of(images, place.reference, task.repo, Path(scratch))
                await _check_labels(stored, place.reference, recipe, tree)
                record = await _keep(images, recipe, stored, tree, place)
    return _image(task.repo, record, place)


def known_digest(task: Task) -> str | None:
    """Return the digest of a task's image without making it; None where none was made here.

    Raises:
        UserError: The recipe is wrong.
    """
    record = image_place(task_tag(task, read_recipe(task.repo))).record()
    return record.digest if record else None


async def digests_by(recipes: Iterable[str], image: Image) -> frozenset[str]:
    """Return the digests that an image with this one's tree has by other recipes, given by their own digests."""
    tree = await tree_digest(GitTree(image.tree))
    return frozenset(_digest_of(recipe, tree) for recipe in recipes)


async def _build_repo(images: EngineImages, recipe: Recipe) -> StoredImage:
    base = await ensure_base_image(images)
    arguments = {"BASE": base, **recipe.arguments}
    labels = {f"{_LABEL}.recipe": recipe.digest, f"{_LABEL}.version": __version__}
    with tempfile.TemporaryDirectory(prefix="testwright-") as context:
        recipe.lay_out(Path(context))
        async with _without_others(recipe):
            for target in ("dependencies", "repo"):
                await build(Path(context), target, recipe.tag(target), arguments, labels)
    return await _stored(images, recipe.tag("repo"))


@asynccontextmanager
async def _without_others(recipe: Recipe) -> AsyncIterator[None]:
    """Keep builds of other recipes that have a step in common out until this one's is over.

    While two builds run that have, BuildKit (Docker 20.10) finds nothing in its cache of what follows the step: the
    second target then makes all of the first one's once more.
    """
    async with AsyncExitStack() as locks:
        for step in recipe.steps:
            await locks.enter_async_context(locked(f"step-{step}"))
        yield


async def _build_task(images: EngineImages, task: Task, recipe: Recipe, tag: str, scratch: Path) -> GitTree:
    """Build the task image from the dependencies and one tar, and return its tree."""
    upstream = await repo_image(task.repo)
    tree = await task_tree(GitTree(upstream.tree), task, scratch / "tree.git")
    await write_work_tree(tree, scratch / "app")
    await asyncio.to_thread(pack_tree, scratch / "app", task.repo.workdir.strip("/"), scratch / "app.tar")
    labels = {"digest": await _digest(recipe, tree), "commit": await head_commit(tree), "version": __version__}
    changes = [f"LABEL {_LABEL}.{name}={value}" for name, value in labels.items()]
    changes += ["USER agent", f"WORKDIR {task.repo.workdir}"]
    await images.extend(recipe.tag("dependencies"), scratch / "app.tar", tag, changes)
    return tree


async def _tree_of(images: EngineImages, tag: str, repo: Repo, scratch: Path) -> GitTree:
    """Return a trusted copy of an image's tree, of files only: the image's own repository is left aside."""
    await images.copy_out(tag, repo.workdir, scratch / "app")
    shutil.rmtree(scratch / "app" / ".git", ignore_errors=True)
    return await GitTree.create(scratch / "tree.git", scratch / "app")


async def _check_labels(stored: StoredImage, tag: str, recipe: Recipe, tree: GitTree) -> None:
    told = (stored.labels.get(f"{_LABEL}.commit"), stored.labels.get(f"{_LABEL}.digest"))
    if told != (await head_commit(tree), await _digest(recipe, tree)):
        raise ImageUnavailable(f"{tag}: its tree isn't the one that its labels name; remove it: docker rmi {tag}")


async def _keep(
    images: EngineImages, recipe: Recipe, stored: StoredImage, tree: GitTree, place: ImageFolder
) -> ImageRecord:
    known = image_place(recipe.tag("repo")).record()
    # None, where an engine has lost what was printed, isn't what an image has: it is asked again.
    packages = (known and known.packages) or (await images.output(place.reference, *_PACKAGES)).splitlines()
    record = ImageRecord(
        reference=place.reference,
        digest=await _digest(recipe, tree),
        commit=await head_commit(tree),
        engine_id=stored.engine_id,
        architecture=stored.architecture,
        packages=tuple(packages),
    )
    place.keep(tree, record)
    return record


async def _digest(recipe: Recipe, tree: GitTree) -> str:
    return _digest_of(recipe.digest, await tree_digest(tree))


def _digest_of(recipe: str, tree: str) -> str:
    return digest_of({"recipe": recipe.encode(), "tree": tree.encode()})


async def _stored(images: EngineImages, tag: str) -> StoredImage:
    stored = await images.find(tag)
    if stored is None:
        raise ImageUnavailable(f"{tag}: built, and gone again; is another engine behind the docker command?")
    return stored


def _image(repo: Repo, record: ImageRecord, place: ImageFolder) -> Image:
    return Image(record.reference, record.digest, repo.workdir, place.tree, dict(repo.env))
