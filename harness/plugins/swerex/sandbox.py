"""A sandbox on a SWE-ReX deployment."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

from harness.plugins.swerex.client import PolledStream
from harness.plugins.swerex.place import DeployedDirectory
from harness.sandbox.archives import capped
from harness.sandbox.channel import DRIVER_ENV, Channel, Stream
from harness.sandbox.channel_files import read_file, write_file
from harness.sandbox.disk_watch import watch_disk
from harness.sandbox.protocol import MAX_OUTPUT_BYTES, CommandResult, Image, LimitReached, SandboxOptions
from harness.specs.errors import SandboxLost

log = logging.getLogger(__name__)

Make = Callable[[Image, Mapping[str, str]], Awaitable[DeployedDirectory]]
"""Makes a sandbox's place, on a deployment that is started for it where that is wanted."""
Release = Callable[[DeployedDirectory], Awaitable[None]]


class SwerexSandbox:
    """See `Sandbox`. One that reached its disk limit raises LimitReached instead of SandboxLost."""

    def __init__(
        self, make: Make, release: Release, image: Image, options: SandboxOptions, labels: Mapping[str, str]
    ) -> None:
        self._make = make
        self._release = release
        self._image = image
        self._options = options
        self._labels = labels
        self._making: asyncio.Future[DeployedDirectory] | None = None
        self._place: DeployedDirectory | None = None
        self._channel: Channel | None = None
        self._channels = 0
        self._watch: asyncio.Task[None] | None = None
        self._limit: LimitReached | None = None
        self._killed = False

    async def start(self) -> None:
        # Goes on when we are cancelled: `remove` waits for it.
        self._making = asyncio.ensure_future(self._make(self._image, self._labels))
        self._place = await asyncio.shield(self._making)
        self._channel = Channel(self._connect, self._place.marks, alone=False)
        await self._channel.open()
        if not self._place.configuration.in_place:
            limit = self._options.limits.disk_mb
            self._watch = asyncio.create_task(watch_disk(self._place.bytes_used, limit, self._breach))

    async def run(self, command: str, timeout: float) -> CommandResult:
        _, channel = self._check_usable()
        try:
            return await channel.run(command, timeout)
        except SandboxLost:
            raise self._limit or SandboxLost("the sandbox is gone") from None

    async def read(self, path: str, limit: int = MAX_OUTPUT_BYTES) -> bytes:
        place, channel = self._check_usable()
        return await read_file(channel, place.real(path), limit)

    async def write(self, path: str, data: bytes) -> None:
        place, channel = self._check_usable()
        await write_file(channel, place.real(path), data)

    async def kill(self) -> None:
        place = self._check_there()
        self._killed = True
        self._stop_watching()
        await place.kill()

    @asynccontextmanager
    async def export_tree(self, path: str, limit: int) -> AsyncIterator[AsyncIterator[bytes]]:
        yield capped(await self._check_there().pack(path, limit), limit)

    async def remove(self) -> None:
        self._stop_watching()
        if self._making is None:
            return
        making, self._making, self._place = self._making, None, None
        await asyncio.wait([making])
        if making.cancelled() or making.exception() is not None:
            return
        try:
            await self._release(making.result())
        except SandboxLost as error:  # the next run on this deployment removes it
            log.warning("a sandbox of SWE-ReX could not be removed: %s", error)

    async def _connect(self) -> Stream:
        """Start a driver, in place of one that hangs or was killed; raise SandboxLost or LimitReached."""
        place = self._check_there()
        if self._limit is not None:
            raise self._limit
        client = place.host.client
        if self._channels:
            await client.check("close_channel", f"{place.state}/channel-{self._channels}")
        self._channels += 1
        env = {name: place.marks + value for name, value in DRIVER_ENV.items()}
        launch = place.launch(self._image, self._options, env, "driver")
        return await PolledStream.open(client, f"{place.state}/channel-{self._channels}", place.marks, launch)

    async def _breach(self, limit: LimitReached) -> None:
        self._limit = limit
        if self._place is not None:
            await self._place.kill()

    def _stop_watching(self) -> None:
        if self._watch is not None:
            self._watch.cancel()

    def _check_usable(self) -> tuple[DeployedDirectory, Channel]:
        place = self._check_there()
        if self._limit is not None:
            raise self._limit
        if self._killed or self._channel is None:
            raise SandboxLost("the sandbox is not running")
        return place, self._channel

    def _check_there(self) -> DeployedDirectory:
        if self._place is None:
            raise SandboxLost("the sandbox is not started, or already removed")
        return self._place
