"""`testwright repo export` and `repo import`: images on a host that can build nothing."""

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest

from harness.sandbox.images.recipe import read_recipe
from harness.specs.catalog import Catalog
from harness.specs.catalog_places import default_directory
from tests.support.image_tags import tags_of_all
from tests.support.tiny_catalog import tiny_catalog

pytestmark = [pytest.mark.docker, pytest.mark.long]


def command(catalog: Path, *arguments: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    whole = [sys.executable, "-m", "harness.cli", "--catalog", catalog, *arguments]
    environment = {**os.environ, "TESTWRIGHT_CACHE": str(catalog / "cache"), **env}
    return subprocess.run(whole, env=environment, capture_output=True, text=True, check=False, timeout=280)


def without_docker_command(place: Path) -> str:
    """A PATH with git and nothing that builds images."""
    place.mkdir()
    for name in ("git", "bash", "sh"):
        (place / name).symlink_to(shutil.which(name) or name)
    return str(place)


def test_images_that_were_carried_over_work_as_at_home(
    exported: tuple[Path, Path], client: docker.DockerClient, tmp_path: Path
) -> None:
    catalog, file = exported
    home = json.loads(command(catalog, "repo", "build", "--json").stdout)
    recipe = read_recipe(Catalog(catalog).repo("tiny"))
    for tag in (recipe.tag("dependencies"), *(build["reference"] for build in home)):
        client.images.remove(tag, force=True)

    env = {"TESTWRIGHT_CACHE": str(tmp_path / "empty"), "PATH": without_docker_command(tmp_path / "bin")}
    imported = command(catalog, "repo", "import", file, "--json", **env)
    assert imported.returncode == 0, imported.stderr
    away = json.loads(imported.stdout)
    keys = ("name", "reference", "digest")
    assert [[build[key] for key in keys] for build in away] == [[build[key] for key in keys] for build in home]

    options = ["-t", "tiny-add", "-s", "nop", "-o", tmp_path / "run", "--sandbox", "docker", "--json"]
    judged = command(catalog, "run", *options, **env)
    assert judged.returncode == 0, judged.stderr
    [verdict] = (tmp_path / "run").rglob("verdict.json")
    record = json.loads(verdict.read_text())
    assert [reason["code"] for reason in record["reasons"]] == ["empty-submission"]
    assert record["image_digest"] == home[1]["digest"]


@pytest.mark.parametrize("address", ["technique:sign-in", "build:link-shortener"])
def test_images_of_a_task_of_another_track_are_carried_over(tmp_path: Path, address: str) -> None:
    """They stay where they are: what is read of them on the other host is kept in a cache of its own."""
    file, own = tmp_path / "images.tar", default_directory()
    exported = command(own, "repo", "export", address, file, "--json", TESTWRIGHT_CACHE=str(tmp_path / "here"))
    assert exported.returncode == 0, exported.stderr
    imported = command(own, "repo", "import", file, "--json", TESTWRIGHT_CACHE=str(tmp_path / "there"))
    assert imported.returncode == 0, imported.stderr
    here, there = (
        [(build["name"], build["reference"], build["digest"]) for build in json.loads(done.stdout)]
        for done in (exported, imported)
    )
    assert here == there
    assert [name for name, _, _ in here][1:] == [address.partition(":")[2]]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """A catalog of the tiny repo, and the file of its images."""
    place = tmp_path_factory.mktemp("tiny")
    task = tiny_catalog(place, uuid.uuid4().hex)
    (task.directory / "removal.patch").write_text("never applied: nothing is handed in\n")
    done = command(place, "repo", "export", "tiny", place / "tiny.tar", "--json")
    assert done.returncode == 0, done.stderr
    yield place, place / "tiny.tar"
    ours = {read_recipe(Catalog(place).repo("tiny")).tag("dependencies")}
    ours |= {build["reference"] for build in json.loads(done.stdout)}
    client = docker.from_env(timeout=300)
    for tag in ours.intersection(tags_of_all(client)):
        client.images.remove(tag, force=True)
    client.close()


def repacked(source: Path, destination: Path, **changed: bytes | None) -> Path:
    """The same file with other members; None leaves one out."""
    with tarfile.open(source) as old, tarfile.open(destination, "w") as new:
        for member in old:
            data = changed.get(member.name.partition(".")[0], old.extractfile(member).read())  # type: ignore[union-attr]
            if data is not None:
                member.size = len(data)
                new.addfile(member, io.BytesIO(data))
    return destination


def index(file: Path, **changed: object) -> bytes:
    with tarfile.open(file) as tar:
        return json.dumps({**json.load(tar.extractfile("bundle.json")), **changed}).encode()  # type: ignore[arg-type]


def test_a_file_that_is_not_ours_or_not_whole_is_one_line(exported: tuple[Path, Path], tmp_path: Path) -> None:
    catalog, file = exported
    whole = file.read_bytes()
    (tmp_path / "prose.tar").write_text("these are my images\n")
    (tmp_path / "cut.tar").write_bytes(whole[: len(whole) // 2])
    at = whole.index(b"def add(left, right)") if b"def add(left, right)" in whole else len(whole) // 2
    (tmp_path / "flipped.tar").write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    strangers = index(file, images=[{"reference": "debian:bookworm-slim", "digest": ""}])
    cases = {
        tmp_path / "missing.tar": "No such file or directory",
        tmp_path / "prose.tar": "not a whole file of testwright repo export",
        tmp_path / "cut.tar": "not a whole file of testwright repo export",
        tmp_path / "flipped.tar": "its images are not those that were exported",
        repacked(file, tmp_path / "no-index.tar", bundle=None): "not a whole file of testwright repo export",
        repacked(file, tmp_path / "odd.tar", bundle=b'{"repo": 1}'): "bundle.json:1: ",
        repacked(file, tmp_path / "strange.tar", bundle=strangers): "its images are not those of its bundle.json",
        repacked(file, tmp_path / "old.tar", bundle=index(file, recipe="0" * 64)): "made from another recipe of tiny",
        repacked(file, tmp_path / "other.tar", bundle=index(file, repo="huge")): "not in this catalog",
        repacked(file, tmp_path / "arm.tar", bundle=index(file, architecture="riscv")): "its images are for riscv",
    }
    for path, words in cases.items():
        refused = command(catalog, "repo", "import", path)
        *_, last = refused.stderr.splitlines()
        assert refused.returncode == 2, (path, refused.stderr)
        assert last.startswith("testwright: "), refused.stderr
        assert words in last, (path, last)
        assert "Traceback" not in refused.stderr


def test_an_image_that_holds_another_tree_than_was_exported_is_refused(
    exported: tuple[Path, Path], tmp_path: Path
) -> None:
    catalog, file = exported
    with tarfile.open(file) as tar:
        images = json.load(tar.extractfile("bundle.json"))["images"]  # type: ignore[arg-type]
    forged = [{**image, "digest": "f" * 64 if image["digest"] else ""} for image in images]
    other = repacked(file, tmp_path / "other.tar", bundle=index(file, images=forged))
    refused = command(catalog, "repo", "import", other)
    assert refused.returncode == 2
    assert "holds another tree than was exported" in refused.stderr
