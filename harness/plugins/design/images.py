"""Images that designs start from: a Python of some repository's image, and a tree of requirement and vocabulary.

No code that is under test is in them. Cases are played elsewhere: see `arms.py`.
"""

import asyncio
import io
import json
import platform
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

import yaml

from harness.plugins.design import reading
from harness.plugins.design.task import IN_CONTAINER, REQUIREMENT, VOCABULARY, DesignTask
from harness.sandbox.git_tree import GitTree
from harness.sandbox.host import cache_directory, host_environment, locked
from harness.sandbox.images.building import run_logged
from harness.sandbox.images.engine_images import EngineImages, engine_images
from harness.sandbox.images.recipe import digest_of, read_recipe
from harness.sandbox.images.task_images import repo_image
from harness.sandbox.images.work_tree import (
    ImageFolder,
    ImageRecord,
    head_commit,
    image_place,
    pack_tree,
    tree_digest,
    write_work_tree,
)
from harness.sandbox.protocol import Image
from harness.specs.errors import ImageUnavailable

_LAYOUT = b"1"
_ZIP_TIME = (2001, 1, 1, 0, 0, 0)
VALIDATOR = "validate.pyz"


def agent_files(task: DesignTask) -> dict[str, bytes]:
    """Return the tree that agents see: path -> bytes."""
    return {
        REQUIREMENT: task.patch(REQUIREMENT),
        VOCABULARY: task.patch(VOCABULARY),
        VALIDATOR: validator(task),
        "design/.gitkeep": b"",
    }


def validator(task: DesignTask) -> bytes:
    """Return the validator as one file: our reader, PyYAML as it is installed here, and the vocabulary."""
    parts = {
        "__main__.py": (IN_CONTAINER / "__main__.py").read_bytes(),
        "reading.py": Path(reading.__file__).read_bytes(),
    }
    parts["vocabulary.json"] = json.dumps(task.vocabulary.compiled, indent=1).encode()
    library = Path(yaml.__file__).parent
    parts |= {f"yaml/{path.name}": path.read_bytes() for path in sorted(library.glob("*.py"))}
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for name, data in sorted(parts.items()):
            archive.writestr(zipfile.ZipInfo(name, _ZIP_TIME), data)
    return whole.getvalue()


def _parts(task: DesignTask) -> dict[str, bytes]:
    return {"layout": _LAYOUT, "workdir": task.repo.workdir.encode(), **agent_files(task)}


async def container_image(task: DesignTask) -> Image:
    """Return the image of a Docker engine, made if it isn't there.

    Raises:
        ImageUnavailable: It can't be built.
        UserError: The task is wrong.
    """
    recipe = read_recipe(task.host)
    place = _container_place(task)
    async with locked(place.name), engine_images() as images:
        stored, record = await images.find(place.reference), place.record()
        if stored is None or record is None or record.engine_id != stored.engine_id:
            if await images.find(recipe.tag("dependencies")) is None:
                await repo_image(task.host)
            with place.scratch() as scratch:
                record = await _make(images, recipe.tag("dependencies"), task, place, Path(scratch))
    return _image(task, place, record)


def _container_place(task: DesignTask) -> ImageFolder:
    parts = {**_parts(task), "recipe": read_recipe(task.host).digest.encode()}
    return image_place(f"testwright/{task.id}-task:{digest_of(parts)[:12]}")


async def _make(images: EngineImages, below: str, task: DesignTask, place: ImageFolder, scratch: Path) -> ImageRecord:
    tree = await _tree(task, scratch)
    await write_work_tree(tree, scratch / "app")
    await asyncio.to_thread(pack_tree, scratch / "app", task.repo.workdir.strip("/"), scratch / "app.tar")
    changes = ["USER agent", f"WORKDIR {task.repo.workdir}"]
    await images.extend(below, scratch / "app.tar", place.reference, changes)
    stored = await images.find(place.reference)
    if stored is None:
        raise ImageUnavailable(f"{place.reference}: made, and gone again")
    return await _keep(task, place, tree, stored.engine_id, stored.architecture)


async def directory_image(task: DesignTask) -> Image:
    """Return the same as a directory of this machine, with this machine's Python.

    Raises:
        ImageUnavailable: It can't be made.
    """
    place = _directory_place(task)
    async with locked(place.name):
        record = place.record()
        if record is None:
            shutil.rmtree(place.directory, ignore_errors=True)
            place.directory.mkdir(parents=True)
            environment = host_environment()
            command = [sys.executable, "-m", "venv", "--without-pip", str(place.directory / "venv")]
            await run_logged(command, environment, place.name)
            (place.directory / "bin").mkdir()
            with tempfile.TemporaryDirectory(prefix="testwright-") as scratch:
                tree = await _tree(task, Path(scratch))
                await write_work_tree(tree, place.directory / "tree")
                record = await _keep(task, place, tree, "", platform.machine())
    return _image(task, place, record)


def _directory_place(task: DesignTask) -> ImageFolder:
    python = f"{sys.executable} {platform.python_version()}".encode()
    directory = cache_directory() / "environments" / f"{task.id}-{digest_of({**_parts(task), 'python': python})[:12]}"
    return ImageFolder(str(directory), directory)


def known_digest(task: DesignTask, engine: str) -> str | None:
    """Return the digest of the image without making it; None where none was made here."""
    record = (_container_place(task) if engine == "docker" else _directory_place(task)).record()
    return record.digest if record else None


async def _tree(task: DesignTask, scratch: Path) -> GitTree:
    files = scratch / "files"
    for name, data in agent_files(task).items():
        (files / name).parent.mkdir(parents=True, exist_ok=True)
        (files / name).write_bytes(data)
    return await GitTree.create(scratch / "tree.git", files)


async def _keep(
    task: DesignTask, place: ImageFolder, tree: GitTree, engine_id: str, architecture: str
) -> ImageRecord:
    digest = digest_of({"host": task.host.digest.encode(), "tree": (await tree_digest(tree)).encode()})
    record = ImageRecord(
        reference=place.reference,
        digest=digest,
        commit=await head_commit(tree),
        engine_id=engine_id,
        architecture=architecture,
        packages=(),
    )
    place.keep(tree, record)
    return record


def _image(task: DesignTask, place: ImageFolder, record: ImageRecord) -> Image:
    return Image(record.reference, record.digest, task.repo.workdir, place.tree)
