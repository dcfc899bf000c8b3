"""The connection to a Docker engine: blocking calls in threads, its errors as ours."""

import asyncio
import socket
import struct
import tarfile
from collections.abc import Callable, Iterator
from typing import ParamSpec, TypeVar

import docker
import requests
from docker.errors import APIError, DockerException, ImageNotFound, NotFound
from docker.utils import decode_json_header

from harness.specs.errors import ImageUnavailable, SandboxLost, UserError

P = ParamSpec("P")
T = TypeVar("T")

ANSWER_SECONDS = 120
CALLS_AT_ONCE = 16
_DIRECTORY = 1 << 31
"""Of a mode as Go writes it."""


class Docker:
    """The low-level API of the engine that DOCKER_HOST names. Raises UserError where none answers."""

    def __init__(self) -> None:
        try:
            self.api = docker.from_env(timeout=ANSWER_SECONDS, max_pool_size=CALLS_AT_ONCE).api
            self.api.ping()
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
            except NotFound as error:
                raise SandboxLost(_first_line(error)) from None
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


class Archive:
    """A path of a container as a tar. Blocking; to be used in a thread, and closed: until then the engine keeps
    the container locked. Raises FileNotFoundError, docker.errors.NotFound.
    """

    def __init__(self, api: docker.APIClient, container: str, path: str) -> None:
        url = api._url("/containers/{0}/archive", container)  # type: ignore[attr-defined]
        self._answer = api.get(url, params={"path": path}, stream=True, timeout=ANSWER_SECONDS)
        try:
            if self._answer.status_code == requests.codes.not_found:
                api.inspect_container(container)  # not found either, where it is the container that is gone
                raise FileNotFoundError(path)
            api._raise_for_status(self._answer)  # type: ignore[attr-defined]
            facts = decode_json_header(self._answer.headers["X-Docker-Container-Path-Stat"])
        except BaseException:
            self.close()
            raise
        self.is_directory = bool(facts["mode"] & _DIRECTORY)
        self.chunks: Iterator[bytes] = self._answer.iter_content(1 << 18)

    def close(self) -> None:
        self._answer.close()

    def __enter__(self) -> "Archive":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AttachedStream:
    """Standard input and output of a container's process, over the engine's raw connection.

    Output comes in blocks with a header of eight bytes: the kind, three zeros, and the length (big-endian).
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._left = 0

    @classmethod
    async def over(cls, answer: object) -> "AttachedStream":
        """Takes the connection over from the SDK, which would read it in a thread."""
        connection = _socket(answer).dup()
        connection.setblocking(False)
        return cls(*await asyncio.open_connection(sock=connection))

    async def read(self) -> bytes:
        try:
            while self._left == 0:
                header = await self._reader.readexactly(8)
                (self._left,) = struct.unpack(">4xL", header)
            data = await self._reader.read(min(self._left, 1 << 16))
        except (asyncio.IncompleteReadError, OSError):
            return b""
        self._left -= len(data)
        return data

    async def write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    def close(self) -> None:
        self._writer.close()


def _socket(answer: object) -> socket.socket:
    connection = getattr(answer, "_sock", None)
    assert isinstance(connection, socket.socket), answer
    return connection


def _first_line(error: Exception) -> str:
    text = error.explanation if isinstance(error, APIError) and error.explanation else str(error)
    return str(text).strip().partition("\n")[0]
