"""The engine's images, through the Docker SDK, off the event loop."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import docker
import docker.errors
import requests
import requests.exceptions
from docker.models.containers import Container
from docker.types import Mount, Ulimit

from harness.sandbox.images.work_tree import unpack_tree
from harness.specs.errors import ImageUnavailable

_TIMEOUT_SECONDS = 600
_CHUNK = 1 << 20
_LAYERS: dict[str, tuple[str, ...]] = {}
"""Layers of the images that were asked for, by their ids."""
_LABELS = {"testwright": "1"}
"""The labels of every container of ours, so that `clean` finds it."""
_ULIMITS = [Ulimit(name=name, soft=most, hard=most) for name, most in (("nofile", 4096), ("nproc", 32768))]
"""Podman's defaults can be more than its own process may have."""
NOT_A_CONTAINER = "LABEL testwright=image"
"""A committed image has its container's labels, and gives them to every container that is made of it."""
T = TypeVar("T")


class StoredImage(NamedTuple):
    """An image as the engine has it. `engine_id` differs from one build to the next; an empty `user` is root."""

    engine_id: str
    architecture: str
    labels: Mapping[str, str]
    user: str = ""


class ListedImage(NamedTuple):
    """An image in an engine's list: bytes with all layers, layers from the lowest up, and seconds of the epoch.

    `engine_id` is that of `StoredImage`.
    """

    tags: tuple[str, ...]
    size: int
    layers: tuple[str, ...]
    created: float
    engine_id: str = ""


class EngineImages:
    """The images of an engine, which it looks up, reads, makes and pulls.

    Every method raises ImageUnavailable where the engine refuses.
    """

    def __init__(self, client: docker.DockerClient) -> None:
        self._client = client

    async def find(self, tag: str) -> StoredImage | None:
        """Return None where the engine has no such image."""
        return await _off_loop(lambda: self._find(tag))

    async def all(self) -> list[ListedImage]:
        """Return every image that has a tag."""
        return await _off_loop(self._all)

    async def pull(self, name: str) -> None:
        """Fetch an image from its registry."""
        await _off_loop(lambda: self._client.images.pull(name))

    async def untagged(self, label: str) -> list[str]:
        """Return the ids of images with a label that have lost their tag to another image."""
        filters = {"dangling": True, "label": label}
        found = await _off_loop(lambda: self._client.api.images(filters=filters))
        return [image["Id"] for image in found]

    async def at_work(self) -> set[str]:
        """Return the ids of images of which a container runs."""
        return {container["ImageID"] for container in await _off_loop(self._client.api.containers)}

    async def remove(self, tag: str, force: bool = False) -> None:
        """Take a tag away, and the layers that no other image has; `force`: also where stopped containers have it."""
        await _off_loop(lambda: self._client.images.remove(tag, force=force))

    async def copy_out(self, tag: str, path: str, destination: Path) -> None:
        """Copy the directory `path` of an image to `destination`; nothing of the image runs."""
        await _off_loop(lambda: self._copy_out(tag, path, destination))

    async def export(self, tag: str, archive: Path) -> None:
        """Write all files of an image as one tar, as a container of it sees them."""
        await _off_loop(lambda: self._export(tag, archive))

    async def extend(self, base: str, archive: Path, tag: str, changes: list[str]) -> None:
        """Make an image of one more layer.

        Args:
            base: The tag of the image below.
            archive: A tar that is unpacked at its root.
            tag: The new image's.
            changes: Lines of a Dockerfile.
        """
        await _off_loop(lambda: self._extend(base, archive, tag, changes))

    async def save(self, tag: str, archive: Path) -> None:
        """Write all of an image, layer by layer, as `docker save` does."""
        await _off_loop(lambda: self._save(tag, archive))

    async def save_all(self, tags: list[str], archive: Path) -> None:
        """Write several images as one archive; layers that they share are in it once."""
        await _off_loop(lambda: self._save_all(tags, archive))

    async def load(self, archive: Path) -> None:
        """Take in all images of an archive that `save` or `save_all` wrote, under their names."""
        await _off_loop(lambda: self._load(archive))

    async def fill_volume(self, tag: str, volume: str, path: str) -> None:
        """Make a volume with what an image has at `path`; nothing of the image runs."""
        await _off_loop(lambda: self._fill_volume(tag, volume, path))

    async def volume_time(self, volume: str) -> str:
        """Return the time at which a volume was made; empty where there is none."""
        return await _off_loop(lambda: self._volume_time(volume))

    async def volumes(self, label: str) -> list[str]:
        """Return the names of all volumes with a label, `NAME=VALUE`."""
        found = await _off_loop(lambda: self._client.api.volumes(filters={"label": label}))
        return [volume["Name"] for volume in found.get("Volumes") or ()]

    async def remove_volume(self, volume: str) -> bool:
        """Return whether it is gone: one that containers have stays."""
        return await _off_loop(lambda: self._remove_volume(volume))

    async def architecture(self) -> str:
        """Return what the engine runs, in the words that its images have."""
        return str((await _off_loop(self._client.version))["Arch"])

    async def output(self, tag: str, *command: str) -> str:
        """Return what a command prints in a container of the image, without a network."""
        return await _off_loop(lambda: self._output(tag, list(command)))

    def _find(self, tag: str) -> StoredImage | None:
        try:
            attributes = self._client.images.get(tag).attrs
        except docker.errors.ImageNotFound:
            return None
        labels = attributes["Config"].get("Labels") or {}
        user = attributes["Config"].get("User") or ""
        return StoredImage(attributes["Id"], attributes["Architecture"], labels, user)

    def _all(self) -> list[ListedImage]:
        found = []
        for facts in self._client.api.images():
            if tags := tuple(map(_plain, facts.get("RepoTags") or ())):
                try:
                    layers = self._layers(facts["Id"])
                except docker.errors.ImageNotFound:  # somebody has just removed it
                    continue
                size, created = int(facts["Size"]), float(facts["Created"])
                found.append(ListedImage(tags, size, layers, created, facts["Id"]))
        return found

    def _layers(self, image: str) -> tuple[str, ...]:
        """Return an image's layers by its id. They are asked for once in a process: an id is that of its content."""
        if image not in _LAYERS:
            _LAYERS[image] = tuple(self._client.images.get(image).attrs["RootFS"].get("Layers") or ())
        return _LAYERS[image]

    def _copy_out(self, tag: str, path: str, destination: Path) -> None:
        with self._container(tag) as container, tempfile.TemporaryFile() as archive:
            chunks, _ = container.get_archive(path)
            for chunk in chunks:
                archive.write(chunk)
            archive.seek(0)
            unpack_tree(archive, destination)

    def _export(self, tag: str, archive: Path) -> None:
        with self._container(tag) as container, archive.open("wb") as file:
            chunks: Any = container.export(chunk_size=_CHUNK)  # bytes, whatever its stubs say
            file.writelines(chunks)

    def _extend(self, base: str, archive: Path, tag: str, changes: list[str]) -> None:
        repository, _, version = tag.partition(":")
        with self._container(base) as container, archive.open("rb") as data:
            container.put_archive("/", data)
            container.commit(repository, version, changes=[*changes, NOT_A_CONTAINER])

    def _save(self, tag: str, archive: Path) -> None:
        with archive.open("wb") as file:
            for chunk in self._client.images.get(tag).save(named=True):
                file.write(chunk)

    def _save_all(self, tags: list[str], archive: Path) -> None:
        # The SDK saves images one by one; its client is a requests session, which can ask for all at once.
        api = self._client.api
        url = f"{api.base_url}/v{api.api_version}/images/get"
        answer = api.get(url, params=[("names", tag) for tag in tags], stream=True)
        answer.raise_for_status()
        with answer, archive.open("wb") as file:
            for chunk in answer.iter_content(_CHUNK):
                file.write(chunk)

    def _load(self, archive: Path) -> None:
        # The SDK's own `load` looks up what it takes for names in the answer, which Podman writes differently.
        api: Any = self._client.api
        with archive.open("rb") as file:
            for line in api.load_image(file) or ():
                if error := line.get("error"):
                    raise docker.errors.ImageLoadError(error)

    def _fill_volume(self, tag: str, volume: str, path: str) -> None:
        self._client.volumes.create(volume, labels={"testwright": "toolbox"})
        # An engine copies what an image has at a place into an empty volume that is mounted there.
        container = self._client.containers.create(
            tag, ["none"], network_mode="none", labels=_LABELS, mounts=[Mount(path, volume, type="volume")]
        )
        container.remove(force=True)

    def _volume_time(self, volume: str) -> str:
        try:
            return str(self._client.volumes.get(volume).attrs.get("CreatedAt") or "unknown")
        except docker.errors.NotFound:
            return ""

    def _remove_volume(self, volume: str) -> bool:
        try:
            self._client.volumes.get(volume).remove()
        except docker.errors.NotFound:
            return True
        except docker.errors.APIError as error:
            if error.status_code == requests.codes.conflict:
                return False
            raise
        return True

    def _output(self, tag: str, command: list[str]) -> str:
        # Attached before it starts: what is read of a log afterwards lacks what the engine hasn't written yet.
        container = self._client.containers.create(
            tag, command, network_mode="none", hostname="box", labels=_LABELS, ulimits=_ULIMITS
        )
        try:
            printed: Any = container.attach(stdout=True, stderr=False, stream=True)
            container.start()
            text = b"".join(printed).decode(errors="replace")
            if status := int(container.wait()["StatusCode"]):
                raise docker.errors.ContainerError(container, status, command, tag, text)
            # On a busy machine nothing came of a command that prints; why isn't known. The log is a second source.
            return text or container.logs(stdout=True, stderr=False).decode(errors="replace")
        finally:
            container.remove(force=True)

    @contextmanager
    def _container(self, image: str) -> Iterator[Container]:
        """Provide a container that never starts."""
        container = self._client.containers.create(image, network_mode="none", hostname="box", labels=_LABELS)
        try:
            yield container
        finally:
            container.remove(force=True)


def _plain(tag: str) -> str:
    """Return a tag of ours as we have given it: Podman puts a registry before it."""
    plain = tag.removeprefix("localhost/").removeprefix("docker.io/")
    return plain if plain.startswith("testwright/") else tag


@asynccontextmanager
async def engine_images() -> AsyncIterator[EngineImages]:
    """Provide the images of the engine that the environment names.

    Raises:
        ImageUnavailable: None answers.
    """
    client = await _off_loop(lambda: docker.from_env(timeout=_TIMEOUT_SECONDS))
    try:
        yield EngineImages(client)
    finally:
        client.close()


async def _off_loop(call: Callable[[], T]) -> T:
    try:
        return await asyncio.to_thread(call)
    except (docker.errors.DockerException, requests.exceptions.RequestException) as error:
        words = str(getattr(error, "explanation", None) or error).strip()
        raise ImageUnavailable(f"the Docker engine refused: {words}") from error
