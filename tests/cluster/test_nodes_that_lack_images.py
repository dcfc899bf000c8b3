"""Nodes with engines of their own that have none of a trial's images: what they make, what others do."""

import shutil
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.plugins.scripted_provider.scenario import Reply
from harness.runs.store import find_trials
from harness.sandbox.images.building import BASE_IMAGE, build, ensure_base_image
from harness.sandbox.images.engine_images import engine_images
from tests.support.command import testwright
from tests.support.image_tags import tags_of_all
from tests.support.own_engine import OwnEngine, own_engine
from tests.support.provider import playing
from tests.support.ray_cluster import add_node, cluster_here
from tests.support.tiny_catalog import tiny_catalog

pytestmark = [pytest.mark.docker, pytest.mark.long]

BASE = "testwright-contract:base-with-packages"
DOCKERFILE = """
ARG BASE
FROM ${BASE} AS with_packages
RUN --mount=type=secret,id=ca,required=false set -eu; \\
    apt() { apt-get -qq -o Acquire::Retries=3 "$@"; }; \\
    if [ -s /run/secrets/ca ]; then apt() { apt-get -qq -o Acquire::https::CAInfo=/run/secrets/ca "$@"; }; fi; \\
    apt update; \\
    apt install --yes --no-install-recommends ca-certificates git less procps python3 python3-venv; \\
    rm -rf /etc/apt/sources.list /etc/apt/sources.list.d
"""
"""The base image with the packages that toolboxes are made of: the test's engines reach no network."""


@pytest.fixture
async def base(tmp_path: Path) -> str:
    """Its tag on the machine's engine."""
    context = tmp_path / "base"
    context.mkdir()
    (context / "Dockerfile").write_text(DOCKERFILE)
    async with engine_images() as images:
        await build(context, "with_packages", BASE, {"BASE": await ensure_base_image(images)}, {})
    return BASE


@pytest.fixture
def engine(base: str) -> Iterator[OwnEngine]:
    with own_engine() as made, made.client() as client:
        made.load(base)
        client.images.get(base).tag(*BASE_IMAGE.split(":"))
        yield made


def without_docker(directory: Path) -> str:
    """A PATH that has all programs of this machine but those that build images."""
    directory.mkdir()
    for place in ("/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"):
        for program in Path(place).iterdir():
            link = directory / program.name
            if not program.name.startswith(("docker", "podman")) and not link.is_symlink():
                link.symlink_to(program)
    return str(directory)


async def test_a_node_makes_what_it_lacks_and_what_it_cant_make_is_done_elsewhere(
    engine: OwnEngine, tmp_path: Path
) -> None:
    """First one node, which has a base image only. Then another one joins, which has the task's image from the first
    one, no toolbox, and nothing to make one with.
    """
    task = tiny_catalog(tmp_path / "catalog", nonce=uuid.uuid4().hex)
    (task.directory / "removal.patch").write_text("")  # the agent hands in nothing, so nobody applies it
    with cluster_here() as cluster, own_engine() as other:
        add_node(cluster, env_vars={"DOCKER_HOST": engine.host, "TESTWRIGHT_CACHE": str(tmp_path / "one")})
        await run(cluster, tmp_path, "first", 1)
        with engine.client() as client:
            made = [tag for tag in tags_of_all(client) if tag.startswith("testwright/")]
        assert sorted(tag.partition(":")[0] for tag in made) == [
            "testwright/command-toolbox", "testwright/tiny-add-task", "testwright/tiny-dependencies",
            "testwright/tiny-repo",
        ]  # fmt: skip
        carry([tag for tag in made if "toolbox" not in tag], engine, other)
        env = {"DOCKER_HOST": other.host, "TESTWRIGHT_CACHE": str(tmp_path / "two")}
        add_node(cluster, env_vars={**env, "PATH": without_docker(tmp_path / "bin")})
        await run(cluster, tmp_path, "second", 2)
        with other.client() as client:
            assert not [tag for tag in tags_of_all(client) if "toolbox" in tag]
    records = [store.directory / "image.json" for store in find_trials(tmp_path / "second")]
    facts = {path.read_bytes() for path in [*records, *tmp_path.glob("first/trials/*/*/*/*/image.json")]}
    assert (len(records), len(facts)) == (2, 1)


def carry(tags: list[str], source: OwnEngine, target: OwnEngine) -> None:
    save = ["docker", "--host", source.host, "save", *tags]
    with subprocess.Popen(save, stdout=subprocess.PIPE) as saved:
        subprocess.run(["docker", "--host", target.host, "load", "--quiet"], stdin=saved.stdout, check=True)
    assert saved.returncode == 0


async def run(cluster: Any, folder: Path, output: str, trials: int) -> None:
    """So many trials at once of an agent with a toolbox; each is judged, with the work of one attempt."""
    model = folder / "model.yaml"
    shutil.rmtree(folder / output, ignore_errors=True)
    async with playing(Reply(commands=("echo hello",)), Reply(text="I am done.")) as provider:
        model.write_text(f"model: openai/scripted\napi_base: {provider.url}/v1\n")
        done = await testwright(
            "--catalog", folder / "catalog", "run", "-t", "tiny-add", "-s", "command", "-m", model, "-o", output,
            "-k", str(trials), "-j", str(trials), "--sandbox", "docker", "--executor", f"ray:{cluster.address}",
            cwd=folder,
        )  # fmt: skip
    assert done.status == 0, done
    assert f"{trials} failed" in done.output
    for store in find_trials(folder / output):
        assert [record.end for record in store.attempts.read()] == ["judged"]
