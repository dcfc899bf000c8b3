"""Commands over one long-lived stream to `driver.sh` in a sandbox, with output of any length in bounded memory."""

import asyncio
import re
import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol

from harness.sandbox.protocol import MAX_OUTPUT_BYTES, CommandResult
from harness.specs.errors import SandboxLost


class BoundedOutput:
    """An output of which the first `head` and the last `tail` bytes are kept."""

    def __init__(self, head: int = MAX_OUTPUT_BYTES // 2, tail: int = MAX_OUTPUT_BYTES // 2) -> None:
        self._head_limit = head
        self._tail_limit = tail
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    def add(self, data: bytes | bytearray | memoryview) -> None:
        room = self._head_limit - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        # Cut only now and then: each cut moves what is kept.
        if len(self._tail) > 2 * self._tail_limit:
            self._cut()

    @property
    def value(self) -> bytes:
        """The bytes: everything, or the head directly followed by the tail."""
        self._cut()
        return bytes(self._head + self._tail)

    @property
    def truncated(self) -> int:
        """Return how many bytes are missing between head and tail."""
        self._cut()
        return self._dropped

    def _cut(self) -> None:
        surplus = len(self._tail) - self._tail_limit
        if surplus > 0:
            del self._tail[:surplus]
            self._dropped += surplus


DRIVER = Path(__file__).with_name("driver.sh").read_bytes()
DRIVER_COMMAND = ("bash", "-c", 'IFS= read -r -N "$0" driver && eval "$driver"', str(len(DRIVER)))
"""The driver comes over the stream, so that nothing need be in the image and no long command line is in sight."""
DRIVER_ENV = {"TESTWRIGHT_COMMAND": "driver"}

GRACE_SECONDS = 3.0
"""Seconds after a command's deadline at which the driver itself counts as lost."""
OPEN_SECONDS = 30.0
OPEN_ATTEMPTS = 3
_MAX_LINE = 64
_END = re.compile(rb" (0|[1-9][0-9]{0,2}) ([01])")
_MAX_STATUS = 255
_PID = re.compile(rb"[1-9][0-9]{0,9}")
TIMED_OUT = 124
KILLED = 137


class Stream(Protocol):
    """Bytes to a driver and back."""

    async def read(self) -> bytes:
        """Return some bytes; none at the end."""
        ...

    async def write(self, data: bytes) -> None:
        """Send bytes to the driver.

        Raises:
            OSError: It is gone.
        """
        ...

    def close(self) -> None:
        """Give the stream up."""
        ...


class EndedStream:
    """The stream of what could not be started."""

    async def read(self) -> bytes:
        return b""

    async def write(self, data: bytes) -> None:  # noqa: ARG002
        raise BrokenPipeError

    def close(self) -> None:
        """Do nothing."""


class NoShell(SandboxLost):
    """A sandbox in which no driver comes to answer, where others' do. `hang`: none of them ended."""

    def __init__(self, hang: bool) -> None:
        super().__init__("the sandbox starts no shell any more")
        self.hang = hang


class _Broken(Exception):
    """The driver's end of the stream is closed, or something that no driver of ours writes came from it."""


class Channel:
    """A way to run one command at a time.

    A driver that was killed, hangs or writes what a driver never does is replaced, its command's processes killed.
    The
    sandbox's processes can write to the stream as the driver does: its bytes are read within bounds, and where they
    are
    no answer the command counts as killed.

    `connect` starts a driver; it raises SandboxLost or LimitReached where the sandbox is dead. `marks` begins the
    mark
    that each command's processes carry; `alone` says that the driver sees no processes but the sandbox's. `is_sound`
    tells whether a sandbox beside this one starts its processes.
    """

    def __init__(
        self,
        connect: Callable[[], Awaitable[Stream]],
        marks: str = "",
        alone: bool = True,
        is_sound: Callable[[], Awaitable[bool]] | None = None,
    ) -> None:
        self._connect = connect
        self._is_sound = is_sound
        self._marks = marks
        self._alone = alone
        self._stream: Stream | None = None
        self._buffer = bytearray()
        self._driver = "0"
        self._count = 0
        self._unfinished = ""
        self._lock = asyncio.Lock()

    async def open(self) -> None:
        """Start a driver, in place of one before it.

        Raises:
            SandboxLost: The sandbox is dead, or its machine is.
            NoShell: Neither is.
        """
        if await self._opens() is None:
            return
        if self._is_sound is None or not await self._is_sound():
            raise SandboxLost("the sandbox starts no shell")
        # The machine may have stood still meanwhile.
        if (hang := await self._opens()) is not None:
            raise NoShell(hang)

    async def _opens(self) -> bool | None:
        """Try to start a driver, and return None; whether all that were started hung, where none answers."""
        hang = True
        for attempt in range(OPEN_ATTEMPTS):
            # A dying container may let a connection in before it is seen to be dead.
            await asyncio.sleep(0.1 * attempt)
            # The old stream is closed only now: until then it shows whether its driver still lives.
            stream = await self._connect()
            self.close()
            self._stream = stream
            try:
                async with asyncio.timeout(OPEN_SECONDS):
                    await self._greet()
                return None
            except _Broken:
                hang = False
            except TimeoutError:
                continue
        return hang

    def close(self) -> None:
        """Give up the driver and its stream."""
        if self._stream is not None:
            self._stream.close()
        self._stream = None
        self._buffer.clear()

    async def run(self, command: str, seconds: float, output: BoundedOutput | None = None) -> CommandResult:
        """Run a command for at most so many seconds, and collect what it prints in `output`.

        Raises:
            SandboxLost: The sandbox is dead.
        """
        output = output or BoundedOutput()
        text = _encode(command)
        if b"\0" in text:
            return CommandResult(2, b"bash: the command holds a NUL byte\n", 0, False, 0.0)
        async with self._lock:
            if self._stream is None or self._unfinished:  # the last caller was cancelled halfway
                await self.open()
            began = asyncio.get_running_loop().time()
            status, timed_out = await self._run(text, seconds, output)
            elapsed = asyncio.get_running_loop().time() - began
        return CommandResult(status, output.value, output.truncated, timed_out, elapsed)

    async def _run(self, text: bytes, seconds: float, output: BoundedOutput) -> tuple[int, bool]:
        try:
            async with asyncio.timeout(seconds + GRACE_SECONDS):
                token = await self._begin(text, seconds)
                await self._until(token, output.add)
                status, timed_out = await self._end()
                await self._write(b"\n")
        except _Broken:
            output.add(self._buffer)
            await self.open()
            return KILLED, False
        except TimeoutError:
            await self.open()
            return TIMED_OUT, True
        self._unfinished = ""
        return status, timed_out

    async def _end(self) -> tuple[int, bool]:
        """Return the rest of the line after a command's second token."""
        found = _END.fullmatch(await self._line())
        if found is None or int(found[1]) > _MAX_STATUS:
            raise _Broken
        return int(found[1]), found[2] == b"1"

    async def _begin(self, text: bytes, seconds: float) -> bytes:
        """Send a frame and wait for its token; a driver that was already dead by then is replaced."""
        try:
            return await self._send(text, seconds)
        except _Broken:
            self._unfinished = ""
            await self.open()
            return await self._send(text, seconds)

    async def _send(self, text: bytes, seconds: float) -> bytes:
        token = secrets.token_hex(16).encode()
        self._count += 1
        self._unfinished = f"{self._marks}{self._count}"
        header = f"{token.decode()} {self._unfinished} {seconds:.3f} {len(text)}\n"
        await self._write(header.encode() + text)
        await self._until(token + b"\n", _ignore)
        return token

    async def _greet(self) -> None:
        token = secrets.token_hex(16)
        left = f"{self._driver} {self._unfinished or '-'}"
        await self._write(DRIVER + f"{token} {int(self._alone)} {left}\n".encode())
        await self._until(token.encode() + b" ", _ignore)
        pid = await self._line()
        if not _PID.fullmatch(pid):
            raise _Broken
        self._driver, self._unfinished = pid.decode(), ""

    async def _write(self, data: bytes) -> None:
        assert self._stream is not None
        try:
            await self._stream.write(data)
        except OSError:
            raise _Broken from None

    async def _line(self) -> bytes:
        """Return a line of at most _MAX_LINE bytes, without its end."""
        line = bytearray()

        def take(part: bytes | bytearray) -> None:
            line.extend(part)
            if len(line) > _MAX_LINE:
                raise _Broken

        await self._until(b"\n", take)
        return bytes(line)

    async def _until(self, end: bytes, take: Callable[[bytes | bytearray], object]) -> None:
        """Hand over everything up to `end`, and drop that. Holds back no more than `end` could be the start of."""
        assert self._stream is not None
        while (at := self._buffer.find(end)) < 0:
            complete = len(self._buffer) - len(end) + 1
            if complete > 0:
                take(self._buffer[:complete])
                del self._buffer[:complete]
            data = await self._stream.read()
            if not data:
                raise _Broken
            self._buffer += data
        take(self._buffer[:at])
        del self._buffer[: at + len(end)]


def _ignore(_: bytes | bytearray) -> None:
    """Ignore what an earlier command's processes print between commands."""


def _encode(command: str) -> bytes:
    try:
        return command.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a surrogate pair, from a model's JSON
        return command.encode("utf-8", "replace")
