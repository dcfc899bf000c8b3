"""A process's standard streams, a wait of any length, and tars of a container's files as they come."""

import asyncio
import base64
import http
import json
import struct
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from harness.sandbox.docker.connection import MAX_HEAD, Address, Answer, refused

_CHUNK = 1 << 18
_DIRECTORY, _LINK = 1 << 31, 1 << 27
"""Of a mode as Go writes it."""


async def attach(address: Address, container: str) -> "AttachedStream":
    """The output of a container's first process, from its start on. Raises SandboxLost."""
    answer = await address.post(f"/containers/{quote(container)}/attach?stdout=1&stderr=1&stream=1", upgrade=True)
    return AttachedStream(answer)


async def start_exec(address: Address, execution: str) -> "AttachedStream":
    """Start a process that was made in a container; its streams. Raises SandboxLost."""
    return AttachedStream(
        await address.post(f"/exec/{quote(execution)}/start", {"Detach": False, "Tty": False}, upgrade=True)
    )


async def wait_for_end(address: Address, container: str) -> None:
    """Returns when a container has ended, or when the engine stops answering. Raises SandboxLost."""
    await (await address.post(f"/containers/{quote(container)}/wait")).drop()


class AttachedStream:
    """Standard input and output of a container's process.

    Output comes in blocks with a header of eight bytes: the kind, three zeros, and the length (big-endian).
    """

    def __init__(self, answer: Answer) -> None:
        self._reader = answer.reader
        self._writer = answer.writer
        self._left = 0

    async def read(self) -> bytes:
        try:
            while self._left == 0:
                header = await self._reader.readexactly(8)
                (self._left,) = struct.unpack(">4xL", header)
            data = await self._reader.read(min(self._left, MAX_HEAD))
        except (asyncio.IncompleteReadError, OSError):
            return b""
        self._left -= len(data)
        return data

    async def write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    def close(self) -> None:
        self._writer.close()


class Archive:
    """A path of a container as a tar. Blocking; to be used in a thread, and closed: until then the engine keeps
    the container locked. Raises FileNotFoundError, EndedFromOutside where there is no such container, SandboxLost.

    Where the path is a symbolic link, Podman gives what it leads to.
    """

    def __init__(self, address: Address, container: str, path: str) -> None:
        self._download = address.get(f"/containers/{quote(container)}/archive", {"path": path})
        try:
            if self._download.status == http.HTTPStatus.NOT_FOUND:
                _check_exists(address, container)
                raise FileNotFoundError(path)
            if self._download.status != http.HTTPStatus.OK:
                raise refused(self._download.status, self._download.read(MAX_HEAD))
            stat = self._download.headers["X-Docker-Container-Path-Stat"]
            facts: dict[str, Any] = json.loads(base64.b64decode(stat))
        except BaseException:
            self.close()
            raise
        self.is_directory = bool(facts["mode"] & _DIRECTORY)
        self.is_link = bool(facts["mode"] & _LINK)
        self.chunks: Iterator[bytes] = iter(lambda: self._download.read(_CHUNK), b"")

    def close(self) -> None:
        self._download.close()

    def __enter__(self) -> "Archive":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _check_exists(address: Address, container: str) -> None:
    found = address.get(f"/containers/{quote(container)}/json")
    try:
        if found.status == http.HTTPStatus.NOT_FOUND:
            raise refused(found.status, found.read(MAX_HEAD))
    finally:
        found.close()
