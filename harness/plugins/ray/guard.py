"""A process beside a node's own that outlives it.

Its stdin is a pipe from the node's process. A pipe that ends without a word says that the process was killed: then
the containers that it has left are removed, and its folder.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from harness.plugins.swerex.configuration import read_configuration
from harness.sandbox.host import DOCKER, host_environment
from harness.sandbox.registry import split

_DONE = b"done"


def start_guard(sandbox: str, owner: str, folder: Path) -> IO[bytes]:
    """Start a guard and return the pipe to it, which `dismiss` writes to; it acts when the pipe closes."""
    process = subprocess.Popen(
        [sys.executable, "-m", __name__, sandbox, owner, str(folder)],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=host_environment(*DOCKER, "TESTWRIGHT_*", *_variables(sandbox), "PYTHONPATH"), start_new_session=True,
    )  # fmt: skip
    assert process.stdin is not None
    process.wait()  # the guard itself is a child of this one, which nobody finds as a child of ours
    return process.stdin


def dismiss(guards: Sequence[IO[bytes]]) -> None:
    """End guards: nothing is left to look after."""
    for guard in guards:
        guard.write(_DONE)
        guard.close()


def _variables(sandbox: str) -> tuple[str, ...]:
    """Return what it takes from our environment to reach a sandbox's server: its token can have any name."""
    name, argument = split(sandbox)
    return read_configuration(argument).variables if name == "swerex" else ()


def _guard(sandbox: str, owner: str, folder: Path) -> None:
    if sys.stdin.buffer.read() == _DONE:
        return
    import asyncio
    import shutil

    from harness.runs.owners import OWNER
    from harness.tracks.registry import choose_engine

    async def reap() -> None:
        engine = choose_engine(sandbox)
        try:
            await engine.reap({OWNER: owner})
        finally:
            await engine.close()

    try:
        asyncio.run(reap())
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    if os.fork() == 0:
        _guard(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
