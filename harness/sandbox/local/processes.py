"""Processes of local sandboxes: starting them, and finding and killing all that they started."""

import asyncio
import contextlib
import os
import signal
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from harness.sandbox.deadline import Use
from harness.sandbox.local.confinement import Launch
from harness.specs.errors import SandboxLost

ROUNDS = 100
END_SECONDS = 10.0


async def spawn(launch: Launch, stdin: int = DEVNULL, stdout: int = PIPE) -> Process:
    """Start a process in a session of its own: neither Ctrl-C nor our terminal reach it.

    Raises:
        SandboxLost: It can't be started.
    """
    with _inherited(launch.call_filter) as files:
        [program, *words] = launch.argv
        filtered = [word for file in files for word in ("--seccomp", str(file))]
        try:
            return await asyncio.create_subprocess_exec(
                *launch.enter,
                program,
                *filtered,
                *words,
                stdin=stdin,
                stdout=stdout,
                stderr=STDOUT,
                env=launch.env,
                cwd=launch.directory,
                start_new_session=True,
                pass_fds=files,
            )
        except OSError as error:  # its directory is gone, or its program
            raise SandboxLost(f"no process of a local sandbox could be started: {error}") from error


@contextlib.contextmanager
def _inherited(data: bytes) -> Iterator[tuple[int, ...]]:
    """Provide a file with these bytes for a process to inherit; none where there are no bytes."""
    if not data:
        yield ()
        return
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        yield (file.fileno(),)


class ProcessStream:
    """A process's standard input and output."""

    def __init__(self, process: Process) -> None:
        self.process = process

    async def read(self) -> bytes:
        assert self.process.stdout is not None
        return await self.process.stdout.read(1 << 16)

    async def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        await self.process.stdin.drain()

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()


async def end(process: Process, marks: str) -> None:
    """Kill a process, its children, its session, and whatever carries one of the marks; wait until it is dead.

    A child of bubblewrap is the first of its namespace: with it die all others there.
    """
    _signal(process, signal.SIGSTOP)  # so that it neither starts more nor tells of its children's end
    for _ in range(ROUNDS):
        victims = [found.pid for found in _living() if _belongs(found, process.pid, marks)]
        if not victims:
            break
        for pid in victims:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        await asyncio.sleep(0)
    _signal(process, signal.SIGKILL)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), END_SECONDS)


def _signal(process: Process, number: signal.Signals) -> None:
    # Not process.send_signal(), which would take the exit status away from the one who waits for it.
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, number)


def end_marked(marks: str) -> None:
    """Kill what carries one of the marks of a sandbox whose own process nobody remembers."""
    for found in _living():
        if marks and _carries(found.pid, marks):
            with contextlib.suppress(ProcessLookupError):
                os.kill(found.pid, signal.SIGKILL)


def use(root: int, marks: str) -> Use:
    """Return what a process and all that it started have used.

    Of what has ended counts what its parent has waited for.
    """
    family = {root}
    total, states = 0, set()
    for found in sorted(_living(), key=lambda found: found.started):
        if found.pid == root or found.parent in family or _belongs(found, root, marks):
            family.add(found.pid)
            total += found.ticks
            states.add(found.state)
    return Use.of(total / os.sysconf("SC_CLK_TCK"), states)


class _Found(NamedTuple):
    """A process. `ticks` are of CPU time, its ended children's included; `started` is since the machine's start."""

    pid: int
    state: str
    parent: int
    session: int
    ticks: int
    started: int


def _living() -> Iterator[_Found]:
    """Yield all but zombies, from /proc; nothing where there is no /proc."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(errors="replace").rpartition(")")[2].split()
            state, parent, _, session = fields[:4]
            ticks, started = sum(map(int, fields[11:15])), int(fields[19])
        except (OSError, ValueError, IndexError):
            continue
        if state not in "ZX":
            yield _Found(int(path.parent.name), state, int(parent), int(session), ticks, started)


def _belongs(found: _Found, root: int, marks: str) -> bool:
    if found.pid == root:
        return False
    return root in (found.parent, found.session) or bool(marks and _carries(found.pid, marks))


def _carries(pid: int, marks: str) -> bool:
    try:
        entries = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False
    wanted = f"TESTWRIGHT_COMMAND={marks}".encode()
    return any(entry.startswith(wanted) for entry in entries)
