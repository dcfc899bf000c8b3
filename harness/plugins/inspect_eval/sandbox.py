"""A sandbox of Inspect on an engine of ours: the task's image, its limits, no network, a user without rights.

What the agent hands in is read after its processes are dead, as bytes: see `extract`.
"""

import errno
import os
import re
import shlex
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import Any
from uuid import uuid4

from inspect_ai.util import (
    ExecResult,
    LimitExceededError,
    OutputLimitExceededError,
    SandboxEnvironment,
    SandboxEnvironmentLimits,
    SandboxUserUnsupportedError,
)
from pydantic import BaseModel

from harness.judging.submission.extraction import Submission, extract
from harness.runs.engine_session import EngineSession, engine_session
from harness.sandbox.options import ContainerRole
from harness.sandbox.protocol import MAX_OUTPUT_BYTES, CommandResult, Image, LimitReached, Sandbox, StoringEngine
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.task import Task
from harness.tracks.registry import track_of

SANDBOX = "testwright"
"""The name by which Inspect knows it."""
_SECONDS = 3600.0
"""Of a command for which no limit was given."""
_NOT_EXECUTABLE = 126
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class SandboxConfig(BaseModel, frozen=True):
    """The task whose image a sandbox starts from, the folder of its catalog, and the engine."""

    task: str
    catalog: str | None = None
    engine: str = "auto"

    def load(self) -> Task:
        """Return the task. Raises UserError."""
        return Catalog(Path(self.catalog).absolute() if self.catalog else None).task(self.task)


class _Sessions:
    """Engines of this process by name: opened by whoever needs one first, closed when Inspect's task is over."""

    def __init__(self) -> None:
        self._open: dict[str, EngineSession] = {}
        self._stack = AsyncExitStack()

    async def of(self, engine: str) -> EngineSession:
        """Raises UserError where there is no such engine."""
        if engine not in self._open:
            self._open[engine] = await self._stack.enter_async_context(engine_session(engine, uuid4().hex))
        return self._open[engine]

    async def close(self) -> None:
        """Remove every container of this process."""
        self._open.clear()
        await self._stack.aclose()


SESSIONS = _Sessions()


class TestwrightSandbox(SandboxEnvironment):
    """See Inspect's `SandboxEnvironment`. One that a limit of ours ended ends its sample, which is scored then."""

    def __init__(self, session: EngineSession, task: Task, image: Image, sandbox: Sandbox) -> None:
        super().__init__()
        self.session, self.task, self.image = session, task, image
        self._sandbox = sandbox
        self._count = 0

    @classmethod
    def default_concurrency(cls) -> int | None:
        return 2 * (os.cpu_count() or 1)

    @classmethod
    def config_deserialize(cls, config: dict[str, Any]) -> BaseModel:
        return SandboxConfig.model_validate(config)

    @classmethod
    async def task_init(cls, task_name: str, config: BaseModel | str | None) -> None:
        """Make the image, before any sample waits for it."""
        config = _checked(config)
        engine = (await SESSIONS.of(config.engine)).engine
        image = await engine.image(config.load())
        if isinstance(engine, StoringEngine):
            engine.release(image)

    @classmethod
    async def sample_init(
        cls, task_name: str, config: BaseModel | str | None, metadata: dict[str, str]
    ) -> dict[str, SandboxEnvironment]:
        config = _checked(config)
        session, task = await SESSIONS.of(config.engine), config.load()
        image = await session.engine.image(task)
        options = track_of(task).options(task, ContainerRole.AGENT)
        sandbox = session.engine.sandbox(image, options, session.labels)
        made = cls(session, task, image, sandbox)
        try:
            await sandbox.start()
        except BaseException:
            await made.remove()
            raise
        return {"default": made}

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: BaseModel | str | None,
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        for environment in environments.values():
            await environment.as_type(cls).remove()

    @classmethod
    async def task_cleanup(cls, task_name: str, config: BaseModel | str | None, cleanup: bool) -> None:
        await SESSIONS.close()

    async def remove(self) -> None:
        """Delete the container, and let go of its image."""
        await self._sandbox.remove()
        if isinstance(self.session.engine, StoringEngine):
            self.session.engine.release(self.image)

    async def hand_in(self) -> Submission:
        """Kill all processes, and read what the agent hands in. Raises SandboxLost."""
        await self._sandbox.kill()
        return await extract(self._sandbox, self.image)

    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult[str]:
        if user is not None:
            raise SandboxUserUnsupportedError(f"{user}: the sandbox has one user, whom nothing makes another")
        self._count += 1
        place = f"/tmp/.inspect-{self._count}"
        if input is not None:
            await self.write_file(f"{place}.in", input)
        source = shlex.quote(f"{place}.in") if input is not None else "/dev/null"
        lines = [f"cd -- {shlex.quote(self._path(cwd or '.'))} || exit 126"]
        lines += [f"export {_checked_name(name)}={shlex.quote(value)}" for name, value in (env or {}).items()]
        lines += [f"exec <{source} 2>{place}.err", f"exec -- {shlex.join(cmd)}"]
        result = await self._run("\n".join(lines), _SECONDS if timeout is None else timeout)
        errors = await self._run(f"cat {place}.err; rm -f {place}.in {place}.err", _SECONDS)
        stdout, stderr = _text(result), _text(errors)
        if result.timed_out:
            ended = TimeoutError(f"Command timed out after {timeout} seconds")
            ended.truncated_output = stdout + stderr  # type: ignore[attr-defined]  # Inspect shows it to the model
            raise ended
        if result.truncated or errors.truncated:
            raise OutputLimitExceededError(f"{MAX_OUTPUT_BYTES} bytes", stdout + stderr)
        if result.exit_status == _NOT_EXECUTABLE and "Permission denied" in stderr:
            raise PermissionError(stderr)
        return ExecResult(result.exit_status == 0, result.exit_status, stdout, stderr)

    async def write_file(self, file: str, contents: str | bytes) -> None:
        data = contents.encode() if isinstance(contents, str) else contents
        with _told(file):
            await self._sandbox.write(self._path(file), data)

    async def read_file(self, file: str, text: bool = True) -> str | bytes:  # type: ignore[override]
        most = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE
        with _told(file):
            data = await self._sandbox.read(self._path(file), most + 1)
        if len(data) > most:
            raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR, None)
        return data.decode() if text else data

    async def _run(self, command: str, seconds: float) -> CommandResult:
        """Raises LimitExceededError once a limit has ended the container, which ends the agent's work."""
        try:
            return await self._sandbox.run(command, seconds)
        except LimitReached as error:
            limits = track_of(self.task).options(self.task, ContainerRole.AGENT).limits
            most = {"memory": limits.memory_mb, "disk": limits.disk_mb, "pids": limits.pids}[error.limit]
            raise LimitExceededError("custom", value=most, limit=most, message=str(error)) from error

    def _path(self, path: str) -> str:
        return str(PurePosixPath(self.image.workdir) / path)


def _checked(config: BaseModel | str | None) -> SandboxConfig:
    if not isinstance(config, SandboxConfig):
        raise UserError(f"sandbox {SANDBOX!r}: it goes with the samples of testwright's tasks")
    return config


def _checked_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r}: no name of an environment variable")
    return name


def _text(result: CommandResult) -> str:
    return result.output.decode(errors="replace")


@contextmanager
def _told(file: str) -> Iterator[None]:
    """Raise the errors that Inspect shows to a model, with the name that the model used."""
    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", file) from None
    except IsADirectoryError:
        raise IsADirectoryError(errno.EISDIR, "Is a directory", file) from None
    except OSError as error:
        if "Permission denied" in str(error):
            raise PermissionError(errno.EACCES, "Permission denied", file) from None
        raise
