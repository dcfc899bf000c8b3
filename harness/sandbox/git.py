"""Running git: with no configuration of this machine's, a deadline, and limits where it reads an agent's data.

Who is to blame for a failure is told apart here. git's exit status is an answer only where the caller asks a question
that can be answered with no; everything else that goes wrong is the machine's fault and can be tried again.
"""

import asyncio
import os
import re
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.specs.errors import ToolFailed

GIT_SECONDS = 600.0
"""The wall time that any call of git may take. A machine under load needs more of it than another, so going past it
says nothing about a submission."""
HOSTILE_CPU_SECONDS = 60
"""The processor time that one call may need on an agent's data."""
HOSTILE_MEMORY_KB = 1 << 20
"""The memory that one call may need on an agent's data, in KiB."""

_GAVE_UP = re.compile(r"^(?:BUG: |.*: Assertion .* failed)", re.MULTILINE)
"""What git writes where it ends itself because of what it has read, the same at each try."""
_LIMITED = f'ulimit -S -t {HOSTILE_CPU_SECONDS}; ulimit -d {HOSTILE_MEMORY_KB} 2>/dev/null; exec git "$@"'


class GitError(Exception):
    """git says no to what it was given. `complaint` is all that it wrote."""

    def __init__(self, message: str, complaint: str = "") -> None:
        super().__init__(message)
        self.complaint = complaint


class GitFailed(ToolFailed):
    """git could not do its work: it is missing, was killed, took too long, or the disk is full."""


class GitTooMuchWork(GitError):
    """git needed more processor time on an agent's data than `HOSTILE_CPU_SECONDS`, however busy the machine is."""


async def run_git(
    *arguments: str,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    directory: Path | None = None,
    accept: Sequence[int] = (0,),
    may_refuse: bool = False,
    hostile: bool = False,
) -> bytes:
    """git's output.

    `may_refuse`: an exit status that isn't in `accept` raises GitError instead of GitFailed.
    `hostile`: git reads an agent's data, so its time and memory are limited; may raise GitTooMuchWork.
    """
    call = _described(arguments)
    command = ("/bin/sh", "-c", _LIMITED, "git") if hostile else ("git",)
    try:
        process = await asyncio.create_subprocess_exec(
            *command, "-c", "core.quotePath=false", "-c", "core.hooksPath=/dev/null", *arguments,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**_environment(), **(env or {})}, cwd=directory or "/",
        )  # fmt: skip
    except OSError as error:
        raise GitFailed(f"git can't be started: {error.strerror or error}") from None
    try:
        async with asyncio.timeout(GIT_SECONDS):
            output, written = await process.communicate(stdin)
    except TimeoutError:
        raise GitFailed(f"{call} was not done after {GIT_SECONDS:.0f} s") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()
    if process.returncode in accept:
        return output
    raise _failure(call, process.returncode, written.decode("utf-8", "surrogateescape"), may_refuse, hostile)


def _described(arguments: Sequence[str]) -> str:
    """`git VERB (DIRECTORY)`: which call it was, for messages."""
    verb = next(argument for argument in arguments if not argument.startswith("-") and "=" not in argument)
    places = [argument.partition("=")[2] for argument in arguments if argument.startswith("--git-dir=")]
    return " ".join(["git", verb, *(f"({place})" for place in places)])


def _failure(call: str, status: int | None, complaint: str, may_refuse: bool, hostile: bool) -> Exception:
    if hostile and status == -signal.SIGXCPU:
        return GitTooMuchWork(f"{call} needs more than {HOSTILE_CPU_SECONDS} s of processor time on it")
    if may_refuse and status == -signal.SIGABRT and _GAVE_UP.search(complaint):
        return GitError("git gave up on it", complaint)
    if status is None or status < 0:
        name = signal.Signals(-status).name if status else "a signal"
        return GitFailed(f"{call} was ended by {name}")
    if status in (126, 127) and hostile:
        return GitFailed("git can't be started")
    first, *_ = complaint.strip().splitlines() or [f"{call} ended with status {status}"]
    message = re.sub(r"^(?:error|fatal): ", "", first)
    return GitError(message, complaint) if may_refuse else GitFailed(f"{call}: {message}")


def _environment() -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        # A file may be called ":!x"; nothing here means anything but that file.
        "GIT_LITERAL_PATHSPECS": "1",
    }
