"""Removing the images that were built here."""

import asyncio
from collections.abc import Sequence

import docker
import docker.errors

_REPOSITORIES = "testwright/*"


async def our_images() -> list[str]:
    """The tags of every image of ours; none where no engine answers."""
    return await asyncio.to_thread(_our_images)


async def remove_images(tags: Sequence[str]) -> None:
    """Remove images, also those that stopped containers have."""
    await asyncio.to_thread(_remove_images, tags)


def _our_images() -> list[str]:
    try:
        # One call: the client's own list asks for each image once more, and others may have removed it meanwhile.
        return [tag for image in docker.from_env().api.images(_REPOSITORIES) for tag in image["RepoTags"] or ()]
    except docker.errors.DockerException:
        return []


def _remove_images(tags: Sequence[str]) -> None:
    for tag in tags:
        docker.from_env().images.remove(tag, force=True)
