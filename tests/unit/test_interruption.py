"""What signals do to work that must clean up after itself, with real processes and real signals."""

import signal
import subprocess
import sys
from collections.abc import Callable, Sequence

import pytest

from tests.support.signals import heed_signals, ignore_interrupts

PROGRAM = """
import asyncio, sys
from harness.runs.concurrency import run_to_end
from harness.specs.signals import end_like_an_interrupt

async def work():
    try:
        print("working", flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
        print("done", flush=True)
    finally:
        print("cleaning", flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
        print("clean", flush=True)

end_like_an_interrupt()
try:
    run_to_end(work())
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(130)
"""


def start(prepare: Callable[[], None]) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=prepare,
    )  # fmt: skip
    assert line(process) == "working"
    return process


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def end(process: subprocess.Popen[str]) -> tuple[int, list[str], str]:
    """Its last lines, once both of its waits are over."""
    output, complaint = process.communicate("\n\n", timeout=60)
    return process.returncode, output.split(), complaint


@pytest.mark.parametrize(
    "signals",
    [[signal.SIGINT], [signal.SIGTERM], [signal.SIGHUP], [signal.SIGINT] * 3, [signal.SIGTERM, signal.SIGINT]],
    ids=lambda signals: "-".join(each.name for each in signals),
)
def test_whoever_asks_for_the_end_and_however_often_gets_it_after_the_clean_up(signals: Sequence[signal.Signals]):
    process = start(heed_signals)
    process.send_signal(signals[0])
    assert line(process) == "cleaning"
    for each in signals[1:]:
        process.send_signal(each)
    assert end(process) == (130, ["clean", "interrupted"], "")


def test_signals_that_follow_at_once_do_not_break_the_clean_up():
    process = start(heed_signals)
    for _ in range(3):
        process.send_signal(signal.SIGINT)
    assert end(process) == (130, ["cleaning", "clean", "interrupted"], "")


def test_a_job_in_the_background_goes_on_after_an_interrupt_that_is_meant_for_others():
    process = start(ignore_interrupts)
    process.send_signal(signal.SIGINT)
    assert end(process) == (0, ["done", "cleaning", "clean"], "")


def test_a_job_in_the_background_is_ended_by_a_termination():
    process = start(ignore_interrupts)
    process.send_signal(signal.SIGTERM)
    assert end(process) == (130, ["cleaning", "clean", "interrupted"], "")
