"""A task's tree and environment for machines without an engine: the same tree, a venv instead of an image.

The venv is made once per repo. Each task has a copy of its own beside its tree, of hard links but for the few
files that name their place.

A repo's venv without an engine: upstream's release and the locked requirements, with the machine's own pip.

Each step is the Dockerfile's, so that metadata and console scripts are the same.
"""

import asyncio
import hashlib
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from harness.sandbox.git_tree import GitTree
from harness.sandbox.host import PIP, PROXIES, cache_directory, host_environment, locked
from harness.sandbox.images.building import run_logged
from harness.sandbox.images.frames import RUN_SCRIPT, shared_files
from harness.sandbox.images.recipe import digest_of
from harness.sandbox.images.work_tree import (
    ImageFolder,
    ImageRecord,
    head_commit,
    task_tree,
    tree_digest,
    unpack_tree,
    write_work_tree,
)
from harness.sandbox.protocol import Image
from harness.specs.errors import ImageUnavailable, UserError
from harness.specs.repo import Repo, Source
from harness.specs.task import Task

_PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input")
_NOT_FOR_PIP = ("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_REQUIRE_HASHES")


async def make_venv(repo: Repo, requirements: Path, venv: Path, scratch: Path) -> Path:
    """Make `venv`, and return upstream's tree, in `scratch`.

    The repo's package is installed in development form at `repo.workdir`, where the tree will be later.

    Raises:
        ImageUnavailable: pip fails; the message has the log's path.
    """
    log = venv.parent.name
    python = str(venv / "bin" / "python")
    found = host_environment(*PIP, *PROXIES)
    environment = {name: value for name, value in found.items() if name not in _NOT_FOR_PIP}
    await run_logged([sys.executable, "-m", "venv", str(venv)], environment, log)

    async def pip(*arguments: str) -> None:
        await run_logged([python, *_PIP, *arguments], environment, log, again=True)

    await pip("install", "--require-hashes", "--requirement", str(requirements))
    pin = scratch / "source.txt"
    pin.write_text(f"{repo.source.package}=={repo.source.version} --hash=sha256:{repo.source.sha256}\n")
    await pip(
        "download", "--dest", str(scratch / "sdist"), "--no-deps", "--no-binary=:all:", "--no-build-isolation",
        "--require-hashes", "--requirement", str(pin),
    )  # fmt: skip
    upstream = scratch / "upstream"
    await asyncio.to_thread(_unpack_release, scratch / "sdist", repo.source, upstream)
    development = scratch / "development"
    shutil.copytree(upstream, development, symlinks=True)
    await pip(
        "install", "--no-index", "--no-deps", "--no-build-isolation", "--config-settings=editable_mode=compat",
        "--editable", str(development),
    )  # fmt: skip
    for path in _installed_by_name(venv, repo.source.package):
        _replace(path, str(development), repo.workdir)
    return upstream


def copy_venv(venv: Path, destination: Path) -> None:
    """Copy a venv by hard links, except for files that name the place: scripts and the venv's own configuration."""
    shutil.copytree(venv, destination, symlinks=True, copy_function=os.link)
    for path in [destination / "pyvenv.cfg", *(destination / "bin").iterdir()]:
        if path.is_file() and not path.is_symlink():
            _replace(path, str(venv), str(destination))


async def packages_of(venv: Path) -> tuple[str, ...]:
    """Return `name==version` of each package."""
    command = [str(venv / "bin" / "python"), "-m", "pip", "list", "--disable-pip-version-check", "--format=freeze"]
    listed = await asyncio.to_thread(
        subprocess.run, command, env=host_environment(), capture_output=True, text=True, check=False
    )
    return tuple(listed.stdout.splitlines())


def _unpack_release(directory: Path, source: Source, destination: Path) -> None:
    (release,) = directory.iterdir()
    found = hashlib.sha256(release.read_bytes()).hexdigest()
    if found != source.sha256:
        raise ImageUnavailable(f"{release.name}: sha256 is {found}, repo.yaml pins {source.sha256}")
    with release.open("rb") as archive:
        unpack_tree(archive, destination)
    # Made by the packaging, not in upstream's repository; it lists every test file.
    for made in destination.glob("*.egg-info"):
        shutil.rmtree(made)


def _installed_by_name(venv: Path, package: str) -> Iterator[Path]:
    """Yield the files with which a development install says where its tree is."""
    for packages in venv.glob("lib/python*/site-packages"):
        yield from packages.glob("*.pth")
        yield from packages.glob("*.egg-link")
        for metadata in packages.glob("*.dist-info"):
            if metadata.name.lower().replace("-", "_").startswith(package.lower().replace("-", "_") + "_"):
                yield metadata / "direct_url.json"


def _replace(path: Path, old: str, new: str) -> None:
    """Replace a text in a file, as a new file: the old one may be shared by hard links."""
    if not path.is_file() or os.fsencode(old) not in (data := path.read_bytes()):
        return
    mode = path.stat().st_mode
    path.unlink()
    path.write_bytes(data.replace(os.fsencode(old), os.fsencode(new)))
    path.chmod(mode)


_LAYOUT = b"2"
_NAME_DIGITS = 12


async def task_environment(task: Task) -> Image:
    """Return the task's environment on this machine, made if it isn't there.

    `reference` is a directory with `tree` (a git repository as in the image), `venv` and `bin/run_tests`. The
    package
    itself is installed in development form at the work directory. PYTHONPATH names that as well: a sandbox that has
    its tree elsewhere translates the variable, not the installation.

    Raises:
        ImageUnavailable: pip fails.
        UserError: The repo has no recipe.
    """
    recipe = _recipe(task.repo)
    place = _place(task.id, recipe, task.patch("withheld.patch"))
    async with locked(place.name):
        record = place.record() or await _make(task, recipe, place)
    workdir = task.repo.workdir
    return Image(place.reference, record.digest, workdir, place.tree, {"PYTHONPATH": workdir, **task.repo.env})


def known_digest(task: Task) -> str | None:
    """Return the digest of a task's environment without making it; None where none was made here.

    Raises:
        UserError: The repo has no recipe.
    """
    record = _place(task.id, _recipe(task.repo), task.patch("withheld.patch")).record()
    return record.digest if record else None


async def _make(task: Task, recipe: str, place: ImageFolder) -> ImageRecord:
    source = await _repo_environment(task.repo, recipe)
    shutil.rmtree(place.directory, ignore_errors=True)
    place.directory.mkdir(parents=True)
    tree = await task_tree(GitTree(source.tree), task, place.tree)
    await write_work_tree(tree, place.directory / "tree")
    await asyncio.to_thread(copy_venv, source.directory / "venv", place.directory / "venv")
    (place.directory / "bin").mkdir()
    run_tests = place.directory / "bin" / "run_tests"
    run_tests.write_bytes(shared_files(task.repo)[RUN_SCRIPT])
    run_tests.chmod(0o755)
    packages = source.record()
    return await _keep(place, tree, recipe, packages.packages if packages else ())


async def _repo_environment(repo: Repo, recipe: str) -> ImageFolder:
    """Return the place of a repo's venv and upstream's tree."""
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


async def _keep(place: ImageFolder, tree: GitTree, recipe: str, packages: tuple[str, ...]) -> ImageRecord:
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
    """Return a digest of what the environment is made from, this interpreter among it."""
    parts: Mapping[str, bytes] = {
        "requirements": _requirements(repo).read_bytes(),
        "run_tests.sh": shared_files(repo)[RUN_SCRIPT],
        "source": repo.source.as_key(),
        "workdir": repo.workdir.encode(),
        "interpreter": f"{sys.implementation.name} {platform.python_version()}".encode(),
        "layout": _LAYOUT,
    }
    return digest_of(parts)


def _requirements(repo: Repo) -> Path:
    """Return the repo's locked requirements, raising UserError where it has no local recipe."""
    if repo.local is None:
        raise UserError(f"{repo.directory / 'repo.yaml'}: no key 'local'; this repo needs a Docker engine")
    path = repo.directory / repo.local.requirements
    if not path.is_file():
        raise UserError(f"{path}: repo.yaml names it as the local recipe, and it isn't there")
    return path


def _place(name: str, recipe: str, withheld: bytes = b"") -> ImageFolder:
    """Return the folder of an environment.

    A venv belongs to one interpreter, whose path is part of the folder's name.
    """
    parts = {"recipe": recipe.encode(), "withheld.patch": withheld, "executable": os.fsencode(sys.executable)}
    directory = cache_directory() / "environments" / f"{name}-{digest_of(parts)[:_NAME_DIGITS]}"
    return ImageFolder(str(directory), directory)
