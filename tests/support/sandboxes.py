"""Engines and small images for tests of sandboxes, and looks at what they leave on this machine."""

import asyncio
import io
import json
import os
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

import docker
from docker.models.containers import Container

from harness.plugins.swerex.configuration import swerex
from harness.sandbox.archives import save_tar
from harness.sandbox.docker.engine import DockerEngine
from harness.sandbox.images import building as build_cli
from harness.sandbox.images.engine_images import engine_images
from harness.sandbox.local.engine import LocalEngine
from harness.sandbox.local.place import LocalDirectory
from harness.sandbox.protocol import Engine, Image, Limits, Sandbox, SandboxOptions
from harness.sandbox.registry import ImageSources
from harness.specs.task import Task

TAG = "testwright-contract:test"
LIMITS = Limits(memory_mb=256, cpus=2, pids=64, disk_mb=64)
OPTIONS = SandboxOptions(LIMITS)
UNCONFINED = ("plain", "swerex")
"""Kinds whose processes are ours and see what we see: what that leads to is not declared."""
RUN = str(os.getpid())
"""Begins what `processes_with` looks for: others may run the same tests here."""
SWEREX_ROOT = Path(tempfile.gettempdir(), f"testwright-swerex-{RUN}")
ENV = {"FROM_IMAGE": "yes"}
_DOCKERFILE = f"""
FROM {build_cli.BASE_IMAGE}
RUN useradd --create-home --uid 1000 --shell /bin/bash agent && install -d -o agent -g agent /app /logs/agent
RUN echo present > /app/present.txt && chown agent:agent /app/present.txt
ENV LANG=C.UTF-8
WORKDIR /app
USER agent
"""


async def _have_base_image() -> None:
    async with engine_images() as images:
        await build_cli.ensure_base_image(images)


def docker_image() -> Image:
    """Nothing but a user, a work tree of one file, and bash."""
    with ThreadPoolExecutor(1) as apart:  # in a test with a loop of its own as well
        apart.submit(asyncio.run, _have_base_image()).result()
    client = docker.from_env()
    client.images.build(fileobj=io.BytesIO(_DOCKERFILE.encode()), tag=TAG, rm=True)
    client.close()
    return Image(TAG, "contract", "/app", Path("/nonexistent"), ENV)


def local_image(directory: Path) -> Image:
    """The same for the local engine, in `directory`."""
    for name in ("tree", "venv/bin", "bin"):
        (directory / name).mkdir(parents=True)
    (directory / "tree" / "present.txt").write_text("present\n")
    return Image(str(directory), "contract", "/app", Path("/nonexistent"), ENV)


def make_engine(kind: str) -> Engine:
    """`docker`, `bubblewrap`, `plain`, or `swerex:...`."""
    name, _, argument = kind.partition(":")
    if name == "swerex":
        return swerex(argument, ImageSources(_no_task, _no_task))
    return DockerEngine(_no_task) if kind == "docker" else LocalEngine(_no_task, bubblewrap=kind == "bubblewrap")


@cache
def is_podman() -> bool:
    """Whether the engine that the environment names is Podman, which can't limit everything everywhere."""
    client = docker.from_env()
    try:
        return build_cli.is_podman(client.version())
    finally:
        client.close()


async def _no_task(_: Task) -> Image:
    raise AssertionError("these tests bring their image along")


def labels_here(kind: str) -> Iterator[tuple[Path, dict[str, str]]]:
    """The directories of sandboxes without containers, each with its labels."""
    if kind != "swerex":
        yield from ((place.directory, of_it) for place, of_it in LocalDirectory.all())
        return
    for path in SWEREX_ROOT.glob("sandbox-*/labels.json"):
        yield path.parent, json.loads(path.read_text())


def labels(name: str) -> dict[str, str]:
    """Of a test's container; no other run of the tests has the same."""
    return {"testwright.test": f"{name}-{RUN}"}


@asynccontextmanager
async def started(
    engine: Engine, image: Image, label: str, options: SandboxOptions = OPTIONS
) -> AsyncIterator[Sandbox]:
    sandbox = engine.sandbox(image, options, labels(label))
    try:
        await sandbox.start()
        yield sandbox
    finally:
        await sandbox.remove()


def processes_with(token: str) -> list[int]:
    """Processes of this machine, those in containers included, that have `token` in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if token.encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return [pid for pid in found if pid != os.getpid()]


async def eventually(condition: Callable[[], bool], what: str) -> None:
    """Poll a condition, for at most 10 seconds."""
    deadline = asyncio.get_running_loop().time() + 10
    while not condition():
        assert asyncio.get_running_loop().time() < deadline, what
        await asyncio.sleep(0.01)


async def exported(sandbox: Sandbox, path: str, destination: Path, limit: int) -> None:
    """A directory's tar in a file."""
    async with sandbox.export_tree(path, limit) as chunks:
        await save_tar(chunks, destination)


async def in_mid_job(client: docker.DockerClient, labels: dict[str, str], marker: str) -> Container:
    """The container of a job once its command, which has `marker` in its command line, is running."""
    wanted = [f"{name}={value}" for name, value in labels.items()]
    running: list[Container] = []

    def is_running() -> bool:
        running[:] = client.containers.list(filters={"label": wanted})
        return bool(running and processes_with(f"sleep\0{marker}"))

    await eventually(is_running, "the job has not started")
    [container] = running
    return container
