"""The real engine: Docker, or what speaks its protocol."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from harness.sandbox.abilities import Remains
from harness.sandbox.docker import jobs as docker_jobs
from harness.sandbox.docker import podman
from harness.sandbox.docker.client import Docker
from harness.sandbox.docker.container import LABEL
from harness.sandbox.docker.image_facts import ImageFacts
from harness.sandbox.docker.own_users import OwnUsers
from harness.sandbox.docker.sandbox import DockerSandbox
from harness.sandbox.docker.warming import Warming
from harness.sandbox.images.disk_budget import ImagesInUse, shrink_images
from harness.sandbox.images.second_copy import copy_tag, make_second_copy
from harness.sandbox.options import check_job_options, check_options
from harness.sandbox.protocol import Capabilities, Image, Job, JobResult, Mount, SandboxOptions
from harness.sandbox.toolboxes.recipe import read_toolbox_recipe, toolbox_mount
from harness.specs.errors import EndedFromOutside, SandboxLost
from harness.specs.scaffold import Scaffold
from harness.specs.task import Task


class DockerEngine:
    """See `Engine`. `provide` makes or finds a task's image. Raises UserError where no engine answers."""

    name = "docker"
    isolation = "docker"
    capabilities = Capabilities(
        network_isolation=True,
        memory=True,
        pids=True,
        disk=True,
        separate_user=True,
        gateway=True,
        mounts=True,
        hiding=True,
        companions=True,
        read_only_root=True,
    )

    def __init__(self, provide: Callable[[Task], Awaitable[Image]]) -> None:
        self._provide = provide
        self._docker = Docker()
        groups = self._docker.limiting.groups
        self.capabilities = replace(
            self.capabilities,
            memory=podman.MEMORY in groups,
            pids=podman.PIDS in groups,
            own_users=not self._docker.is_podman,
        )
        self._facts = ImageFacts(self._docker)
        self._in_use = ImagesInUse()
        self._copying, self._warming = asyncio.Lock(), Warming(self._docker)
        self._own_users = OwnUsers(self._docker, self._facts, self._in_use)

    async def image(self, task: Task) -> Image:
        image = await self._provide(task)
        self._in_use.hold(image.reference)
        return image

    @asynccontextmanager
    async def second_copy(self, image: Image) -> AsyncIterator[Image]:
        """See `CopyingEngine`. It is kept for later, and counts among the images that were built here."""
        tag = copy_tag(image.digest)
        self._in_use.hold(tag)
        try:
            async with self._copying:
                made = await make_second_copy(image.reference, image.digest)
            yield replace(image, reference=made)
        finally:
            self._in_use.release(tag)

    def release(self, image: Image) -> None:
        self._in_use.release(image.reference)

    @property
    def storage(self) -> Path | None:
        return self._docker.storage

    async def shrink(self, most: int) -> list[str]:
        return await shrink_images(most)

    def sandbox(self, image: Image, options: SandboxOptions, labels: Mapping[str, str]) -> DockerSandbox:
        check_options(self.name, self.capabilities, options)
        return DockerSandbox(self._docker, self._facts, image, options, labels)

    async def toolbox(self, scaffold: Scaffold) -> Mount:
        self._in_use.hold(read_toolbox_recipe(scaffold).tag)
        return await toolbox_mount(scaffold)

    async def run_job(self, image: Image, job: Job, options: SandboxOptions, labels: Mapping[str, str]) -> JobResult:
        check_job_options(self.name, self.capabilities, options, job)
        try:
            await self._warming.warm(image, labels)
            if job.companion:
                await self._warming.warm(job.companion.image, labels)
            if not (options.own_user and self.capabilities.own_users):
                return await docker_jobs.run_job(self._docker, self._facts, image, job, options, labels)
            async with self._own_users.image(image, options.hidden) as own:
                await self._warming.warm_top(own, labels)
                return await docker_jobs.run_job(self._docker, self._facts, own, job, options, labels)
        except EndedFromOutside:
            raise
        except SandboxLost as error:
            if await self._docker.address.comes_back():
                raise EndedFromOutside(f"the Docker engine was away for a while: {error}") from error
            raise

    async def reap(self, labels: Mapping[str, str]) -> int:
        wanted = [f"{name}={value}" for name, value in {**labels, LABEL: "1"}.items()]
        found = await self._docker.call(self._docker.api.containers, all=True, quiet=True, filters={"label": wanted})
        for container in found:
            await self._docker.remove(container["Id"])
        await self._own_users.clean()
        return len(found)

    async def remains(self) -> list[Remains]:
        label = {"label": [f"{LABEL}=1"]}
        found = await self._docker.call(self._docker.api.containers, all=True, filters=label)
        return [Remains(container["Id"], container.get("Labels") or {}) for container in found]

    async def discard(self, name: str) -> None:
        await self._docker.remove(name)

    async def close(self) -> None:
        self._in_use.close()
        self._docker.close()
