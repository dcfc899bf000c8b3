"""Removing the images that were built here."""

import asyncio

import docker
import docker.errors

_REPOSITORIES = "testwright/*"


async def remove_images() -> int:
    """Remove every image of ours from the engine; how many tags there were. 0 where no engine answers."""
    return await asyncio.to_thread(_remove_images)


def _remove_images() -> int:
    try:
        client = docker.from_env()
        tags = [tag for image in client.images.list(filters={"reference": _REPOSITORIES}) for tag in image.tags]
        for tag in tags:
            client.images.remove(tag, force=True)
    except docker.errors.DockerException:
        return 0
    return len(tags)
