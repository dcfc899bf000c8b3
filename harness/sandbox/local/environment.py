"""A repo's venv without an engine: upstream's release and the locked requirements, with the machine's own pip.

Each step is the Dockerfile's, so that metadata and console scripts are the same.
"""

import asyncio
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from harness.sandbox.host_environment import PIP, PROXIES, host_environment
from harness.sandbox.images.logged import run_logged
from harness.sandbox.images.work_tree import unpack_tree
from harness.specs.errors import ImageUnavailable
from harness.specs.repo import Repo, Source

_PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input")
_NOT_FOR_PIP = ("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_REQUIRE_HASHES")


async def make_venv(repo: Repo, requirements: Path, venv: Path, scratch: Path) -> Path:
    """Make `venv`; returns upstream's tree, in `scratch`. Raises ImageUnavailable with the log's path.

    The repo's package is installed in development form at `repo.workdir`, where the tree will be later.
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
    """A copy of hard links, except for the files that name the place: scripts and the venv's own configuration."""
    shutil.copytree(venv, destination, symlinks=True, copy_function=os.link)
    for path in [destination / "pyvenv.cfg", *(destination / "bin").iterdir()]:
        if path.is_file() and not path.is_symlink():
            _replace(path, str(venv), str(destination))


async def packages_of(venv: Path) -> tuple[str, ...]:
    """`name==version` of each package."""
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
    """The files with which a development install says where its tree is."""
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
