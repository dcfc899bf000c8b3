"""Runs long commands with much output: the output goes to a log in the cache."""

import asyncio
import os
import re
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.sandbox.cache import cache_directory
from harness.specs.errors import ImageUnavailable


async def run_logged(command: Sequence[str], env: Mapping[str, str], makes: str, *, again: bool = False) -> None:
    """Run a command that makes `makes` (an image's tag, an environment's name), in the log of that name.

    `again` adds to the log. Raises ImageUnavailable with the log's path. Cancelling it kills the command and
    its children.
    """
    log = log_of(makes)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab" if again else "wb") as output:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            env=env, start_new_session=True,
        )  # fmt: skip
        try:
            status = await process.wait()
        except asyncio.CancelledError:
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
            raise
    if status:
        raise ImageUnavailable(f"making {makes} failed: {last_complaint(log)} (all of it: {log})")


def log_of(made: str) -> Path:
    """Where the last command that made this has its output."""
    return cache_directory() / "logs" / f"{made.removeprefix('testwright/').replace(':', '-')}.log"


def last_complaint(log: Path) -> str:
    """The line of a log that says best what went wrong: a command's last error, else the last that it said."""
    said, errors, summary = [], [], []
    for line in filter(None, map(str.strip, log.read_text(errors="replace").splitlines())):
        text = re.sub(r"^#\d+ ([\d.]+ )?", "", line)  # BuildKit's step and seconds
        if re.match(r"(?i)(error: )?(failed to solve|executor failed|process ).*(exit code|did not)", text):
            summary.append(text)
        elif re.match(r"(?i)(error\b|e: |fatal\b|failed\b)", text):
            errors.append(text)
        elif text == line or re.match(r"#\d+ [\d.]+ ", line):
            said.append(text)
    commands = [text for text in said if not text.startswith((">", "---"))]
    return next((texts[-1] for texts in (errors, commands, summary) if texts), "it said nothing")
