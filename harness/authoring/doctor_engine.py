"""What the Docker engine and its command line can do here."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docker
import docker.errors
import requests

from harness.sandbox.docker import podman
from harness.sandbox.images.base_image import BASE_IMAGE
from harness.sandbox.images.build_cli import engine_build_cli, is_podman
from harness.specs.errors import ImageUnavailable
from harness.specs.finding import Finding, Health

_ANSWER_SECONDS = 5
_LIMITS = {
    "MemoryLimit": (podman.MEMORY, "memory"),
    "PidsLimit": (podman.PIDS, "processes"),
    "CpuCfsQuota": (podman.CPU, "processor time"),
}
"""By Docker's names: Podman's, and words."""


def engine() -> list[Finding]:
    """The engine, and what hangs on it: the base image and the room that the engine has on disk."""
    try:
        client = docker.from_env(timeout=_ANSWER_SECONDS)
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
    """Nothing where the engine's files are on another machine."""
    root = Path(facts.get("DockerRootDir") or "/nonexistent")
    if root.is_dir():
        yield room("disk of the engine", root)


def room(name: str, directory: Path) -> Finding:
    """What is free on a directory's file system, or on that of its nearest parent."""
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
