"""What judging a task's reference costs in CPU, part by part, against its tests run alone once for each arm."""

import asyncio
import contextlib
import os
import statistics
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.judging.submission.extraction import Submission
from harness.judging.verify.arms import ArmObserver, arm_slots
from harness.judging.verify.verification import Judging, read_submission, suite_of
from harness.runs.engine_session import EngineSession
from harness.sandbox import machine_speed
from harness.sandbox.options import repo_options
from harness.sandbox.protocol import Engine, Image, Job, JobResult, PlacedFile, SandboxOptions
from harness.specs.grading import ControlRound, GradingRules
from harness.specs.task import Task
from harness.specs.variants import ArmKey
from harness.tracks.registry import track_of

TASKS = ("aiosmtpd-proxy-tlv", "jansson-object-merge", "restic-option-strings", "zod-stringbool")
"""One of each language."""
STAGES = ("technique:api-todos", "technique:network-outage", "technique:polling-report")
"""Tasks whose arms have an application beside them."""
END_TO_END = (
    "e2e:datasette-trees",
    "e2e:django-admin-library",
    "e2e:ihatemoney-settling",
    "e2e:roundup-desk",
    "e2e:sqlite-web-workshop",
    "e2e:tiddlywiki-garden",
)
"""The same, with applications that others made."""
APPLICATIONS = ("build:link-shortener", "build:chat", "build:lending-desk")
"""Briefs, whose first reference is judged."""
TIMES_ALONE = 3
_BETWEEN_SAMPLES = 5.0
"""Seconds; a sample takes a few hundredths of one."""
_ENGINE = ("dockerd", "containerd", "containerd-shim", "podman", "conmon", "runc", "crun")
_ALONE = 'times=$1; shift; for ((i = 0; i < times; i++)); do run_tests "$@"; done >/dev/null 2>&1'


@dataclass(frozen=True)
class Cost:
    """CPU seconds of one judging; `slowness` is how many times longer than the reference machine this one took."""

    arms: int
    containers: float
    engine: float
    runner: float
    slowness: float

    @property
    def whole(self) -> float:
        return self.containers + self.engine + self.runner

    @property
    def at_reference_speed(self) -> float:
        """What the whole would have taken on the machine that budgets in seconds are for."""
        return self.whole / self.slowness

    def ratio(self, alone: float) -> float:
        """Return it over the CPU seconds of the tests by themselves, once for each arm."""
        return self.whole / (self.arms * alone)

    @property
    def words(self) -> str:
        parts = f"containers {self.containers:.1f} s, engine {self.engine:.1f} s, runner {self.runner:.1f} s"
        arms = f"{self.arms} arms, {self.whole / self.arms:.2f} s each"
        return f"{parts}; {arms}; {self.slowness:.2f} times slower than the reference machine"


class _ArmCount(ArmObserver):
    """Counts the containers of arms."""

    def __init__(self) -> None:
        self.arms = 0

    def printed(self, key: ArmKey, result: JobResult) -> None:  # noqa: ARG002
        self.arms += 1


async def judging_cost(
    engine: Engine, image: Image, task: Task, labels: dict[str, str], control: ControlRound = ControlRound.DRAWN
) -> Cost:
    """Judge a task's reference on an engine of this machine, which nobody else should use meanwhile."""
    heard = _ArmCount()
    context = EngineSession(engine, labels, arm_slots(engine)).arm_context(task, image, heard)
    group = await _group_of_containers(engine, image, labels)
    grade = track_of(task).graders[GradingRules.TESTWRIGHT]
    slowness = Slowness()
    with _group_of_engine() as daemon:
        containers, runner, engine_cpu = _used(group), _own(), _used(daemon)
        async with slowness.sampled():
            judgement = await grade(Judging(task, context, control=control), reference_of(task))
        containers, runner, engine_cpu = (
            _used(group) - containers,
            _own() - runner - slowness.seconds,
            _used(daemon) - engine_cpu,
        )
    assert judgement.record.verdict == "resolved", judgement.record.reasons
    return Cost(heard.arms, containers, engine_cpu, runner, slowness.mean)


async def cost_alone(engine: Engine, image: Image, task: Task, labels: dict[str, str]) -> float:
    """Return the CPU seconds of a reference's tests by themselves, once."""
    context = EngineSession(engine, labels, arm_slots(engine)).arm_context(task, image)
    group = await _group_of_containers(engine, image, labels)
    suite = suite_of(await read_submission(task, reference_of(task), context))
    files = tuple(PlacedFile(f"{image.workdir}/{path}", data) for path, data in sorted(suite.files.items()))
    tests = tuple(str(test) for test in suite.tests)
    job = Job(("bash", "-c", _ALONE, "alone", str(TIMES_ALONE), *tests), files, seconds=600)
    before = _used(group)
    await engine.run_job(image, job, repo_options(task.repo), labels)
    return (_used(group) - before) / TIMES_ALONE


def reference_of(task: Task) -> Submission:
    """Return what a task's author would hand in."""
    return Submission(task.patch("reference/tests.patch"), task.patch("reference/manifest.yaml"))


async def _group_of_containers(engine: Engine, image: Image, labels: dict[str, str]) -> Path:
    """The control group above those of this engine's containers; it keeps what the removed ones have used."""
    sandbox = engine.sandbox(image, SandboxOptions(), labels)
    try:
        await sandbox.start()
        filters = [f"--filter=label={name}={value}" for name, value in labels.items()]
        [container] = _docker("ps", "-q", *filters).split()
        process = _docker("inspect", "-f", "{{.State.Pid}}", container).strip()
        return _cpu_group(process).parent
    finally:
        await sandbox.remove()


def _docker(*arguments: str) -> str:
    return subprocess.run(["docker", *arguments], capture_output=True, text=True, check=True).stdout


def _used(group: Path) -> float:
    """CPU seconds of a control group and all below it."""
    if (usage := group / "cpuacct.usage").exists():
        return int(usage.read_text()) / 1e9
    return int((group / "cpu.stat").read_text().split()[1]) / 1e6


def _own() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class Slowness:
    """How many times longer than the reference machine this one takes, sampled while something runs.

    `seconds` is the CPU that sampling took.
    """

    def __init__(self) -> None:
        self.samples: list[float] = []
        self.seconds = 0.0

    @property
    def mean(self) -> float:
        """Harmonic, for as much work is done in a second as the machine is fast in it; at least 1."""
        return max(1.0, statistics.harmonic_mean(self.samples))

    @asynccontextmanager
    async def sampled(self, pause: float = _BETWEEN_SAMPLES) -> AsyncIterator[None]:
        """Take a sample at once, and another after each pause, in seconds, as long as the body lasts."""
        sampling = asyncio.create_task(self._sample(pause))
        try:
            yield
        finally:
            sampling.cancel()

    async def _sample(self, pause: float) -> None:
        while True:
            began = time.thread_time()
            self.samples.append(machine_speed.slowness_now())
            self.seconds += time.thread_time() - began
            await asyncio.sleep(pause)


@contextmanager
def _group_of_engine() -> Iterator[Path]:
    """A control group that the engine's processes work in meanwhile, what they start included, but for containers.

    Times of the processes don't do: a shim's include what the container did that it has waited for.
    """
    first = {process: _cpu_group(process) for process in _engine_processes()}
    if not first:
        raise SystemExit("benchmarks: no engine works on this machine")
    [home, *_] = first.values()
    group = next(path for path in (home, *home.parents) if path.parent.name == "cgroup" or path.name == "cgroup")
    group = group / f"testwright-bench-{os.getpid()}"
    group.mkdir()
    try:
        for process in first:
            _move(process, group)
        yield group
    finally:
        for process in map(int, (group / "cgroup.procs").read_text().split()):
            _move(process, first.get(process, home))
        group.rmdir()


def _engine_processes() -> list[int]:
    found = []
    for name in Path("/proc").glob("[0-9]*/comm"):
        with contextlib.suppress(OSError):  # it has just ended
            if name.read_text().startswith(_ENGINE):
                found.append(int(name.parent.name))
    return sorted(found)


def _move(process: int, group: Path) -> None:
    with contextlib.suppress(ProcessLookupError):
        (group / "cgroup.procs").write_text(str(process))


def _cpu_group(process: int | str) -> Path:
    """The control group that counts a process's CPU."""
    for line in Path(f"/proc/{process}/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "cpuacct" in controllers.split(","):
            return Path(f"/sys/fs/cgroup/cpuacct{path}")
        if not controllers and Path("/sys/fs/cgroup/cgroup.controllers").exists():
            return Path(f"/sys/fs/cgroup{path}")
    raise SystemExit("benchmarks: processes of this engine have no control group here; is it on another machine?")
