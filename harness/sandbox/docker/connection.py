"""The engine's socket, for what the SDK offers no public way to: HTTP requests of our own.

A process's standard streams, a wait of any length, and tars of a container's files as they come.
"""

import asyncio
import base64
import http
import http.client
import json
import re
import socket
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from docker.utils import parse_host

from harness.specs.errors import EndedFromOutside, SandboxLost, UserError

ANSWER_SECONDS = 120
"""Seconds that the engine may take for an answer, or for the next bytes of one; then it counts as lost."""
MAX_HEAD = 1 << 16
_FIRST_WAIT, _LONGEST_WAIT = 0.1, 2.0
"""Seconds between two looks whether an engine that is away has come back."""


@dataclass(frozen=True)
class EngineAddress:
    """An engine's address: a Unix socket's path, or host and port. `prefix` is the API version in paths."""

    path: str
    host: str
    port: int
    prefix: str
    answer_seconds: float = ANSWER_SECONDS

    @classmethod
    def of(cls, host: str | None, api_version: str, answer_seconds: float = ANSWER_SECONDS) -> "EngineAddress":
        """Return the engine of a DOCKER_HOST.

        Raises:
            UserError: It names an engine over TLS, ssh or a named pipe.
        """
        url = urlsplit(parse_host(host))
        prefix = f"/v{api_version}"
        if url.scheme == "http+unix":
            return cls(url.path, "localhost", 0, prefix, answer_seconds)
        if url.scheme in ("http", "tcp") and url.hostname and url.port:
            return cls("", url.hostname, url.port, prefix, answer_seconds)
        raise UserError(f"DOCKER_HOST={host}: engines over TLS or ssh are not supported; forward its socket")

    async def post(self, path: str, body: Mapping[str, object] | None = None, upgrade: bool = False) -> "HttpAnswer":
        """Send a request and read the answer's head.

        Raises:
            EndedFromOutside: The container isn't there (404).
            SandboxLost: The engine refuses, or doesn't answer.
        """
        data = json.dumps(body).encode() if body is not None else b""
        head = [
            f"POST {self.prefix}{path} HTTP/1.1",
            f"Host: {self.host}",
            "Content-Type: application/json",
            f"Content-Length: {len(data)}",
            *(("Connection: Upgrade", "Upgrade: tcp") if upgrade else ("Connection: close",)),
        ]
        writer = None
        try:
            async with asyncio.timeout(self.answer_seconds):
                reader, writer = await self._open()
                writer.write("\r\n".join([*head, "", ""]).encode() + data)
                await writer.drain()
                status = _status(await reader.readuntil(b"\r\n\r\n"))
                if status >= http.HTTPStatus.BAD_REQUEST:
                    raise refused(status, await reader.read(MAX_HEAD))
        except BaseException as error:
            if writer is not None:
                writer.close()
            if isinstance(error, (OSError, EOFError, TimeoutError, asyncio.LimitOverrunError, ValueError)):
                raise SandboxLost(f"the Docker engine: {str(error) or type(error).__name__}") from error
            raise
        return HttpAnswer(reader, writer)

    async def comes_back(self) -> bool:
        """Return whether nothing listens there now, and within the time for an answer something does again."""
        loop = asyncio.get_running_loop()
        end, wait = loop.time() + self.answer_seconds, _FIRST_WAIT
        was_away = False
        while not await self._is_heard():
            was_away = True
            if loop.time() > end:
                return False
            await asyncio.sleep(wait)
            wait = min(2 * wait, _LONGEST_WAIT)
        return was_away

    async def _is_heard(self) -> bool:
        try:
            _, writer = await self._open()
        except (ConnectionError, FileNotFoundError):
            return False
        except OSError:  # it is there, and has no room for us
            return True
        writer.close()
        return True

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self.path:
            return await asyncio.open_unix_connection(self.path, limit=MAX_HEAD)
        return await asyncio.open_connection(self.host, self.port, limit=MAX_HEAD)

    def get(self, path: str, query: Mapping[str, str] | None = None) -> "Download":
        """Send a request whose answer is read piece by piece, in a blocking way.

        Raises:
            OSError: The engine doesn't answer.
            HTTPException: Its answer isn't HTTP.
        """
        return Download(self, f"{self.prefix}{path}" + (f"?{urlencode(query)}" if query else ""))


class HttpAnswer:
    """The rest of an answer after its head."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def drop(self) -> None:
        """Read to the end and forget it."""
        try:
            while await self.reader.read(MAX_HEAD):
                pass
        except OSError:
            return
        finally:
            self.writer.close()


class Download:
    """An answer that is read in a blocking way."""

    def __init__(self, address: EngineAddress, path: str) -> None:
        self._connection = _Connection(address)
        try:
            self._connection.request("GET", path)
            self._answer = self._connection.getresponse()
        except BaseException:
            self._connection.close()
            raise
        self.status = self._answer.status
        self.headers = self._answer.headers

    def read(self, size: int = -1) -> bytes:
        return self._answer.read(size)

    def close(self) -> None:
        self._answer.close()
        self._connection.close()


class _Connection(http.client.HTTPConnection):
    def __init__(self, address: EngineAddress) -> None:
        super().__init__(address.host, address.port or None, timeout=address.answer_seconds)
        self._path = address.path

    def connect(self) -> None:
        if not self._path:
            super().connect()
            return
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _status(head: bytes) -> int:
    """Return the status in an answer's head. Raises ValueError."""
    match head.split(maxsplit=2):
        case [version, status, *_] if version.startswith(b"HTTP/1."):
            return int(status)
    raise ValueError("its answer is not HTTP")


def refused(status: int, body: bytes) -> SandboxLost:
    """Return the error for an answer that isn't what was asked for."""
    # What comes over a connection of ours may be cut in chunks, with their lengths before and after.
    text = body.decode(errors="replace")
    text = text[text.find("{") : text.rfind("}") + 1]
    try:
        message = str(json.loads(text)["message"])
    except (ValueError, KeyError, TypeError):
        message = f"status {status}"
    kind = EndedFromOutside if status == http.HTTPStatus.NOT_FOUND else SandboxLost
    return kind(f"the Docker engine: {message}")


_CHUNK = 1 << 18
_NO_WAY_THERE = re.compile(
    r": (?:not a directory|too many levels of symbolic links|file name too long)$|: too many links in /"
)
"""Parts of what an engine says of a path that leads nowhere."""
_DIRECTORY, _LINK = 1 << 31, 1 << 27
"""Bits of a mode as Go writes it."""


async def attach(address: EngineAddress, container: str) -> "AttachedStream":
    """Return the output of a container's first process, from its start on.

    Raises:
        SandboxLost: The engine refuses, or doesn't answer.
    """
    answer = await address.post(f"/containers/{quote(container)}/attach?stdout=1&stderr=1&stream=1", upgrade=True)
    return AttachedStream(answer)


async def start_exec(address: EngineAddress, execution: str) -> "AttachedStream":
    """Start a process that was made in a container, and return its streams.

    Raises:
        SandboxLost: The engine refuses, or doesn't answer.
    """
    return AttachedStream(
        await address.post(f"/exec/{quote(execution)}/start", {"Detach": False, "Tty": False}, upgrade=True)
    )


async def wait_for_end(address: EngineAddress, container: str) -> None:
    """Wait until a container has ended, or the engine stops answering.

    Raises:
        SandboxLost: The container is gone.
    """
    await (await address.post(f"/containers/{quote(container)}/wait")).drop()


class AttachedStream:
    """Standard input and output of a container's process.

    Output comes in blocks with a header of eight bytes: the kind, three zeros, and the length (big-endian).
    """

    def __init__(self, answer: HttpAnswer) -> None:
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
    """A path of a container as a tar.

    Blocking; to be used in a thread, and closed: until then the engine keeps the container locked. Raises
    FileNotFoundError, EndedFromOutside where there is no such container, SandboxLost.

    Where the path is a symbolic link, Podman gives what it leads to.
    """

    def __init__(self, address: EngineAddress, container: str, path: str) -> None:
        self._download = address.get(f"/containers/{quote(container)}/archive", {"path": path})
        try:
            if self._download.status == http.HTTPStatus.NOT_FOUND:
                _check_exists(address, container)
                raise FileNotFoundError(path)
            if self._download.status != http.HTTPStatus.OK:
                error = refused(self._download.status, self._download.read(MAX_HEAD))
                raise FileNotFoundError(path) if _NO_WAY_THERE.search(str(error)) else error
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


def _check_exists(address: EngineAddress, container: str) -> None:
    found = address.get(f"/containers/{quote(container)}/json")
    try:
        if found.status == http.HTTPStatus.NOT_FOUND:
            raise refused(found.status, found.read(MAX_HEAD))
    finally:
        found.close()
