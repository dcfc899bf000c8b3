"""A job's time limit on real containers: computing, waiting, frozen, and on a busy machine."""

import asyncio
import time
from collections.abc import AsyncIterator

import docker
import pytest
import pytest_asyncio
from docker.errors import APIError
from docker.models.containers import Container

from harness.sandbox.docker.engine import DockerEngine
from harness.sandbox.protocol import Image, Job, JobResult
from harness.specs.errors import EndedFromOutside
from tests.support.load import busy_cores
from tests.support.sandboxes import OPTIONS, RUN, docker_image, in_mid_job, labels, make_engine

pytestmark = pytest.mark.docker

COMPUTES = "perl -e 'do {{ ($user, $system) = times }} while ($user + $system < {seconds})'"


@pytest.fixture(scope="module")
def image() -> Image:
    return docker_image()


@pytest_asyncio.fixture
async def engine() -> AsyncIterator[DockerEngine]:
    engine = make_engine("docker")
    assert isinstance(engine, DockerEngine)
    yield engine
    await engine.close()


async def run(engine: DockerEngine, image: Image, script: str, seconds: float) -> JobResult:
    return await engine.run_job(image, Job(("bash", "-c", script), seconds=seconds), OPTIONS, labels("deadline"))


@pytest.mark.dear("keeps every core busy until a job has ended")
async def test_a_job_that_needs_less_cpu_time_than_it_has_ends_by_itself_on_a_busy_machine(
    engine: DockerEngine, image: Image
) -> None:
    with busy_cores(3):
        result = await run(engine, image, f"{COMPUTES.format(seconds=1)}; exit 3", 1.2)
    assert (result.exit_status, result.timed_out) == (3, False)
    assert result.seconds > 1.2, "the machine was not busy"


async def test_what_computes_without_end_is_ended_by_its_cpu_time(engine: DockerEngine, image: Image) -> None:
    script = " & ".join([COMPUTES.format(seconds=600)] * 4) + " & wait"
    result = await run(engine, image, script, 0.3)
    assert result.timed_out


async def test_what_waits_without_end_is_ended(engine: DockerEngine, image: Image) -> None:
    assert (await run(engine, image, "sleep 600", 0.2)).timed_out


def freeze(container: Container) -> None:
    """Pause a container. The kernel may refuse to freeze processes that are just starting; it doesn't for long."""
    for _ in range(100):
        try:
            container.pause()
        except APIError as error:
            if "unable to freeze" not in str(error):
                raise
        else:
            return
        time.sleep(0.1)
    pytest.fail("a container couldn't be paused in a hundred tries")


async def test_a_container_that_somebody_freezes_is_lost(engine: DockerEngine, image: Image) -> None:
    running = asyncio.create_task(run(engine, image, f"sleep {RUN}8721; :", 0.5))
    client = docker.from_env()
    try:
        container = await in_mid_job(client, labels("deadline"), f"{RUN}8721")
        await asyncio.to_thread(freeze, container)
        with pytest.raises(EndedFromOutside):
            await running
    finally:
        client.close()
