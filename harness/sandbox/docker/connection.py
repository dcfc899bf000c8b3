"""The engine's socket, for what the SDK offers no public way to (streams.py): HTTP requests of our own."""

import asyncio
import http.client
import json
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from docker.utils import parse_host

from harness.specs.errors import EndedFromOutside, SandboxLost, UserError

ANSWER_SECONDS = 120
"""So long the engine may take for an answer, or for the next bytes of one; then it counts as lost."""
MAX_HEAD = 1 << 16
_FIRST_WAIT, _LONGEST_WAIT = 0.1, 2.0
"""Seconds between two looks whether an engine that is away has come back."""


@dataclass(frozen=True)
class Address:
    """Where an engine listens: a Unix socket's path, or host and port. `prefix` is the API version in paths."""

    path: str
    host: str
    port: int
    prefix: str
    answer_seconds: float = ANSWER_SECONDS

    @classmethod
    def of(cls, host: str | None, api_version: str, answer_seconds: float = ANSWER_SECONDS) -> "Address":
        """The engine of a DOCKER_HOST. Raises UserError for one over TLS, ssh or a named pipe."""
        url = urlsplit(parse_host(host))
        prefix = f"/v{api_version}"
        if url.scheme == "http+unix":
            return cls(url.path, "localhost", 0, prefix, answer_seconds)
        if url.scheme in ("http", "tcp") and url.hostname and url.port:
            return cls("", url.hostname, url.port, prefix, answer_seconds)
        raise UserError(f"DOCKER_HOST={host}: engines over TLS or ssh are not supported; forward its socket")

    async def post(self, path: str, body: Mapping[str, object] | None = None, upgrade: bool = False) -> "Answer":
        """Send a request and read the answer's head. Raises EndedFromOutside for 404, SandboxLost."""
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
        return Answer(reader, writer)

    async def comes_back(self) -> bool:
        """Whether nothing listens there now, and within the time for an answer something does again."""
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
        """A request whose answer is read piece by piece, in a blocking way. Raises OSError, HTTPException."""
        return Download(self, f"{self.prefix}{path}" + (f"?{urlencode(query)}" if query else ""))


class Answer:
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

    def __init__(self, address: Address, path: str) -> None:
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
    def __init__(self, address: Address) -> None:
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
    """Of an answer's head. Raises ValueError."""
    match head.split(maxsplit=2):
        case [version, status, *_] if version.startswith(b"HTTP/1."):
            return int(status)
    raise ValueError("its answer is not HTTP")


def refused(status: int, body: bytes) -> SandboxLost:
    """The error for an answer that isn't what was asked for."""
    # What comes over a connection of ours may be cut in chunks, with their lengths before and after.
    text = body.decode(errors="replace")
    text = text[text.find("{") : text.rfind("}") + 1]
    try:
        message = str(json.loads(text)["message"])
    except (ValueError, KeyError, TypeError):
        message = f"status {status}"
    kind = EndedFromOutside if status == http.HTTPStatus.NOT_FOUND else SandboxLost
    return kind(f"the Docker engine: {message}")
