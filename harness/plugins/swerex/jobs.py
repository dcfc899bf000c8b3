"""Jobs on a SWE-ReX deployment: a fresh place, one process, its outputs, and all of it deleted."""

import asyncio
import time
from collections.abc import Iterator

from harness.plugins.swerex.place import DeployedDirectory
from harness.sandbox.archives import MAX_OUTPUT_FILES, MAX_OUTPUTS_BYTES, Outputs, read_outputs
from harness.sandbox.deadline import TimeLimit, ends_before, expire
from harness.sandbox.disk_watch import watch_disk
from harness.sandbox.protocol import (
    MAX_OUTPUT_BYTES,
    REPORT_DIR,
    Image,
    Job,
    JobResult,
    LimitReached,
    Limits,
    SandboxOptions,
)
from harness.sandbox.tarfiles import tarfile
from harness.specs.errors import SandboxLost

_LOOK_SECONDS = 2.0
_REST_SECONDS = 5.0
_KEEP = MAX_OUTPUT_BYTES // 2
_TAR_BYTES = MAX_OUTPUTS_BYTES + MAX_OUTPUT_FILES * 4096
_KILLED = 137


async def run_in(place: DeployedDirectory, image: Image, job: Job, options: SandboxOptions) -> JobResult:
    """Run a job in a place that was made for it.

    Raises:
        SandboxLost: The deployment is gone.
        LimitReached: The job wrote more than its disk limit allows.
    """
    client, state = place.host.client, f"{place.state}/job"
    await place.put(job.files, job.outputs)
    env = {**job.env, REPORT_DIR: job.outputs}
    argv = [place.mapped(word, image) for word in job.argv]
    await client.check("start_job", state, str(_KEEP), place.marks, *place.launch(image, options, env, "job"), *argv)
    began = time.monotonic()
    breaches: list[LimitReached] = []
    status = await _watched(place, state, job, options.limits, breaches)
    await place.kill()
    if breaches:
        raise breaches[0]
    log = await _log(place, state)
    outputs = await _outputs(place, job.outputs)
    exit_status, seconds = status or (_KILLED, time.monotonic() - began)
    return JobResult(exit_status, status is None, False, log, outputs.files, outputs.complete, seconds)


async def _watched(
    place: DeployedDirectory, state: str, job: Job, limits: Limits, breaches: list[LimitReached]
) -> tuple[int, float] | None:
    """Wait for a job's end: its exit status and its seconds, None where it took too long or broke a limit."""
    ends: list[str] = []
    over = asyncio.Event()

    async def wait() -> None:
        while not over.is_set():
            answer = await place.host.client.until(_LOOK_SECONDS, "ended", state)
            if answer.status == 0:
                ends.append(answer.output)
                return

    async def breach(limit: LimitReached) -> None:
        breaches.append(limit)
        over.set()

    watch = asyncio.create_task(watch_disk(place.bytes_used, limits.disk_mb, breach))
    try:
        limit = TimeLimit.of(job.seconds, limits.cpus)
        await ends_before(wait(), expire(limit, place.time_used))
    finally:
        watch.cancel()
    return _end(ends[0]) if ends else None


def _end(text: str) -> tuple[int, float]:
    words = text.split()
    if len(words) != 2 or not all(word.isdigit() and len(word) < 16 for word in words):
        raise SandboxLost("the job's exit status is no number: something on the deployment has replaced it")
    return int(words[0]), int(words[1]) / 1e6


async def _log(place: DeployedDirectory, state: str) -> bytes:
    """Return head and tail of what a job has printed, once all that could print is dead."""
    client = place.host.client
    await client.until(_REST_SECONDS, "there", f"{state}/whole")
    head = await client.call("piece", f"{state}/head", "0")
    tail = await client.call("piece", f"{state}/tail", "0")
    return head.data + tail.data


async def _outputs(place: DeployedDirectory, directory: str) -> Outputs:
    try:
        pieces = [piece async for piece in await place.pack(directory, _TAR_BYTES)]
    except FileNotFoundError:
        return Outputs({}, complete=True)
    return await asyncio.to_thread(_read, iter(pieces))


def _read(pieces: Iterator[bytes]) -> Outputs:
    try:
        return read_outputs(pieces)
    except tarfile.TarError:  # cut by its limit
        return Outputs({}, complete=False)
