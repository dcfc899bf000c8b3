"""A sandbox of ours in which an agent of another framework works: the task's image and limits, no network, no root.

What the agent hands in is read after its processes are dead, as bytes, and judged in fresh containers.
"""

import asyncio
import re
import shlex
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import PurePosixPath
from typing import NamedTuple
from uuid import uuid4

from harness.judging.submission.extraction import Submission, extract
from harness.runs.engine_session import EngineSession, engine_session
from harness.sandbox.abilities import StoringEngine
from harness.sandbox.options import ContainerRole
from harness.sandbox.protocol import Image, Mount, Sandbox
from harness.specs.task import Task
from harness.tracks.registry import track_of

LONGEST = 3600.0
"""Seconds of a command for which no limit was given."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Output(NamedTuple):
    """A command's end. `is_cut` where its output was longer than what is kept of it."""

    exit_status: int
    stdout: str
    stderr: str
    is_cut: bool
    timed_out: bool


class Sessions:
    """Engines of one process by name: opened by whoever needs one first, closed all together."""

    def __init__(self) -> None:
        self._open: dict[str, EngineSession] = {}
        self._stack = AsyncExitStack()
        self._opening = asyncio.Lock()

    async def of(self, engine: str) -> EngineSession:
        """Return the session of an engine, opened when it is first asked for. Raises UserError."""
        async with self._opening:
            if engine not in self._open:
                self._open[engine] = await self._stack.enter_async_context(engine_session(engine, uuid4().hex))
            return self._open[engine]

    async def close(self) -> None:
        """Remove the containers of all that are open; whoever needs an engine after that opens another."""
        stack = self._stack
        self._open, self._stack, self._opening = {}, AsyncExitStack(), asyncio.Lock()
        await stack.aclose()


class Workplace:
    """Sandbox of one agent. Every method but `remove` raises SandboxLost once the container is gone."""

    def __init__(self, session: EngineSession, task: Task, image: Image, sandbox: Sandbox) -> None:
        self.session, self.task, self.image, self.sandbox = session, task, image, sandbox
        self._count = 0

    @classmethod
    async def open(cls, session: EngineSession, task: Task, mounts: Sequence[Mount] = ()) -> "Workplace":
        """Start a sandbox of the task. Raises ImageUnavailable, UserError."""
        image = await session.engine.image(task)
        options = track_of(task).options(task, ContainerRole.AGENT)
        options = replace(options, mounts=(*options.mounts, *mounts))
        made = cls(session, task, image, session.engine.sandbox(image, options, session.labels))
        try:
            await made.sandbox.start()
        except BaseException:
            await made.remove()
            raise
        return made

    async def run(
        self,
        argv: Sequence[str],
        given: str | bytes | None = None,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        seconds: float | None = None,
    ) -> Output:
        """Run a program, whose standard input is `given`.

        Args:
            argv: The program and its arguments.
            given: Its standard input; empty where there is none.
            cwd: Relative to the work directory.
            env: Beside what the image sets.
            seconds: `LONGEST` where there is no limit.

        Raises:
            LimitReached: A limit of the container ended it.
        """
        self._count += 1
        place = f"/tmp/.framework-{self._count}"
        if given is not None:
            await self.sandbox.write(f"{place}.in", given.encode() if isinstance(given, str) else given)
        lines = [f"cd -- {shlex.quote(self.path(cwd or '.'))} || exit 126"]
        lines += [f"export {_checked(name)}={shlex.quote(value)}" for name, value in (env or {}).items()]
        lines += [
            f"exec <{'/dev/null' if given is None else f'{place}.in'} 2>{place}.err",
            f"exec -- {shlex.join(argv)}",
        ]
        ended = await self.sandbox.run("\n".join(lines), LONGEST if seconds is None else seconds)
        errors = await self.sandbox.run(f"cat {place}.err; rm -f {place}.in {place}.err", LONGEST)
        return Output(
            ended.exit_status,
            ended.output.decode(errors="replace"),
            errors.output.decode(errors="replace"),
            bool(ended.truncated or errors.truncated),
            ended.timed_out,
        )

    def path(self, path: str) -> str:
        """Return an absolute path, from one that is relative to the work directory."""
        return str(PurePosixPath(self.image.workdir) / path)

    async def hand_in(self) -> Submission:
        """Kill all processes, and read what the agent hands in."""
        await self.sandbox.kill()
        return await extract(self.sandbox, self.image)

    async def remove(self) -> None:
        """Delete the container, and let go of its image."""
        await self.sandbox.remove()
        if isinstance(self.session.engine, StoringEngine):
            self.session.engine.release(self.image)


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r}: no name of an environment variable")
    return name
