"""Tars that come in chunks are read whole or not at all."""

import asyncio
import io
import tarfile
from collections.abc import AsyncIterator, Generator
from pathlib import Path

import pytest

from harness.sandbox.archives import capped, in_threads, members, read_tar, save_tar
from harness.sandbox.protocol import LimitReached
from harness.specs.errors import SandboxLost


def tar_of(files: dict[str, bytes]) -> bytes:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return archive.getvalue()


async def in_chunks(data: bytes, size: int = 700) -> AsyncIterator[bytes]:
    for at in range(0, len(data), size):
        yield data[at : at + size]


def contents(tar: tarfile.TarFile) -> dict[str, bytes]:
    found = {}
    for member in members(tar):
        stream = tar.extractfile(member)
        found[member.name] = stream.read() if stream else b""
    return found


FILES = {"app/a": b"a" * 5000, "app/b": b"", "app/c": b"c"}


async def test_a_tar_in_chunks_is_read_as_it_was_written() -> None:
    assert await read_tar(in_chunks(tar_of(FILES)), contents) == FILES


@pytest.mark.parametrize("kept", [1, 512, 600, 512 + 5120, 512 + 5120 + 512, 2 * 512 + 5120 + 1024])
async def test_a_tar_that_ends_too_early_is_a_lost_sandbox_and_no_smaller_tree(kept: int) -> None:
    with pytest.raises(SandboxLost):
        await read_tar(in_chunks(tar_of(FILES)[:kept]), contents)


async def test_bytes_that_are_no_tar_are_a_lost_sandbox() -> None:
    with pytest.raises(SandboxLost):
        await read_tar(in_chunks(b"no tar at all" * 1000), contents)


async def test_what_the_chunks_raise_is_raised() -> None:
    with pytest.raises(LimitReached) as caught:
        await read_tar(capped(in_chunks(tar_of(FILES)), 3000), contents)
    assert caught.value.limit == "export"


async def test_a_reader_that_stops_early_leaves_the_rest_unread() -> None:
    def refuse(tar: tarfile.TarFile) -> None:
        raise ValueError(tar.next())

    chunks = in_chunks(tar_of({"app/big": bytes(5_000_000)}))
    with pytest.raises(ValueError, match="app/big"):
        await read_tar(chunks, refuse)
    assert await anext(chunks)


async def test_a_reader_that_is_cancelled_ends_its_thread_and_its_chunks() -> None:
    waiting, closed = asyncio.Event(), asyncio.Event()

    async def stuck() -> AsyncIterator[bytes]:
        try:
            yield tar_of(FILES)[:1000]
            waiting.set()
            await asyncio.Event().wait()
        finally:
            closed.set()

    reading = asyncio.create_task(read_tar(stuck(), contents))
    await waiting.wait()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert closed.is_set()


async def test_no_member_is_kept_once_it_was_read() -> None:
    def most_kept(tar: tarfile.TarFile) -> int:
        return max(len(tar.members) for _ in members(tar))

    assert await read_tar(in_chunks(tar_of({f"app/{n}": b"" for n in range(300)}), 10_000), most_kept) == 0


async def test_a_saved_tar_that_was_too_large_is_removed(tmp_path: Path) -> None:
    with pytest.raises(LimitReached):
        await save_tar(capped(in_chunks(bytes(5000)), 1000), tmp_path / "out.tar")
    assert not (tmp_path / "out.tar").exists()
    await save_tar(capped(in_chunks(bytes(5000)), 5000), tmp_path / "out.tar")
    assert (tmp_path / "out.tar").stat().st_size == 5000


async def test_a_blocking_generator_is_closed_when_its_reader_stops() -> None:
    closed = []

    def numbers() -> Generator[bytes, None, None]:
        try:
            yield from (b"%d" % number for number in range(1, 1000))
        finally:
            closed.append(True)

    chunks = in_threads(numbers())
    assert [await anext(chunks), await anext(chunks)] == [b"1", b"2"]
    await chunks.aclose()
    assert closed == [True]


async def test_errors_of_a_blocking_generator_are_raised() -> None:
    def failing() -> Generator[bytes, None, None]:
        yield b"x"
        raise FileNotFoundError("/app")

    with pytest.raises(FileNotFoundError):
        _ = [chunk async for chunk in in_threads(failing())]
