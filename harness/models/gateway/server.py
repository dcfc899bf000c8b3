"""The gateway's server: on a Unix socket, on a port of loopback, or on both."""

import logging
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


class GatewayServer:
    """A server that runs. `url` is its address on loopback; empty where it only has a socket."""

    def __init__(self) -> None:
        self.url = ""
        self.accesses: dict[str, GatewayAccess] = {}
        self.unknown: Counter[str] = Counter()
        """Requests without a good token, by path."""

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
async def serve_gateway(socket: Path | None = None, port: int | None = None) -> AsyncIterator[GatewayServer]:
    """Serve on a Unix socket, on a port of 127.0.0.1 (0: a free one), or on both.

    Whoever runs as another user in a container may connect to the socket: the tokens keep others out.

    Raises:
        UserError: The socket or the port can't be had.
    """
    gateway = GatewayServer()
    async with AsyncExitStack() as stack:
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS)
        http = await stack.enter_async_context(aiohttp.ClientSession(timeout=timeout, trust_env=True))
        app = web.Application(client_max_size=MOST_BYTES)
        Routes(gateway.accesses, gateway.unknown, http).add_to(app)
        runner = web.AppRunner(app, shutdown_timeout=1.0, access_log=None, logger=_quiet)
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        if socket is not None:
            await _start(web.UnixSite(runner, str(socket)), f"socket {socket}", "name another path")
            socket.chmod(0o666)
        if port is not None:
            await _start(web.TCPSite(runner, "127.0.0.1", port), f"port {port}", "name another one, or 0 for any")
            gateway.url = next(f"http://127.0.0.1:{name[1]}" for name in runner.addresses if isinstance(name, tuple))
        yield gateway


async def _start(site: web.BaseSite, name: str, remedy: str) -> None:
    try:
        await site.start()
    except OSError as error:
        raise UserError(f"gateway: {name}: {error.strerror or error}; {remedy}") from None
