"""A channel understands its driver however the bytes are cut, with a driver scripted here."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.sandbox.channel import DRIVER, KILLED, Channel, Stream
from harness.specs.errors import SandboxLost


class ScriptedDriver:
    """Answers each frame with what `answer(token, command)` yields; hands it over `size` bytes at a time."""

    ends = False
    """Whether the stream is closed after the first answer."""

    def __init__(self, answer: Callable[[bytes, bytes], bytes], size: int, pid: bytes = b"42\n") -> None:
        self._pid = pid
        self._answer = answer
        self._size = size
        self._received = b""
        self._greeted = False
        self._answered = False
        self._sent = bytearray()
        self._more = asyncio.Event()
        self.closed = False

    async def write(self, data: bytes) -> None:
        self._received += data
        if not self._greeted and len(self._received) > len(DRIVER):
            self._greeted = True
            greeting, self._received = self._received[len(DRIVER) :], b""
            self._sent += greeting.split()[0] + b" " + self._pid
        while b"\n" in self._received and self._take_frame():
            pass
        self._more.set()

    def _take_frame(self) -> bool:
        header, _, rest = self._received.partition(b"\n")
        if not header:  # an acknowledgement
            self._received = rest
            return True
        token, _, _, size = header.split()
        if len(rest) < int(size):
            return False
        self._answered = True
        self._sent += self._answer(token, rest[: int(size)])
        self._received = rest[int(size) :]
        return True

    async def read(self) -> bytes:
        while not self._sent:
            if self.closed or (self.ends and self._answered):
                return b""
            self._more.clear()
            await self._more.wait()
        data = bytes(self._sent[: self._size])
        del self._sent[: self._size]
        return data

    def close(self) -> None:
        self.closed = True

    def die(self) -> None:
        self.closed = True
        self._answer = lambda _token, _command: b""


class DeadDriver(ScriptedDriver):
    async def write(self, data: bytes) -> None:
        raise BrokenPipeError


def _echo(token: bytes, command: bytes) -> bytes:
    return b"noise" + token + b"\n" + command + token[:16] + token + b" 3 0\n"


@pytest.mark.parametrize("size", [1, 7, 32, 33, 1000])
async def test_output_is_told_from_its_end_at_any_cut(size: int) -> None:
    drivers = [ScriptedDriver(_echo, size)]
    channel = Channel(_connecting(drivers))
    for command in ("echo", "", "x" * 500):
        result = await channel.run(command, 5)
        assert result.exit_status == 3
        assert result.output.startswith(command.encode())
        assert len(result.output) == len(command) + 16


async def test_a_channel_that_never_opens_is_a_lost_sandbox() -> None:
    with pytest.raises(SandboxLost):
        await Channel(_connecting([DeadDriver(_echo, 10) for _ in range(5)])).run("true", 5)


async def test_a_driver_that_dies_while_idle_does_not_cost_the_next_command() -> None:
    first, second = ScriptedDriver(_echo, 100), ScriptedDriver(_echo, 100)
    channel = Channel(_connecting([first, second]))
    await channel.run("one", 5)
    first.die()
    assert (await channel.run("two", 5)).output.startswith(b"two")


FORGED_ENDS = [
    b" x 0\n",
    b" \n",
    b"\n",
    b" 3\n",
    b" 3 0 0\n",
    b" 3 2\n",
    b" 256 0\n",
    b" -1 0\n",
    b" 03 0\n",
    b" \xd9\xa3 0\n",
    b" 3 0\r\n",
    b" " + b"1" * 5000 + b" 0\n",
    b" 3 0" + b" " * 100_000,
]


@pytest.mark.parametrize("end", FORGED_ENDS)
@pytest.mark.parametrize("size", [1, 1000])
async def test_an_end_that_no_driver_writes_costs_its_command_and_replaces_the_driver(end: bytes, size: int) -> None:
    hostile = ScriptedDriver(lambda token, _: token + b"\nprinted" + token + end, size)
    channel = Channel(_connecting([hostile, ScriptedDriver(_echo, size)]))
    result = await channel.run("one", 5)
    assert (result.exit_status, result.timed_out) == (KILLED, False)
    assert result.output.startswith(b"printed")
    assert hostile.closed
    assert (await channel.run("two", 5)).output.startswith(b"two")


@pytest.mark.parametrize("pid", [b"x\n", b"\n", b"-1\n", b"1 2\n", b"\xff\n", b"9" * 5000 + b"\n", b"1" * 500_000])
async def test_a_greeting_that_no_driver_writes_is_not_believed(pid: bytes) -> None:
    channel = Channel(_connecting([ScriptedDriver(_echo, 1000, pid), ScriptedDriver(_echo, 1000)]))
    assert (await channel.run("one", 5)).output.startswith(b"one")


class EndlessDriver(ScriptedDriver):
    """Writes 64 KiB of digits at a time, without end, after its last word; tells how many times."""

    reads = 0

    async def read(self) -> bytes:
        if self._sent:
            return await super().read()
        self.reads += 1
        return b"1" * 65536


async def test_a_line_without_end_is_not_gathered() -> None:
    endless = EndlessDriver(lambda token, _: token + b"\n" + token, 1000)
    channel = Channel(_connecting([endless, ScriptedDriver(_echo, 1000)]))
    assert (await channel.run("one", 5)).exit_status == KILLED
    assert endless.reads <= 2


PARTS = st.sampled_from([b"TOKEN", b"TOKEN\n", b"TOKEN 3 0\n", b" ", b"\n", b"0", b"1", b"x" * 300]) | st.binary(
    max_size=40
)


@settings(deadline=None)
@given(st.lists(PARTS, max_size=12), st.integers(1, 200))
def test_whatever_comes_from_a_driver_is_an_answer(parts: list[bytes], size: int) -> None:
    async def run() -> None:
        hostile = ScriptedDriver(lambda token, _: b"".join(parts).replace(b"TOKEN", token), size)
        hostile.ends = True
        channel = Channel(_connecting([hostile, *(ScriptedDriver(_echo, 1000) for _ in range(2))]))
        result = await channel.run("one", 5)
        assert result.exit_status in range(256)
        assert len(result.output) + result.truncated <= sum(map(len, parts)) + 32 * len(parts) + len("one") + 16
        assert (await channel.run("two", 5)).exit_status in range(256)

    asyncio.run(run())


def _connecting(drivers: list[ScriptedDriver]) -> Callable[[], Awaitable[Stream]]:
    waiting = iter(drivers)

    async def connect() -> Stream:
        return next(waiting)

    return connect
