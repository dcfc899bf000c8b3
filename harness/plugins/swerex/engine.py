"""The engine over SWE-ReX deployments."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from harness.plugins.swerex import jobs
from harness.plugins.swerex.configuration import SwerexConfiguration
from harness.plugins.swerex.deployments import Host, start_host
from harness.plugins.swerex.place import Archives, DeployedDirectory
from harness.plugins.swerex.sandbox import SwerexSandbox
from harness.sandbox.options import check_job_options, check_options
from harness.sandbox.protocol import Image, Job, JobResult, SandboxOptions
from harness.sandbox.registry import ImageSource
from harness.specs.errors import SandboxLost
from harness.specs.task import Task


class SwerexEngine:
    """See `Engine`. One deployment for all sandboxes, or one for each: `per_sandbox` of the configuration.

    On one deployment each sandbox is a directory with a copy of the image's tree, and processes of the server's user:
    what keeps sandboxes apart there is what the deployment itself provides.
    """

    name = "swerex"

    def __init__(self, configuration: SwerexConfiguration, provide: ImageSource) -> None:
        self._configuration = configuration
        self._provide = provide
        self._archives = Archives()
        self._shared: Host | None = None
        self._lock = asyncio.Lock()
        self.isolation = configuration.isolation
        self.capabilities = configuration.capabilities

    async def image(self, task: Task) -> Image:
        if not self._configuration.per_sandbox:
            await self._shared_host()  # to be told before anything is made that there is none
        return await self._provide(task)

    def sandbox(self, image: Image, options: SandboxOptions, labels: Mapping[str, str]) -> SwerexSandbox:
        check_options(self.name, self.capabilities, options)
        return SwerexSandbox(self._make, self._release, image, options, labels)

    async def run_job(self, image: Image, job: Job, options: SandboxOptions, labels: Mapping[str, str]) -> JobResult:
        check_job_options(self.name, self.capabilities, options, job)
        async with self._place(image, labels) as place:
            return await jobs.run_in(place, image, job, options)

    async def reap(self, labels: Mapping[str, str]) -> int:
        """See `Engine`. Only a shared deployment is cleaned; one of a sandbox's own ends by its own deadline."""
        if self._configuration.per_sandbox:
            return 0
        host = await self._shared_host()
        count = 0
        for line in (await host.client.check("list", self._configuration.root)).splitlines():
            state, _, encoded = line.partition(" ")
            if labels.items() <= _labels(encoded).items():
                await DeployedDirectory(host, self._configuration, state).remove()
                count += 1
        return count

    async def close(self) -> None:
        await self._archives.close()
        if self._shared is not None:
            await self._shared.close()

    async def _shared_host(self) -> Host:
        async with self._lock:
            if self._shared is None:
                self._shared = await start_host(self._configuration, {})
            return self._shared

    async def _make(self, image: Image, labels: Mapping[str, str]) -> DeployedDirectory:
        """Make a place and fill it; leave nothing of it where that fails."""
        if self._configuration.per_sandbox:
            host = await start_host(self._configuration, {"reference": image.reference, "digest": image.digest})
        else:
            host = await self._shared_host()
        place = DeployedDirectory.new(host, self._configuration)
        try:
            archive = None if self._configuration.in_place else await self._archives.of(image)
            await place.make(image, archive, labels)
        except BaseException:
            await asyncio.shield(self._release(place))
            raise
        return place

    async def _release(self, place: DeployedDirectory) -> None:
        if self._configuration.per_sandbox:
            await place.host.close()
        else:
            await place.remove()

    @asynccontextmanager
    async def _place(self, image: Image, labels: Mapping[str, str]) -> AsyncIterator[DeployedDirectory]:
        making = asyncio.ensure_future(self._make(image, labels))
        try:
            yield await asyncio.shield(making)
        finally:
            await asyncio.wait([making])
            if making.exception() is None:
                await asyncio.shield(self._release(making.result()))


def _labels(encoded: str) -> dict[str, str]:
    try:
        labels = json.loads(base64.b64decode(encoded, validate=True))
    except ValueError:
        labels = None
    if not isinstance(labels, dict):
        raise SandboxLost("the labels of a sandbox on the SWE-ReX deployment can't be read")
    return labels
