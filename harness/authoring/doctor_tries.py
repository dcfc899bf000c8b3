"""Tries what a Docker engine is used for: a build step, a container with our options, archives in and out of it."""

import asyncio
import os
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from uuid import uuid4

import docker
import docker.errors
import requests

from harness.sandbox.docker.engine import DockerEngine
from harness.sandbox.images.base_image import BASE_IMAGE
from harness.sandbox.images.build_cli import build
from harness.sandbox.images.engine_images import engine_images
from harness.sandbox.images.logged import log_of
from harness.sandbox.protocol import Image, SandboxOptions
from harness.sandbox.tar_stream import members, read_tar
from harness.specs.errors import InfrastructureError, SandboxLost, UserError
from harness.specs.finding import Finding, Health
from harness.specs.task import Task

_SECONDS = 60
_ANSWER_SECONDS = 5
_NAME = "testwright/doctor-try"
_WRITTEN = b"written by testwright doctor\n"


def tries() -> list[Finding]:
    """Nothing where no engine answers or the base image isn't there yet: then there is nothing to try it with."""
    try:
        client = docker.from_env(timeout=_ANSWER_SECONDS)
        try:
            client.images.get(BASE_IMAGE)
        finally:
            client.close()
    except (docker.errors.DockerException, requests.RequestException):
        return []
    return asyncio.run(_tried())


async def _tried() -> list[Finding]:
    build_step = await _try("a build step", _build, Health.DEGRADED)  # images can be brought
    return [build_step, await _try("a container", _work, Health.MISSING)]


async def _try(name: str, attempt: Callable[[], Awaitable[str]], failed: Health) -> Finding:
    try:
        async with asyncio.timeout(_SECONDS):
            return Finding(name=name, health=Health.OK, words=await attempt())
    except TimeoutError:
        words = f"not done after {_SECONDS} seconds"
    except (InfrastructureError, UserError, OSError) as error:
        words = str(error)
    return Finding(name=name, health=failed, words=f"tried, and failed: {words.partition(chr(10))[0]}")


async def _build() -> str:
    """With a secret and a mount of the context, as our Dockerfiles have them."""
    step = "--mount=type=secret,id=ca --mount=type=bind,source=said,target=/mnt/said cp /mnt/said /said"
    with tempfile.TemporaryDirectory(prefix="testwright-") as context:
        (Path(context) / "said").write_bytes(_WRITTEN)
        (Path(context) / "Dockerfile").write_text(f"FROM {BASE_IMAGE} AS tried\nRUN {step}\n")
        # A tag of its own: another doctor on this engine would take a shared one away.
        tag = f"{_NAME}:{os.getpid()}-{uuid4().hex[:12]}"
        await build(Path(context), "tried", tag, {}, {})
    log_of(tag).unlink(missing_ok=True)
    async with engine_images() as images:
        await images.remove(tag)
    return "tried: with a secret and a mount of the context"


async def _work() -> str:
    """As an agent's sandbox is made, with its limits and its channel."""
    engine = DockerEngine(_no_task)
    image = Image(BASE_IMAGE, "doctor", "/", Path("/nonexistent"), may_be_root=True)
    sandbox = engine.sandbox(image, SandboxOptions(), {})
    try:
        await sandbox.start()
        await sandbox.write("/tmp/tried/said", _WRITTEN)
        done = await sandbox.run("cat /tmp/tried/said", 10)
        if done.output != _WRITTEN:
            raise SandboxLost(f"a command printed {done.output[:80]!r} in the place of a file")
        await sandbox.kill()
        async with sandbox.export_tree("/tmp/tried", 1 << 20) as chunks:
            found = await read_tar(chunks, lambda tar: [member.name for member in members(tar)])
    finally:
        await asyncio.shield(sandbox.remove())
        await engine.close()
    return f"tried: with our limits, a command, an archive in and one out ({len(found)} members)"


async def _no_task(_: Task) -> Image:
    raise AssertionError("no task is asked for")
