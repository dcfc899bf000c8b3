"""The connection to a Docker engine: it runs blocking calls in threads, and translates the engine's errors."""

import asyncio
import http.client
import json
import os
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import docker
import requests
from docker.errors import APIError, DockerException, ImageNotFound, NotFound

from harness.sandbox.disk_watch import tree_bytes
from harness.sandbox.docker import podman
from harness.sandbox.docker.connection import ANSWER_SECONDS, EngineAddress, refused
from harness.sandbox.images.building import is_podman
from harness.sandbox.tarfiles import tarfile
from harness.specs.errors import EndedFromOutside, ImageUnavailable, SandboxLost, UserError

P = ParamSpec("P")
T = TypeVar("T")

CALLS_AT_ONCE = 16
_NOT_RUNNING = "can only kill running containers"
"""Podman's word, with the status of an error of its own."""
ENDINGS_AT_ONCE = 4
"""Beside those: a container is killed or removed however many calls are under way."""


class Docker:
    """The low-level API of the engine that DOCKER_HOST names. Raises UserError where none answers.

    An engine that takes longer than `answer_seconds` for an answer counts as lost. `limiting` is what it can limit.
    """

    def __init__(self, answer_seconds: int = ANSWER_SECONDS) -> None:
        threads = CALLS_AT_ONCE + ENDINGS_AT_ONCE
        try:
            self.api = docker.from_env(timeout=answer_seconds, max_pool_size=threads).api
            facts = self.api.info()
            self.cpus = int(facts["NCPU"])
            self.is_podman = is_podman(self.api.version())
            self.limiting = podman.limiting(self.api) if self.is_podman else podman.Limiting.of_docker(facts)
        except (DockerException, requests.RequestException) as error:
            raise UserError(f"no Docker engine answers ({_first_line(error)}); see 'testwright doctor'") from None
        if self.api.base_url.startswith(("https:", "http+docker://ssh")):
            raise UserError(f"{self.api.base_url}: engines over TLS or ssh are not supported; forward its socket")
        self.address = EngineAddress.of(os.environ.get("DOCKER_HOST"), self.api.api_version, answer_seconds)
        root = Path(facts.get("DockerRootDir") or "/nonexistent")
        self.storage = root if root.is_dir() else None
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="docker")
        self._calls = asyncio.Semaphore(CALLS_AT_ONCE)
        self._endings = asyncio.Semaphore(ENDINGS_AT_ONCE)

    async def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Make a blocking call of the SDK in a thread.

        Raises:
            SandboxLost: Its container is gone or the engine doesn't answer.
        """
        async with self._calls:
            return await self._in_thread(partial(function, *args, **kwargs))

    async def remove(self, container: str) -> None:
        """Remove a container and its files, running or not; does nothing where it is gone."""

        def remove() -> None:
            try:
                self.api.remove_container(container, force=True, v=True)
            except NotFound:
                return
            except APIError as error:
                if error.status_code != requests.codes.conflict:  # someone else is removing it
                    raise

        async with self._endings:
            await self._in_thread(remove)

    async def kill(self, container: str) -> None:
        """Kill every process; do nothing where none is running.

        Raises:
            SandboxLost: The container is gone, or the engine doesn't answer.
        """

        def kill() -> None:
            try:
                self.api.kill(container)
            except APIError as error:
                if error.status_code != requests.codes.conflict and _NOT_RUNNING not in (error.explanation or ""):
                    raise

        async with self._endings:
            await self._in_thread(kill)

    def close(self) -> None:
        self.api.close()
        self._threads.shutdown(wait=False)

    async def _in_thread(self, function: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, function)
        except ImageNotFound as error:
            raise ImageUnavailable(_first_line(error)) from None
        except FileNotFoundError:  # of a path in the container
            raise
        except NotFound as error:  # somebody removed it
            raise EndedFromOutside(_first_line(error)) from None
        except (
            DockerException,
            requests.RequestException,
            http.client.HTTPException,
            tarfile.TarError,
            OSError,
        ) as error:
            raise SandboxLost(f"the Docker engine: {_first_line(error)}") from error


def disk_usage(address: EngineAddress) -> Mapping[str, Any]:
    """Return what an engine tells of its volumes. Blocking; docker-py has no way to ask for them alone.

    Raises:
        SandboxLost: It refuses.
    """
    with closing(address.get("/system/df", {"type": "volume", "verbose": "1"})) as answer:
        told = answer.read()
        if answer.status != http.HTTPStatus.OK:
            raise refused(answer.status, told)
    found: Mapping[str, Any] = json.loads(told)
    return found


def volume_sizes(usage: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield the names of volumes and their bytes, 0 where the engine doesn't know; since API 1.52 they are items."""
    for item in usage.get("Volumes") or (usage.get("VolumeUsage") or {}).get("Items") or ():
        yield str(item["Name"]), max(0, int((item.get("UsageData") or {}).get("Size") or 0))


def _first_line(error: Exception) -> str:
    text = error.explanation if isinstance(error, APIError) and error.explanation else str(error)
    return str(text).strip().partition("\n")[0]


def layer_meter(
    docker: Docker, facts: Mapping[str, Any], limit_mb: int, writable: Collection[str] = ()
) -> Callable[[], Awaitable[int]]:
    """Return a function that measures a container's layer, and its volumes at the paths `writable`.

    It does so on this machine where we may read them (root, on Linux), else it asks the engine, which counts a
    sparse file at its full length and empty files not at all. `facts` are what the engine tells of the container.
    """
    container = facts["Id"]
    upper = ((facts.get("GraphDriver") or {}).get("Data") or {}).get("UpperDir") or ""
    volumes = [
        item for item in facts.get("Mounts") or () if item["Type"] == "volume" and item["Destination"] in writable
    ]
    directories, names = [upper, *(item["Source"] for item in volumes)], {item["Name"] for item in volumes}

    async def look() -> int:
        return sum([await asyncio.to_thread(tree_bytes, directory, limit_mb << 20) for directory in directories])

    async def ask() -> int:
        found = await docker.call(docker.api.containers, all=True, size=True, filters={"id": container})
        written = int(found[0].get("SizeRw") or 0) if found else 0
        found = await docker.call(disk_usage, docker.address) if names else {}
        return written + sum(size for name, size in volume_sizes(found) if name in names)

    return look if upper and all(os.access(path, os.R_OK | os.X_OK) for path in directories) else ask
