"""A driver on a deployment, as a stream: input is appended to a file, output is polled."""

import asyncio
import base64
from collections.abc import Sequence

from harness.sandbox.channel import DRIVER_COMMAND
from harness.sandbox.swerex.client import FIRST_PAUSE, Client
from harness.specs.errors import SandboxLost

_PIECE_BYTES = 66_000
"""As base64 it must fit into one argument."""
_LONGEST_PAUSE = 0.1


class PolledStream:
    """See `Stream`. `directory` is the channel's on the deployment."""

    def __init__(self, client: Client, directory: str) -> None:
        self._client = client
        self._directory = directory
        self._pause = FIRST_PAUSE

    @classmethod
    async def open(cls, client: Client, directory: str, marks: str, launch: Sequence[str]) -> "PolledStream":
        """Start a driver. Raises SandboxLost where the sandbox is gone."""
        await client.check("open_channel", directory, marks, *launch, *DRIVER_COMMAND)
        return cls(client, directory)

    async def read(self) -> bytes:
        while True:
            encoded, _, over = (await self._client.check("read_channel", self._directory)).partition(" ")
            data = _decoded(encoded)
            if data:
                self._pause = FIRST_PAUSE
                return data
            if over:
                return b""
            await asyncio.sleep(self._pause)
            self._pause = min(1.5 * self._pause, _LONGEST_PAUSE)

    async def write(self, data: bytes) -> None:
        self._pause = FIRST_PAUSE
        for at in range(0, len(data), _PIECE_BYTES):
            piece = base64.b64encode(data[at : at + _PIECE_BYTES]).decode()
            if (await self._client.call("write_channel", self._directory, piece)).status:
                raise BrokenPipeError(self._directory)

    def close(self) -> None:
        """Its processes end with the sandbox's, or when the next driver is started."""


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text.strip(), validate=True)
    except ValueError:
        raise SandboxLost("the SWE-ReX server's answer is not what the channel holds") from None
