"""Our sandbox as an environment of Harbor.

`/solution` and `/tests` are folders of this machine that the container sees and can't write to, since its user may
make none there. Whatever user Harbor asks for, commands run as the one that the sandbox has.
"""

import asyncio
import tempfile
import tomllib
from contextlib import AsyncExitStack
from pathlib import Path, PurePosixPath

from harbor.environments.base import BaseEnvironment, ExecResult
from harbor.environments.capabilities import EnvironmentCapabilities, EnvironmentResourceCapabilities
from harbor.models.task.config import NetworkMode
from pydantic import BaseModel, ConfigDict

from harness.plugins.frameworks.workplace import Sessions, Workplace
from harness.sandbox.archives import read_tar
from harness.sandbox.protocol import LimitReached, Mount
from harness.sandbox.tarfiles import tarfile
from harness.specs.catalog import Catalog
from harness.specs.errors import SandboxLost, UserError
from harness.specs.task import Task

ENGINE = "docker"
SESSIONS = Sessions()
SHOWN = ("/solution", "/tests")
_MADE = ("/logs/agent", "/logs/verifier", "/logs/artifacts")
_MOST_BYTES = 1_000_000_000
"""Bytes of a folder or a file that Harbor takes out."""
_TIMED_OUT, _KILLED = 124, 137


class Metadata(BaseModel):
    """The origin of an exported task, from its `task.toml`."""

    model_config = ConfigDict(extra="ignore")

    task: str
    digest: str
    catalog: str = ""

    @classmethod
    def read(cls, task_directory: Path) -> "Metadata":
        """Read what was exported of a task. Raises UserError."""
        try:
            return cls.model_validate(tomllib.loads((task_directory / "task.toml").read_text())["metadata"])
        except (OSError, ValueError, KeyError):
            raise UserError(f"{task_directory}: no task that testwright exported") from None

    def load(self) -> Task:
        """Load the task.

        Raises:
            UserError: It isn't what it was when it was exported.
        """
        task = Catalog(Path(self.catalog) if self.catalog else None).task(self.task)
        if task.digest != self.digest:
            raise UserError(f"{self.task}: the task has changed since it was exported; export it again")
        return task


class TestwrightEnvironment(BaseEnvironment):
    """Environment of Harbor whose container is our sandbox of an exported task."""

    _users = 0

    @staticmethod
    def type() -> str:
        return "testwright"

    @property
    def capabilities(self) -> EnvironmentCapabilities:
        return EnvironmentCapabilities(disable_internet=True)

    @classmethod
    def resource_capabilities(cls) -> EnvironmentResourceCapabilities | None:
        return EnvironmentResourceCapabilities(cpu_limit=True, memory_limit=True, fractional_cpus=True)

    def _validate_definition(self) -> None:
        if self.network_policy.network_mode != NetworkMode.NO_NETWORK:
            raise UserError("testwright's sandbox has no network; ask for none")
        self._metadata = Metadata.read(self.environment_dir.parent)

    @property
    def place(self) -> Workplace:
        """The sandbox.

        Raises:
            SandboxLost: The environment isn't started, or was stopped.
        """
        if self._place is None:
            raise SandboxLost("the environment isn't started")
        return self._place

    _place: Workplace | None = None

    async def start(self, force_build: bool) -> None:
        task = self._metadata.load()
        type(self)._users += 1
        self._stack = AsyncExitStack()
        self._stack.push_async_callback(self._leave)
        self._host = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="testwright-")))
        self._host.chmod(0o755)
        mounts = []
        for target in SHOWN:
            (self._host / target[1:]).mkdir()
            mounts.append(Mount(self._host / target[1:], target))
        session = await SESSIONS.of(ENGINE)
        self._place = await Workplace.open(session, task, mounts)
        self._stack.push_async_callback(self._place.remove)
        await self.exec(f"mkdir -p {' '.join(_MADE)}")

    async def stop(self, delete: bool) -> None:
        self._place = None
        await self._stack.aclose()

    async def _leave(self) -> None:
        """Close the engine where this is the last one, which removes every container of this process."""
        type(self)._users -= 1
        if not type(self)._users:
            await SESSIONS.close()

    async def exec(
        self,
        command: str,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout_sec: int | None = None,
        user: str | int | None = None,
    ) -> ExecResult:
        argv = ["bash", "-c", command]
        try:
            ended = await self.place.run(argv, cwd=cwd, env=self._merge_env(env), seconds=timeout_sec)
        except LimitReached as error:  # what lies there is handed in all the same
            return ExecResult(stderr=str(error), return_code=_KILLED)
        status = _TIMED_OUT if ended.timed_out else ended.exit_status
        return ExecResult(stdout=ended.stdout, stderr=ended.stderr, return_code=status)

    async def upload_file(self, source_path: Path | str, target_path: str) -> None:
        source, target = Path(source_path), PurePosixPath(self.place.path(target_path))
        data = await asyncio.to_thread(source.read_bytes)
        is_program = bool(source.stat().st_mode & 0o100)
        if shown := self._shown(target):
            shown.parent.mkdir(parents=True, exist_ok=True)
            shown.write_bytes(data)
            shown.chmod(0o755 if is_program else 0o644)
            return
        await self.place.sandbox.write(str(target), data)
        if is_program:
            await self.place.run(["chmod", "+x", str(target)])

    async def upload_dir(self, source_dir: Path | str, target_dir: str) -> None:
        for path in sorted(Path(source_dir).rglob("*")):
            if path.is_file():
                await self.upload_file(path, f"{target_dir}/{path.relative_to(source_dir).as_posix()}")

    async def download_file(self, source_path: str, target_path: Path | str) -> None:
        data = await self.place.sandbox.read(self.place.path(source_path), _MOST_BYTES)
        await asyncio.to_thread(Path(target_path).write_bytes, data)

    async def download_dir(self, source_dir: str, target_dir: Path | str) -> None:
        """Take out regular files and folders, and nothing else."""

        def unpack(tar: tarfile.TarFile) -> None:
            for member in tar:
                inner = "/".join(PurePosixPath(member.name).parts[1:])
                if inner and (member.isfile() or member.isdir()):
                    tar.extract(member.replace(name=inner), target_dir, filter="data")

        async with self.place.sandbox.export_tree(self.place.path(source_dir), _MOST_BYTES) as chunks:
            await read_tar(chunks, unpack)

    def _shown(self, target: PurePosixPath) -> Path | None:
        """Return the place on this machine of a path below a folder that is shown to the container."""
        top = next((top for top in SHOWN if target.is_relative_to(top)), None)
        return self._host / target.relative_to("/") if top and ".." not in target.parts else None
