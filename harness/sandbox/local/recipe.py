"""A task's tree and environment for machines without an engine: the same tree, a venv instead of an image.

The venv is made once per repo. Each task has a copy of its own beside its tree, of hard links but for the few
files that name their place.
"""

import asyncio
import os
import platform
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from harness.sandbox.cache import cache_directory, locked
from harness.sandbox.git_tree import GitTree
from harness.sandbox.images.recipe import digest_of
from harness.sandbox.images.record import ImageRecord, Place
from harness.sandbox.images.work_tree import head_commit, task_tree, tree_digest, write_work_tree
from harness.sandbox.local.environment import copy_venv, make_venv, packages_of
from harness.sandbox.protocol import Image
from harness.specs.errors import UserError
from harness.specs.repo import Repo
from harness.specs.task import Task

_LAYOUT = b"2"
_NAME_DIGITS = 12


async def task_environment(task: Task) -> Image:
    """`reference` is a directory with `tree` (a git repository as in the image), `venv` and `bin/run_tests`.

    The package itself is installed in development form at the work directory. PYTHONPATH names that as well: a
    sandbox that has its tree elsewhere translates the variable, not the installation.
    Raises ImageUnavailable where pip fails, UserError where the repo has no recipe.
    """
    recipe = _recipe(task.repo)
    place = _place(task.id, recipe, task.patch("withheld.patch"))
    async with locked(place.name):
        record = place.record() or await _make(task, recipe, place)
    workdir = task.repo.workdir
    return Image(place.reference, record.digest, workdir, place.tree, {"PYTHONPATH": workdir, **task.repo.env})


def known_digest(task: Task) -> str | None:
    """The digest of a task's environment without making it: None where none was made here. Raises UserError."""
    record = _place(task.id, _recipe(task.repo), task.patch("withheld.patch")).record()
    return record.digest if record else None


async def _make(task: Task, recipe: str, place: Place) -> ImageRecord:
    source = await _repo_environment(task.repo, recipe)
    shutil.rmtree(place.directory, ignore_errors=True)
    place.directory.mkdir(parents=True)
    tree = await task_tree(GitTree(source.tree), task, place.tree)
    await write_work_tree(tree, place.directory / "tree")
    await asyncio.to_thread(copy_venv, source.directory / "venv", place.directory / "venv")
    (place.directory / "bin").mkdir()
    run_tests = place.directory / "bin" / "run_tests"
    shutil.copyfile(task.repo.directory / "run_tests.sh", run_tests)
    run_tests.chmod(0o755)
    packages = source.record()
    return await _keep(place, tree, recipe, packages.packages if packages else ())


async def _repo_environment(repo: Repo, recipe: str) -> Place:
    """The place of a repo's venv and upstream's tree."""
    place = _place(f"{repo.name}-environment", recipe)
    async with locked(place.name):
        if place.record() is None:
            shutil.rmtree(place.directory, ignore_errors=True)
            place.directory.mkdir(parents=True)
            with place.scratch() as scratch:
                upstream = await make_venv(repo, _requirements(repo), place.directory / "venv", Path(scratch))
                tree = await GitTree.create(place.tree, upstream)
            packages = await packages_of(place.directory / "venv")
            await _keep(place, tree, recipe, packages)
    return place


async def _keep(place: Place, tree: GitTree, recipe: str, packages: tuple[str, ...]) -> ImageRecord:
    digest = digest_of({"recipe": recipe.encode(), "tree": (await tree_digest(tree)).encode()})
    record = ImageRecord(
        reference=place.reference,
        digest=digest,
        commit=await head_commit(tree),
        engine_id="",
        architecture=platform.machine(),
        packages=packages,
    )
    place.keep(tree, record)
    return record


def _recipe(repo: Repo) -> str:
    """Digest of what the environment is made from, this interpreter among it."""
    parts: Mapping[str, bytes] = {
        "requirements": _requirements(repo).read_bytes(),
        "run_tests.sh": (repo.directory / "run_tests.sh").read_bytes(),
        "source": repo.source.model_dump_json().encode(),
        "workdir": repo.workdir.encode(),
        "interpreter": f"{sys.implementation.name} {platform.python_version()}".encode(),
        "layout": _LAYOUT,
    }
    return digest_of(parts)


def _requirements(repo: Repo) -> Path:
    """Raises UserError where the repo has no local recipe."""
    if repo.local is None:
        raise UserError(f"{repo.directory / 'repo.yaml'}: no key 'local'; this repo needs a Docker engine")
    path = repo.directory / repo.local.requirements
    if not path.is_file():
        raise UserError(f"{path}: repo.yaml names it as the local recipe, and it isn't there")
    return path


def _place(name: str, recipe: str, withheld: bytes = b"") -> Place:
    """A venv belongs to one interpreter, so where that lies makes a place of its own, but no other digest."""
    parts = {"recipe": recipe.encode(), "withheld.patch": withheld, "executable": os.fsencode(sys.executable)}
    directory = cache_directory() / "environments" / f"{name}-{digest_of(parts)[:_NAME_DIGITS]}"
    return Place(str(directory), directory)
