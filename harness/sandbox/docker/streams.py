"""What the SDK would read in a blocking way: a process's standard streams, and tars of a container's files."""

import asyncio
import socket
import struct
from collections.abc import Iterator

import docker
import requests
from docker.utils import decode_json_header

from harness.sandbox.docker.client import ANSWER_SECONDS

_DIRECTORY = 1 << 31
"""Of a mode as Go writes it."""


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
