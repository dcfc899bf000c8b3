"""Tars to and from containers: files placed and outputs read, each within caps.

A tar as it comes out of a sandbox: limited, read by a thread of its own, never written to a disk as a whole.
"""

import asyncio
import io
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple, TypeVar, cast

from harness.sandbox.protocol import LimitReached, PlacedFile
from harness.sandbox.tarfiles import tarfile
from harness.specs.errors import SandboxLost

MTIME = 978307200
"""The time of everything placed: 2001-01-01, the date of the base commit."""
MAX_OUTPUT_FILES = 2_000
MAX_OUTPUTS_BYTES = 50_000_000
"""Bytes of one job's outputs, all files together."""


class Outputs(NamedTuple):
    """Files read from a job, and whether they are all."""

    files: dict[str, bytes]
    complete: bool


def pack(
    files: Iterable[PlacedFile],
    uid: int,
    gid: int,
    directories: Mapping[str, tarfile.TarInfo | None],
    of_root: Iterable[PlacedFile] = (),
) -> bytes:
    """Return a tar, relative to `/`, of files and of every directory above them.

    Args:
        files: Files of the user `uid` and the group `gid`.
        uid: The user's number.
        gid: The group's number.
        directories: Those above the files: as they are in the image, so that unpacking leaves them as they were, or
            None where they are new.
        of_root: Files of root.
    """
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path, present in sorted(directories.items()):
            tar.addfile(_directory(path, present, uid, gid))
        for file in sorted(files):
            tar.addfile(_file(file, uid, gid), io.BytesIO(file.data))
        for file in sorted(of_root):
            tar.addfile(_file(file, 0, 0), io.BytesIO(file.data))
    return archive.getvalue()


def parents(files: Iterable[PlacedFile]) -> set[str]:
    """Return every directory above the files but `/`."""
    return {str(parent) for file in files for parent in PurePosixPath(file.path).parents if str(parent) != "/"}


def read_outputs(chunks: Iterator[bytes]) -> Outputs:
    """Return the regular files of a directory's tar as a container engine streams it, up to the caps."""
    files: dict[str, bytes] = {}
    room = MAX_OUTPUTS_BYTES
    with tarfile.open(fileobj=cast("BinaryIO", ChunkReader(chunks)), mode="r|") as tar:
        for count, member in enumerate(tar):
            if count > MAX_OUTPUT_FILES or member.size > room:
                return Outputs(files, complete=False)
            content = tar.extractfile(member) if member.isreg() else None
            if content is not None:
                files[member.name.partition("/")[2]] = content.read()
                room -= member.size
    return Outputs(files, complete=True)


def first_member(chunks: Iterator[bytes]) -> tarfile.TarInfo | None:
    """Return the first member of a tar; None of an empty one."""
    with tarfile.open(fileobj=cast("BinaryIO", ChunkReader(chunks)), mode="r|") as tar:
        return tar.next()


def first_file(chunks: Iterator[bytes]) -> bytes:
    """Return the bytes of the first file of a tar."""
    with tarfile.open(fileobj=cast("BinaryIO", ChunkReader(chunks)), mode="r|") as tar:
        member = tar.next()
        content = tar.extractfile(member) if member and member.isreg() else None
        return content.read() if content else b""


class ChunkReader:
    """Chunks as a file to read from."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._buffer = bytearray()

    def read(self, size: int) -> bytes:
        while len(self._buffer) < size and (chunk := next(self._chunks, b"")):
            self._buffer += chunk
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        return data


def _directory(path: str, present: tarfile.TarInfo | None, uid: int, gid: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(path.strip("/"))
    entry.type = tarfile.DIRTYPE
    if present is None:
        entry.uid, entry.gid, entry.mode, entry.mtime = uid, gid, 0o755, MTIME
    else:
        entry.uid, entry.gid, entry.mode, entry.mtime = present.uid, present.gid, present.mode, present.mtime
    return entry


def _file(file: PlacedFile, uid: int, gid: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(file.path.strip("/"))
    entry.size, entry.mode, entry.mtime = len(file.data), file.mode, MTIME
    entry.uid, entry.gid = uid, gid
    return entry


T = TypeVar("T")

_END = bytes(2 * tarfile.BLOCKSIZE)
"""The end of every complete tar."""


async def capped(chunks: AsyncIterator[bytes], limit: int) -> AsyncIterator[bytes]:
    """Yield chunks, up to `limit` bytes.

    Raises:
        LimitReached: Past it, with the limit `export`.
    """
    left = limit
    async for chunk in chunks:
        left -= len(chunk)
        if left < 0:
            raise LimitReached("export", f"the tree is larger than {limit} bytes")
        yield chunk


async def in_threads(chunks: Generator[bytes, None, None]) -> AsyncGenerator[bytes, None]:
    """Return what a blocking generator yields, each chunk made in a thread. The generator is closed at the end."""
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
    """Return what `read` makes of a tar that comes in chunks.

    Args:
        chunks: Hostile bytes.
        read: Sees each member once, in order. It runs in a thread of its own and may block.

    Raises:
        SandboxLost: The tar is damaged or ends too early: its last files would look deleted.
        Exception: What `read` or the chunks raise.
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
    """Yield each member once. A TarFile would keep all that it has read, as many as an agent cares to make."""
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
