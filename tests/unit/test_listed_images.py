"""The list of an engine's images: what it says of each, and how often the engine is asked."""

from types import SimpleNamespace
from typing import Any, cast

import docker

from harness.sandbox.images import engine_images
from harness.sandbox.images.engine_images import EngineImages, ListedImage

FACTS = {"Size": 7, "Created": 1.5}
HERE = [
    {"Id": "sha256:a", "RepoTags": ["testwright/a:1"], **FACTS},
    {"Id": "sha256:gone", "RepoTags": ["testwright/gone:1"], **FACTS},
    {"Id": "sha256:c", "RepoTags": None, **FACTS},
]


async def test_layers_are_asked_for_once_and_one_that_is_gone_meanwhile_is_left_out(monkeypatch: Any) -> None:
    monkeypatch.setattr(engine_images, "_LAYERS", {})
    asked: list[str] = []

    def get(image: str) -> SimpleNamespace:
        asked.append(image)
        if image == "sha256:gone":
            raise docker.errors.ImageNotFound("gone")
        return SimpleNamespace(attrs={"RootFS": {"Layers": ["sha256:1", "sha256:2"]}})

    client = SimpleNamespace(api=SimpleNamespace(images=lambda: HERE), images=SimpleNamespace(get=get))
    images = EngineImages(cast("docker.DockerClient", client))
    expected = [ListedImage(("testwright/a:1",), 7, ("sha256:1", "sha256:2"), 1.5, "sha256:a")]
    assert [await images.all() for _ in range(2)] == [expected, expected]
    assert asked.count("sha256:a") == 1
