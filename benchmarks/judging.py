"""What judging a task's reference costs in CPU, part by part, against its tests run alone once for each arm."""

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from harness.sandbox.options import repo_options
from harness.sandbox.protocol import Engine, Image, Job, JobResult, PlacedFile, SandboxOptions
from harness.specs.task import Task
from harness.submission.extraction import Submission
from harness.tracks.registry import track_of
from harness.verify.arms import ArmContext, arm_slots
from harness.verify.verification import read_submission, suite_of, verify

TASKS = ("aiosmtpd-proxy-tlv", "jansson-object-merge", "restic-option-strings", "zod-stringbool")
"""One of each language."""
TIMES_ALONE = 3
_ENGINE = ("dockerd", "containerd", "containerd-shim", "podman", "conmon", "runc", "crun")
_PAUSE = 0.2
_ALONE = 'times=$1; shift; for ((i = 0; i < times; i++)); do run_tests "$@"; done >/dev/null 2>&1'


@dataclass(frozen=True)
class Cost:
    """CPU seconds of one judging. `alone` are those of the tests by themselves, once."""

    arms: int
    containers: float
    engine: float
    runner: float
    alone: float

    @property
    def ratio(self) -> float:
        return (self.containers + self.engine + self.runner) / (self.arms * self.alone)

    @property
    def words(self) -> str:
        parts = f"containers {self.containers:.1f} s, engine {self.engine:.1f} s, runner {self.runner:.1f} s"
        whole = self.containers + self.engine + self.runner
        return f"{parts}; {self.arms} arms, {whole / self.arms:.2f} s each; alone {self.alone:.2f} s"


async def judging_cost(engine: Engine, image: Image, task: Task, labels: dict[str, str]) -> Cost:
    """Judge a task's reference on an engine of this machine, which nobody else should use meanwhile."""
    reference = task.directory / "reference"
    submission = Submission((reference / "tests.patch").read_bytes(), (reference / "manifest.yaml").read_bytes())
    arms: list[str] = []

    def keep(key: object, _: JobResult) -> None:
        arms.append(str(key))

    context = ArmContext(engine, image, arm_slots(engine), labels, keep, track_of(task).toolchain(task))
    group = await _group_of_containers(engine, image, labels)
    suite = suite_of(await read_submission(task, submission, context))
    files = tuple(PlacedFile(f"{image.workdir}/{path}", data) for path, data in sorted(suite.files.items()))
    tests = tuple(str(test) for test in suite.tests)
    job = Job(("bash", "-c", _ALONE, "alone", str(TIMES_ALONE), *tests), files, seconds=600)
    before = _used(group)
    await engine.run_job(image, job, repo_options(task.repo), labels)
    alone = (_used(group) - before) / TIMES_ALONE

    with _engine_time() as daemon:
        containers, runner = _used(group), _own()
        judgement = await verify(task, submission, context)
        containers, runner = _used(group) - containers, _own() - runner
    assert judgement.record.verdict == "resolved", judgement.record.reasons
    return Cost(len(arms), containers, daemon.seconds, runner, alone)


async def _group_of_containers(engine: Engine, image: Image, labels: dict[str, str]) -> Path:
    """The control group above those of this engine's containers; it keeps what the removed ones have used."""
    sandbox = engine.sandbox(image, SandboxOptions(), labels)
    try:
        await sandbox.start()
        filters = [f"--filter=label={name}={value}" for name, value in labels.items()]
        [container] = _docker("ps", "-q", *filters).split()
        process = _docker("inspect", "-f", "{{.State.Pid}}", container).strip()
        for line in Path(f"/proc/{process}/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if "cpuacct" in controllers.split(","):
                return Path(f"/sys/fs/cgroup/cpuacct{path}").parent
            if not controllers and Path("/sys/fs/cgroup/cgroup.controllers").exists():
                return Path(f"/sys/fs/cgroup{path}").parent
    finally:
        await sandbox.remove()
    raise SystemExit("benchmarks: containers of this engine have no control group here; is it on another machine?")


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


@dataclass
class _EngineTime:
    """CPU seconds of the engine's processes and of those that they have waited for, by process."""

    first: dict[int, float] = field(default_factory=dict)
    last: dict[int, float] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        return sum(seconds - self.first.get(process, 0.0) for process, seconds in self.last.items())

    def look(self) -> None:
        self.last |= _engine_processes()


@contextmanager
def _engine_time() -> Iterator[_EngineTime]:
    """Processes of the engine that come and go are looked at five times a second; their last moments are lost."""
    time, ended = _EngineTime(first=_engine_processes()), threading.Event()

    def watch() -> None:
        while not ended.wait(_PAUSE):
            time.look()

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield time
    finally:
        ended.set()
        watcher.join()
        time.look()


def _engine_processes() -> dict[int, float]:
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            process, _, rest = stat.read_text().partition(" (")
        except OSError:  # it has just ended
            continue
        name, _, numbers = rest.rpartition(") ")
        if name.startswith(_ENGINE):
            found[int(process)] = sum(map(int, numbers.split()[11:15])) / os.sysconf("SC_CLK_TCK")
    return found
