"""What a person sees while trials run: at a real terminal a line that moves, in a pipe plain lines."""

import os
import pty
import select
import subprocess
import sys
import time

PROGRAM = """
import sys, tempfile
from pathlib import Path
from harness.report.progress import watching
from harness.runs.plan import Trial
from harness.runs.outcome import Progress
from tests.support.small_task import scaffold, small_task

task = small_task(Path(tempfile.mkdtemp()))
trials = [Trial(task, scaffold("nop"), f"[red]\\x1b]0;evil\\x07model-{n}", 1) for n in (1, 2)]
with watching(len(trials)) as observe:
    for trial in trials:
        observe(trial, Progress.STARTED, "")
        if trial is trials[1]:
            observe(trial, Progress.RETRIED, "the engine is gone")
        observe(trial, Progress.FINISHED, "failed")
        input()  # the one who looks has seen this
"""


def test_a_terminal_shows_a_line_that_moves_and_is_gone_at_the_end() -> None:
    shown = at_a_terminal("1/2", "2/2")
    assert "\x1b[2K" in shown  # the line is written anew
    assert shown.count("[red]") >= 2  # a model's name is no markup
    assert "\x1b]0;" not in shown  # and no command to the terminal
    assert "model-1 #1: failed" in shown
    assert "model-2 #1: retried, the engine is gone" in shown
    assert shown.rstrip().endswith(("\x1b[2K", "\x1b[?25h"))  # nothing stays but what was told above the line


def test_a_pipe_gets_a_plain_line_of_each_step() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], input="\n\n", capture_output=True, text=True, check=True, timeout=60
    )
    lines = done.stderr.splitlines()
    assert [line.rpartition("#1: ")[2] for line in lines] == [
        "started", "finished failed", "started", "retried the engine is gone", "finished failed",
    ]  # fmt: skip
    assert "\x1b" not in done.stderr
    assert not done.stdout


def at_a_terminal(*moments: str) -> str:
    """All that the program writes; a line is typed whenever it has shown the next of these texts."""
    terminal, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
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
