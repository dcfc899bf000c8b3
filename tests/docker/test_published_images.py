"""Images of published tasks: made for root, complete already, with a step that fails; and what stays on the disk."""

import io
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import docker
import pytest

from harness.plugins.published import layout
from harness.plugins.published.images import published_image
from harness.plugins.published.task import PublishedTask, read_published
from harness.sandbox.docker.image_facts import ROOT_CAPABILITIES
from harness.sandbox.images.engine_images import engine_images
from harness.sandbox.images.task_images import repo_image
from harness.sandbox.protocol import Job, SandboxOptions
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.tracks import TaskOptions
from tests.support.command import testwright
from tests.support.image_tags import tags_of_all
from tests.support.sandboxes import make_engine

pytestmark = [pytest.mark.docker, pytest.mark.long]
SOUND = Path(__file__).parents[1] / "fixtures" / "swe_atlas_more" / "aiosmtpd-campaign"
STEPS = "RUN pip download --no-deps --dest /tmp no-such-package-anywhere==1\n"
OF_A_SERVER = """\
set -eu
install -d -o daemon -g daemon -m 700 /var/lib/server
su -s /bin/sh -c 'echo ready >/var/lib/server/state; sleep 60 & echo $! >/var/lib/server/pid' daemon
grep -qx ready /var/lib/server/state
[ "$(stat -c %U /proc/$(cat /var/lib/server/pid))" = daemon ]
kill "$(cat /var/lib/server/pid)"
grep CapEff /proc/self/status
if mount -t tmpfs none /mnt 2>/dev/null || mknod /tmp/device b 8 0 2>/dev/null || chroot / true 2>/dev/null; then
    echo too much
fi
"""
_NUMBERS = {"CHOWN": 0, "DAC_OVERRIDE": 1, "FOWNER": 3, "KILL": 5, "SETGID": 6, "SETUID": 7}


@pytest.fixture
async def source(client: docker.DockerClient) -> Iterator[str]:
    """An image as others publish them: with the agent's tree in it, and for root."""
    whole = (await repo_image(Catalog().repo("aiosmtpd"))).reference
    tag = f"swe-atlas-fixtures/for-root:{uuid4().hex[:8]}"
    client.images.build(fileobj=io.BytesIO(f"FROM {whole}\nUSER root\n".encode()), tag=tag)
    yield tag
    client.images.remove(tag, force=True)


def published(place: Path, dockerfile: str, source: str, complete: bool) -> PublishedTask:
    directory = Path(shutil.copytree(SOUND, place / f"images-{uuid4().hex[:8]}"))
    (directory / layout.DOCKERFILE).write_text(f"FROM far.example/it:1\nWORKDIR /app\n{dockerfile}")
    entry = {"image": source, "complete": complete}
    (place / "images.yaml").write_text(json.dumps({"far.example/it:1": entry}))
    return read_published(directory, TaskOptions(place / "images.yaml"))


def tags_of(client: docker.DockerClient, task: PublishedTask) -> list[str]:
    return [tag for tag in tags_of_all(client) if tag.startswith(f"testwright/{task.id}-")]


async def test_root_has_what_servers_need_and_no_more_and_a_task_keeps_one_tag(tmp_path, client, source):
    task = published(tmp_path, "ENV SOMETHING=1\n", source, complete=False)
    image = await published_image(task)
    engine = make_engine("docker")
    done = await engine.run_job(image, Job(("bash", "-c", OF_A_SERVER)), SandboxOptions(), {})
    await engine.close()
    assert done.exit_status == 0, done.log.decode()
    rights = sum(1 << _NUMBERS[name] for name in ROOT_CAPABILITIES)
    assert done.log.decode().split() == ["CapEff:", f"{rights:016x}"]
    assert tags_of(client, task) == [image.reference]
    cleaned = client.images.get(image.reference)
    assert "SOMETHING=1" in cleaned.attrs["Config"]["Env"]
    below = client.images.get(source).attrs["RootFS"]["Layers"]
    assert cleaned.attrs["RootFS"]["Layers"][: len(below)] == below
    client.images.remove(image.reference, force=True)


async def test_a_step_that_fails_is_told_once_with_the_mapping_that_skips_it(tmp_path, client, source):
    task = published(tmp_path, STEPS, source, complete=False)
    with pytest.raises(UserError, match=r"Dockerfile: a step of it fails; if .* complete: true\} \(--image-map"):
        await published_image(task)
    options = ("--image-map", tmp_path / "images.yaml", "-o", "run", "--json")
    done = await testwright("run", "-t", f"swe-atlas:{task.directory}", "-s", "nop", *options, cwd=tmp_path)
    assert done.status == 1, done.complaint
    [row] = json.loads(done.output)["trials"]
    [reason] = row["reasons"]
    assert row["verdict"] == "unscored"
    assert "complete: true" in reason["words"]
    [tries] = (tmp_path / "run" / "trials").rglob("*.attempts.jsonl")
    assert len(tries.read_text().splitlines()) == 1

    complete = published(tmp_path, STEPS, source, complete=True)
    image = await published_image(complete)
    async with engine_images() as images:
        assert (await images.output(image.reference, "git", "rev-list", "--all", "--count")).split() == ["1"]
    assert tags_of(client, complete) == [image.reference]
    client.images.remove(image.reference, force=True)
