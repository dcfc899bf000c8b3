"""An engine that starts no more containers once a judging has used up its time, or is over for another reason."""

from collections.abc import Mapping

from harness.sandbox.protocol import Capabilities, Engine, Image, Job, JobResult, Sandbox, SandboxOptions
from harness.specs.task import Task


class EngineStopped(Exception):
    """No container was started: the judging is over."""


class LimitedEngine:
    """See `Engine`. `seconds` are what all its jobs may take together, `used` what they have taken; those that run
    are not ended.

    `ran_out_of_time` says that a job was refused because they were used up.
    """

    def __init__(self, engine: Engine, seconds: float, used: float = 0.0) -> None:
        self._engine, self._most = engine, seconds
        self.used = used
        self._stopped = False
        self.ran_out_of_time = False
        self.name, self.isolation, self.capabilities = engine.name, engine.isolation, engine.capabilities

    name: str
    isolation: str
    capabilities: Capabilities

    @property
    def is_stopped(self) -> bool:
        return self._stopped or self.ran_out_of_time

    def stop(self) -> None:
        """Start nothing more."""
        self._stopped = True

    async def run_job(self, image: Image, job: Job, options: SandboxOptions, labels: Mapping[str, str]) -> JobResult:
        """See `Engine.run_job`. Raises EngineStopped."""
        if self._stopped:
            raise EngineStopped
        if self.used >= self._most:
            self.ran_out_of_time = True
            raise EngineStopped
        result = await self._engine.run_job(image, job, options, labels)
        self.used += result.seconds
        return result

    async def image(self, task: Task) -> Image:
        return await self._engine.image(task)

    def sandbox(self, image: Image, options: SandboxOptions, labels: Mapping[str, str]) -> Sandbox:
        return self._engine.sandbox(image, options, labels)

    async def reap(self, labels: Mapping[str, str]) -> int:
        return await self._engine.reap(labels)

    async def close(self) -> None:
        await self._engine.close()
