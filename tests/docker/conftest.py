"""What tests with a real engine share."""

import uuid
from collections.abc import Iterator

import docker
import pytest


@pytest.fixture
def client() -> Iterator[docker.DockerClient]:
    # Removing an image may wait for other people's builds.
    connected = docker.from_env(timeout=300)
    yield connected
    connected.close()


@pytest.fixture
def nonce(client: docker.DockerClient) -> Iterator[str]:
    """For a recipe that must make images of its own; what is new of the tiny repo is removed at the end."""
    before = {tag for image in client.images.list() for tag in image.tags}
    yield uuid.uuid4().hex
    after = {tag for image in client.images.list() for tag in image.tags}
    for tag in after - before:
        if tag.startswith("testwright/tiny-"):
            client.images.remove(tag, force=True)
