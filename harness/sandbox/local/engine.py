"""The embedded engine, where no other answers: confined by bubblewrap if it works, else hardly confined."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Mapping

from harness.sandbox.abilities import Remains
from harness.sandbox.local import confinement as local_confinement
from harness.sandbox.local import jobs as local_jobs
from harness.sandbox.local.confinement import Bubblewrap, Confinement, Plain
from harness.sandbox.local.place import LocalDirectory
from harness.sandbox.local.processes import end_marked
from harness.sandbox.local.sandbox import LocalSandbox
from harness.sandbox.options import check_job_options, check_options
from harness.sandbox.protocol import Capabilities, Image, Job, JobResult, SandboxOptions, Volume
from harness.specs.errors import UserError
from harness.specs.task import Task


class LocalEngine:
    """See `Engine`. An image's `reference` is a directory with `tree/`, `venv/` and `bin/`.

    `bubblewrap` says whether to use it; None finds out. Raises UserError where it is asked for and doesn't work.
    """

    name = "local"

    def __init__(self, provide: Callable[[Task], Awaitable[Image]], bubblewrap: bool | None = None) -> None:
        if shutil.which("bash") is None:
            raise UserError("the local sandbox needs bash; see 'testwright doctor'")
        works = bubblewrap is not False and local_confinement.works()
        if bubblewrap and not works:
            raise UserError("bubblewrap is not installed, or may not make namespaces; see 'testwright doctor'")
        self._provide = provide
        self._confinement: Confinement = Bubblewrap() if works else Plain()
        self.isolation = self._confinement.isolation
        self.capabilities = Capabilities(
            network_isolation=works,
            memory=False,
            pids=False,
            disk=True,
            separate_user=False,
            gateway=works,
            mounts=works,
            hiding=works,
            companions=works and shutil.which("nsenter") is not None,
            read_only_root=works,
        )

    async def image(self, task: Task) -> Image:
        return await self._provide(task)

    def sandbox(self, image: Image, options: SandboxOptions, labels: Mapping[str, str]) -> LocalSandbox:
        check_options(self.name, self.capabilities, options)
        self._check_mounts(options)
        return LocalSandbox(self._confinement, image, options, labels)

    async def run_job(self, image: Image, job: Job, options: SandboxOptions, labels: Mapping[str, str]) -> JobResult:
        check_job_options(self.name, self.capabilities, options, job)
        for each in (options, *([job.companion.options] if job.companion else ())):
            self._check_mounts(each)
        return await local_jobs.run_job(self._confinement, image, job, options, labels)

    def _check_mounts(self, options: SandboxOptions) -> None:
        for mount in options.mounts:
            if isinstance(mount.source, Volume):
                raise UserError(f"sandbox {self.name!r} has no volumes; it can't mount {mount.source.name}")
            if not mount.source.exists():
                raise UserError(f"mount source {mount.source}: no such file or directory")

    async def reap(self, labels: Mapping[str, str]) -> int:
        found = [place for place, theirs in LocalDirectory.all() if labels.items() <= theirs.items()]
        for place in found:
            end_marked(place.marks)
            await asyncio.to_thread(place.remove)
        return len(found)

    async def remains(self) -> list[Remains]:
        return [Remains(str(place.directory), labels) for place, labels in LocalDirectory.all()]

    async def discard(self, name: str) -> None:
        for place, _ in LocalDirectory.all():
            if str(place.directory) == name:
                end_marked(place.marks)
                await asyncio.to_thread(place.remove)

    async def close(self) -> None:
        """Do nothing: no connection is kept open."""
