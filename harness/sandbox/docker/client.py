"""The connection to a Docker engine: blocking calls in threads, its errors as ours."""

import asyncio
import tarfile
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import docker
import requests
from docker.errors import APIError, DockerException, ImageNotFound, NotFound

from harness.specs.errors import EndedFromOutside, ImageUnavailable, SandboxLost, UserError

P = ParamSpec("P")
T = TypeVar("T")

ANSWER_SECONDS = 120
CALLS_AT_ONCE = 16


class Docker:
    """The low-level API of the engine that DOCKER_HOST names. Raises UserError where none answers."""

    def __init__(self) -> None:
        try:
            self.api = docker.from_env(timeout=ANSWER_SECONDS, max_pool_size=CALLS_AT_ONCE).api
            self.cpus = int(self.api.info()["NCPU"])
        except (DockerException, requests.RequestException) as error:
            raise UserError(f"no Docker engine answers ({_first_line(error)}); see 'testwright doctor'") from None
        if self.api.base_url.startswith(("https:", "http+docker://ssh")):
            raise UserError(f"{self.api.base_url}: engines over TLS or ssh are not supported; forward its socket")
        self._limiter = asyncio.Semaphore(CALLS_AT_ONCE)

    async def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """A blocking call. Raises SandboxLost where its container is gone or the engine doesn't answer."""
        async with self._limiter:
            try:
                return await asyncio.to_thread(function, *args, **kwargs)
            except ImageNotFound as error:
                raise ImageUnavailable(_first_line(error)) from None
            except FileNotFoundError:  # of a path in the container
                raise
            except NotFound as error:  # somebody removed it
                raise EndedFromOutside(_first_line(error)) from None
            except (DockerException, requests.RequestException, tarfile.TarError, OSError) as error:
                raise SandboxLost(f"the Docker engine: {_first_line(error)}") from error

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

        await self.call(remove)

    async def kill(self, container: str) -> None:
        """Kill every process; does nothing where none is running. Raises SandboxLost."""

        def kill() -> None:
            try:
                self.api.kill(container)
            except APIError as error:
                if error.status_code != requests.codes.conflict:
                    raise

        await self.call(kill)


def _first_line(error: Exception) -> str:
    text = error.explanation if isinstance(error, APIError) and error.explanation else str(error)
    return str(text).strip().partition("\n")[0]
