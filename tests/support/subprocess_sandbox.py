"""A small honest sandbox for tests of agents: subprocesses in a directory, without any isolation."""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from harness.sandbox.archives import capped
from harness.sandbox.protocol import AGENT_LOGS, MAX_OUTPUT_BYTES, CommandResult
from harness.specs.errors import SandboxLost


class SubprocessSandbox:
    """The tree is `directory/app`, and /logs/agent is `directory/agent`; other paths are refused."""

    def __init__(self, directory: Path) -> None:
        self.tree = directory / "app"
        self.logs = directory / "agent"
        self.alive = True

    async def start(self) -> None:
        self.tree.mkdir(parents=True, exist_ok=True)
        self.logs.mkdir(parents=True, exist_ok=True)

    async def run(self, command: str, timeout: float) -> CommandResult:
        self._require()
        started = time.monotonic()
        process = await asyncio.create_subprocess_exec(
            "bash", "-c", command,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
            cwd=self.tree, start_new_session=True,
            env={"PATH": os.environ["PATH"], "HOME": str(self.logs), "TESTWRIGHT_AGENT_LOGS": str(self.logs)},
        )  # fmt: skip
        timed_out = False
        reading = asyncio.ensure_future(process.communicate())
        try:
            await asyncio.wait_for(asyncio.shield(reading), timeout)
        except TimeoutError:
            timed_out = True
            os.killpg(process.pid, signal.SIGKILL)
        output, _ = await reading
        kept, truncated = _head_and_tail(output)
        status = 124 if timed_out else process.returncode
        assert status is not None
        return CommandResult(status, kept, truncated, timed_out, time.monotonic() - started)

    async def read(self, path: str, limit: int = MAX_OUTPUT_BYTES) -> bytes:
        return self._place(path).read_bytes()[:limit]

    async def write(self, path: str, data: bytes) -> None:
        place = self._place(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)

    async def kill(self) -> None:
        self.alive = False

    @asynccontextmanager
    async def export_tree(self, path: str, limit: int) -> AsyncIterator[AsyncIterator[bytes]]:
        place = self.logs if path == AGENT_LOGS else self.tree
        if not place.is_dir():
            raise FileNotFoundError(path)
        process = await asyncio.create_subprocess_exec(
            "tar", "--create", "--format=pax", "--directory", place.parent, place.name,
            stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert process.stdout is not None
        try:
            yield capped(_chunks(process.stdout), limit)
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.communicate()

    async def remove(self) -> None:
        self.alive = False

    def _place(self, path: str) -> Path:
        self._require()
        assert path.startswith(f"{AGENT_LOGS}/"), path
        return self.logs / path.removeprefix(f"{AGENT_LOGS}/")

    def _require(self) -> None:
        if not self.alive:
            raise SandboxLost("the sandbox is gone")


async def _chunks(stream: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while chunk := await stream.read(1 << 18):
        yield chunk


def _head_and_tail(output: bytes) -> tuple[bytes, int]:
    dropped = len(output) - MAX_OUTPUT_BYTES
    if dropped <= 0:
        return output, 0
    half = MAX_OUTPUT_BYTES // 2
    return output[:half] + output[-half:], dropped
