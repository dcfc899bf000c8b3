"""Our sandbox as one of Inspect's."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from inspect_ai.util import (
    ExecResult,
    LimitExceededError,
    OutputLimitExceededError,
    SandboxEnvironment,
    SandboxEnvironmentLimits,
    SandboxUserUnsupportedError,
)
from pydantic import BaseModel

from harness.plugins.frameworks.workplace import Sessions, Workplace
from harness.sandbox.abilities import StoringEngine
from harness.sandbox.protocol import MAX_OUTPUT_BYTES, LimitReached
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.task import Task

SANDBOX = "testwright"
"""The name by which Inspect knows it."""
SESSIONS = Sessions()
"""Closed when Inspect has ended its task."""
_NOT_EXECUTABLE = 126


class SandboxConfig(BaseModel, frozen=True):
    """The task whose image a sandbox starts from, the folder of its catalog, and the engine."""

    task: str
    catalog: str | None = None
    engine: str = "auto"

    def load(self) -> Task:
        """Return the task. Raises UserError."""
        return Catalog(Path(self.catalog).absolute() if self.catalog else None).task(self.task)


class TestwrightSandbox(SandboxEnvironment):
    """Sandbox of Inspect on ours. A limit that ends the container ends the agent's work, which is scored."""

    def __init__(self, place: Workplace) -> None:
        super().__init__()
        self.place = place

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
        return {"default": cls(await Workplace.open(await SESSIONS.of(config.engine), config.load()))}

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: BaseModel | str | None,
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        for environment in environments.values():
            await environment.as_type(cls).place.remove()

    @classmethod
    async def task_cleanup(cls, task_name: str, config: BaseModel | str | None, cleanup: bool) -> None:
        await SESSIONS.close()

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
        with _ending():
            ended = await self.place.run(cmd, input, cwd, env, timeout)
        if ended.timed_out:
            error = TimeoutError(f"Command timed out after {timeout} seconds")
            error.truncated_output = ended.stdout + ended.stderr  # type: ignore[attr-defined]
            raise error
        if ended.is_cut:
            raise OutputLimitExceededError(f"{MAX_OUTPUT_BYTES} bytes", ended.stdout + ended.stderr)
        if ended.exit_status == _NOT_EXECUTABLE and "Permission denied" in ended.stderr:
            raise PermissionError(errno.EACCES, "Permission denied", cmd[0])
        return ExecResult(ended.exit_status == 0, ended.exit_status, ended.stdout, ended.stderr)

    async def write_file(self, file: str, contents: str | bytes) -> None:
        data = contents.encode() if isinstance(contents, str) else contents
        with _ending(), _told(file):
            await self.place.sandbox.write(self.place.path(file), data)

    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        most = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE
        with _ending(), _told(file):
            data = await self.place.sandbox.read(self.place.path(file), most + 1)
        if len(data) > most:
            raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR, None)
        return data.decode() if text else data


def _checked(config: BaseModel | str | None) -> SandboxConfig:
    if not isinstance(config, SandboxConfig):
        raise UserError(f"sandbox {SANDBOX!r}: it goes with the samples of testwright's tasks")
    return config


@contextmanager
def _ending() -> Iterator[None]:
    """Make a limit of the container one of Inspect's."""
    try:
        yield
    except LimitReached as error:
        raise LimitExceededError("custom", value=1, limit=1, message=str(error)) from error


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
        if "Not a directory" in str(error):
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", file) from None
        raise
