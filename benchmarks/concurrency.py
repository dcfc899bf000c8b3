"""A run of many short trials side by side, with a model that answers after a second: what the runner itself costs.

The trials' agent runs `true` at each step and hands in nothing, so there are no arms. The engine is reached through a
relay that counts the requests that it has not yet answered.
"""

import asyncio
import json
import os
import statistics
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from harness.agents.trajectory import ObservationRecord, read_trajectory
from harness.models.protocol import MessageRole
from harness.models.replay import MessageRecord
from harness.plugins.scripted_provider.scenario import Reply, ReplyRule, Scenario
from harness.plugins.scripted_provider.server import serve
from harness.runs.store import find_trials

TASKS = ("aiosmtpd-proxy-tlv", "aiosmtpd-call-limit")
STEPS = 5
ANSWERS_AFTER = 1.0
"""Seconds that the model takes for an answer."""
_IS_STREAM = (b"101 ", b"raw-stream", b"x-tar")


class Measured(NamedTuple):
    """Of the runner's process: its peak in MB, CPU seconds of its own and of programs that it has run.

    `calls` is how many requests the engine had at once at most. `delays` are seconds between a step's answer and the
    next one's, beyond the model's and the command's own, sorted.
    """

    trials: int
    seconds: float
    megabytes: float
    cpu: float
    calls: int
    delays: tuple[float, ...]

    @property
    def p99(self) -> float:
        return self.delays[int(len(self.delays) * 0.99)]

    @property
    def median(self) -> float:
        return statistics.median(self.delays)

    @property
    def cpu_of_a_step(self) -> float:
        return self.cpu / (self.trials * STEPS)


async def measure(trials: int, at_once: int) -> Measured:
    """One run in a process of its own; `trials` are shared evenly by the tasks."""
    reply = Reply(commands=("true",), delay_seconds=ANSWERS_AFTER)
    with tempfile.TemporaryDirectory(prefix="testwright-") as scratch:
        folder = Path(scratch)
        async with serve(Scenario(rules=(ReplyRule(replies=(reply,), repeat=True),))) as provider:
            model = folder / "model.yaml"
            model.write_text(f"model: openai/scripted\napi_base: {provider.url}/v1\n")
            async with _counted_engine(folder / "engine.sock") as counter:
                tasks = [word for task in TASKS for word in ("-t", task)]
                words = [
                    "run", *tasks, "-s", "mini", "-m", str(model), "-k", str(trials // len(TASKS)),
                    "-j", str(at_once), "--set", f"limits.steps={STEPS}", "--sandbox", "docker",
                    "-o", str(folder / "run"), "--json",
                ]  # fmt: skip
                began = asyncio.get_running_loop().time()
                megabytes, cpu = await asyncio.to_thread(_run, words, f"unix://{folder / 'engine.sock'}", folder)
                seconds = asyncio.get_running_loop().time() - began
                calls = counter.most
        told = json.loads((folder / "out").read_text())["trials"]
        assert [trial["verdict"] for trial in told] == ["failed"] * trials, "every trial ends by itself"
        delays = [delay for store in find_trials(folder / "run") for delay in _delays(store.trajectory)]
    assert len(delays) == trials * (STEPS - 1)
    return Measured(trials, seconds, megabytes, cpu, calls, tuple(sorted(delays)))


def _run(words: list[str], host: str, folder: Path) -> tuple[float, float]:
    """The peak of a process in MB, and its CPU seconds."""
    keys = {"OPENAI_API_KEY": "key-for-benchmarks", "NO_PROXY": "127.0.0.1", "DOCKER_HOST": host}
    environment = {**os.environ, **keys}
    argv = [sys.executable, "-m", "harness.cli", *words]
    opened = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    files = [(os.POSIX_SPAWN_OPEN, number, folder / name, opened, 0o600) for number, name in ((1, "out"), (2, "err"))]
    process = os.posix_spawn(sys.executable, argv, environment, file_actions=files)
    _, status, used = os.wait4(process, 0)
    assert status == 0, (folder / "err").read_text()[-2000:]
    return used.ru_maxrss / 1024, used.ru_utime + used.ru_stime


def _delays(trajectory: Path) -> Iterator[float]:
    """Of each step but the last, in seconds."""
    answers, commands = [], {}
    for record in read_trajectory(trajectory):
        if isinstance(record, MessageRecord) and record.message.role is MessageRole.ASSISTANT:
            answers.append(record)
        elif isinstance(record, ObservationRecord):
            commands[record.step] = record.seconds
    for answer, following in pairwise(answers):
        between = (following.time - answer.time).total_seconds()
        yield between - ANSWERS_AFTER - commands.get(answer.step, 0.0)


@asynccontextmanager
async def _counted_engine(path: Path) -> AsyncIterator["_Counter"]:
    """The engine of this machine at another socket."""
    relay = _Relay()
    async with await asyncio.start_unix_server(relay.serve, path):
        yield relay.counter
        relay.end()


@dataclass
class _Counter:
    now: int = 0
    most: int = 0


class _Call:
    """A connection's request that has not been answered. A stream's bytes are no requests."""

    def __init__(self, counter: _Counter) -> None:
        self._counter = counter
        self._is_open = self._is_stream = False

    def asked(self) -> None:
        if not (self._is_open or self._is_stream):
            self._is_open = True
            self._counter.now += 1
            self._counter.most = max(self._counter.most, self._counter.now)

    def answered(self, data: bytes) -> None:
        if self._is_open:
            self._is_open = False
            self._counter.now -= 1
            self._is_stream = any(mark in data[:400] for mark in _IS_STREAM)

    def ended(self) -> None:
        self.answered(b"")


class _Relay:
    """Carries bytes between sockets of its own and the engine's, and counts."""

    def __init__(self) -> None:
        self.counter = _Counter()
        self._target = urlsplit(os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")).path
        self._carrying: set[asyncio.Future[object]] = set()

    def end(self) -> None:
        for carrying in [*self._carrying]:
            carrying.cancel()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        theirs, ours = await asyncio.open_unix_connection(self._target)
        call = _Call(self.counter)

        async def ask() -> None:
            while data := await reader.read(1 << 16):
                call.asked()
                ours.write(data)
                await ours.drain()
            ours.write_eof()

        async def answer() -> None:
            while data := await theirs.read(1 << 16):
                call.answered(data)
                writer.write(data)
                await writer.drain()
            writer.write_eof()

        carrying = asyncio.gather(ask(), answer())
        self._carrying.add(carrying)
        with suppress(OSError, asyncio.CancelledError):
            await carrying
        self._carrying.remove(carrying)
        call.ended()
        ours.close()
        writer.close()
