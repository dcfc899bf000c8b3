"""Fetching a release through the ordinary clients, and its sha256. Their own configuration names the hosts.

The lock of a repository: every package at one version, each file of it by its hash.
"""

import asyncio
import hashlib
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from harness.authoring.repo_new.git_source import WantedCommit, fetch_commit
from harness.sandbox.host import NPM, PIP, PROXIES, host_environment
from harness.sandbox.images.building import StepFailed, build, ensure_base_image
from harness.sandbox.images.client_config import pip_settings
from harness.sandbox.images.engine_images import engine_images
from harness.sandbox.images.work_tree import unpack_tree
from harness.sandbox.tarfiles import tarfile
from harness.specs.errors import ToolFailed, UserError

Kind = Literal["pypi", "debian", "npm", "archive", "git"]
_SECONDS = 600
_DEBIAN = """\
ARG BASE
FROM ${BASE} AS fetched
ARG SOURCE
WORKDIR /download
RUN --mount=type=secret,id=ca,required=false set -eu; \\
    apt() { apt-get -qq -o Acquire::Retries=3 "$@"; }; \\
    if [ -s /run/secrets/ca ]; then \\
        apt() { apt-get -qq -o Acquire::Retries=3 -o Acquire::https::CAInfo=/run/secrets/ca "$@"; }; \\
    fi; \\
    find /etc/apt -name '*.list' -exec sed -i 's/^deb /deb-src /' {} +; \\
    find /etc/apt -name '*.sources' -exec sed -i 's/^Types: deb$/Types: deb-src/' {} +; \\
    apt update; \\
    apt source --download-only "$SOURCE"
"""


@dataclass(frozen=True)
class WantedRelease:
    """The release that the command line names: of a package, or the file or address of an archive."""

    kind: Kind
    package: str
    version: str
    archive: str = ""

    def __str__(self) -> str:
        return self.archive or f"{self.package} {self.version}"

    @property
    def is_kept(self) -> bool:
        """Tell whether its archive is kept beside repo.yaml, since no registry has it."""
        return self.kind in ("archive", "git")


@dataclass(frozen=True)
class Pinned:
    """A release that was fetched. `file` is what `sha256` is of, `tree` the unpacked release.

    `packaging` is Debian's own part of a source package, empty elsewhere. `commit` and `tree_hash` are git's.
    """

    wanted: WantedRelease
    sha256: str
    file: Path
    tree: Path
    packaging: Path | None = None
    commit: str = ""
    tree_hash: str = ""

    @property
    def version(self) -> str:
        """The version that repo.yaml names: a commit in full."""
        return self.commit or self.wanted.version


async def pin(wanted: WantedRelease, scratch: Path, tell: Callable[[str], None] = lambda _: None) -> Pinned:
    """Fetch a release and unpack it below `scratch`.

    Raises:
        UserError: There is no such release.
        ImageUnavailable: The base image can't be had.
    """
    match wanted.kind:
        case "pypi":
            return _unpacked(wanted, await asyncio.to_thread(_from_pypi, wanted, scratch), scratch)
        case "npm":
            return _unpacked(wanted, await asyncio.to_thread(_from_npm, wanted, scratch), scratch)
        case "archive":
            return _unpacked(wanted, await asyncio.to_thread(_from_place, wanted, scratch), scratch)
        case "git":
            fetched = await asyncio.to_thread(
                fetch_commit, WantedCommit(wanted.archive, wanted.version), wanted.package, scratch, tell
            )
            pinned = _unpacked(wanted, fetched.archive, scratch)
            return replace(pinned, commit=fetched.commit, tree_hash=fetched.tree)
        case "debian":
            return await _from_debian(wanted, scratch)


def _from_pypi(wanted: WantedRelease, scratch: Path) -> Path:
    lock_tool()  # what makes the lock at the end is looked for before anything is fetched
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--no-binary", ":all:", "--dest", str(scratch / "fetched"), f"{wanted.package}=={wanted.version}"]
    return _fetched("pip", wanted, command, host_environment(*PIP, *PROXIES), scratch / "fetched")


def _from_npm(wanted: WantedRelease, scratch: Path) -> Path:
    npm = shutil.which("npm")
    if npm is None:
        raise UserError(
            "--npm: npm isn't here, and it fetches the release and makes the lock; install Node.js with npm"
        )
    (scratch / "fetched").mkdir()
    command = [npm, "pack", "--loglevel=error", "--ignore-scripts", "--pack-destination", str(scratch / "fetched")]
    command.append(f"{wanted.package}@{wanted.version}")
    return _fetched("npm", wanted, command, host_environment(*NPM, *PROXIES), scratch / "fetched")


def _fetched(client: str, wanted: WantedRelease, command: list[str], env: dict[str, str], directory: Path) -> Path:
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise ToolFailed(f"{client} was not done with {wanted} after {_SECONDS} s") from None
    files = sorted(directory.glob("*")) if directory.is_dir() else []
    if done.returncode or len(files) != 1:
        raise UserError(f"--{wanted.kind}: {client} can't fetch {wanted}: {_complaint(done.stderr + done.stdout)}")
    return files[0]


def _complaint(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    # npm's lines begin with a code and end with where its log is.
    of_npm = [line.removeprefix("npm error ") for line in lines if line.startswith("npm error ")]
    said = [line for line in of_npm if not line.startswith(("code ", "A complete log"))][:1]
    return (said or errors or lines or ["it said nothing"])[-1]


def _from_place(wanted: WantedRelease, scratch: Path) -> Path:
    place = wanted.archive
    if "://" not in place:
        if not Path(place).is_file():
            raise UserError(f"--archive: {place} is no file")
        return Path(place)
    target = scratch / "fetched"
    try:
        with urllib.request.urlopen(place, timeout=60) as answer, target.open("wb") as file:
            while chunk := answer.read(1 << 20):
                file.write(chunk)
    except (urllib.error.URLError, ValueError, OSError) as error:
        raise UserError(f"--archive: {place} can't be fetched: {error}") from None
    return target


async def _from_debian(wanted: WantedRelease, scratch: Path) -> Pinned:
    """Fetch by apt in a container of the base image: this machine need not be a Debian, nor that Debian."""
    context, tag = scratch / "context", f"testwright/source-{wanted.package}:new"
    context.mkdir()
    (context / "Dockerfile").write_text(_DEBIAN)
    async with engine_images() as images:
        arguments = {"BASE": await ensure_base_image(images), "SOURCE": f"{wanted.package}={wanted.version}"}
        try:
            await build(context, "fetched", tag, arguments, {})
        except StepFailed as error:
            raise UserError(f"--debian: apt can't fetch {wanted}: {error}") from None
        try:
            await images.copy_out(tag, "/download", scratch / "fetched")
        finally:
            await images.remove(tag)
    [dsc] = (scratch / "fetched").glob("*.dsc")
    [archive] = [path for path in (scratch / "fetched").glob("*.orig.tar.*") if path.suffix != ".asc"]
    pinned = _unpacked(wanted, archive, scratch)
    packaging = scratch / "packaging"
    for path in (scratch / "fetched").glob("*.debian.tar.*"):
        _unpack(path, packaging)
    return Pinned(wanted, sha256_of(dsc), dsc, pinned.tree, packaging)


def _unpacked(wanted: WantedRelease, file: Path, scratch: Path) -> Pinned:
    _unpack(file, scratch / "tree")
    return Pinned(wanted, sha256_of(file), file, scratch / "tree")


def _unpack(file: Path, destination: Path) -> None:
    try:
        with file.open("rb") as archive:
            unpack_tree(archive, destination)
    except (tarfile.TarError, ValueError, EOFError, OSError) as error:
        words = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UserError(f"{file}: not a tar archive with one top directory: {words}") from None


def sha256_of(file: Path) -> str:
    """Return the sha256 of a file, in hex."""
    with file.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()


PYTHON = "3.11"
"""Python's version in the base image."""
_LOCKING_SECONDS = 600


def locked(requirements: str, scratch: Path) -> str:
    """Return the lock of a requirements file's text.

    Raises:
        UserError: No tool is here, or none can solve it.
    """
    (scratch / "requirements.in").write_text(requirements)
    command = [*lock_tool(), str(scratch / "requirements.in"), "--output-file", str(scratch / "requirements.lock")]
    env = host_environment("UV_*", *PIP, *PROXIES)
    _run(command, env, "requirements.in")
    return (scratch / "requirements.lock").read_text()


def npm_locked(package_json: str, scratch: Path) -> str:
    """Return the package-lock.json of a package.json's text, by npm, without the addresses of a registry."""
    directory = scratch / "locked"
    directory.mkdir()
    (directory / "package.json").write_text(package_json)
    command = ["npm", "install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
    command += ["--omit-lockfile-registry-resolved", "--prefix", str(directory)]
    _run(command, host_environment(*NPM, *PROXIES), "package.json")
    lock = (directory / "package-lock.json").read_text()
    if '"resolved"' in lock:
        raise UserError("package.json needs what no registry has, or npm is older than 8.12: its lock has addresses")
    return lock


def _run(command: list[str], env: dict[str, str], locked_file: str) -> None:
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=_LOCKING_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise UserError(f"the lock wasn't made within {_LOCKING_SECONDS} s") from None
    if done.returncode:
        said = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise UserError(f"{locked_file} can't be locked: {' '.join(said[-4:])}")


def lock_tool() -> list[str]:
    """Return the command of the first of uv and pip-tools that is here, beside our own Python before elsewhere.

    Raises:
        UserError: Neither is installed.
    """
    beside = str(Path(sys.executable).parent)
    if uv := shutil.which("uv", path=beside) or shutil.which("uv"):
        return [uv, "pip", "compile", "--quiet", "--python-version", PYTHON, *_SAME, *_indexes()]
    if compile_ := shutil.which("pip-compile", path=beside) or shutil.which("pip-compile"):
        return [compile_, "--quiet", "--strip-extras", "--allow-unsafe", "--no-emit-trusted-host", *_SAME]
    raise UserError("neither uv nor pip-compile is here, and one of them makes the lock; get it: pip install uv")


_SAME = ("--generate-hashes", "--no-header", "--no-annotate", "--no-emit-index-url")


def _indexes() -> list[str]:
    """Return pip's own indexes, which uv doesn't read."""
    settings = pip_settings()
    first = [f"--index-url={value}" for value in settings.get("index-url", ())]
    return [*first, *(f"--extra-index-url={value}" for value in settings.get("extra-index-url", ()))]
