"""What a run survives while it is at work, for real: Ctrl-C once and twice, an arm's first process killed."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import docker
import pytest

from harness.plugins.scripted_provider.scenario import Reply, ReplyRule, Scenario
from harness.plugins.scripted_provider.server import serve
from tests.faults.test_interrupted_runs import MOMENTS, QUICK, SLOW, command, containers, until
from tests.support.signals import heed_signals

pytestmark = pytest.mark.docker


def start(output: Path, *arguments: str, **env: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(output, *arguments), env={**os.environ, **env},
        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heed_signals,
    )  # fmt: skip


@pytest.mark.long
@pytest.mark.fault("Ctrl-C once while arms run", "the judging ends, its verdict is kept, no container is left")
def test_the_first_interrupt_lets_a_judging_come_to_its_end(tmp_path):
    output = tmp_path / "run"
    process = start(output, "-s", "oracle", "-k", "2")
    until(lambda: MOMENTS["arms run"](output), process)
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "judged to their end; Ctrl-C again stops these too" in complaint
    assert complaint.splitlines()[-1].startswith("testwright: interrupted")
    [verdict] = output.rglob("verdict.json")
    assert json.loads(verdict.read_text())["verdict"] == "resolved"
    assert verdict.parent.name == "1", "no trial begins any more"
    assert not containers(output)


@pytest.mark.fault("kill -9 of a container's first process", "the attempt is kept, the next one comes to a verdict")
def test_a_container_whose_first_process_is_killed_costs_one_attempt(tmp_path):
    output, script = tmp_path / "run", tmp_path / "slow.yaml"
    script.write_text(SLOW)
    process = start(output, "-s", "mini", "-m", f"scripted:{script}", "--json")
    client = docker.from_env()
    try:
        until(lambda: MOMENTS["the agent works"](output), process)
        script.write_text(QUICK)  # the attempts after this one submit at once
        for container in containers(output):
            with contextlib.suppress(ProcessLookupError):
                os.kill(client.api.inspect_container(container)["State"]["Pid"], signal.SIGKILL)
        answer, complaint = process.communicate(timeout=120)
    finally:
        client.close()
    assert process.returncode == 0, complaint
    assert [trial["verdict"] for trial in json.loads(answer)["trials"]] == ["failed"]
    [attempts] = output.rglob("1.attempts.jsonl")
    ends = [json.loads(line)["end"] for line in attempts.read_text().splitlines()]
    assert ends == ["fault", "judged"]
    assert "retried in " in complaint
    assert not containers(output)


@contextlib.contextmanager
def engine_behind(path: Path) -> Iterator["Relay"]:
    """The engine of this machine at another socket, which can be cut off."""
    relay = Relay(path)
    try:
        yield relay
    finally:
        relay.cut()


class Relay:
    """Carries bytes between a socket of its own and the engine's."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._target = urlsplit(os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")).path
        self._process: subprocess.Popen[bytes] | None = None
        self.open()

    def open(self) -> None:
        self._process = subprocess.Popen([sys.executable, "-c", RELAY, str(self.path), self._target])
        until(self.path.exists, self._process)

    def cut(self) -> None:
        """Every connection ends at once, and none can be made."""
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None
            self.path.unlink()


RELAY = """
import asyncio, sys

async def carry(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except OSError:
        writer.close()

async def serve(reader, writer):
    theirs, ours = await asyncio.open_unix_connection(sys.argv[2])
    await asyncio.gather(carry(reader, ours), carry(theirs, writer))
    writer.close()
    ours.close()

async def main():
    server = await asyncio.start_unix_server(serve, sys.argv[1])
    await server.serve_forever()

asyncio.run(main())
"""


@pytest.mark.fault("the engine goes away and comes back", "the attempt is kept, the next one comes to a verdict")
def test_an_engine_that_is_away_for_a_while_costs_attempts_and_nothing_else(tmp_path):
    output, script = tmp_path / "run", tmp_path / "slow.yaml"
    script.write_text(SLOW)
    with engine_behind(tmp_path / "docker.sock") as relay:
        options = ("-s", "mini", "-m", f"scripted:{script}", "--tries", "6", "--json")
        process = start(output, *options, DOCKER_HOST=f"unix://{relay.path}")
        until(lambda: MOMENTS["the agent works"](output), process)
        script.write_text(QUICK)  # the attempts after this one submit at once
        relay.cut()
        until(lambda: ends_of(output) == ["fault"], process)
        relay.open()
        answer, complaint = process.communicate(timeout=300)
    assert process.returncode == 0, complaint
    assert [trial["verdict"] for trial in json.loads(answer)["trials"]] == ["failed"]
    assert ends_of(output)[0] == "fault"
    assert ends_of(output)[-1] == "judged"
    assert not containers(output), "also the one that could not be removed while the engine was away"


def ends_of(output: Path) -> list[str]:
    """How the attempts of the only trial have ended; none where its folders come and go just then."""
    try:
        files = [path.read_text() for path in output.rglob("1.attempts.jsonl")]
    except FileNotFoundError:
        return []
    return [json.loads(line)["end"] for text in files for line in text.splitlines()]


@pytest.mark.long
@pytest.mark.fault("the provider is down for a while", "the trial waits, is tried again, comes to a verdict")
async def test_a_provider_that_is_down_for_a_while_costs_attempts_and_nothing_else(tmp_path):
    commands = ("echo '[]' > /logs/agent/manifest.yaml", "echo TESTWRIGHT_SUBMIT")
    scenario = Scenario(rules=(ReplyRule(replies=(Reply(commands=commands),), repeat=True),))
    async with serve(scenario) as gone:
        port = urlsplit(gone.url).port or 0
    file, output = tmp_path / "model.yaml", tmp_path / "run"
    retries = "{attempts: 2, first_wait: 0.1, longest_wait: 0.1}"
    file.write_text(f"model: openai/x\napi_base: http://127.0.0.1:{port}/v1\nretries: {retries}\n")
    options = ("-s", "mini", "-m", str(file), "--tries", "6", "--json")
    process = start(output, *options, OPENAI_API_KEY="key-for-tests", NO_PROXY="127.0.0.1")
    await asyncio.to_thread(until, lambda: ends_of(output) == ["fault"], process)
    async with serve(scenario, port=port):
        answer, complaint = await asyncio.to_thread(process.communicate, timeout=300)
    assert process.returncode == 0, complaint
    assert [trial["verdict"] for trial in json.loads(answer)["trials"]] == ["failed"]
    assert ends_of(output)[-1] == "judged"
    assert not containers(output)
