"""The gateway's server: on a Unix socket for each agent, and on a port of loopback where one is asked for."""

import asyncio
import logging
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import aiohttp
from aiohttp import web

from harness.models.allowance import Allowance
from harness.models.build import ServedModel
from harness.models.gateway.access import GatewayAccess
from harness.models.gateway.records import GatewayRecords
from harness.models.gateway.routes import MOST_BYTES, Routes
from harness.specs.errors import UserError

_CONNECT_SECONDS = 30
_quiet = logging.getLogger(__name__)
# What an agent sends that is no HTTP is no message for whoever runs testwright.
_quiet.setLevel(logging.CRITICAL + 1)


MAX_CONNECTIONS = 128
"""Connections to one agent's socket at a time: nobody's agent may use up the files of this process."""


class _OneOfFew(asyncio.Protocol):
    """A connection, broken off where there are too many. `open_ones` has those of the same socket."""

    def __init__(self, served: asyncio.Protocol, open_ones: set["_OneOfFew"]) -> None:
        self._served = served
        self._open_ones = open_ones

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Hand the connection over, or break it off."""
        if len(self._open_ones) < MAX_CONNECTIONS:
            self._open_ones.add(self)
            self._served.connection_made(transport)
        elif isinstance(transport, asyncio.Transport):
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Make room for another one."""
        if self in self._open_ones:
            self._open_ones.discard(self)
            self._served.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Hand over what has come."""
        self._served.data_received(data)

    def eof_received(self) -> bool | None:
        """Hand over that nothing more comes."""
        return self._served.eof_received()

    def pause_writing(self) -> None:
        """Hand over that nothing may be written for now."""
        self._served.pause_writing()

    def resume_writing(self) -> None:
        """Hand over that it may be again."""
        self._served.resume_writing()


class GatewayServer:
    """A server that runs. `url` is its address on loopback, where it has one.

    `serve` makes the protocol of a connection; `unknown` counts requests without a good token, by path.
    """

    def __init__(
        self, serve: Callable[[], asyncio.Protocol], accesses: dict[str, GatewayAccess], unknown: Counter[str]
    ) -> None:
        self.url = ""
        self._serve = serve
        self.accesses = accesses
        self.unknown = unknown

    @asynccontextmanager
    async def socket(self) -> AsyncIterator[Path]:
        """Provide a Unix socket for one agent, which others may connect to.

        It lies alone in a directory that others may enter once it is mounted somewhere, and not before. Whoever runs
        as another user in a container may connect: the tokens keep others out.

        Raises:
            UserError: It can't be had.
        """
        open_ones: set[_OneOfFew] = set()
        with tempfile.TemporaryDirectory(prefix="testwright-") as private:  # mode 0700
            socket = Path(private) / "gateway" / "gateway.sock"
            socket.parent.mkdir()
            socket.parent.chmod(0o755)
            loop = asyncio.get_running_loop()
            try:
                server = await loop.create_unix_server(lambda: _OneOfFew(self._serve(), open_ones), str(socket))
            except OSError as error:
                message = f"gateway: socket {socket}: {error.strerror or error}; set TMPDIR to a shorter path"
                raise UserError(message) from None
            socket.chmod(0o666)
            try:
                yield socket
            finally:
                server.close()

    @asynccontextmanager
    async def open(
        self,
        served: ServedModel,
        allowance: Allowance,
        record: Callable[[GatewayRecords], None],
        calls: Path | None = None,
    ) -> AsyncIterator[GatewayAccess]:
        """Let an agent in until the block ends.

        Args:
            served: The model, and the key that the agent never sees.
            allowance: Meters the agent's calls.
            record: A trajectory's `add`.
            calls: The file that its calls are written to; None: none is.
        """
        access = GatewayAccess(served, allowance, record, calls)
        self.accesses[access.token] = access
        try:
            yield access
        finally:
            del self.accesses[access.token]
            await access.close()


@asynccontextmanager
async def serve_gateway(port: int | None = None) -> AsyncIterator[GatewayServer]:
    """Serve on the sockets that it is asked for, and on a port of 127.0.0.1 (0: a free one).

    Raises:
        UserError: The port can't be had.
    """
    accesses: dict[str, GatewayAccess] = {}
    unknown: Counter[str] = Counter()
    async with AsyncExitStack() as stack:
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS)
        http = await stack.enter_async_context(aiohttp.ClientSession(timeout=timeout, trust_env=True))
        app = web.Application(client_max_size=MOST_BYTES)
        Routes(accesses, unknown, http).add_to(app)
        runner = web.AppRunner(app, shutdown_timeout=1.0, access_log=None, logger=_quiet)
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        assert runner.server is not None
        gateway = GatewayServer(runner.server, accesses, unknown)
        if port is not None:
            try:
                await web.TCPSite(runner, "127.0.0.1", port).start()
            except OSError as error:
                message = f"gateway: port {port}: {error.strerror or error}; name another one, or 0 for any"
                raise UserError(message) from None
            gateway.url = next(f"http://127.0.0.1:{name[1]}" for name in runner.addresses if isinstance(name, tuple))
        yield gateway
