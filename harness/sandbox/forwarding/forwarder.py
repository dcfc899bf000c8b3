"""Runs in a sandbox and imports nothing of ours; the host runs its `Mux` as well.

What connects to PORT of the sandbox's loopback is carried to the gateway: to the Unix socket SOCKET where that can
be connected to, else over standard input and output. One byte on standard output says which: `s` or `m`; `e` says
that the port can't be had.

usage: python -c SOURCE PORT SOCKET [alone]

With `alone` it uses the socket only, says nothing and goes on until it is killed.
Over a stream, all connections share frames: a kind, a connection's number, a length (big-endian), and so many bytes.
"""

import asyncio
import contextlib
import itertools
import struct
import sys
from collections.abc import Awaitable, Callable

HEADER = struct.Struct(">BII")
OPEN, DATA, END, RESET = range(4)
CHUNK = 1 << 16
MAX_CONNECTIONS = 128
MAX_UNREAD_BYTES = 64 << 20
"""Bytes of one connection that its receiver hasn't read; it is broken off at more. A slow reader delays no other."""
SOCKET_WORKS, MULTIPLEXED, NO_PORT = b"s", b"m", b"e"
DIAL_SECONDS = 10

Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Connection:
    """`ours` and `theirs` say which of the two sides has sent all that it has to send."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        self.ours = self.theirs = False


class Mux:
    """Many connections over one stream. `read` gives some bytes, none at the end; `write` returns once it may go on.

    `dial` makes this side's end of a connection that the other side opens; where it raises OSError, it is broken off.
    """

    def __init__(
        self,
        read: Callable[[], Awaitable[bytes]],
        write: Callable[[bytes], Awaitable[object]],
        dial: Callable[[], Awaitable[Ends]] | None = None,
    ) -> None:
        self._read, self._write, self._dial = read, write, dial
        self._numbers = itertools.count(1)
        self._connections: dict[int, Connection] = {}
        self._tasks: set[asyncio.Future[None]] = set()
        self._turn = asyncio.Lock()
        self._buffer = bytearray()

    async def run(self) -> None:
        """Carry until the stream ends, or holds what is no frame."""
        try:
            while True:
                kind, number, length = HEADER.unpack(await self._exactly(HEADER.size))
                if kind > RESET or length > CHUNK:
                    return
                await self._take(kind, number, await self._exactly(length))
        except (EOFError, OSError):
            return
        finally:
            for task in self._tasks:
                task.cancel()
            for connection in self._connections.values():
                connection.writer.transport.abort()

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry a connection that was made to this side."""
        if len(self._connections) >= MAX_CONNECTIONS:
            writer.transport.abort()
            return
        number = next(self._numbers)
        self._connections[number] = Connection(writer)
        await self._send(OPEN, number)
        await self._pump(number, reader)

    async def _take(self, kind: int, number: int, data: bytes) -> None:
        connection = self._connections.get(number)
        if kind == OPEN:
            await self._begin(number)
        elif connection is None:
            return
        elif kind == DATA:
            await self._deliver(number, connection.writer, data)
        elif kind == END:
            connection.theirs = True
            self._end_one_way(number, connection)
        else:
            self._break_off(number)

    async def _deliver(self, number: int, writer: asyncio.StreamWriter, data: bytes) -> None:
        is_open = not writer.transport.is_closing()
        if is_open:
            writer.write(data)
        if not is_open or writer.transport.get_write_buffer_size() > MAX_UNREAD_BYTES:
            self._break_off(number)
            await self._send(RESET, number)

    def _end_one_way(self, number: int, connection: Connection) -> None:
        if connection.ours and connection.theirs:
            self._connections.pop(number, None)
            connection.writer.close()
        elif connection.theirs:
            with contextlib.suppress(OSError, RuntimeError):
                connection.writer.write_eof()

    async def _begin(self, number: int) -> None:
        """Begin this side of a connection that the other side has opened.

        What the other sends next comes after that.
        """
        try:
            if self._dial is None or number in self._connections or len(self._connections) >= MAX_CONNECTIONS:
                raise OSError
            reader, writer = await self._dial()
        except OSError:
            await self._send(RESET, number)
            return
        self._connections[number] = Connection(writer)
        task = asyncio.ensure_future(self._pump(number, reader))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _pump(self, number: int, reader: asyncio.StreamReader) -> None:
        """Send what comes from a connection, to its end."""
        try:
            while data := await reader.read(CHUNK):
                await self._send(DATA, number, data)
        except OSError:
            self._break_off(number)
            await self._send(RESET, number)
            return
        await self._send(END, number)
        connection = self._connections.get(number)
        if connection is not None:
            connection.ours = True
            self._end_one_way(number, connection)

    def _break_off(self, number: int) -> None:
        connection = self._connections.pop(number, None)
        if connection is not None:
            connection.writer.transport.abort()

    async def _send(self, kind: int, number: int, data: bytes = b"") -> None:
        with contextlib.suppress(OSError):  # the end of the stream is `run`'s to find
            async with self._turn:
                await self._write(HEADER.pack(kind, number, len(data)) + data)

    async def _exactly(self, size: int) -> bytes:
        while len(self._buffer) < size:
            data = await self._read()
            if not data:
                raise EOFError
            self._buffer += data
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        return data


async def forward(port: int, socket: str) -> None:
    """Carry connections to `port` over standard input and output, and those of `socket` back."""
    read, write = await _standard_streams()
    try:
        await asyncio.wait_for(_dial(socket), DIAL_SECONDS)
        through_socket = True
    except (TimeoutError, OSError):
        through_socket = False
    mux = Mux(read, write)
    try:
        server = await asyncio.start_server(_relay(socket) if through_socket else mux.accept, "127.0.0.1", port)
    except OSError:
        await write(NO_PORT)
        return
    await write(SOCKET_WORKS if through_socket else MULTIPLEXED)
    # Over a socket nothing comes from there: it ends with the one who has started this.
    await mux.run()
    server.close()


async def _dial(socket: str) -> Ends:
    return await asyncio.open_unix_connection(socket)


def _relay(socket: str) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await _dial(socket)
        except OSError:
            writer.transport.abort()
            return
        await asyncio.gather(_copy(reader, far_writer), _copy(far_reader, writer))
        for each in (writer, far_writer):
            each.close()

    return relay


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(CHUNK):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except (OSError, RuntimeError):
        writer.transport.abort()


async def _standard_streams() -> tuple[Callable[[], Awaitable[bytes]], Callable[[bytes], Awaitable[None]]]:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, sys.stdout)
    writer = asyncio.StreamWriter(transport, protocol, None, loop)

    async def read() -> bytes:
        return await reader.read(CHUNK)

    async def write(data: bytes) -> None:
        writer.write(data)
        await writer.drain()

    return read, write


async def relay_alone(port: int, socket: str) -> None:
    """Carry connections to `port` to a Unix socket."""
    server = await asyncio.start_server(_relay(socket), "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run((relay_alone if sys.argv[3:] else forward)(int(sys.argv[1]), sys.argv[2]))
