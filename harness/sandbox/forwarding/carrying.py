"""The host's side: starts the forwarder in a sandbox, and carries connections that come over its stream."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from enum import StrEnum
from pathlib import Path

from harness.sandbox.channel import Channel, Stream
from harness.sandbox.forwarding import forwarder
from harness.sandbox.protocol import Gateway, Mount
from harness.specs.errors import EndedFromOutside, SandboxLost

_SHOWN_AT = "/run/testwright"
"""The place in a sandbox of the directories of its gateways' sockets, if they are shown there, each by its port."""
_SOURCE = Path(forwarder.__file__).read_text(encoding="utf-8")
_READY_SECONDS = 30.0
_PAUSES = (0.1, 0.5, 2.0)
"""Seconds before each attempt to open a way anew; what held the port may need a moment to end."""
_AWAY_SECONDS = 120.0
"""Seconds that an engine may be away for before a way anew."""
# Through any end of the forwarder: in a sandbox with one user, commands may kill it by mistake.
_BESIDE = """count=$1; shift
(while :; do "${@:1:count}"; sleep 0.1; done) </dev/null >/dev/null 2>&1 &
shift "$count"; exec "$@"
"""
_UNTIL_IT_LISTENS = "until (exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null; do sleep 0.02; done"


class Way(StrEnum):
    """Ways of connections to the gateway: over its own socket, or over the stream of the forwarder."""

    SOCKET = "socket"
    STREAM = "stream"


def shown_sockets(gateways: Sequence[Gateway]) -> tuple[Mount, ...]:
    """Return the directories of the sockets, where a sandbox finds them."""
    return tuple(Mount(gateway.socket.parent, f"{_SHOWN_AT}/{gateway.port}") for gateway in gateways)


def forwarder_command(gateway: Gateway) -> tuple[str, ...]:
    """Return what to start in a sandbox."""
    socket = f"{_SHOWN_AT}/{gateway.port}/{gateway.socket.name}"
    # -I: nothing of the work tree is imported, -S: nor of anybody's site-packages.
    return (gateway.python, "-I", "-S", "-c", _SOURCE, str(gateway.port), socket)


def with_forwarder(gateway: Gateway, argv: Sequence[str]) -> tuple[str, ...]:
    """Return `argv` with a forwarder beside it, which uses the socket, for a sandbox without a separate user."""
    beside = (*forwarder_command(gateway), "alone")
    return ("bash", "-c", _BESIDE, "bash", str(len(beside)), *beside, *argv)


async def await_forwarder(channel: Channel, gateway: Gateway) -> None:
    """Wait until such a forwarder takes connections.

    Raises:
        SandboxLost: It doesn't.
    """
    waiting = await channel.run(_UNTIL_IT_LISTENS.format(port=gateway.port), _READY_SECONDS)
    if waiting.exit_status != 0:
        raise SandboxLost(f"the forwarder to the gateway does not start under {gateway.python}")


class _NoWay(SandboxLost):
    """A forwarder that takes no connections, where the engine does what it is asked."""


class WayLost(SandboxLost):
    """A way to the gateway that ended and couldn't be opened anew. `is_refused`: not by the engine's fault."""

    def __init__(self, is_refused: bool = False) -> None:
        super().__init__("the sandbox has lost its way to the gateway")
        self.is_refused = is_refused


class Carrier:
    """An open way to the gateway.

    `start` starts the forwarder in the sandbox, anew where it has ended: commands of a sandbox with one user may end
    it by mistake.
    """

    def __init__(self, gateway: Gateway, start: Callable[[Gateway], Awaitable[Stream]]) -> None:
        self.way: Way | None = None
        self._gateway = gateway
        self._start = start
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Wait until connections are taken.

        Raises:
            SandboxLost: None are.
        """
        self._task = asyncio.create_task(self._carry(await self._begin()))

    def check(self) -> None:
        """Check that the way is open, or being opened anew.

        Raises:
            WayLost: It is gone.
        """
        if self._task is None:
            raise WayLost
        if self._task.done():
            cause = self._task.exception()
            raise WayLost(isinstance(cause, _NoWay)) from cause

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _begin(self) -> Stream:
        """Start a forwarder, and return its stream once it takes connections."""
        stream = await self._start(self._gateway)
        try:
            async with asyncio.timeout(_READY_SECONDS):
                said = await stream.read()
        except TimeoutError:
            said = b""
        if said in (forwarder.SOCKET_WORKS, forwarder.MULTIPLEXED):
            self.way = Way.SOCKET if said == forwarder.SOCKET_WORKS else Way.STREAM
            return stream
        stream.close()
        if said[:1] == forwarder.NO_PORT:
            raise _NoWay(f"port {self._gateway.port} of the sandbox, for the gateway, is taken")
        raise _NoWay(f"the forwarder to the gateway does not start under {self._gateway.python}")

    async def _carry(self, stream: Stream) -> None:
        """Carry until no way opens any more."""
        while True:
            try:
                await forwarder.Mux(stream.read, stream.write, self._dial).run()
            finally:
                stream.close()
            stream = await self._again()

    async def _again(self) -> Stream:
        loop = asyncio.get_running_loop()
        end, pauses = loop.time() + _AWAY_SECONDS, list(_PAUSES)
        while True:
            await asyncio.sleep(pauses[0])
            try:
                return await self._begin()
            except _NoWay:
                pauses.pop(0)
                if not pauses:
                    raise
            except EndedFromOutside:
                raise
            except SandboxLost:
                if loop.time() > end:
                    raise
                await asyncio.sleep(_PAUSES[-1])

    async def _dial(self) -> forwarder.Ends:
        return await asyncio.open_unix_connection(self._gateway.socket)
