"""The container of a job, with its files in it. Where its root is to be read-only, they lie in volumes.

Nothing can be placed in a container whose root is read-only. So another one, of the same image and never started, has
a volume at each directory that gets files; they are placed there, and the job's own container mounts these volumes.
"""

from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import PurePosixPath

from docker.types import Mount

from harness.sandbox.archives import pack, parents
from harness.sandbox.docker import container as docker_container
from harness.sandbox.docker.client import Docker
from harness.sandbox.docker.container import ContainerSpec
from harness.sandbox.docker.image_facts import ImageFacts
from harness.sandbox.docker.init import PATH, command, program
from harness.sandbox.protocol import REPORT_DIR, Image, Job, PlacedFile, SandboxOptions


@asynccontextmanager
async def job_container(
    docker: Docker,
    facts: ImageFacts,
    image: Image,
    job: Job,
    options: SandboxOptions,
    labels: Mapping[str, str],
    beside: str = "",
) -> AsyncIterator[str]:
    """Provide a created container with a job's files, removed at the end whatever happens."""
    spec = ContainerSpec(
        image,
        options,
        labels,
        argv=command(docker_container.limited(docker, options.limits, job.argv)),
        env={**job.env, REPORT_DIR: job.outputs},
        directory=image.workdir,
        capabilities=await facts.capabilities(image),
        is_job=True,
        beside=beside,
    )
    if options.writable is None:
        async with docker_container.made(docker, spec) as container:
            await _place(docker, facts, spec, job, container)
            yield container
        return
    written, files = written_to(job, options), (PATH, *(file.path for file in job.files))
    above = (str(PurePosixPath(path).parent) for path in files)
    tops = {*written, *_tops((image.workdir, *(item.path for item in job.unpacked), *above))}
    empty = [Mount(path, None, type="volume") for path in sorted(tops)]
    holds = replace(spec, options=replace(options, writable=None), beside="", volumes=empty)
    async with docker_container.made(docker, holds) as holder:
        await _place(docker, facts, spec, job, holder, tops)
        mounts = (await docker.call(docker.api.inspect_container, holder))["Mounts"]
        names = {item["Destination"]: item["Name"] for item in mounts if item["Destination"] in tops}
        volumes = [Mount(path, name, type="volume", read_only=path not in written) for path, name in names.items()]
        async with docker_container.made(docker, replace(spec, volumes=volumes)) as container:
            yield container


def written_to(job: Job, options: SandboxOptions) -> tuple[str, ...]:
    """Return the volumes that a job may write to: none where its root isn't read-only."""
    return () if options.writable is None else (*options.writable, job.outputs)


def _tops(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the paths that don't lie below another one."""
    found: list[str] = []
    for path in sorted(set(paths)):
        if not any(PurePosixPath(path).is_relative_to(top) for top in found):
            found.append(path)
    return tuple(found)


async def _place(
    docker: Docker, facts: ImageFacts, spec: ContainerSpec, job: Job, container: str, new: Collection[str] = ()
) -> None:
    """Unpack and place a job's files. Directories at `new` are volumes: made like ones that the image lacks."""
    image = spec.image
    user = await facts.user(image, container)
    files = (*job.files, program(await facts.bash(image, container)))
    needed = [PlacedFile(f"{path}/any", b"") for path in (job.outputs, *new)]
    wanted = parents((*files, *docker_container.network_files(), *needed))
    above = {path: None if path in new else await facts.directory(image, container, path) for path in wanted}
    for archive in job.unpacked:
        await docker.call(docker.api.put_archive, container, archive.path, archive.data)
    packed = pack(files, user.uid, user.gid, above, of_root=docker_container.network_files())
    await docker.call(docker.api.put_archive, container, "/", packed)
