"""Connections that share one stream: what is carried, what is broken off, what is refused."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from harness.sandbox.forwarding.forwarder import CHUNK, DATA, HEADER, MAX_CONNECTIONS, OPEN, Ends, Mux


class Pipe:
    """One direction of a stream."""

    def __init__(self) -> None:
        self.reader = asyncio.StreamReader()

    async def read(self) -> bytes:
        return await self.reader.read(1000)  # other pieces than were written

    async def write(self, data: bytes) -> None:
        self.reader.feed_data(data)


@asynccontextmanager
async def carried(port_of_echo: int) -> AsyncIterator[int]:
    """A port whose connections are carried over a stream to another one."""
    there, back = Pipe(), Pipe()

    async def dial() -> Ends:
        return await asyncio.open_connection("127.0.0.1", port_of_echo)

    near, far = Mux(back.read, there.write), Mux(there.read, back.write, dial)
    tasks = [asyncio.create_task(near.run()), asyncio.create_task(far.run())]
    server = await asyncio.start_server(near.accept, "127.0.0.1", 0)
    yield int(server.sockets[0].getsockname()[1])
    server.close()
    for pipe in (there, back):
        pipe.reader.feed_eof()
    await asyncio.gather(*tasks)


@asynccontextmanager
async def echo() -> AsyncIterator[int]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(CHUNK):
            writer.write(data)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    yield int(server.sockets[0].getsockname()[1])
    server.close()


async def test_many_connections_at_once_get_what_is_theirs() -> None:
    async def ask(port: int, number: int) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(bytes([number]) * 300_000)
        writer.write_eof()
        answer = await reader.read()
        writer.close()
        return answer

    async with echo() as there, carried(there) as port:
        for _ in range(3):  # connections that have ended make room for others
            answers = await asyncio.gather(*(ask(port, number) for number in range(50)))
            assert answers == [bytes([number]) * 300_000 for number in range(50)]


async def test_a_gateway_that_is_gone_ends_the_connection() -> None:
    async with echo() as there:
        pass
    async with carried(there) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        with suppress(ConnectionResetError):
            assert await reader.read() == b""
        writer.close()


async def test_what_is_no_frame_ends_the_carrying() -> None:
    for frame in (HEADER.pack(9, 1, 0), HEADER.pack(DATA, 1, CHUNK + 1)):
        pipe = Pipe()
        await pipe.write(frame + b"x" * 10)
        await asyncio.wait_for(Mux(pipe.read, Pipe().write).run(), 5)


async def test_no_more_connections_are_opened_than_are_allowed() -> None:
    dialled = 0

    async def dial() -> Ends:
        nonlocal dialled
        dialled += 1
        return await asyncio.open_connection("127.0.0.1", there)

    async with echo() as there:
        pipe = Pipe()
        for number in range(3 * MAX_CONNECTIONS):
            await pipe.write(HEADER.pack(OPEN, number, 0))
        pipe.reader.feed_eof()
        await Mux(pipe.read, Pipe().write, dial).run()
    assert dialled == MAX_CONNECTIONS
