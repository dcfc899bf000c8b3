"""The gateway of a run: one server, at a socket that sandboxes can be shown."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.gateway.server import Gateway, serve_gateway


@dataclass(frozen=True)
class RunGateway:
    server: Gateway
    socket: Path


@asynccontextmanager
async def run_gateway() -> AsyncIterator[RunGateway]:
    """Its socket lies alone in a directory that others may enter once it is mounted somewhere, and not before."""
    with tempfile.TemporaryDirectory(prefix="testwright-") as private:  # mode 0700
        directory = Path(private) / "gateway"
        directory.mkdir()
        directory.chmod(0o755)
        socket = directory / "gateway.sock"
        async with serve_gateway(socket=socket) as server:
            yield RunGateway(server, socket)
