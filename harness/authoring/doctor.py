"""Findings about this machine, and how to repair what doesn't work. Leaves nothing, needs no network, takes seconds.

A Docker engine is tried as it is used: a build step, a container with our options, archives in and out of it.
"""

import asyncio
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import docker
import docker.errors
import requests

from harness.authoring.image_search import certificates
from harness.authoring.repo_new.pinning import lock_tool
from harness.models.keys import is_key
from harness.sandbox.archives import members, read_tar
from harness.sandbox.docker import podman
from harness.sandbox.docker.engine import DockerEngine
from harness.sandbox.host import cache_directory, host_environment
from harness.sandbox.images.building import BASE_IMAGE, build, engine_build_cli, is_podman, log_of
from harness.sandbox.images.client_config import ca_bundle, proxies
from harness.sandbox.images.engine_images import engine_images
from harness.sandbox.local import confinement as local_confinement
from harness.sandbox.protocol import Image, SandboxOptions
from harness.specs.errors import ImageUnavailable, InfrastructureError, SandboxLost, UserError
from harness.specs.problem import Finding, Health
from harness.specs.task import Task

_DOCTOR_ENGINE_ANSWER_SECONDS = 5
_LIMITS = {
    "MemoryLimit": (podman.MEMORY, "memory"),
    "PidsLimit": (podman.PIDS, "processes"),
    "CpuCfsQuota": (podman.CPU, "processor time"),
}
"""By Docker's names: Podman's, and words."""


def engine() -> list[Finding]:
    """Return the engine, and what hangs on it: the base image and the room that the engine has on disk."""
    try:
        client = docker.from_env(timeout=_DOCTOR_ENGINE_ANSWER_SECONDS)
    except (docker.errors.DockerException, requests.RequestException) as error:
        words = f"none answers ({_first_line(error)}); start one and set DOCKER_HOST, or use --sandbox local"
        return [Finding(name="engine", health=Health.MISSING, words=words)]
    try:
        facts: dict[str, Any] = client.info()
        limiting = podman.limiting(client.api) if is_podman(client.version()) else podman.Limiting()
        return [_describe(facts, limiting.groups), _base_image(client), *_room(facts)]
    except (docker.errors.DockerException, requests.RequestException) as error:
        words = f"it answers, but not to everything: {_first_line(error)}"
        return [Finding(name="engine", health=Health.DEGRADED, words=words)]
    finally:
        client.close()


def build_command() -> list[Finding]:
    """Find the docker command that builds images, and try it."""
    try:
        cli = engine_build_cli(os.environ.get("PATH", os.defpath))
    except ImageUnavailable as error:
        words = f"{error}; or bring images that were built elsewhere with 'testwright repo import'"
        return [Finding(name="image builds", health=Health.DEGRADED, words=words)]
    with_what = "buildx" if "buildx" in cli.arguments else "BuildKit built in"
    with_what = "Podman's own" if cli.path.name == "podman" else with_what
    words = f"{cli.path}, version {cli.version}, {with_what}"
    return [Finding(name="image builds", health=Health.OK, words=words)]


def _describe(facts: dict[str, Any], groups: frozenset[str]) -> Finding:
    rootless = any("rootless" in option for option in facts.get("SecurityOptions") or [])
    words = (
        f"{facts.get('ServerVersion')}, {facts.get('Architecture')}, storage {facts.get('Driver')}, "
        f"cgroup v{facts.get('CgroupVersion', '1')}{', rootless' if rootless else ''}"
    )
    lacks = [*_lacks(facts, groups)]
    health = Health.DEGRADED if lacks else Health.OK
    return Finding(name="engine", health=health, words="; ".join([words, *lacks]))


def _lacks(facts: dict[str, Any], groups: frozenset[str]) -> Iterator[str]:
    if facts.get("OSType", "linux") != "linux":
        yield "it runs no Linux containers; switch it to those"
    # An engine that leaves one of these out says nothing by that.
    unlimited = [words for key, (name, words) in _LIMITS.items() if facts.get(key) is False or name not in groups]
    if unlimited:
        yield f"it can't limit {', '.join(unlimited)}: a runaway test may slow the whole machine"
    if facts.get("Driver") == "vfs":
        yield "storage vfs copies whole images for each container: slow, and much disk; use overlay2"


def _base_image(client: docker.DockerClient) -> Finding:
    name = "base image"
    try:
        client.images.get(BASE_IMAGE)
    except docker.errors.ImageNotFound:
        if shutil.which("mmdebstrap"):
            words = f"{BASE_IMAGE} isn't here yet; the first build pulls it, or makes it with mmdebstrap"
            return Finding(name=name, health=Health.OK, words=words)
        words = f"{BASE_IMAGE} isn't here; the first build pulls it. Without a registry: install mmdebstrap"
        return Finding(name=name, health=Health.DEGRADED, words=words)
    return Finding(name=name, health=Health.OK, words=f"{BASE_IMAGE} is here")


def _room(facts: dict[str, Any]) -> Iterator[Finding]:
    """Yield how much room the engine's disk has; nothing where its files are on another machine."""
    root = Path(facts.get("DockerRootDir") or "/nonexistent")
    if root.is_dir():
        yield room("disk of the engine", root)


def room(name: str, directory: Path) -> Finding:
    """Return what is free on a directory's file system, or on that of its nearest parent."""
    there = next(parent for parent in [directory, *directory.parents] if parent.exists())
    free = shutil.disk_usage(there).free / 1e9
    words = f"{free:.0f} GB free at {directory}"
    if free < _LEAST_GB:
        return Finding(name=name, health=Health.MISSING, words=f"{words}; images need more: make room")
    if free < _ENOUGH_GB:
        return Finding(name=name, health=Health.DEGRADED, words=f"{words}; a few images, then it is full")
    return Finding(name=name, health=Health.OK, words=words)


_LEAST_GB = 1
_ENOUGH_GB = 10


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


_SECONDS = 60
_DOCTOR_TRIES_ANSWER_SECONDS = 5
_NAME = "testwright/doctor-try"
_WRITTEN = b"written by testwright doctor\n"


def tries() -> list[Finding]:
    """Try to build, work and judge; nothing is tried where no engine answers or the base image isn't there yet."""
    try:
        client = docker.from_env(timeout=_DOCTOR_TRIES_ANSWER_SECONDS)
        try:
            client.images.get(BASE_IMAGE)
        finally:
            client.close()
    except (docker.errors.DockerException, requests.RequestException):
        return []
    return asyncio.run(_tried())


async def _tried() -> list[Finding]:
    build_step = await _try("a build step", _build, Health.DEGRADED)  # images can be brought
    return [build_step, await _try("a container", _work, Health.MISSING)]


async def _try(name: str, attempt: Callable[[], Awaitable[str]], failed: Health) -> Finding:
    try:
        async with asyncio.timeout(_SECONDS):
            return Finding(name=name, health=Health.OK, words=await attempt())
    except TimeoutError:
        words = f"not done after {_SECONDS} seconds"
    except (InfrastructureError, UserError, OSError) as error:
        words = str(error)
    return Finding(name=name, health=failed, words=f"tried, and failed: {words.partition(chr(10))[0]}")


async def _build() -> str:
    """Build an image with a secret and a mount of the context, as our Dockerfiles have them."""
    step = "--mount=type=secret,id=ca --mount=type=bind,source=said,target=/mnt/said cp /mnt/said /said"
    with tempfile.TemporaryDirectory(prefix="testwright-") as context:
        (Path(context) / "said").write_bytes(_WRITTEN)
        (Path(context) / "Dockerfile").write_text(f"FROM {BASE_IMAGE} AS tried\nRUN {step}\n")
        # A tag of its own: another doctor on this engine would take a shared one away.
        tag = f"{_NAME}:{os.getpid()}-{uuid4().hex[:12]}"
        await build(Path(context), "tried", tag, {}, {})
    log_of(tag).unlink(missing_ok=True)
    async with engine_images() as images:
        await images.remove(tag)
    return "tried: with a secret and a mount of the context"


async def _work() -> str:
    """Work in a sandbox made as an agent's is, with its limits and its channel."""
    engine = DockerEngine(_no_task)
    image = Image(BASE_IMAGE, "doctor", "/", Path("/nonexistent"), may_be_root=True)
    sandbox = engine.sandbox(image, SandboxOptions(), {})
    try:
        await sandbox.start()
        await sandbox.write("/tmp/tried/said", _WRITTEN)
        done = await sandbox.run("cat /tmp/tried/said", 10)
        if done.output != _WRITTEN:
            raise SandboxLost(f"a command printed {done.output[:80]!r} in the place of a file")
        await sandbox.kill()
        async with sandbox.export_tree("/tmp/tried", 1 << 20) as chunks:
            found = await read_tar(chunks, lambda tar: [member.name for member in members(tar)])
    finally:
        await asyncio.shield(sandbox.remove())
        await engine.close()
    return f"tried: with our limits, a command, an archive in and one out ({len(found)} members)"


async def _no_task(_: Task) -> Image:
    raise AssertionError("no task is asked for")


_ANSWER_SECONDS = 5
_HERE = ("localhost", "127.0.0.1", "::1")


def doctor() -> list[Finding]:
    """Run every check once, side by side; each is bounded on its own."""
    checks: list[Callable[[], list[Finding]]] = [
        engine, build_command, tries, _bubblewrap, _git, _python, _new_repositories, _cache, _certificates,
        _proxies, _keys,
    ]  # fmt: skip
    with ThreadPoolExecutor(max_workers=len(checks)) as pool:
        found = [finding for findings in pool.map(lambda check: check(), checks) for finding in findings]
    return [_auto(found), *found]


def _auto(findings: list[Finding]) -> Finding:
    """Return what `--sandbox auto` takes here."""
    name = "sandbox auto"
    health = {finding.name: finding.health for finding in findings}
    if health["engine"] is not Health.MISSING:
        return Finding(name=name, health=Health.OK, words="takes docker")
    if health["bubblewrap"] is Health.OK:
        return Finding(name=name, health=Health.OK, words="takes local, confined by bubblewrap: no engine answers")
    words = "takes none: install Docker or bubblewrap (Debian: apt-get install docker.io, or bubblewrap)"
    return Finding(name=name, health=Health.MISSING, words=words)


def _new_repositories() -> list[Finding]:
    """Look for the programs that `repo new` makes locks with."""
    name = "repo new"
    lacks = [] if shutil.which("npm") else ["npm for TypeScript (install Node.js with npm)"]
    try:
        lock_tool()
    except UserError:
        lacks.insert(0, "uv or pip-compile for Python (pip install uv)")
    if not lacks:
        return [Finding(name=name, health=Health.OK, words="what makes the locks of new repositories is here")]
    words = f"it lacks {' and '.join(lacks)}; whoever adds no repositories needs neither"
    return [Finding(name=name, health=Health.DEGRADED, words=words)]


def _bubblewrap() -> list[Finding]:
    if local_confinement.works():
        return [Finding(name="bubblewrap", health=Health.OK, words="confines the local sandbox")]
    if shutil.which("bwrap"):
        words = "installed, but may not make namespaces here: allow unprivileged user namespaces"
    else:
        words = "not installed; without it the local sandbox (--sandbox local) hardly confines anything"
    return [Finding(name="bubblewrap", health=Health.DEGRADED, words=words)]


def _git() -> list[Finding]:
    try:
        done = subprocess.run(
            ["git", "--version"],
            env=host_environment(),
            capture_output=True,
            text=True,
            timeout=_ANSWER_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return [Finding(name="git", health=Health.MISSING, words="doesn't answer; install git")]
    return [Finding(name="git", health=Health.OK, words=done.stdout.strip())]


def _python() -> list[Finding]:
    words = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    return [Finding(name="python", health=Health.OK, words=words)]


def _cache() -> list[Finding]:
    """Look whether the cache has room, and takes a file.

    On a read-only disk no image can be made and no trial begin.
    """
    name, directory = "disk of the cache", cache_directory()
    there = next(path for path in (directory, *directory.parents) if path.exists())
    try:
        with tempfile.NamedTemporaryFile(dir=there, prefix=".doctor-"):
            pass
    except OSError as error:
        words = f"{directory}: {error.strerror or error}; make it writable, or set TESTWRIGHT_CACHE to a directory"
        return [Finding(name=name, health=Health.MISSING, words=f"{words} that is")]
    return [room(name, directory)]


def _certificates() -> list[Finding]:
    name = "certificates"
    try:
        bundle = ca_bundle()
    except UserError as error:
        return [Finding(name=name, health=Health.MISSING, words=str(error))]
    if bundle is None:
        words = "no bundle found; set TESTWRIGHT_CA_BUNDLE where downloads in builds fail"
        return [Finding(name=name, health=Health.DEGRADED, words=words)]
    count = len(certificates(bundle.read_bytes()))
    if not count:
        words = f"{bundle} holds none; set TESTWRIGHT_CA_BUNDLE to a PEM file"
        return [Finding(name=name, health=Health.DEGRADED, words=words)]
    return [Finding(name=name, health=Health.OK, words=f"{count} in {bundle}, lent to builds")]


def _proxies(environment: Mapping[str, str] = os.environ) -> list[Finding]:
    """Return names only: an address may hold a password."""
    found = proxies(environment)
    if not found:
        return [Finding(name="proxies", health=Health.OK, words="none set")]
    here = [name for name, value in found.items() if name.upper() != "NO_PROXY" and _is_here(value)]
    if here:
        words = f"{', '.join(here)}: this machine itself, which builds in containers can't reach under that name"
        return [Finding(name="proxies", health=Health.DEGRADED, words=words)]
    return [Finding(name="proxies", health=Health.OK, words=f"{', '.join(found)}, lent to builds")]


def _is_here(proxy: str) -> bool:
    try:
        return urlsplit(proxy if "://" in proxy else f"//{proxy}").hostname in _HERE
    except ValueError:
        return False


def _keys(environment: Mapping[str, str] = os.environ) -> list[Finding]:
    """Return names only; those of a `.env` in the working directory are in the environment by now."""
    names = sorted(name for name, value in environment.items() if value and is_key(name))
    if not names:
        words = "no *_API_KEY is set, here or in .env: the controls and recorded models work, others don't"
        return [Finding(name="model keys", health=Health.DEGRADED, words=words)]
    return [Finding(name="model keys", health=Health.OK, words=f"{', '.join(names)} (not tried)")]
