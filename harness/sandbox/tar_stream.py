"""A tar as it comes out of a sandbox: limited, read by a thread of its own, never written to a disk as a whole."""

import asyncio
import tarfile
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO, TypeVar, cast

from harness.sandbox.protocol import LimitReached
from harness.specs.errors import SandboxLost

T = TypeVar("T")

_END = bytes(2 * tarfile.BLOCKSIZE)
"""What every complete tar ends with."""


async def capped(chunks: AsyncIterator[bytes], limit: int) -> AsyncIterator[bytes]:
    """The chunks, up to `limit` bytes. Raises LimitReached("export") past it."""
    left = limit
    async for chunk in chunks:
        left -= len(chunk)
        if left < 0:
            raise LimitReached("export", f"the tree is larger than {limit} bytes")
        yield chunk


async def in_threads(chunks: Generator[bytes, None, None]) -> AsyncGenerator[bytes, None]:
    """What a blocking generator yields, each chunk made in a thread. The generator is closed at the end."""
    loop = asyncio.get_running_loop()
    pulled: asyncio.Future[bytes] | None = None
    try:
        while True:
            pulled = loop.run_in_executor(None, lambda: next(chunks, b""))
            if not (chunk := await asyncio.shield(pulled)):
                return
            yield chunk
    finally:
        if pulled is not None:
            await asyncio.wait([pulled])  # a generator that runs can't be closed
        chunks.close()


async def read_tar(chunks: AsyncIterator[bytes], read: Callable[[tarfile.TarFile], T]) -> T:
    """What `read` makes of the tar that comes in chunks; it sees each member once, in their order.

    `read` runs in a thread of its own and may block. Raises what it raises, what the chunks raise, and SandboxLost
    for a tar that is damaged or ends too early: its last files would look deleted.
    """
    stream = _Stream(chunks)

    def work() -> T:
        with tarfile.open(fileobj=cast("BinaryIO", stream), mode="r|", errors="surrogateescape") as tar:
            result = read(tar)
        stream.require_end()
        return result

    # Not one of the threads that all share: the chunks may need those.
    with ThreadPoolExecutor(1, "tar") as threads:
        working = asyncio.get_running_loop().run_in_executor(threads, work)
        try:
            return await asyncio.shield(working)
        except tarfile.TarError as error:
            raise SandboxLost(f"the sandbox's files can't be read: {error}") from error
        finally:
            await stream.close()
            await asyncio.wait([working])


def members(tar: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """Each member once. A TarFile would keep all that it has read, as many as an agent cares to make."""
    while (member := tar.next()) is not None:
        tar.members.clear()  # type: ignore[attr-defined]
        yield member


async def save_tar(chunks: AsyncIterator[bytes], destination: Path) -> None:
    """Write the chunks to a file. It is removed again where they end by an exception."""
    try:
        with destination.open("wb") as file:
            async for chunk in chunks:
                await asyncio.to_thread(file.write, chunk)
    except BaseException:
        destination.unlink(missing_ok=True)
        raise


class _Stream:
    """Chunks of the event loop as a file that a thread reads."""

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self._chunks = chunks
        self._loop = asyncio.get_running_loop()
        self._buffer = bytearray()
        self._tail = b""
        self._pulling: asyncio.Task[object] | None = None
        self._closed = False

    def read(self, size: int) -> bytes:
        while len(self._buffer) < size and (chunk := self._next()):
            self._buffer += chunk
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        return data

    def require_end(self) -> None:
        """Read what is left. Raises tarfile.ReadError where a tar's end is missing."""
        while self._next():
            pass
        if self._tail != _END:
            raise tarfile.ReadError("the archive ends too early")

    async def close(self) -> None:
        """Let the thread's next read fail, and the one that waits. No chunk is being made afterwards."""
        self._closed = True
        if self._pulling is not None:
            self._pulling.cancel()
            await asyncio.wait([self._pulling])

    def _next(self) -> bytes:
        chunk = asyncio.run_coroutine_threadsafe(self._pull(), self._loop).result()
        self._tail = (self._tail + chunk[-len(_END) :])[-len(_END) :]
        return chunk

    async def _pull(self) -> bytes:
        if self._closed:
            raise tarfile.StreamError("nobody reads this archive any more")
        self._pulling = asyncio.current_task()
        return await anext(self._chunks, b"")
