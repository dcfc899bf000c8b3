"""The machine's clock is set a day forwards and backwards, again and again, while a run is at work.

A library of our own stands between the runner and the clock of the day. Clocks that only count seconds go on, as in a
real machine whose clock is set; libfaketime would also set those that count processor time. With
`TESTWRIGHT_FAULTS=all`, as in `make faults`, arms run under it as well.
"""

import asyncio
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from itertools import cycle
from pathlib import Path

import pytest

from harness.plugins.scripted_provider.scenario import Reply, RetryAfter
from harness.results.activity.trials import Mark, trial_behaviour
from harness.results.run_rows import each_row
from harness.runs.store import find_trials
from harness.runs.trial_store import TrialStore
from tests.faults.test_interrupted_runs import command
from tests.support.provider import failing, playing

pytestmark = [pytest.mark.docker, pytest.mark.long]

DAY = timedelta(days=1)
SET_CLOCK = Path(__file__).parents[1] / "support" / "set_clock.c"
HANDS_IN = ("sleep 1; echo '[]' > /logs/agent/manifest.yaml", "echo TESTWRIGHT_SUBMIT")


@contextmanager
def clock_that_is_set(directory: Path, seconds: float = 0.25) -> Iterator[Mapping[str, str]]:
    """The environment of a program whose clock of the day is set so often."""
    if not shutil.which("cc"):
        complaint = "NOT TESTED: there is no C compiler (scripts/engine --with-tools installs one)"
        if os.environ.get("TESTWRIGHT_REQUIRE_DOCKER") == "1":
            pytest.fail(complaint, pytrace=False)
        pytest.skip(complaint)
    library, offset, ended = directory / "set_clock.so", directory / "offset", threading.Event()
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(SET_CLOCK)], check=True)
    environment = {"LD_PRELOAD": str(library), "CLOCK_OFFSET_FILE": str(offset)}
    offset.write_bytes(struct.pack("l", int(DAY.total_seconds())))
    assert_is_set(environment)

    def set_it() -> None:
        with offset.open("r+b", buffering=0) as file:
            for days in cycle((1, 0, -1, 0)):
                os.pwrite(file.fileno(), struct.pack("l", days * int(DAY.total_seconds())), 0)
                if ended.wait(seconds):
                    return

    setting = threading.Thread(target=set_it, daemon=True)
    setting.start()
    try:
        yield environment
    finally:
        ended.set()
        setting.join()


def assert_is_set(environment: Mapping[str, str]) -> None:
    """A program has another time of day, and the machine's own count of seconds."""
    code = "import time; print(time.time(), time.monotonic())"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    of_day, count = map(float, done.stdout.split())
    assert of_day - time.time() > DAY.total_seconds() / 2
    assert abs(count - time.monotonic()) < DAY.total_seconds() / 2


def run(output: Path, *arguments: str, **env: str) -> tuple[str, float]:
    """The one verdict, and the real seconds that it took."""
    began = time.monotonic()
    done = subprocess.run(
        command(output, *arguments, "--json"), env={**os.environ, **env}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    [trial] = json.loads(done.stdout)["trials"]
    return str(trial["verdict"]), time.monotonic() - began


def assert_in_order(output: Path, elapsed: float) -> TrialStore:
    """No attempt was lost, and all durations are of seconds that passed; the only trial."""
    [store] = find_trials(output)
    assert [record.end for record in store.attempts.read()] == ["judged"]
    usage = store.usage()
    assert 0 < usage.agent_seconds < elapsed
    assert 0 < usage.verify_seconds < elapsed
    events = [json.loads(line) for line in (output / "events.jsonl").read_text().splitlines()]
    kinds = [event["event"] for event in events]
    assert kinds.count("finished") == 1, kinds
    return store


def state(output: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in output.glob("trials/**/*") if path.is_file()}


@pytest.mark.fault(
    "the clock is set a day to and fro while an agent works",
    "no deadline passes, waits and durations are real seconds, the next start does nothing",
)
async def test_an_agent_works_on_while_the_clock_is_set(tmp_path: Path) -> None:
    output, model = tmp_path / "run", tmp_path / "model.yaml"
    busy = failing("rate-limit", retry_after=1.5)
    by_date = busy.model_copy(update={"error": busy.error.model_copy(update={"retry_after_form": RetryAfter.DATE})})
    replies = (Reply(commands=("sleep 2",)), by_date, failing("server-error"), Reply(commands=HANDS_IN))
    limits = ("--trial-seconds", "900", "--set", "limits.wall_seconds=600")
    with clock_that_is_set(tmp_path) as env:
        async with playing(*replies) as provider:
            retries = "{attempts: 4, first_wait: 0.5, longest_wait: 0.5}"
            model.write_text(f"model: openai/scripted\napi_base: {provider.url}/v1\nretries: {retries}\n")
            words = ("-s", "mini", "-m", str(model), *limits)
            known = {"OPENAI_API_KEY": "key-for-tests", "NO_PROXY": "127.0.0.1"}
            verdict, elapsed = await asyncio.to_thread(run, output, *words, **known, **env)
            assert verdict == "failed"
            assert len(provider.requests) == len(replies)
            store = assert_in_order(output, elapsed)
            agent = store.agent()
            assert agent is not None
            assert agent.ending == "submitted"
            assert 1 <= agent.waiting_seconds < elapsed
            assert 3 <= agent.counted_seconds < elapsed
            before = state(output)
            again, _ = await asyncio.to_thread(run, output, *words, **known, **env)
            assert again == "failed"
            assert len(provider.requests) == len(replies)
    assert state(output) == before
    [row] = each_row(output)
    found = trial_behaviour(output, row)
    assert found is not None
    assert Mark.STALL not in {mark.mark for mark in found.marks}


@pytest.mark.skipif(os.environ.get("TESTWRIGHT_FAULTS") != "all", reason="part of make faults")
@pytest.mark.fault("the clock is set a day to and fro while arms run", "no arm is lost, and the verdict is the same")
def test_arms_run_on_while_the_clock_is_set(tmp_path: Path) -> None:
    with clock_that_is_set(tmp_path) as env:
        verdict, elapsed = run(tmp_path / "run", "-s", "oracle", **env)
    assert verdict == "resolved"
    store = assert_in_order(tmp_path / "run", elapsed)
    assert run(tmp_path / "undisturbed", "-s", "oracle")[0] == "resolved"
    [undisturbed] = find_trials(tmp_path / "undisturbed")
    written = [each.directory / "verdict.json" for each in (store, undisturbed)]
    assert written[0].read_bytes() == written[1].read_bytes()


STOPPED = """
import sys
from harness.models.allowance import Allowance
from harness.specs.task import TaskLimits
allowance = Allowance(TaskLimits())
allowance.begin()
allowance.beat()
print("at work", flush=True)
sys.stdin.readline()
print(allowance.counted_seconds)
"""


@pytest.mark.fault("the runner is stopped (SIGSTOP)", "the agent's clock stands still")
@pytest.mark.long
def test_time_in_which_the_runner_was_stopped_is_not_the_agents() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STOPPED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin
        assert child.stdout
        assert child.stdout.readline() == "at work\n"
        child.send_signal(signal.SIGSTOP)
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(7)
        child.send_signal(signal.SIGCONT)
        told, _ = child.communicate("go on\n", timeout=60)
    assert float(told) < 3
