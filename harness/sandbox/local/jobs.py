"""Jobs without an engine: a fresh copy of the tree, one process, its outputs, and all of it deleted."""

import asyncio
import os
import time
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from harness.sandbox.channel import BoundedOutput
from harness.sandbox.deadline import OwnTime, TimeLimit, ends_before, expire
from harness.sandbox.disk_watch import tree_bytes, watch_disk
from harness.sandbox.local.confinement import Confinement, Launch
from harness.sandbox.local.place import LocalDirectory, read_outputs
from harness.sandbox.local.processes import end, spawn, use
from harness.sandbox.protocol import REPORT_DIR, Image, Job, JobResult, LimitReached, Limits, SandboxOptions
from harness.specs.errors import EndedFromOutside

_REST_SECONDS = 5.0


async def run_job(
    confinement: Confinement, image: Image, job: Job, options: SandboxOptions, labels: Mapping[str, str]
) -> JobResult:
    """See `Engine.run_job`. Raises LimitReached("disk") as well."""
    log = BoundedOutput()
    async with _place(image, job, labels) as place:
        marks = "" if confinement.alone else place.marks
        env = {**job.env, REPORT_DIR: job.outputs} | ({"TESTWRIGHT_COMMAND": f"{marks}job"} if marks else {})
        launch = confinement.launch(place, image, options, job.argv, env, driver=False)
        began = time.monotonic()
        async with _running(launch, marks, log) as process:
            own = OwnTime()
            timed_out = await _watched(process, place, job, options.limits, marks, own)
            own_seconds = own.seconds()
            _check_ended_inside(process, confinement, timed_out)
        seconds = time.monotonic() - began
        outputs = await asyncio.to_thread(read_outputs, place, job.outputs)
    assert process.returncode is not None
    # Where a signal ended it the engine's way of saying so is 128 and the signal.
    status = process.returncode if process.returncode >= 0 else 128 - process.returncode
    return JobResult(status, timed_out, False, log.value, outputs.files, outputs.complete, seconds, own_seconds)


@asynccontextmanager
async def _place(image: Image, job: Job, labels: Mapping[str, str]) -> AsyncIterator[LocalDirectory]:
    place = LocalDirectory.make(labels)
    filling = asyncio.create_task(asyncio.to_thread(_fill, place, image, job))
    try:
        await asyncio.shield(filling)
        yield place
    finally:
        await asyncio.wait([filling])
        await asyncio.to_thread(place.remove)


def _fill(place: LocalDirectory, image: Image, job: Job) -> None:
    place.fill(image)
    place.real(job.outputs).mkdir(parents=True, exist_ok=True)
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
    """Raises EndedFromOutside where something killed bubblewrap itself, which nothing in its namespace can do.

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
