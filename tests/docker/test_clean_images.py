"""`testwright clean --images` on an engine of the test's own: testwright's goes, and nothing of others."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest

from harness.sandbox.images.building import BASE_IMAGE
from harness.sandbox.images.disk_budget import ImagesInUse, fetch
from harness.sandbox.images.engine_images import engine_images
from tests.docker.test_image_disk import eventually, layer
from tests.support import tiny_registry
from tests.support.command import testwright
from tests.support.image_tags import tags_of_all
from tests.support.own_engine import OwnEngine, own_engine

pytestmark = [pytest.mark.docker, pytest.mark.long]

FOREIGN, PULLED, THEIRS = (
    "registry.invalid/foreign:1",
    "127.0.0.1:5000/published:ours",
    "127.0.0.1:5000/published:theirs",
)
STOPPED, HELD, RUNNING, REPLACED = (
    "testwright/stopped-task:1", "testwright/held-task:1", "testwright/running-task:1", "testwright/replaced-task:1",
)  # fmt: skip
TOOLBOX, HELD_TOOLBOX = "testwright/loop-toolbox:1", "testwright/other-toolbox:1"
NO_TAG = "<none>:<none>"
OF_US = ["LABEL testwright.version=1", 'CMD ["none"]']


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OwnEngine]:
    with own_engine() as made:
        monkeypatch.setenv("DOCKER_HOST", made.host)
        monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "cache"))
        yield made


async def fill(engine: OwnEngine, client: docker.DockerClient, tmp_path: Path) -> None:
    """Images in all the ways in which they come, one of them replaced by another of its name; volumes; containers."""
    for tag in (STOPPED, HELD, REPLACED, REPLACED, TOOLBOX, HELD_TOOLBOX, FOREIGN, FOREIGN):
        changes = OF_US if tag != FOREIGN else ['CMD ["none"]']
        client.api.import_image_from_data(layer("below"), *tag.rsplit(":", 1), changes=changes)
    engine.load(BASE_IMAGE)
    made = client.containers.create(BASE_IMAGE, ["none"])
    made.commit(*RUNNING.split(":"))
    made.remove()
    client.api.create_container(STOPPED, ["none"])
    client.containers.run(RUNNING, ["sleep", "600"], network_mode="none", detach=True)
    (tmp_path / "layer.tar").write_bytes(layer("published"))
    registry = engine.beside(sys.executable, tiny_registry.__file__, "published", "5000", str(tmp_path / "layer.tar"))
    async with engine_images() as images:
        for tag in (TOOLBOX, HELD_TOOLBOX):
            await images.fill_volume(tag, f"testwright-{tag[11:].replace(':', '-')}", "/opt")
        client.volumes.create("foreign")
        with registry:
            await eventually(client, THEIRS)
            client.images.remove(THEIRS)
            assert await fetch(images, PULLED)
            client.images.pull(THEIRS)


async def clean(tmp_path: Path, *more: str) -> dict[str, object]:
    done = await testwright("clean", "--images", "--json", *more, cwd=tmp_path)
    assert done.status == 0, done.complaint
    found: dict[str, object] = json.loads(done.output)
    return {name: found[name] for name in ("images", "volumes", "images_in_use")}


async def test_what_testwright_built_imported_or_pulled_goes_with_toolboxes_and_nothing_else(
    engine: OwnEngine, tmp_path: Path
) -> None:
    with engine.client() as client:
        await fill(engine, client, tmp_path)
        held = ImagesInUse()
        held.hold(HELD)
        held.hold(HELD_TOOLBOX)
        untagged = {"dangling": True}
        assert len(client.api.images(filters=untagged)) == 2

        assert await clean(tmp_path) == {"images": 5, "volumes": 1, "images_in_use": 3}
        assert set(tags_of_all(client)) >= {STOPPED, TOOLBOX, PULLED}, "nothing was removed"

        assert await clean(tmp_path, "--yes") == {"images": 5, "volumes": 1, "images_in_use": 3}
        assert set(tags_of_all(client)) == {FOREIGN, THEIRS, HELD, HELD_TOOLBOX, RUNNING, BASE_IMAGE, NO_TAG}
        assert {volume.name for volume in client.volumes.list()} == {"foreign", "testwright-other-toolbox-1"}
        assert len(client.api.images(filters=untagged)) == 1, "the one that isn't ours"

        for container in client.containers.list():
            container.remove(force=True)
        held.close()
        assert await clean(tmp_path, "--yes") == {"images": 3, "volumes": 1, "images_in_use": 0}
        assert set(tags_of_all(client)) == {FOREIGN, THEIRS, BASE_IMAGE, NO_TAG}
