"""Images of published tasks: made by others, with the agent's tree in them or with upstream's whole one.

    published image or its substitute -> environment (the task's Dockerfile) -> task image

The task image differs from the environment by as little as it can: a repository of one commit in the place of
theirs, no remains of test runs, and, where the tree was whole, the reference taken out of it. It is the only one that
keeps a tag: it shares every layer below these changes with the image that it is made of.
"""

import shutil
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from shlex import quote
from tempfile import TemporaryDirectory

from harness.plugins.published.layout import DOCKERFILE, REFERENCE, with_base_image
from harness.plugins.published.task import PublishedTask
from harness.sandbox.git import GitError
from harness.sandbox.git_tree import GitTree
from harness.sandbox.host import locked
from harness.sandbox.images.building import StepFailed, build
from harness.sandbox.images.disk_budget import ImagesInUse, fetch
from harness.sandbox.images.engine_images import EngineImages, StoredImage, engine_images
from harness.sandbox.images.recipe import digest_of
from harness.sandbox.images.work_tree import (
    ImageFolder,
    ImageRecord,
    head_commit,
    image_place,
    pack_tree,
    tree_digest,
    write_work_tree,
)
from harness.sandbox.protocol import AGENT_LOGS, Image
from harness.specs.errors import ImageUnavailable, UserError
from harness.specs.yaml_files import read_text

_LAYOUT = "3"
"""The version of our changes of an image; a new one makes new images."""
_STAGE = "published"
_FACTS = "id -u; id -g; for name in bash git python3 sha256sum; do command -v $name >/dev/null || echo $name; done"
_REMAINS = ("__pycache__", ".pytest_cache")
_LABELS = {"testwright": "image"}
"""That of a container would be theirs."""


@dataclass(frozen=True)
class _User:
    name: str
    uid: int
    gid: int


async def published_image(task: PublishedTask) -> Image:
    """Return the image that agent and arms start from, made if it isn't there.

    Raises:
        ImageUnavailable: It can't be had.
        UserError: A step of the task's Dockerfile fails, or a patch doesn't apply.
    """
    async with _held(task.image.tag), engine_images() as images:
        source = await _source(images, task)
        parts = _parts(task, source)
        tag = f"testwright/{task.id}-task:{digest_of(parts)[:12]}"
        place = image_place(tag)
        async with locked(place.name):
            stored, record = await images.find(tag), place.record()
            if stored is None or record is None or record.engine_id != stored.engine_id:
                with place.scratch() as scratch:
                    record = await _make(images, task, parts, place, Path(scratch))
    return Image(
        record.reference, record.digest, task.repo.workdir, place.tree, dict(task.repo.env), may_be_root=True
    )


@asynccontextmanager
async def _held(tag: str) -> AsyncIterator[None]:
    """Keep the disk budget from removing the image meanwhile."""
    in_use = ImagesInUse()
    in_use.hold(tag)
    try:
        yield
    finally:
        in_use.close()


async def _source(images: EngineImages, task: PublishedTask) -> StoredImage:
    tag = task.image.tag
    try:
        stored = await fetch(images, tag)
    except ImageUnavailable as error:
        words = "and couldn't be pulled; name a local image that stands for it with --image-map FILE"
        raise ImageUnavailable(f"{task.id}: image {tag} is not here, {words} ({error})") from None
    if stored is None:
        raise ImageUnavailable(f"{task.id}: image {tag} was pulled, and is gone again")
    return stored


def _parts(task: PublishedTask, source: StoredImage) -> dict[str, bytes]:
    """Return all that the image is made of."""
    environment = task.directory / PurePosixPath(DOCKERFILE).parent
    files = sorted(path for path in environment.rglob("*") if path.is_file())
    parts = {path.relative_to(task.directory).as_posix(): path.read_bytes() for path in files}
    parts = {} if task.image.complete else parts
    parts |= {"source": source.engine_id.encode(), "layout": _LAYOUT.encode()}
    return parts | ({"reference": task.patch(REFERENCE)} if task.image.whole else {})


async def _make(
    images: EngineImages, task: PublishedTask, parts: Mapping[str, bytes], place: ImageFolder, scratch: Path
) -> ImageRecord:
    if task.image.complete:
        return await _make_upon(task.image.tag, images, task, parts, place, scratch)
    environment = f"testwright/{task.id}-environment:{place.reference.rpartition(':')[2]}"
    await _build_environment(environment, task)
    try:
        return await _make_upon(environment, images, task, parts, place, scratch)
    finally:
        await images.remove(environment)


async def _make_upon(
    environment: str,
    images: EngineImages,
    task: PublishedTask,
    parts: Mapping[str, bytes],
    place: ImageFolder,
    scratch: Path,
) -> ImageRecord:
    user = await _user(images, environment, task)
    theirs, agents = scratch / "theirs", scratch / "agents"
    await images.copy_out(environment, task.repo.workdir, theirs)
    shutil.rmtree(theirs / ".git", ignore_errors=True)
    for path in [path for name in _REMAINS for path in theirs.rglob(name) if path.is_dir() and not path.is_symlink()]:
        shutil.rmtree(path)
    whole = await GitTree.create(scratch / "whole.git", theirs)
    await whole.check_out(agents, await _agents_tree(whole, task))
    tree = await GitTree.create(scratch / "tree.git", agents)
    gone = await _layer(whole, tree, agents, scratch)
    await _build_task_image(environment, task, user, place.reference, gone, scratch / "layer")
    return await _keep(images, parts, tree, place)


async def _build_environment(tag: str, task: PublishedTask) -> None:
    """Build the task's own Dockerfile on the published image's stand-in, raising UserError for a bad step."""
    with TemporaryDirectory(prefix="testwright-") as scratch:
        copy = Path(scratch) / "context"
        shutil.copytree((task.directory / DOCKERFILE).parent, copy)
        text = with_base_image(read_text(copy / "Dockerfile"), f"{task.image.tag} AS {_STAGE}")
        (copy / "Dockerfile").write_text(text)
        try:
            await build(copy, _STAGE, tag, {}, _LABELS)
        except StepFailed as error:
            mapping = f"{{image: {task.image.tag}, complete: true}}"
            words = f"a step of it fails; if {task.image.tag} has all that it would add, map it as {mapping}"
            raise UserError(f"{task.directory / DOCKERFILE}: {words} (--image-map FILE): {error}") from None


async def _user(images: EngineImages, tag: str, task: PublishedTask) -> _User:
    """Return the user as whom the image's commands run.

    Raises UserError where it lacks what a published task's judging needs.
    """
    stored = await images.find(tag)
    uid, gid, *missing = (await images.output(tag, "sh", "-c", _FACTS)).split()
    if missing:
        words = f"the image that it makes of {task.image.tag} has no {', '.join(missing)}"
        raise UserError(f"{task.directory / DOCKERFILE}: {words}")
    return _User(stored.user if stored and stored.user else "root", int(uid), int(gid))


async def _agents_tree(whole: GitTree, task: PublishedTask) -> str:
    if not task.image.whole:
        return "HEAD"
    try:
        return await whole.apply(task.patch(REFERENCE), reverse=True)
    except GitError as error:
        words = f"it can't be taken out of the tree of {task.image.tag}: {error}"
        leave = f"or leave the task out with -x '{task.directory.name}'"
        todo = f"map an image that has the agent's tree in /app, by the name that its Dockerfile has, {leave}"
        raise UserError(f"{task.directory / REFERENCE}: {words}; {todo}") from None


async def _layer(whole: GitTree, tree: GitTree, agents: Path, scratch: Path) -> list[str]:
    """Return what is to be put over the environment, in `layer`; returns the paths that are to go from it."""
    layer = scratch / "layer"
    visible = await GitTree.create(scratch / "visible.git", agents, with_ignored=False)
    await write_work_tree(visible, scratch / "work")
    layer.mkdir()
    (scratch / "work" / ".git").rename(layer / ".git")
    before, after = await whole.entries(), await tree.entries()
    for path in (path for path, entry in after.items() if before.get(path) != entry):
        (layer / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(agents / path, layer / path, follow_symlinks=False)
    return sorted(path for path in before if path not in after)


async def _build_task_image(
    environment: str, task: PublishedTask, user: _User, tag: str, gone: Iterable[str], layer: Path
) -> None:
    """Build the environment without history and without what test runs left, with `layer` upon it, the user's own."""
    owner = f"{user.uid}:{user.gid}"
    remains = " -o ".join(f"-name {name}" for name in _REMAINS)
    steps = [
        f"cd {quote(task.repo.workdir)}",
        "rm -rf .git",
        f"find . -type d \\( {remains} \\) -prune -exec rm -rf {{}} +",
        *(f"rm -f -- {quote(path)}" for path in gone),
        f'[ "$(stat -c %u .)" = {user.uid} ] || chown -R {owner} .',
        f"mkdir -p {AGENT_LOGS}",
        f"chown {owner} /logs {AGENT_LOGS}",
    ]
    with TemporaryDirectory(prefix="testwright-") as context:
        (Path(context) / "clean.sh").write_text("\n".join(["set -eu", *steps]) + "\n")
        pack_tree(layer, task.repo.workdir.strip("/"), Path(context) / "layer.tar", user.uid, user.gid)
        lines = [
            f"FROM {environment} AS {_STAGE}",
            "USER root",
            "RUN --mount=type=bind,source=clean.sh,target=/mnt/clean.sh sh /mnt/clean.sh",
            "ADD layer.tar /",
            f"USER {user.name}",
            f"WORKDIR {task.repo.workdir}",
        ]
        (Path(context) / "Dockerfile").write_text("\n".join(lines) + "\n")
        await build(Path(context), _STAGE, tag, {}, _LABELS)


async def _keep(images: EngineImages, parts: Mapping[str, bytes], tree: GitTree, place: ImageFolder) -> ImageRecord:
    stored = await images.find(place.reference)
    if stored is None:
        raise ImageUnavailable(f"{place.reference}: made, and gone again")
    record = ImageRecord(
        reference=place.reference,
        digest=digest_of({**parts, "tree": (await tree_digest(tree)).encode()}),
        commit=await head_commit(tree),
        engine_id=stored.engine_id,
        architecture=stored.architecture,
        packages=(),
    )
    place.keep(tree, record)
    return record
