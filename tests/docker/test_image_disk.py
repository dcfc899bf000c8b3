"""`--image-disk` on an engine of the test's own, where every image is the test's to remove."""

import asyncio
import io
import os
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest

from harness.sandbox.host import cache_directory
from harness.sandbox.images.disk_budget import ImagesInUse, fetch, shrink_images
from harness.sandbox.images.engine_images import engine_images
from tests.support import tiny_registry
from tests.support.image_tags import tags_of_all
from tests.support.own_engine import OwnEngine, own_engine

pytestmark = [pytest.mark.docker, pytest.mark.long]

MB = 1_000_000
SIZE = 4 * MB
"""Of each layer."""
FOREIGN, OLD, BELOW, ABOVE, HELD, WITH_CONTAINER, NEW = (
    "registry.invalid/foreign:1", "testwright/old-task:1", "testwright/two-dependencies:1", "testwright/two-task:1",
    "testwright/held-task:1", "testwright/busy-task:1", "testwright/new-task:1",
)  # fmt: skip
USED = {BELOW: 1, OLD: 2, HELD: 3, WITH_CONTAINER: 4, ABOVE: 5, NEW: 6}
"""When each of ours was last used; seconds of the epoch."""


def layer(name: str) -> bytes:
    """A tar with one file that nothing makes smaller."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        entry = tarfile.TarInfo(name)
        entry.size = SIZE
        tar.addfile(entry, io.BytesIO(os.urandom(SIZE)))
    return packed.getvalue()


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OwnEngine]:
    with own_engine() as made:
        monkeypatch.setenv("DOCKER_HOST", made.host)
        monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "cache"))
        yield made


async def fill(client: docker.DockerClient, tmp_path: Path) -> None:
    for tag in (FOREIGN, OLD, BELOW, HELD, WITH_CONTAINER, NEW):
        repository, _, version = tag.rpartition(":")
        client.api.import_image_from_data(layer("below"), repository, version, changes=['CMD ["none"]'])
    (tmp_path / "above.tar").write_bytes(layer("above"))
    async with engine_images() as images:
        await images.extend(BELOW, tmp_path / "above.tar", ABOVE, [])
    for tag, seconds in USED.items():
        ImagesInUse().hold(tag)
        os.utime(cache_directory() / "in-use" / tag.removeprefix("testwright/").replace(":", "-"), (seconds, seconds))


async def test_what_was_pulled_counts_and_what_was_there_before_stays(engine: OwnEngine, tmp_path: Path) -> None:
    ours, theirs = "127.0.0.1:5000/published:ours", "127.0.0.1:5000/published:theirs"
    (tmp_path / "layer.tar").write_bytes(layer("published"))
    registry = engine.beside(sys.executable, tiny_registry.__file__, "published", "5000", str(tmp_path / "layer.tar"))
    with engine.client() as client, registry:
        await eventually(client, theirs)
        async with engine_images() as images:
            assert await fetch(images, theirs), "it is there"
            assert await shrink_images(0) == []
            client.images.remove(theirs)
            fetched = await fetch(images, ours)
            assert fetched == await images.find(ours)
            assert await shrink_images(SIZE + MB) == []
            assert await shrink_images(SIZE - MB) == [ours]
            assert await fetch(images, ours), "it is pulled again"
            client.images.remove(ours)
            assert client.api.import_image_from_data(layer("another"), *ours.rsplit(":", 1))
            assert await shrink_images(0) == [], "this one is somebody else's, by the same name"
            assert tags_of_all(client) == [ours]


async def eventually(client: docker.DockerClient, tag: str) -> None:
    """Pull as somebody else does, once the registry is up."""
    for _ in range(100):
        try:
            client.images.pull(tag)
        except docker.errors.APIError:
            await asyncio.sleep(0.1)
        else:
            return
    raise AssertionError("the registry has not come up")


async def test_the_least_recently_used_images_go_and_nobody_elses(engine: OwnEngine, tmp_path: Path) -> None:
    with engine.client() as client:
        await fill(client, tmp_path)
        container = client.api.create_container(WITH_CONTAINER, ["none"])
        held = ImagesInUse()
        held.hold(HELD)
        stored = engine.stored()
        assert stored >= 7 * SIZE

        assert await shrink_images(6 * SIZE + MB) == []
        assert await shrink_images(5 * SIZE + MB) == [OLD], "the oldest, but what another image is built on"
        assert set(tags_of_all(client)) == {FOREIGN, *USED} - {OLD}
        assert await shrink_images(2 * SIZE + MB) == [ABOVE, BELOW, NEW], "not what is held or has a container"
        assert set(tags_of_all(client)) == {FOREIGN, HELD, WITH_CONTAINER}
        assert stored - engine.stored() > 3.5 * SIZE, "their layers are gone from the disk"
        assert await shrink_images(0) == []

        held.close()
        client.api.remove_container(container["Id"])
        assert await shrink_images(0) == [WITH_CONTAINER, HELD], "it was used a moment ago"
        assert tags_of_all(client) == [FOREIGN]
