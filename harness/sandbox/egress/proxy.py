"""An HTTP proxy on a Unix socket that leads to a list of hosts. All else is refused, and counted."""

import asyncio
import contextlib
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from harness.sandbox.egress.clients import Egress
from harness.sandbox.egress.destinations import HEAD_BYTES, Destinations, Endpoint, Ends, Refused, Resolve

_HEAD_SECONDS = 30.0
_CHUNK = 1 << 16
_MOST_AT_ONCE = 128
_MOST_KINDS = 200
_NAME_CHARS = 200
_NOT_PASSED = (
    b"proxy-", b"connection", b"host", b"keep-alive", b"upgrade", b"te:", b"content-length", b"transfer-encoding",
    b"expect", b" ", b"\t",
)  # fmt: skip


class Contact(NamedTuple):
    """An attempt to connect. `outcome` is `open`, `failed`, or why it was refused."""

    host: str
    port: int
    outcome: str


_OTHERS = Contact("others", 0, "refused")


class _Asked(NamedTuple):
    """A request to the proxy. `first` is sent to the destination before all else; a tunnel has none."""

    host: str
    port: int
    first: bytes
    is_tunnel: bool


class EgressProxy:
    """One agent's. `contacts` counts connections, by where they were to go; it is bounded."""

    def __init__(self, egress: Egress, socket: Path, resolve: Resolve | None = None) -> None:
        self.egress = egress
        self.socket = socket
        self.contacts: Counter[Contact] = Counter()
        self._destinations = Destinations(egress.endpoints, resolve)
        self._tasks: set[asyncio.Task[object]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection, to its end."""
        task = asyncio.current_task()
        assert task is not None
        if len(self._tasks) >= _MOST_AT_ONCE:
            writer.transport.abort()
            return
        self._tasks.add(task)
        try:
            await self._serve(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass  # it has gone, has sent no request, or the trial is over
        finally:
            self._tasks.discard(task)
            writer.close()

    async def close(self) -> None:
        """End the connections that are open."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(_HEAD_SECONDS):
            head = await reader.readuntil(b"\r\n\r\n")
        asked = _asked(head)
        if asked is None:
            await _answer(writer, "400 Bad Request", "this is a proxy to package registries: CONNECT HOST:PORT")
            return
        try:
            far = await self._destinations.open(self._check(asked))
        except Refused as refused:
            self._count(asked, refused.why)
            await _answer(writer, "403 Forbidden", f"{_place(asked)} is no package registry of this task")
            return
        except OSError:
            self._count(asked, "failed")
            await _answer(writer, "502 Bad Gateway", f"{_place(asked)} can't be reached now")
            return
        self._count(asked, "open")
        await _join(asked, (reader, writer), far)

    def _check(self, asked: _Asked) -> Endpoint:
        endpoint = self._destinations.check(asked.host, asked.port)
        if not asked.is_tunnel and not asked.first:
            raise Refused("method")
        return endpoint

    def _count(self, asked: _Asked, outcome: str) -> None:
        contact = Contact(asked.host[:_NAME_CHARS], asked.port, outcome)
        is_known = contact in self.contacts or len(self.contacts) < _MOST_KINDS or outcome == "open"
        self.contacts[contact if is_known else _OTHERS] += 1


@asynccontextmanager
async def serve_egress(egress: Egress, resolve: Resolve | None = None) -> AsyncIterator[EgressProxy]:
    """Provide a proxy for one agent, until the block ends.

    Its socket lies alone in a directory that others may enter.
    """
    with tempfile.TemporaryDirectory(prefix="testwright-") as private:  # mode 0700
        directory = Path(private) / "egress"
        directory.mkdir()
        directory.chmod(0o755)
        proxy = EgressProxy(egress, directory / "egress.sock", resolve)
        server = await asyncio.start_unix_server(proxy.serve, proxy.socket, limit=HEAD_BYTES)
        proxy.socket.chmod(0o666)
        try:
            yield proxy
        finally:
            server.close()
            await proxy.close()


def _asked(head: bytes) -> _Asked | None:
    """Return what a request asks for; None where it isn't one for a proxy."""
    line, *rest = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    if any(b"\n" in it or b"\r" in it for it in (line, *rest)):
        return None
    try:
        method, target, version = line.decode("ascii").split(" ")
        if not version.startswith("HTTP/1."):
            return None
        if method == "CONNECT":
            parts = urlsplit(f"//{target}")
            if parts.hostname is None or parts.port is None or parts.path:
                return None
            return _Asked(parts.hostname, parts.port, b"", is_tunnel=True)
        parts = urlsplit(target)
        if parts.scheme != "http" or parts.hostname is None:
            return None
        host, port = parts.hostname, parts.port or 80
    except ValueError:
        return None
    if method not in ("GET", "HEAD"):  # a registry is read from
        return _Asked(host, port, b"", is_tunnel=False)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    kept = [header for header in rest if not header.lower().startswith(_NOT_PASSED)]
    named = f"Host: {host}" + ("" if port == 80 else f":{port}")
    first = [f"{method} {path} HTTP/1.1".encode(), named.encode(), b"Connection: close", *kept]
    return _Asked(host, port, b"\r\n".join(first) + b"\r\n\r\n", is_tunnel=False)


def _place(asked: _Asked) -> str:
    return f"{asked.host[:_NAME_CHARS]}:{asked.port}"


async def _answer(writer: asyncio.StreamWriter, status: str, words: str) -> None:
    body = f"testwright: {words}\n".encode()
    heads = (f"HTTP/1.1 {status}", "Content-Type: text/plain", f"Content-Length: {len(body)}", "Connection: close")
    writer.write("\r\n".join((*heads, "", "")).encode() + body)
    await writer.drain()


async def _join(asked: _Asked, near: Ends, far: Ends) -> None:
    """Carry both ways until both have ended."""
    try:
        if asked.is_tunnel:
            near[1].write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            far[1].write(asked.first)  # and nothing after it: another request might name another host
            await _copy(far[0], near[1])
            return
        await asyncio.gather(_copy(near[0], far[1]), _copy(far[0], near[1]))
    finally:
        far[1].close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except (OSError, RuntimeError):
        writer.transport.abort()
    with contextlib.suppress(OSError):
        await writer.drain()
