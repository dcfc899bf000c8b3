"""A container to work in."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from harness.sandbox.archives import capped
from harness.sandbox.channel import DRIVER_COMMAND, DRIVER_ENV, Channel, Stream, read_file, write_file
from harness.sandbox.disk_watch import watch_disk
from harness.sandbox.docker import container as docker_container
from harness.sandbox.docker.client import Docker, layer_meter
from harness.sandbox.docker.connection import Archive, start_exec
from harness.sandbox.docker.container import ContainerSpec
from harness.sandbox.docker.image_facts import ImageFacts
from harness.sandbox.forwarding.carrying import Carrier, forwarder_command, shown_sockets
from harness.sandbox.protocol import MAX_OUTPUT_BYTES, CommandResult, Gateway, Image, LimitReached, SandboxOptions
from harness.specs.errors import ImageUnavailable, SandboxLost

_IDLE = ("sleep", "infinity")
_NOBODY = "65534:65534"
"""Runs the idle process, so that the agent can't end its container by killing all that it may kill."""
_ROOM = 4
"""Processes that it takes to run a command; a container with less room than that is full."""


class DockerSandbox:
    """See `Sandbox`. A container that one of our limits ended raises LimitReached instead of SandboxLost."""

    def __init__(
        self, docker: Docker, facts: ImageFacts, image: Image, options: SandboxOptions, labels: Mapping[str, str]
    ) -> None:
        self._docker = docker
        self._facts = facts
        self._image = image
        self._options = options
        self._limits = options.limits
        self._labels = dict(labels)
        self._creation: asyncio.Task[str] | None = None
        self._watch: asyncio.Task[None] | None = None
        self._channel = Channel(self._connect)
        self._carriers: list[Carrier] = []
        self._limit: LimitReached | None = None
        self._killed = False

    async def start(self) -> None:
        # Goes on when we are cancelled: `remove` needs to know what came of it.
        self._creation = asyncio.create_task(self._create())
        container = await asyncio.shield(self._creation)
        await self._docker.call(self._docker.api.start, container)
        facts = await self._docker.call(self._docker.api.inspect_container, container)
        meter = layer_meter(self._docker, facts, self._limits.disk_mb)
        self._watch = asyncio.create_task(watch_disk(meter, self._limits.disk_mb, self._breach))
        await self._channel.open()
        for gateway in self._options.gateways:
            self._carriers.append(Carrier(gateway, await self._forwarder(gateway)))
            await self._carriers[-1].open()

    async def run(self, command: str, timeout: float) -> CommandResult:
        self._check_usable()
        result = await self._channel.run(command, timeout)
        if result.timed_out:
            await self._check_room()
        for carrier in self._carriers if self._limit is None else ():
            carrier.check()
        return result

    async def read(self, path: str, limit: int = MAX_OUTPUT_BYTES) -> bytes:
        self._check_usable()
        return await read_file(self._channel, path, limit)

    async def write(self, path: str, data: bytes) -> None:
        self._check_usable()
        await write_file(self._channel, path, data)

    async def kill(self) -> None:
        await self._check_there()
        self._killed = True
        self._stop_watching()
        await self._docker.kill(await self._container())

    @asynccontextmanager
    async def export_tree(self, path: str, limit: int) -> AsyncIterator[AsyncIterator[bytes]]:
        await self._check_there()
        container = await self._container()
        archive = await self._docker.call(Archive, self._docker.address, container, path)
        try:
            if not archive.is_directory:
                raise FileNotFoundError(f"{path}: not a directory")
            yield capped(self._chunks(archive), limit)
        finally:
            archive.close()

    async def _chunks(self, archive: Archive) -> AsyncIterator[bytes]:
        while chunk := await self._docker.call(next, archive.chunks, b""):
            yield chunk

    async def remove(self) -> None:
        self._stop_watching()
        for carrier in self._carriers:
            await carrier.close()
        if self._creation is not None:
            creation, self._creation = self._creation, None
            await asyncio.wait([creation])
            if creation.exception() is None:
                await self._docker.remove(creation.result())

    async def _connect(self) -> Stream:
        """Start a driver; raise SandboxLost, or LimitReached where there is nothing left to start it in."""
        await self._check_running()
        await self._check_room()
        made = await self._docker.call(
            self._docker.api.exec_create,
            await self._container(),
            list(docker_container.limited(self._docker, self._limits, DRIVER_COMMAND)),
            stdin=True,
            user=await self._facts.user_name(self._image),
            workdir=self._image.workdir,
            environment=DRIVER_ENV,
        )
        return await start_exec(self._docker.address, made["Id"])

    async def _forwarder(self, gateway: Gateway) -> Stream:
        """Return its standard output alone; the agent's user can't end it."""
        made = await self._docker.call(
            self._docker.api.exec_create,
            await self._container(),
            list(forwarder_command(gateway)),
            stdin=True,
            stderr=False,
            user=_NOBODY,
            workdir="/",
        )
        return await start_exec(self._docker.address, made["Id"])

    async def _create(self) -> str:
        """Return the container's id.

        It is shown the gateways' sockets where this machine and the engine's may be one.
        """
        options = self._options
        if options.gateways and self._docker.address.path:
            shown = replace(options, mounts=(*options.mounts, *shown_sockets(options.gateways)))
            with contextlib.suppress(ImageUnavailable, SandboxLost):  # no such directory there
                return await self._create_with(shown)
        return await self._create_with(options)

    async def _create_with(self, options: SandboxOptions) -> str:
        capabilities = await self._facts.capabilities(self._image)
        spec = ContainerSpec(self._image, options, self._labels, _IDLE, user=_NOBODY, capabilities=capabilities)
        return await docker_container.create(self._docker, spec)

    async def _container(self) -> str:
        if self._creation is None:
            raise SandboxLost("the sandbox is not started, or already removed")
        return await asyncio.shield(self._creation)

    def _check_usable(self) -> None:
        if self._limit is not None:
            raise self._limit
        if self._killed or self._creation is None:
            raise SandboxLost("the sandbox is not running")

    async def _check_running(self) -> None:
        self._check_usable()
        state = await self._state()
        if self._limit is not None:  # reached while we asked
            raise self._limit
        if state["OOMKilled"] and not state["Running"]:
            self._limit = LimitReached("memory", f"more than {self._limits.memory_mb} MiB of memory")
            raise self._limit
        if not state["Running"]:
            raise SandboxLost(f"the container ended by itself, with status {state['ExitCode']}")

    async def _check_there(self) -> None:
        """Raise SandboxLost where something else ended the container: then its files may be half written."""
        state = await self._state()
        if not (state["Running"] or self._killed or self._limit):
            raise SandboxLost(f"the container ended by itself, with status {state['ExitCode']}")

    async def _state(self) -> dict[str, Any]:
        facts: dict[str, Any] = await self._docker.call(self._docker.api.inspect_container, await self._container())
        state: dict[str, Any] = facts["State"]
        return state

    async def _check_room(self) -> None:
        """End a container that is full of processes, in which nothing else can be done, and raise LimitReached."""
        stats = await self._docker.call(
            self._docker.api.stats, await self._container(), decode=False, stream=False, one_shot=True
        )
        if int((stats.get("pids_stats") or {}).get("current") or 0) >= self._limits.pids - _ROOM:
            await self._breach(LimitReached("pids", f"more than {self._limits.pids} processes"))
            self._check_usable()

    async def _breach(self, limit: LimitReached) -> None:
        self._limit = limit
        await self._docker.kill(await self._container())

    def _stop_watching(self) -> None:
        self._channel.close()
        if self._watch is not None:
            self._watch.cancel()
