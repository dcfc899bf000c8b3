"""`make bench`: what testwright itself costs, with the budgets beside it. Status 1 where one is exceeded.

usage: python -m benchmarks [--only NAME]...     (make bench only="NAME ...")

Most need a Docker engine and the images of one task. Every figure is taken in this one run, against the bare thing
measured beside it, so that it holds on a slow machine as well.
"""

import argparse
import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.concurrency import measure as measure_concurrency
from benchmarks.judging import APPLICATIONS, END_TO_END, STAGES, TASKS, cost_alone, judging_cost, reference_of
from benchmarks.large_runs import LARGE_SIZES, SIZES, measure_start
from benchmarks.large_runs import measure as measure_store
from harness.agents.trajectory import HeaderRecord, ObservationRecord, Trajectory
from harness.judging.verify.arms import ArmObserver, arm_slots
from harness.judging.verify.verification import Judging
from harness.models.protocol import Message, MessageRole
from harness.models.replay import MessageRecord
from harness.results.report.tables import console, table
from harness.runs.engine_session import EngineSession
from harness.sandbox.docker.client import CALLS_AT_ONCE, ENDINGS_AT_ONCE
from harness.sandbox.protocol import Engine, Image, JobResult, Sandbox, SandboxOptions
from harness.specs.catalog import Catalog
from harness.specs.grading import ControlRound
from harness.specs.task import Task
from harness.specs.variants import ArmKey
from harness.tracks.registry import choose_engine

TASK = "aiosmtpd-call-limit"
CORES = len(os.sched_getaffinity(0))
COMMANDS = 60
TRIALS, AT_ONCE = 200, 16
STEPS = 500
QUICK = ("task list", "clean", "doctor")
LABELS = {"testwright.run": "benchmarks"}


Measured = Callable[[Engine, Image, Task], Awaitable[list["Row"]]]


@dataclass(frozen=True)
class Row:
    """`measured` and `budget` are in `unit`; `scale` is what something else costs, in words."""

    what: str
    measured: float
    budget: float
    unit: str
    scale: str = ""


def measure(names: Collection[str]) -> list[Row]:
    rows = []
    if chosen := [measured for name, measured in IN_CONTAINERS.items() if name in names]:
        rows = asyncio.run(with_engine(chosen))
    return rows + [row for name, measured in HERE.items() if name in names for row in measured()]


async def with_engine(chosen: Iterable[Measured]) -> list[Row]:
    task = Catalog().task(TASK)
    engine = choose_engine("docker")
    try:
        image = await engine.image(task)
        return [row for measured in chosen for row in await measured(engine, image, task)]
    finally:
        await engine.reap(LABELS)
        await engine.close()


def in_sandbox(measured: Callable[[Sandbox], Awaitable[list[Row]]]) -> Measured:
    async def with_sandbox(engine: Engine, image: Image, _: Task) -> list[Row]:
        sandbox = engine.sandbox(image, SandboxOptions(), LABELS)
        try:
            await sandbox.start()
            return await measured(sandbox)
        finally:
            await sandbox.remove()

    return with_sandbox


async def commands(sandbox: Sandbox) -> list[Row]:
    """One command over the channel, against the same command in a loop inside, and against `docker exec`."""
    bare = f"time (for i in $(seq {COMMANDS}); do bash -c true; done)"
    output = (await sandbox.run(f"TIMEFORMAT=%R; {bare}", 60)).output.decode()
    inside = float(output.strip().splitlines()[-1]) / COMMANDS
    over_channel = []
    for _ in range(COMMANDS):
        began = time.perf_counter()
        await sandbox.run("true", 10)
        over_channel.append(time.perf_counter() - began)
    execs = await asyncio.to_thread(docker_execs)
    over = (statistics.median(over_channel) - inside) * 1000
    scale = f"docker exec {statistics.median(execs) * 1000:.0f} ms, the command itself {inside * 1000:.1f} ms"
    return [Row("one command in a running container, over the command itself", over, 5, "ms", scale)]


def docker_execs() -> list[float]:
    """Seconds of `docker exec` into the sandbox's container, ten times."""
    listing = ["docker", "ps", "-q", "--filter", "label=testwright.run=benchmarks"]
    [container] = subprocess.run(listing, capture_output=True, text=True, check=True).stdout.split()
    return [timed(["docker", "exec", container, "bash", "-c", "true"]) for _ in range(10)]


async def output_memory(sandbox: Sandbox) -> list[Row]:
    """Peak memory of this process while a command prints 200 MB."""
    await sandbox.run("echo warm", 10)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = await sandbox.run("head -c 200000000 /dev/zero | tr '\\0' x", 120)
    assert result.truncated > 190_000_000
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return [Row("200 MB printed by a command, over idle", grown, 20, "MB", f"kept {len(result.output)} bytes")]


class _Seconds(ArmObserver):
    """Keeps the seconds of each arm."""

    def __init__(self) -> None:
        self.by_arm: dict[str, float] = {}

    def printed(self, key: ArmKey, result: JobResult) -> None:
        self.by_arm[str(key)] = result.seconds


async def verification(engine: Engine, image: Image, task: Task) -> list[Row]:
    """The arms of the reference one after the other, for their own time; then side by side, and as a whole trial."""
    submission = reference_of(task)

    async def judge(slots: asyncio.Semaphore) -> tuple[float, dict[str, float]]:
        seconds = _Seconds()
        bench = EngineSession(engine, LABELS, slots).arm_context(task, image, seconds)
        began = time.perf_counter()
        judgement = await Judging(task, bench).run(submission)
        assert judgement.record.verdict == "resolved"
        return time.perf_counter() - began, seconds.by_arm

    serial, alone = await judge(asyncio.Semaphore(1))
    wall, _ = await judge(arm_slots(engine))
    shared = sum(alone.values()) / CORES
    trial = await asyncio.to_thread(whole_trial)
    scale = f"{len(alone)} arms: {serial:.1f} s one by one, of it {sum(alone.values()):.1f} s their main commands"
    return [
        Row("verification, over its arms' own time shared by the cores", wall / shared, 2, "x", scale),
        Row("a whole oracle trial, over the same", trial - shared, 1.5, "s", f"{trial:.1f} s in all"),
    ]


async def judgings(engine: Engine, _image: Image, _task: Task) -> list[Row]:
    """CPU of judging a reference, against that of its tests run alone once for each arm."""
    rows = []
    for name in TASKS:
        task = Catalog().task(name)
        image = await engine.image(task)
        alone, cost = await cost_alone(engine, image, task, LABELS), await judging_cost(engine, image, task, LABELS)
        scale = f"{cost.words}; alone {alone:.2f} s"
        rows.append(Row(f"judging {name}, over its tests alone once an arm", cost.ratio(alone), 4, "x", scale))
    return rows


async def control_rounds(engine: Engine, _image: Image, _task: Task) -> list[Row]:
    """CPU of judging a reference with a control round, against that without one."""
    rows = []
    for name in TASKS:
        task = Catalog().task(name)
        image = await engine.image(task)
        # A process keeps what its first judging of a task reads and rewrites: neither of the two may be that one.
        await judging_cost(engine, image, task, LABELS, ControlRound.NONE)
        without = await judging_cost(engine, image, task, LABELS, ControlRound.NONE)
        cost = await judging_cost(engine, image, task, LABELS)
        scale = f"{without.whole:.1f} s in {without.arms} arms without, {cost.whole:.1f} s in {cost.arms} with"
        rows.append(
            Row(f"judging {name}: the control round's share", cost.whole / without.whole - 1, 0.25, "", scale)
        )
    return rows


def references_of(names: Sequence[str], budget: float) -> Measured:
    """Return what measures the CPU of judging references, each against a budget in seconds at reference speed."""

    async def measured(engine: Engine, _image: Image, _task: Task) -> list[Row]:
        rows = []
        for name in names:
            task = Catalog().task(name)
            cost = await judging_cost(engine, await engine.image(task), task, LABELS)
            print(f"judging {name}: CPU {cost.whole:.1f} s, {cost.words}", flush=True)
            rows.append(
                Row(f"judging {name}: CPU, at reference speed", cost.at_reference_speed, budget, "s", cost.words)
            )
        return rows

    return measured


def many_at_once() -> list[Row]:
    """A run of many trials against one of few, as many of them at once."""
    few, many = (asyncio.run(measure_concurrency(trials, AT_ONCE)) for trials in (AT_ONCE, TRIALS))
    what, calls = f"{TRIALS} trials, {AT_ONCE} at once", CALLS_AT_ONCE + ENDINGS_AT_ONCE
    grown, cpu = many.megabytes - few.megabytes, (many.cpu - few.cpu) / (many.trials - few.trials)
    return [
        Row(f"{what}: calls of the engine under way, at most", many.calls, calls, "", f"{many.seconds:.0f} s in all"),
        Row(f"{what}: peak memory, over {few.trials}", grown, 60, "MB", f"{many.megabytes:.0f} MB in all"),
        Row(f"{what}: the runner's CPU for each more", cpu, 0.5, "s", f"{many.cpu:.0f} s in all"),
        Row(f"{what}: delay of a step, median", many.median * 1000, 250, "ms", f"p99 {many.p99 * 1000:.0f} ms"),
    ]


def whole_trial() -> float:
    """Wall seconds of an oracle trial as a process of its own."""
    with tempfile.TemporaryDirectory(prefix="testwright-") as scratch:
        command = ["run", "-t", TASK, "-s", "oracle", "--sandbox", "docker", "-o", f"{scratch}/run", "--json"]
        began = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "harness.cli", *command], capture_output=True, text=True, check=True
        )
        wall = time.perf_counter() - began
    assert json.loads(done.stdout)["trials"][0]["verdict"] == "resolved"
    return wall


def trajectory() -> list[Row]:
    result = ObservationRecord(
        step=1, command="ls", exit_status=0, seconds=0.1, output_bytes=12_000, truncated=0, timed_out=False
    )
    text = Message(role=MessageRole.USER, content="x" * 12_000)
    with tempfile.TemporaryDirectory(prefix="testwright-") as scratch:
        began = time.process_time()
        with Trajectory(Path(scratch) / "trajectory.jsonl") as records:
            records.add(HeaderRecord(scaffold="mini", scaffold_version="1", model="m", task=TASK))
            for step in range(STEPS):
                records.add(MessageRecord(step=step, message=Message(role=MessageRole.ASSISTANT, content="ls")))
                records.add(result)
                records.add(MessageRecord(step=step, message=text))
        seconds = time.process_time() - began
    return [Row(f"a trajectory of {STEPS} steps, written: CPU", seconds, 0.2, "s", "12 kB observed in each")]


def start_up() -> list[Row]:
    command = [str(Path(sys.executable).with_name("testwright")), "--help"]
    bare = statistics.median(timed([sys.executable, "-c", "pass"]) for _ in range(5))
    seconds = statistics.median(timed(command) for _ in range(5))
    rows = [Row("testwright --help", seconds, 0.3, "s", f"python -c pass {bare:.2f} s")]
    for words in QUICK:
        own, others = map(min, zip(*(quick_cost(words) for _ in range(3)), strict=True))
        scale = f"processes that it starts {others:.2f} s"
        rows.append(Row(f"testwright {words}: CPU of its own", own, 0.5, "s", scale))
    return rows


def quick_cost(words: str) -> tuple[float, float]:
    """CPU seconds of a command's own process, and of those that it starts."""
    code = (
        "import atexit, json, resource, sys\n"
        "who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)\n"
        "cpu = lambda: [sum(resource.getrusage(each)[:2]) for each in who]\n"
        "atexit.register(lambda: print(json.dumps(cpu()), file=sys.stderr))\n"
        "from harness.cli.main import main\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", code, *words.split()], capture_output=True, text=True)
    own, others = json.loads(done.stderr.splitlines()[-1])
    return own, others


def large_store() -> list[Row]:
    """Budgets grow with the number of trials: 2 s and 300 MB for 100,000."""
    rows = []
    for found in map(measure_store, SIZES):
        what, share = f"{found.trials:,} finished trials", found.trials / SIZES[-1]
        scale = f"without an index {found.first.seconds:.1f} s; show --json {found.as_json.seconds:.1f} s"
        rows.append(Row(f"{what}, shown: CPU beyond the start", found.show.seconds, 0.2 + 1.8 * share, "s", scale))
        scale = f"without an index {found.first.megabytes:.0f} MB; show --json {found.as_json.megabytes:.0f} MB"
        most = max(found.show.megabytes, found.first.megabytes, found.as_json.megabytes)
        rows.append(Row(f"{what}, shown: peak memory", most, 150 + 150 * share, "MB", scale))
    for started in map(measure_start, LARGE_SIZES):
        what, share = f"{started.trials:,} finished trials", started.trials / SIZES[-1]
        scale = f"without an index {started.first.seconds:.1f} s"
        rows.append(Row(f"{what}, started: CPU beyond imports", started.again.seconds, 0.2 + 1.8 * share, "s", scale))
        scale = f"without an index {started.first.megabytes:.0f} MB"
        rows.append(Row(f"{what}, started: peak memory", started.again.megabytes, 150 + 150 * share, "MB", scale))
    return rows


def timed(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


IN_CONTAINERS: dict[str, Measured] = {
    "commands": in_sandbox(commands),
    "output": in_sandbox(output_memory),
    "verification": verification,
    "judging": judgings,
    "control": control_rounds,
    "stages": references_of(STAGES, 110),
    "end-to-end": references_of(END_TO_END, 400),
    "applications": references_of(APPLICATIONS, 230),
}
HERE: dict[str, Callable[[], list[Row]]] = {
    "trajectory": trajectory,
    "help": start_up,
    "store": large_store,
    "concurrency": many_at_once,
}


def main() -> int:
    names = [*IN_CONTAINERS, *HERE]
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="What testwright itself costs.")
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", help=f"one of {', '.join(names)}")
    return report(measure(parser.parse_args().only or names))


def report(rows: Sequence[Row]) -> int:
    """Print a table of what was measured; return 1 where something exceeds its budget, else 0."""
    cells = [
        (
            row.what,
            f"{row.measured:.2f} {row.unit}",
            f"{row.budget:g} {row.unit}",
            "ok" if row.measured <= row.budget else "OVER",
            row.scale,
        )
        for row in rows
    ]
    columns = ("what", "measured", "budget", "", "for scale")
    console().print(table(columns, cells, right=("measured", "budget")))
    return 1 if any(row.measured > row.budget for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
