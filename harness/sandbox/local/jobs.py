"""Jobs without an engine: a fresh copy of the tree, one process, its outputs, and all of it deleted."""

import asyncio
import io
import os
import time
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from harness.sandbox.channel import BoundedOutput
from harness.sandbox.companions import LOST, CompanionLog, beside, until_ready
from harness.sandbox.deadline import OwnTime, TimeLimit, ends_before, expire
from harness.sandbox.disk_watch import tree_bytes, watch_disk
from harness.sandbox.host import host_environment
from harness.sandbox.local.confinement import HOLDER, Confinement, Launch
from harness.sandbox.local.place import LocalDirectory, read_outputs
from harness.sandbox.local.processes import end, spawn, use
from harness.sandbox.protocol import (
    REPORT_DIR,
    Companion,
    CompanionEnd,
    Image,
    Job,
    JobResult,
    LimitReached,
    Limits,
    SandboxOptions,
)
from harness.sandbox.tarfiles import tarfile
from harness.specs.errors import EndedFromOutside, SandboxLost

_REST_SECONDS = 5.0


async def run_job(
    confinement: Confinement, image: Image, job: Job, options: SandboxOptions, labels: Mapping[str, str]
) -> JobResult:
    """See `Engine.run_job`. Raises LimitReached("disk") as well."""
    log = BoundedOutput()
    async with (
        _running_companion(confinement, job.companion, labels) as companion,
        _place(image, job, options, labels) as place,
    ):
        marks = "" if confinement.alone else place.marks
        env = {**job.env, REPORT_DIR: job.outputs} | ({"TESTWRIGHT_COMMAND": f"{marks}job"} if marks else {})
        launch = confinement.launch(place, image, _with_outputs(options, job), job.argv, env, driver=False)
        if companion:
            launch = launch.joining(companion.network)
        began = time.monotonic()
        async with _running(launch, marks, log) as process:
            own = OwnTime()
            watched = _watched(process, place, job, options.limits, marks, own)
            timed_out = await beside(watched, companion and companion.ended)
            own_seconds = own.seconds()
            _check_ended_inside(process, confinement, timed_out)
        seconds = time.monotonic() - began
        outputs = await asyncio.to_thread(read_outputs, place, job.outputs)
        companions_end = await _end_of(companion) if companion else None
    assert process.returncode is not None
    # Where a signal ended it the engine's way of saying so is 128 and the signal.
    status = process.returncode if process.returncode >= 0 else 128 - process.returncode
    files, complete = outputs
    return JobResult(status, timed_out, False, log.value, files, complete, seconds, own_seconds, companions_end)


class _RunningCompanion(NamedTuple):
    """A companion at work.

    `network` is a process with the network that its job joins; `ended` is done when it has ended.
    """

    network: int
    place: LocalDirectory
    outputs: str
    log: CompanionLog
    ended: "asyncio.Future[None]"


@asynccontextmanager
async def _running_companion(
    confinement: Confinement, companion: Companion | None, labels: Mapping[str, str]
) -> AsyncIterator[_RunningCompanion | None]:
    """Provide a companion that is ready; at the end it is dead, and so is all that it started."""
    if companion is None:
        yield None
        return
    image, job, options = companion.image, companion.job, companion.options
    async with _network() as network, _place(image, job, options, labels) as place:
        env, log = {**job.env, REPORT_DIR: job.outputs}, CompanionLog()
        launch = confinement.launch(place, image, _with_outputs(options, job), job.argv, env, driver=False)
        launch = launch.joining(network)
        async with _running(launch, "", log) as process:
            ended = asyncio.ensure_future(_wait(process))
            try:
                limit = TimeLimit.of(job.seconds, options.limits.cpus)
                await until_ready(log, ended, expire(limit, lambda: asyncio.to_thread(use, process.pid, "")))
                yield _RunningCompanion(network, place, job.outputs, log, ended)
            finally:
                ended.cancel()
                await asyncio.gather(ended, return_exceptions=True)


async def _end_of(companion: _RunningCompanion) -> CompanionEnd:
    """Return a companion's end, raising EndedFromOutside for one that isn't there any more."""
    if companion.ended.done():
        raise EndedFromOutside(LOST)
    outputs = await asyncio.to_thread(read_outputs, companion.place, companion.outputs)
    return CompanionEnd(companion.log.value, outputs.files)


@asynccontextmanager
async def _network() -> AsyncIterator[int]:
    """Provide a process with a network of its own. Raises SandboxLost where it doesn't come up."""
    argv = [*HOLDER, "bash", "-c", "echo $$; exec sleep infinity"]
    holder = await spawn(Launch(argv, host_environment(), Path("/")))
    try:
        assert holder.stdout is not None
        told = await holder.stdout.readline()
        if not told.strip().isdigit():
            raise SandboxLost(f"no network for a job and its companion: {told.decode(errors='replace').strip()}")
        yield int(told)
    finally:
        await end(holder, "")


@asynccontextmanager
async def _place(
    image: Image, job: Job, options: SandboxOptions, labels: Mapping[str, str]
) -> AsyncIterator[LocalDirectory]:
    place = LocalDirectory.make(labels)
    filling = asyncio.create_task(asyncio.to_thread(_fill, place, image, job, options))
    try:
        await asyncio.shield(filling)
        yield place
    finally:
        await asyncio.wait([filling])
        await asyncio.to_thread(place.remove)


def _with_outputs(options: SandboxOptions, job: Job) -> SandboxOptions:
    """Return options in which a job may write its outputs."""
    return options if options.writable is None else replace(options, writable=(*options.writable, job.outputs))


def _fill(place: LocalDirectory, image: Image, job: Job, options: SandboxOptions) -> None:
    place.fill(image)
    for path in (job.outputs, *(options.writable or ())):
        place.real(path).mkdir(parents=True, exist_ok=True)
    for archive in job.unpacked:
        place.real(archive.path).mkdir(parents=True, exist_ok=True)
        with tarfile.open(fileobj=io.BytesIO(archive.data)) as tar:
            tar.extractall(place.real(archive.path), filter="data")
    place.put(job.files)


@asynccontextmanager
async def _running(launch: Launch, marks: str, log: BoundedOutput) -> AsyncIterator[Process]:
    """Provide a process whose output is collected; at the end it is dead, and so is all that it started.

    The pipe is our own: asyncio's would hold the end of a process up until its children close theirs.
    """
    output, writer = os.pipe()
    spawning = asyncio.create_task(_spawn(launch, writer))
    reading = asyncio.create_task(_collect(output, log))
    try:
        yield await asyncio.shield(spawning)
    finally:
        await asyncio.wait([spawning])
        await end(spawning.result(), marks)
        await asyncio.wait([reading], timeout=_REST_SECONDS)
        reading.cancel()


async def _spawn(launch: Launch, output: int) -> Process:
    try:
        return await spawn(launch, stdout=output)
    finally:
        os.close(output)


def _check_ended_inside(process: Process, confinement: Confinement, timed_out: bool) -> None:
    """Raise EndedFromOutside where something killed bubblewrap itself, which nothing in its namespace can do.

    Without a namespace that can't be told: the job's first process may have been killed by any other one.
    """
    if confinement.alone and not timed_out and process.returncode is not None and process.returncode < 0:
        raise EndedFromOutside("the sandbox of a job was killed from outside")


async def _collect(output: int, log: BoundedOutput) -> None:
    reader = asyncio.StreamReader()
    with os.fdopen(output, "rb") as file:
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), file
        )
        try:
            while data := await reader.read(1 << 16):
                log.add(data)
        finally:
            transport.close()


async def _watched(
    process: Process, place: LocalDirectory, job: Job, limits: Limits, marks: str, own: OwnTime
) -> bool:
    """Wait for a job's end; whether it ran out of time. Raises LimitReached."""
    breaches: list[LimitReached] = []

    async def measure() -> int:
        return await asyncio.to_thread(tree_bytes, str(place.files), limits.disk_mb << 20)

    async def breach(limit: LimitReached) -> None:
        breaches.append(limit)
        await end(process, marks)

    watch = asyncio.create_task(watch_disk(measure, limits.disk_mb, breach))
    try:
        limit = TimeLimit.of(job.seconds, limits.cpus)
        expiry = expire(limit, lambda: asyncio.to_thread(use, process.pid, marks), own)
        ended = await ends_before(_wait(process), expiry)
    finally:
        watch.cancel()
    if breaches:
        raise breaches[0]
    return not ended


async def _wait(process: Process) -> None:
    await process.wait()
