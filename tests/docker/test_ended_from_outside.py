"""A container that somebody ends from outside shows nothing; what its own processes do to one another does."""

import asyncio
import contextlib
import os
import platform
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import docker
import pytest
import pytest_asyncio
from docker.models.containers import Container

from harness.judging.languages.python.language import PythonToolchain
from harness.judging.submission.extraction import Submission
from harness.judging.verify.arms import ARM_TRIES, ArmContext, arm_slots
from harness.judging.verify.verification import Judging
from harness.sandbox.docker.engine import DockerEngine
from harness.sandbox.images.task_images import task_image
from harness.sandbox.protocol import Image, Job, JobResult, SandboxOptions
from harness.specs.catalog import Catalog
from harness.specs.errors import EndedFromOutside
from harness.specs.reasons import Verdict
from tests.support.light_task import TASK, light_catalog
from tests.support.sandboxes import OPTIONS, RUN, docker_image, eventually, in_mid_job, make_engine, processes_with

pytestmark = [pytest.mark.docker, pytest.mark.long]

TRACE_NUMBERS = {"x86_64": 101, "aarch64": 117}
END_SLEEP = ["bash", "-c", "for p in /proc/[0-9]*; do [[ $(<$p/comm) != sleep ]] || kill ${p#/proc/}; done"]
SEIZE, KILL_WITH_TRACER = 0x4206, 0x100000


@pytest.fixture(scope="module")
def image() -> Image:
    return docker_image()


@pytest_asyncio.fixture
async def engine() -> AsyncIterator[DockerEngine]:
    engine = make_engine("docker")
    assert isinstance(engine, DockerEngine)
    yield engine
    await engine.close()


@pytest.fixture
def client() -> Iterator[docker.DockerClient]:
    client = docker.from_env()
    yield client
    client.close()


@pytest.fixture
def labels(request: pytest.FixtureRequest) -> dict[str, str]:
    return {"testwright.test": f"{request.node.name}-{RUN}"}


async def run(engine: DockerEngine, image: Image, labels: dict[str, str], script: str) -> JobResult:
    return await engine.run_job(image, Job(("bash", "-c", f"{script}; :"), seconds=60), OPTIONS, labels)


def arms_of(engine: DockerEngine, image: Image, labels: dict[str, str]) -> ArmContext:
    return ArmContext(
        engine, image, labels, slots=asyncio.Semaphore(1), toolchain=PythonToolchain(), options=SandboxOptions()
    )


def host_pid(container: Container) -> int:
    if os.geteuid() != 0:
        pytest.skip("ONLY ROOT MAY SIGNAL A CONTAINER'S PROCESSES, so this was NOT tested")
    return int(container.attrs["State"]["Pid"])


def kill_everything(container: Container) -> None:
    host_pid(container)
    for row in container.top(ps_args="-eo pid")["Processes"] or ():
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(row[0]), signal.SIGKILL)


ENDINGS: dict[str, Callable[[Container], object]] = {
    "docker kill": lambda container: container.kill(),
    "docker stop": lambda container: container.stop(timeout=1),
    "docker restart": lambda container: container.restart(timeout=0),
    "docker rm -f": lambda container: container.remove(force=True),
    "SIGKILL of its first process": lambda container: os.kill(host_pid(container), signal.SIGKILL),
    "SIGKILL of all its processes": kill_everything,
}


@pytest.mark.parametrize("ending", ENDINGS)
async def test_a_job_whose_container_is_ended_from_outside_is_lost(
    engine: DockerEngine, image: Image, client: docker.DockerClient, labels: dict[str, str], ending: str
) -> None:
    marker = f"{RUN}8711.{list(ENDINGS).index(ending)}"
    job = asyncio.create_task(run(engine, image, labels, f"sleep {marker}"))
    container = await in_mid_job(client, labels, marker)
    await asyncio.to_thread(ENDINGS[ending], container)
    with pytest.raises(EndedFromOutside):
        await job


@pytest.mark.parametrize("name", ["TERM", "INT", "HUP", "QUIT", "USR1"])
async def test_other_signals_from_outside_have_no_effect_on_a_job(
    engine: DockerEngine, image: Image, client: docker.DockerClient, labels: dict[str, str], name: str
) -> None:
    marker = f"{RUN}8712.{['TERM', 'INT', 'HUP', 'QUIT', 'USR1'].index(name)}"
    job = asyncio.create_task(run(engine, image, labels, f"sleep {marker} & wait $!; exit 7"))
    container = await in_mid_job(client, labels, marker)
    await asyncio.to_thread(container.kill, f"SIG{name}")
    await asyncio.to_thread(container.exec_run, END_SLEEP)
    assert (await job).exit_status == 7


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ("kill -9 $$", 137),
        ("kill -TERM $$", 143),
        ("bash -c 'kill -9 $PPID'", 137),
        ("bash -c 'kill -9 -1'", 137),
        ("kill -9 1; kill -TERM 1; kill -INT 1; kill -SEGV 1; kill -ABRT 1; exit 3", 3),
        ("exit 193", 137),
    ],
)
async def test_what_a_jobs_processes_do_to_one_another_is_its_own(
    engine: DockerEngine, image: Image, labels: dict[str, str], script: str, status: int
) -> None:
    assert (await run(engine, image, labels, script)).exit_status == status


async def test_no_process_of_a_job_can_trace_the_first_one_and_so_end_its_container(
    engine: DockerEngine, image: Image, labels: dict[str, str]
) -> None:
    number = TRACE_NUMBERS[platform.machine()]
    script = f"perl -e 'exit(syscall({number}, {SEIZE}, 1, 0, {KILL_WITH_TRACER}) == 0 ? 0 : 5)'; exit $?"
    assert (await run(engine, image, labels, script)).exit_status == 5
    own = script.replace(" 1,", " $ARGV[0]+0,").replace("5)'", "5)' $!")
    assert (await run(engine, image, labels, f"sleep 5 & {own}")).exit_status == 0  # tracing as such is allowed


async def test_a_job_that_is_ended_from_outside_once_runs_again(
    engine: DockerEngine, image: Image, client: docker.DockerClient, labels: dict[str, str]
) -> None:
    marker = f"{RUN}8713"
    job = Job(("bash", "-c", f"sleep {marker} & wait $!; exit 7"), seconds=60)
    running = asyncio.create_task(arms_of(engine, image, labels).run_arm(job))
    first = await in_mid_job(client, labels, marker)
    await asyncio.to_thread(first.kill)
    await eventually(lambda: not processes_with(f"sleep\0{marker}"), "the first container is not dead")
    second = await in_mid_job(client, labels, marker)
    await asyncio.to_thread(second.exec_run, END_SLEEP)
    assert (await running).exit_status == 7
    assert first.id != second.id


async def test_a_job_that_is_ended_from_outside_every_time_is_lost(
    engine: DockerEngine, image: Image, client: docker.DockerClient, labels: dict[str, str]
) -> None:
    marker = f"{RUN}8714"
    job = Job(("sleep", marker), seconds=60)
    running = asyncio.create_task(arms_of(engine, image, labels).run_arm(job))
    killed = set()
    for _ in range(ARM_TRIES):
        container = await in_mid_job(client, labels, marker)
        killed.add(container.id)
        await asyncio.to_thread(container.kill)
        await eventually(lambda: not processes_with(f"sleep\0{marker}"), "the container is not dead")
    with pytest.raises(EndedFromOutside):
        await running
    assert len(killed) == ARM_TRIES


class EndsArms:
    """Ends the containers of so many arms, by turns in several ways, once their tests run."""

    def __init__(self, client: docker.DockerClient, labels: dict[str, str], count: int) -> None:
        self._client = client
        self._wanted = [f"{name}={value}" for name, value in labels.items()]
        self._left = count
        self.ended: set[str] = set()

    async def work(self) -> None:
        ways = [ENDINGS["docker kill"], ENDINGS["docker stop"], ENDINGS["SIGKILL of its first process"]]
        while self._left:
            found = await asyncio.to_thread(
                self._client.containers.list, filters={"label": self._wanted}, ignore_removed=True
            )
            for container in found:
                with contextlib.suppress(docker.errors.APIError, ProcessLookupError, FileNotFoundError):
                    if self._left and container.id not in self.ended and self._tests_run(container):
                        self._left -= 1
                        self.ended.add(container.id)
                        await asyncio.to_thread(ways[self._left % len(ways)], container)

    def _tests_run(self, container: Container) -> bool:
        if any("--setup-plan" in variable for variable in container.attrs["Config"]["Env"]):
            return False  # there tests are collected, and no other container is there to be ended in its place
        pids = [row[0] for row in container.top(ps_args="-eo pid")["Processes"] or ()]
        return any(b"--junit-xml" in Path(f"/proc/{pid}/cmdline").read_bytes() for pid in pids)


async def test_arms_that_are_ended_from_outside_change_no_verdict(
    engine: DockerEngine, client: docker.DockerClient, labels: dict[str, str], tmp_path: Path
) -> None:
    task = Catalog(light_catalog(tmp_path)).task(TASK)
    reference = task.directory / "reference"
    submission = Submission((reference / "tests.patch").read_bytes(), (reference / "manifest.yaml").read_bytes())
    image = await task_image(task)
    arms = replace(arms_of(engine, image, labels), slots=arm_slots(engine))
    ends = EndsArms(client, labels, count=6)
    ending = asyncio.create_task(ends.work())
    try:
        record = (await Judging(task, arms).run(submission)).record
    finally:
        ending.cancel()
    assert len(ends.ended) == 6
    assert record.verdict is Verdict.RESOLVED
