"""Jobs: a fresh container's main command, run once."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from harness.sandbox.archives import Outputs, read_outputs
from harness.sandbox.channel import BoundedOutput
from harness.sandbox.companions import LOST, CompanionLog, beside, until_ready
from harness.sandbox.deadline import OwnTime, TimeLimit, Use, ends_before, expire
from harness.sandbox.disk_watch import watch_disk
from harness.sandbox.docker.client import Docker, layer_meter
from harness.sandbox.docker.connection import Archive, AttachedStream, attach, wait_for_end
from harness.sandbox.docker.image_facts import ImageFacts
from harness.sandbox.docker.init import command_status, was_killed
from harness.sandbox.docker.job_container import job_container, written_to
from harness.sandbox.protocol import (
    Companion,
    CompanionEnd,
    Image,
    Job,
    JobResult,
    LimitReached,
    SandboxOptions,
)
from harness.specs.errors import EndedFromOutside

_REST_SECONDS = 10.0


async def run_job(
    docker: Docker, facts: ImageFacts, image: Image, job: Job, options: SandboxOptions, labels: Mapping[str, str]
) -> JobResult:
    """See `Engine.run_job`. Raises LimitReached("disk") as well."""
    async with _running_companion(docker, facts, job.companion, labels) as companion:
        beside_it = companion.container if companion else ""
        async with job_container(docker, facts, image, job, options, labels, beside_it) as container:
            end = await beside(_run(docker, job, options, container), companion and companion.ended)
            outputs = await docker.call(_outputs, docker, container, job.outputs)
        companions_end = await _end_of(docker, companion) if companion else None
    return JobResult(
        exit_status=command_status(end.state["ExitCode"]),
        timed_out=end.timed_out,
        out_of_memory=end.state["OOMKilled"],
        log=end.log.value,
        outputs=outputs.files,
        complete=outputs.complete,
        seconds=end.seconds,
        own_seconds=end.own_seconds,
        companion=companions_end,
    )


class _RunningCompanion(NamedTuple):
    """A companion at work. `ended` is done, or has failed, when its container has ended."""

    container: str
    outputs: str
    log: CompanionLog
    ended: "asyncio.Future[None]"


@asynccontextmanager
async def _running_companion(
    docker: Docker, facts: ImageFacts, companion: Companion | None, labels: Mapping[str, str]
) -> AsyncIterator[_RunningCompanion | None]:
    """Provide a companion that is ready, removed at the end whatever happens.

    Raises LimitReached("disk") where it has written more than it may, in place of the job's loss.
    """
    if companion is None:
        yield None
        return
    image, job, options = companion.image, companion.job, companion.options
    async with job_container(docker, facts, image, job, options, labels) as container:
        stream, log = await attach(docker.address, container), CompanionLog()
        limit = TimeLimit.of(job.seconds, min(options.limits.cpus, docker.cpus))
        ended: asyncio.Future[None] | None = None
        watch: asyncio.Task[None] | None = None
        breaches: list[LimitReached] = []

        async def breach(limit: LimitReached) -> None:
            breaches.append(limit)
            await docker.kill(container)

        try:
            await docker.call(docker.api.start, container)
            ended = asyncio.ensure_future(_until_end(docker, container, stream, log))
            await until_ready(log, ended, expire(limit, lambda: _use(docker, container)))
            told = await docker.call(docker.api.inspect_container, container)
            meter = layer_meter(docker, told, options.limits.disk_mb, written_to(job, options))
            watch = asyncio.create_task(watch_disk(meter, options.limits.disk_mb, breach))
            yield _RunningCompanion(container, job.outputs, log, ended)
        except EndedFromOutside:
            if breaches:
                raise breaches[0] from None
            raise
        finally:
            stream.close()
            if watch:
                watch.cancel()
            if ended:
                ended.cancel()
                await asyncio.gather(ended, return_exceptions=True)


async def _end_of(docker: Docker, companion: _RunningCompanion) -> CompanionEnd:
    """Return a companion's end, raising EndedFromOutside for one that is gone or hit its memory limit."""
    state = (await docker.call(docker.api.inspect_container, companion.container))["State"]
    if not state["Running"] or state["OOMKilled"]:
        raise EndedFromOutside(LOST)
    await docker.kill(companion.container)
    outputs = await docker.call(_outputs, docker, companion.container, companion.outputs)
    return CompanionEnd(companion.log.value, outputs.files)


class _End(NamedTuple):
    """The end of a main command; `state` is the engine's word."""

    state: dict[str, Any]
    timed_out: bool
    log: BoundedOutput
    seconds: float
    own_seconds: float


async def _run(docker: Docker, job: Job, options: SandboxOptions, container: str) -> _End:
    log, limits = BoundedOutput(), options.limits
    breaches: list[LimitReached] = []

    async def breach(limit: LimitReached) -> None:
        breaches.append(limit)
        await docker.kill(container)

    stream = await attach(docker.address, container)
    watch: asyncio.Task[None] | None = None
    began = time.monotonic()
    limit = TimeLimit.of(job.seconds, min(limits.cpus, docker.cpus))
    try:
        await docker.call(docker.api.start, container)
        facts = await docker.call(docker.api.inspect_container, container)
        meter = layer_meter(docker, facts, limits.disk_mb, written_to(job, options))
        watch = asyncio.create_task(watch_disk(meter, limits.disk_mb, breach))
        own = OwnTime()
        expiry = expire(limit, lambda: _use(docker, container), own)
        timed_out = not await ends_before(_until_end(docker, container, stream, log), expiry)
        own_seconds = own.seconds()
        if timed_out:
            await docker.kill(container)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(_collect(stream, log), _REST_SECONDS)
        seconds = time.monotonic() - began
        state = (await docker.call(docker.api.inspect_container, container))["State"]
    finally:
        stream.close()
        if watch is not None:
            watch.cancel()
    if breaches:
        raise breaches[0]
    if watch.done() and not watch.cancelled():
        watch.result()  # one that has failed has kept no limit
    _check_ended_inside(facts["State"], state, timed_out)
    return _End(state, timed_out, log, seconds, own_seconds)


async def _until_end(docker: Docker, container: str, stream: AttachedStream, log: BoundedOutput) -> None:
    await _collect(stream, log)
    # It may have closed its output long before its end.
    await wait_for_end(docker.address, container)


async def _use(docker: Docker, container: str) -> Use:
    """Return what a container has used, raising EndedFromOutside for one that somebody has frozen."""
    if (await docker.call(docker.api.inspect_container, container))["State"]["Paused"]:
        raise EndedFromOutside("the container of a job was paused from outside")
    stats = await docker.call(docker.api.stats, container, decode=False, stream=False, one_shot=True)
    usage = (stats.get("cpu_stats") or {}).get("cpu_usage") or {}
    # A row for each thread (Podman: each process). R runs or waits for a core, D for a disk.
    threads = await docker.call(docker.api.top, container, "pid,state" if docker.is_podman else "-eLo pid,s")
    # Null instead of an empty list once the last of them has ended.
    states = {row[1] for row in threads["Processes"] or ()}
    return Use.of(int(usage.get("total_usage") or 0) / 1e9, states)


def _check_ended_inside(begin: Mapping[str, Any], state: Mapping[str, Any], timed_out: bool) -> None:
    """Raise EndedFromOutside where neither the command nor a limit ended the container, by two states of it."""
    if state["Running"]:  # the engine closed our connections
        raise EndedFromOutside("the engine stopped telling of the container of a job")
    if state["StartedAt"] != begin["StartedAt"]:
        raise EndedFromOutside("the container of a job was started again from outside")
    if was_killed(state["ExitCode"]) and not (timed_out or state["OOMKilled"]):
        raise EndedFromOutside("the container of a job was killed from outside")


async def _collect(stream: AttachedStream, log: BoundedOutput) -> None:
    while data := await stream.read():
        log.add(data)


def _outputs(docker: Docker, container: str, directory: str) -> Outputs:
    try:
        with Archive(docker.address, container, directory) as archive:
            return Outputs({}, complete=True) if archive.is_link else read_outputs(archive.chunks)
    except FileNotFoundError:
        return Outputs({}, complete=True)
