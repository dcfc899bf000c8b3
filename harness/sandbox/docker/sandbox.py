"""A container to work in."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from harness.sandbox.archives import capped
from harness.sandbox.channel import DRIVER_COMMAND, DRIVER_ENV, Channel, EndedStream, NoShell, Stream
from harness.sandbox.channel_files import read_file, write_file
from harness.sandbox.disk_watch import watch_disk
from harness.sandbox.docker import container as docker_container
from harness.sandbox.docker.client import Docker, layer_meter
from harness.sandbox.docker.connection import Archive, start_exec, wait_for_end
from harness.sandbox.docker.container import ContainerSpec
from harness.sandbox.docker.endings import ended_by_itself
from harness.sandbox.docker.image_facts import ImageFacts
from harness.sandbox.forwarding.carrying import Carrier, WayLost, forwarder_command, shown_sockets
from harness.sandbox.protocol import (
    MAX_OUTPUT_BYTES,
    CommandResult,
    Gateway,
    Image,
    LimitReached,
    MadeUnusable,
    SandboxOptions,
)
from harness.specs.errors import EndedFromOutside, ImageUnavailable, SandboxLost

_IDLE = ("bash", "-c", 'trap "" INT; exec {idle}<> <(:); while :; do read -r -u "$idle"; done')
"""The container's first process. The kernel lets nothing in a container kill that one, not even root; bash waits for
what has ended and has no parent any more. It reads a pipe that nobody writes to, and so has no child to be killed."""
_ENDED = "the container ended by itself, with status {}"
_NOBODY = "65534:65534"
"""Runs the first process and the forwarder, so that an agent with a user of its own can't end them."""
_ROOT = "0:0"
_PROBE_SECONDS = 60.0
"""Wall time in which another container must start and end, for the engine to count as sound."""
_MIN_FREE = 32 << 20
"""Bytes of memory that it takes to start a shell."""
_ROOM = 4
"""Processes that it takes to run a command; a container with less room than that is full."""


class DockerSandbox:
    """See `Sandbox`. Neither LimitReached nor MadeUnusable is a fault of the engine, as SandboxLost is."""

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
        self._channel = Channel(self._connect, is_sound=self._works_elsewhere)
        self._carriers: list[Carrier] = []
        self._limit: LimitReached | MadeUnusable | None = None
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
            self._carriers.append(Carrier(gateway, self._forwarder))
            await self._carriers[-1].open()

    async def run(self, command: str, timeout: float) -> CommandResult:
        self._check_usable()
        async with self._explained():
            result = await self._channel.run(command, timeout)
            if result.timed_out:
                await self._check_room()
            for carrier in self._carriers if self._limit is None else ():
                carrier.check()
        return result

    async def read(self, path: str, limit: int = MAX_OUTPUT_BYTES) -> bytes:
        self._check_usable()
        async with self._explained():
            return await read_file(self._channel, path, limit)

    async def write(self, path: str, data: bytes) -> None:
        self._check_usable()
        async with self._explained():
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
        return await self._started(made["Id"])

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
        return await self._started(made["Id"])

    async def _started(self, execution: str) -> Stream:
        try:
            return await start_exec(self._docker.address, execution)
        except EndedFromOutside:
            raise
        except SandboxLost:  # root has taken away its program, say: the next look at the container tells what is lost
            return EndedStream()

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
        user = _ROOT if capabilities else _NOBODY  # what is run in it has no more capabilities than its first process
        spec = ContainerSpec(self._image, options, self._labels, _IDLE, user=user, capabilities=capabilities)
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
        if not state["Running"]:
            self._limit = await self._ending(state)
            raise self._limit or SandboxLost(_ENDED.format(state["ExitCode"]))

    async def _check_there(self) -> None:
        """Raise SandboxLost where something else ended the container: then its files may be half written."""
        state = await self._state()
        if state["Running"] or self._killed or self._limit:
            return
        self._limit = await self._ending(state)
        if self._limit is None:
            raise SandboxLost(_ENDED.format(state["ExitCode"]))

    async def _ending(self, state: Mapping[str, Any]) -> LimitReached | MadeUnusable | None:
        """Return what the processes of a container that has ended did, None where it may have been something else."""
        if state["OOMKilled"]:
            return self._out_of_memory()
        # Nobody but root reaches the first process: with a debugger's means.
        is_root = bool(await self._facts.capabilities(self._image))
        if is_root and await ended_by_itself(self._docker, await self._container(), state):
            return MadeUnusable("its own processes, as root, have ended the container's first one")
        return None

    @asynccontextmanager
    async def _explained(self) -> AsyncIterator[None]:
        """Raise in place of SandboxLost what the sandbox's own processes have brought about."""
        try:
            yield
        except SandboxLost as error:
            if self._limit is None and (cause := await self._own_cause(error)):
                self._limit = cause
            if self._limit is not None:
                raise self._limit from error
            raise

    async def _own_cause(self, error: SandboxLost) -> LimitReached | MadeUnusable | None:
        """Return what the sandbox's processes did, None where engine or machine may be at fault."""
        if self._killed:
            return None
        state = await self._state()
        if not state["Running"]:  # it may have ended just after the last look
            return await self._ending(state)
        if await self._is_full():
            return self._out_of_memory()
        match error:
            case NoShell():
                return MadeUnusable(f"{error}: its own processes {'stop' if error.hang else 'end'} every one")
            case WayLost(is_refused=True) if await self._works_elsewhere():
                return MadeUnusable(f"{error}: its own processes have taken the port or end the forwarder")
        return None

    async def _works_elsewhere(self) -> bool:
        """Return whether a container of the same image that nobody works in starts a shell, which ends by itself."""
        options = replace(self._options, mounts=(), gateways=())
        spec = ContainerSpec(self._image, options, self._labels, ("bash", "-c", ":"), user=_NOBODY)
        try:
            async with asyncio.timeout(_PROBE_SECONDS), docker_container.made(self._docker, spec) as container:
                await self._docker.call(self._docker.api.start, container)
                await wait_for_end(self._docker.address, container)
                facts = await self._docker.call(self._docker.api.inspect_container, container)
                return not facts["State"]["Running"] and facts["State"]["ExitCode"] == 0
        except (TimeoutError, SandboxLost):
            return False

    def _out_of_memory(self) -> LimitReached:
        return LimitReached("memory", f"more than {self._limits.memory_mb} MiB of memory")

    async def _is_full(self) -> bool:
        """Return whether there is no memory for a shell: some of it, as System V segments, belongs to no process."""
        found = (await self._stats()).get("memory_stats") or {}
        kept = found.get("stats") or {}
        # These are given up where memory is needed. Names are those of cgroup v1, then v2.
        names = ("active_file", "inactive_file", "slab_reclaimable")
        spare = sum(int(kept.get(f"total_{name}", kept.get(name, 0))) for name in names)
        return int(found.get("usage") or 0) - spare > (self._limits.memory_mb << 20) - _MIN_FREE

    async def _stats(self) -> dict[str, Any]:
        stats: dict[str, Any] = await self._docker.call(
            self._docker.api.stats, await self._container(), decode=False, stream=False, one_shot=True
        )
        return stats

    async def _state(self) -> dict[str, Any]:
        facts: dict[str, Any] = await self._docker.call(self._docker.api.inspect_container, await self._container())
        state: dict[str, Any] = facts["State"]
        return state

    async def _check_room(self) -> None:
        """End a container that is full of processes, in which nothing else can be done, and raise LimitReached."""
        stats = await self._stats()
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
