"""A channel understands its driver however the bytes are cut, with a driver scripted here."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from harness.sandbox.channel import DRIVER, Channel, Stream
from harness.specs.errors import SandboxLost


class ScriptedDriver:
    """Answers each frame with what `answer(token, command)` yields; hands it over `size` bytes at a time."""

    def __init__(self, answer: Callable[[bytes, bytes], bytes], size: int) -> None:
        self._answer = answer
        self._size = size
        self._received = b""
        self._greeted = False
        self._sent = bytearray()
        self._more = asyncio.Event()
        self.closed = False

    async def write(self, data: bytes) -> None:
        self._received += data
        if not self._greeted and len(self._received) > len(DRIVER):
            self._greeted = True
            greeting, self._received = self._received[len(DRIVER) :], b""
            self._sent += greeting.split()[0] + b" 42\n"
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
        self._sent += self._answer(token, rest[: int(size)])
        self._received = rest[int(size) :]
        return True

    async def read(self) -> bytes:
        while not self._sent:
            if self.closed:
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


def _connecting(drivers: list[ScriptedDriver]) -> Callable[[], Awaitable[Stream]]:
    waiting = iter(drivers)

    async def connect() -> Stream:
        return next(waiting)

    return connect
