"""The first process of a job's container. It shows whether the job ended by itself or was ended from outside.

Nothing in a container can kill its first process: the kernel drops SIGKILL from within, and every signal that it has
no handler for. It reports its command's end by its own exit status and never exits with 137 by itself, so that 137
says that somebody outside killed the container (`docker kill`, `docker stop` after its grace, a signal to the first
process from the engine's machine) or that the kernel did for want of memory, which the engine tells. Other signals
from outside, that of `docker stop` among them, have no effect on it or on the job.

Its program is a copy of the image's bash that its user may not read: the kernel lets nobody trace such a process, not
even another one of the same user. Where the image's bash is no program of its own, it is called by a script.
"""

from collections.abc import Sequence

from harness.sandbox.protocol import PlacedFile

BASH = "/bin/bash"
PATH = "/.testwright/init"
_CALLS_BASH = b'#!/usr/bin/env bash\nexec bash "$@"\n'
_KILLED = 137
_KILLED_INSIDE = 193
"""Stands for a command that ended with 137: no signal has the number 65."""
_SCRIPT = f"""exec 2>/dev/null
"$@" 2>&1
status=$?
((status != {_KILLED})) || status={_KILLED_INSIDE}
exit "$status"
"""
"""One output: the engine has a pipe for each stream and doesn't know what came first."""


def program(bash: bytes) -> PlacedFile:
    """Return what to place in a container; `bash` is the image's, empty where it is not at its usual place."""
    is_program = bash.startswith(b"\x7fELF")
    return PlacedFile(PATH, bash, 0o111) if is_program else PlacedFile(PATH, _CALLS_BASH, 0o755)


def command(argv: Sequence[str]) -> tuple[str, ...]:
    """Return the container's command that runs `argv`."""
    return (PATH, "-c", _SCRIPT, "bash", *argv)


def was_killed(exit_status: int) -> bool:
    """Return whether a container's exit status says that its first process was killed."""
    return exit_status == _KILLED


def command_status(exit_status: int) -> int:
    """Return the command's exit status from the container's: 128 and the signal where one ended it."""
    return _KILLED if exit_status == _KILLED_INSIDE else exit_status
