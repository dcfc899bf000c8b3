"""A sandbox without an engine: a temporary tree and processes of this machine."""

import asyncio
import contextlib
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager

from harness.sandbox.archives import capped, in_threads
from harness.sandbox.channel import DRIVER_COMMAND, DRIVER_ENV, Channel, Stream
from harness.sandbox.channel_files import read_file, write_file
from harness.sandbox.disk_watch import tree_bytes, watch_disk
from harness.sandbox.forwarding.carrying import await_forwarder, with_forwarder
from harness.sandbox.local.confinement import Confinement
from harness.sandbox.local.place import LocalDirectory, tar_of
from harness.sandbox.local.processes import ProcessStream, end, spawn
from harness.sandbox.protocol import MAX_OUTPUT_BYTES, CommandResult, Image, LimitReached, SandboxOptions
from harness.specs.errors import SandboxLost

_LAST_WORDS_SECONDS = 1.0


class LocalSandbox:
    """See `Sandbox`. One that reached its disk limit raises LimitReached instead of SandboxLost."""

    def __init__(
        self, confinement: Confinement, image: Image, options: SandboxOptions, labels: Mapping[str, str]
    ) -> None:
        self._confinement = confinement
        self._image = image
        self._options = options
        self._labels = labels
        self._place: LocalDirectory | None = None
        self._process: Process | None = None
        self._watch: asyncio.Task[None] | None = None
        self._limit: LimitReached | None = None
        self._killed = False

    async def start(self) -> None:
        self._place = LocalDirectory.make(self._labels)
        self._channel = Channel(self._connect, self._marks(self._place), self._confinement.alone)
        # Goes on when we are cancelled: `remove` waits for it.
        self._copying = asyncio.create_task(asyncio.to_thread(self._place.fill, self._image))
        await asyncio.shield(self._copying)
        await self._channel.open()
        for gateway in self._options.gateways:
            await await_forwarder(self._channel, gateway)
        self._watch = asyncio.create_task(watch_disk(self._measure, self._options.limits.disk_mb, self._breach))

    async def run(self, command: str, timeout: float) -> CommandResult:
        self._check_usable()
        return await self._channel.run(command, timeout)

    async def read(self, path: str, limit: int = MAX_OUTPUT_BYTES) -> bytes:
        place = self._check_usable()
        return await read_file(self._channel, self._confinement.path(place, path), limit)

    async def write(self, path: str, data: bytes) -> None:
        place = self._check_usable()
        await write_file(self._channel, self._confinement.path(place, path), data)

    async def kill(self) -> None:
        place = self._check_there()
        self._killed = True
        await self._end(place)

    @asynccontextmanager
    async def export_tree(self, path: str, limit: int) -> AsyncIterator[AsyncIterator[bytes]]:
        place = self._check_there()
        with place.open(path):
            pass
        async with aclosing(in_threads(tar_of(place, path))) as chunks:
            yield capped(chunks, limit)

    async def remove(self) -> None:
        if self._place is not None:
            place, self._place = self._place, None
            await asyncio.wait([self._copying])
            await self._end(place)
            await asyncio.to_thread(place.remove)

    async def _connect(self) -> Stream:
        """Start a driver, in place of one that hangs or was killed; raise SandboxLost or LimitReached."""
        if self._process is not None and self._confinement.alone:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), _LAST_WORDS_SECONDS)
        place = self._check_usable()
        if self._process is not None and self._confinement.alone:
            await end(self._process, "")
        env = {name: self._marks(place) + value for name, value in DRIVER_ENV.items()}
        argv: Sequence[str] = DRIVER_COMMAND
        for gateway in self._options.gateways:
            argv = with_forwarder(gateway, argv)
        launch = self._confinement.launch(place, self._image, self._options, argv, env, driver=True)
        self._process = await spawn(launch, stdin=PIPE)
        return ProcessStream(self._process)

    def _marks(self, place: LocalDirectory) -> str:
        """Return the mark by which processes are told where they have no namespace of their own."""
        return "" if self._confinement.alone else place.marks

    async def _end(self, place: LocalDirectory) -> None:
        if self._watch is not None:
            self._watch.cancel()
        self._channel.close()
        if self._process is not None:
            await end(self._process, self._marks(place))

    async def _measure(self) -> int:
        place = self._check_usable()
        return await asyncio.to_thread(tree_bytes, str(place.files), self._options.limits.disk_mb << 20)

    async def _breach(self, limit: LimitReached) -> None:
        self._limit = limit
        if self._process is not None and self._place is not None:
            await end(self._process, self._marks(self._place))

    def _check_usable(self) -> LocalDirectory:
        place = self._check_there()
        if self._limit is not None:
            raise self._limit
        if self._killed:
            raise SandboxLost("the sandbox is not running")
        return place

    def _check_there(self) -> LocalDirectory:
        if self._place is None or not self._place.exists:
            raise SandboxLost("the sandbox is not started, or already removed")
        if self._was_ended_from_outside() and not (self._killed or self._limit):
            raise SandboxLost("the sandbox's processes were killed from outside")
        return self._place

    def _was_ended_from_outside(self) -> bool:
        """Return whether a driver is gone that nothing in its sandbox can kill."""
        return self._confinement.alone and self._process is not None and self._process.returncode is not None
