"""The page cache of images: a warm one is read from no disk, and a second copy has pages of its own.

Measured by `/proc/self/io`: its `read_bytes` are what `getrusage` counts as `ru_inblock`, and perl can read them.
"""

import asyncio
import io
import uuid
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import replace

import docker
import pytest

from harness.sandbox.docker.client import Docker
from harness.sandbox.docker.warming import Warming
from harness.sandbox.images.second_copy import make_second_copy
from harness.sandbox.protocol import Image
from tests.support.sandboxes import TAG, docker_image, labels

# Another test may need the memory in which pages lie.
pytestmark = [pytest.mark.docker, pytest.mark.alone, pytest.mark.long]

SIZE, LITTLE = 16_000_000, 160_000
"""Bytes of the file, and what a machine may have to read once more of whatever else runs."""
FILE = "/app/large"
EVICTS = f"sync; dd if={FILE} iflag=nocache count=0 status=none"
"""With an engine's own filter. Pages that are still to be written stay, so they are written first."""
READS = f"""
sub from_disk {{ open my $io, "<", "/proc/self/io" or die $!; (grep /^read_bytes/, <$io>)[0] =~ /(\\d+)/; $1 }}
from_disk();
my $before = from_disk();
open my $file, "<:raw", "{FILE}" or die $!;
my ($data, $size);
$size += length $data while sysread $file, $data, 1 << 20;
print from_disk() - $before, " $size";
"""


@pytest.fixture
def image(client: docker.DockerClient) -> Iterator[Image]:
    """The small one with a large file that no other image has."""
    base, own = docker_image(), uuid.uuid4().hex
    tag = f"testwright-page-cache:{own}"
    recipe = f"FROM {TAG}\nRUN head -c {SIZE} /dev/urandom > {FILE}\n"
    client.images.build(fileobj=io.BytesIO(recipe.encode()), tag=tag, rm=True, nocache=True)
    yield replace(base, reference=tag, digest=own)
    client.images.remove(tag, force=True)


def printed(client: docker.DockerClient, tag: str, *command: str) -> str:
    container = client.containers.create(tag, list(command), network_mode="none")
    try:
        container.start()
        assert container.wait()["StatusCode"] == 0, container.logs()
        return str(container.logs().decode())  # behind the end: what `run` follows may be cut short
    finally:
        container.remove(force=True)


def evict(client: docker.DockerClient, tag: str) -> None:
    printed(client, tag, "bash", "-ec", EVICTS)


def read_from_disk(client: docker.DockerClient, tag: str) -> int:
    """Return how many bytes a new container has to fetch from a disk to read the file."""
    fetched, size = printed(client, tag, "perl", "-e", READS).split()
    assert int(size) == SIZE
    return int(fetched)


@pytest.mark.parametrize("warm", [Warming.warm, Warming.warm_top], ids=["all", "top"])
def test_what_a_container_reads_of_a_warm_image_comes_from_no_disk(
    warm: Callable[[Warming, Image, Mapping[str, str]], Awaitable[None]], client: docker.DockerClient, image: Image
) -> None:
    async def warmed() -> None:
        connected = Docker()
        try:
            await warm(Warming(connected), image, labels("warming"))
        finally:
            connected.close()

    evict(client, image.reference)
    assert read_from_disk(client, image.reference) >= SIZE, "else there is nothing to warm"
    evict(client, image.reference)
    asyncio.run(warmed())
    assert read_from_disk(client, image.reference) < LITTLE


def test_reading_and_evicting_a_file_changes_nothing_of_it_in_the_second_copy(
    client: docker.DockerClient, image: Image
) -> None:
    copy, tag = asyncio.run(make_second_copy(image.reference, image.digest)), image.reference
    try:
        sums, numbers = (
            {printed(client, each, *command) for each in (tag, copy)}
            for command in (("sha256sum", FILE), ("stat", "-c", "%i", FILE))
        )
        assert (len(sums), len(numbers)) == (1, 2), "the same bytes in another file"
        for each in (tag, copy):
            evict(client, each)
        assert read_from_disk(client, tag) >= SIZE
        assert read_from_disk(client, tag) < LITTLE
        assert read_from_disk(client, copy) >= SIZE, "reading one makes nothing of the other faster"
        evict(client, tag)
        assert read_from_disk(client, copy) < LITTLE, "nor does evicting one make the other slower"
        assert read_from_disk(client, tag) >= SIZE
    finally:
        client.images.remove(copy, force=True)
