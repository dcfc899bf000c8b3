"""What a person sees while trials run: at a real terminal a line that moves, in a pipe plain lines."""

import os
import pty
import select
import subprocess
import sys
import time

from harness.results.report.progress import Remaining

PROGRAM = """
import sys, tempfile
from pathlib import Path
from harness.results.report.progress import watching
from harness.runs.plan import Trial
from harness.runs.outcome import Phase, Progress, Stand
from tests.support.small_task import scaffold, small_task

task = small_task(Path(tempfile.mkdtemp()))
trials = [Trial(task, scaffold("nop"), f"[red]\\x1b]0;evil\\x07model-{n}", 1) for n in (1, 2)]
known = Trial(task, scaffold("nop"), "of an earlier start", 1)
with watching(1 + len(trials)) as observe:
    observe(known, Progress.STARTED, "", None)
    observe(known, Progress.FINISHED, "resolved", None)
    for trial in trials:
        observe(trial, Progress.STARTED, "", None)
        observe(trial, Progress.AT_WORK, "", Stand(phase=Phase.IMAGE))
        for step in range(3):
            observe(trial, Progress.AT_WORK, "", Stand(phase=Phase.AGENT, done=step, most=40, usd=step * 0.01))
        input()  # the one who looks has seen this
        if trial is trials[1]:
            observe(trial, Progress.RETRIED, "the engine is gone", None)
        observe(trial, Progress.AT_WORK, "", Stand(phase=Phase.ARMS, done=7, most=19))
        input()
        observe(trial, Progress.FINISHED, "failed", None)
        input()
"""


def test_a_terminal_shows_a_line_that_moves_and_is_gone_at_the_end() -> None:
    ends = "2 of 3 done, 1 of them before", "3 of 3 done"
    shown = at_a_terminal(80, "step 2 of 40, $0.0200", "arms, 7 of 19", ends[0], "step 2 of 40", "7 of 19", ends[1])
    assert "\x1b[2K" in shown  # the line is written anew
    assert "2 of 3 done, 1 of them before, about " in shown
    assert "of an earlier start #1: resolved" not in shown
    assert shown.count("[red]") >= 2  # a model's name is no markup
    assert "\x1b]0;" not in shown  # and no command to the terminal
    assert "model-1 #1: failed" in shown
    assert "model-2 #1: retried, the engine is gone" in shown
    assert shown.rstrip().endswith(("\x1b[2K", "\x1b[?25h"))  # nothing stays but what was told above the line


def test_a_pipe_gets_a_plain_line_of_each_phase() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], input="\n" * 6, capture_output=True, text=True, check=True, timeout=60
    )
    lines = [line.rpartition("#1: ")[2] for line in done.stderr.splitlines()]
    assert lines[:3] == ["started", "agent", "arms"]
    assert lines[3].startswith("finished failed (2 of 3 done, 1 of them before, about ")
    last = "finished failed (3 of 3 done, 1 of them before)"
    assert lines[4:] == ["started", "agent", "retried the engine is gone", "arms", last]
    assert "\x1b" not in done.stderr
    assert not done.stdout


def test_what_is_left_follows_from_the_trials_that_have_ended() -> None:
    now = [0.0]
    left = Remaining(10, clock=lambda: now[0])
    assert left.seconds is None
    for trial in (1, 2):
        left.began(trial)
        left.worked(trial)
    left.began(3)
    left.ended(3)  # was done already
    assert left.seconds is None
    now[0] = 60
    left.ended(1)
    left.began(4)
    assert left.seconds == (60 * 7 + 0) / 3
    now[0] = 90
    assert str(left) == "2 of 10 done, about 2 min left"


def at_a_terminal(width: int, *moments: str) -> str:
    """All that the program writes; a line is typed whenever it has shown the next of these texts."""
    terminal, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": str(width)}
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=theirs, stderr=theirs, env=env
    )
    os.close(theirs)
    assert process.stdin is not None
    shown, waited_for, end = "", list(moments), time.monotonic() + 60
    try:
        while select.select([terminal], [], [], max(0, end - time.monotonic()))[0]:
            try:
                shown += os.read(terminal, 65536).decode()
            except OSError:  # the other end is closed
                break
            while waited_for and waited_for[0] in shown:
                waited_for.pop(0)
                process.stdin.write(b"\n")
                process.stdin.flush()
        assert not waited_for, shown
        assert process.wait(10) == 0, shown
        return shown
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        os.close(terminal)
