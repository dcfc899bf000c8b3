"""Images as they come out of a real engine."""

import asyncio
import json
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from itertools import groupby
from pathlib import Path

import docker
import pytest

from harness.sandbox.images import task_images
from harness.sandbox.images.building import build
from harness.sandbox.images.recipe import read_recipe
from harness.sandbox.images.task_images import repo_image, task_image
from harness.sandbox.images.work_tree import image_record
from harness.sandbox.local.recipe import task_environment
from harness.sandbox.protocol import Image
from harness.specs.catalog import Catalog
from harness.specs.errors import ImageUnavailable, UserError
from harness.specs.task import Task
from tests.support.tiny_repo import RUN_TESTS, tiny_repo, tiny_task

pytestmark = pytest.mark.docker


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return tiny_task(tiny_repo(tmp_path / "repo"), tmp_path / "task")


def shell(client: docker.DockerClient, image: Image, script: str) -> str:
    printed: bytes = client.containers.run(
        image.reference, ["sh", "-c", script], network_mode="none", remove=True, stderr=True
    )
    return printed.decode().strip()


async def test_task_image_shows_the_agent_one_commit_and_a_clean_tree(client: docker.DockerClient) -> None:
    image = await task_image(Catalog().task("aiosmtpd-proxy-tlv"))
    script = (
        "id -un; pwd; git status --porcelain; git rev-list --all --count; git fsck --unreachable --no-progress;"
        " git log --format='%H %an %ad' --date=iso; git remote; ls .git"
    )
    lines = shell(client, image, script).splitlines()
    record = image_record(image)
    assert record is not None
    assert lines == [
        "agent", "/app", "1", f"{record.commit} upstream 2001-01-01 00:00:00 +0000",
        "HEAD", "config", "index", "info", "objects", "refs",
    ]  # fmt: skip
    packages = "\n".join(record.packages)
    assert "pytest==" in packages
    assert "python3\t" in packages


async def test_every_file_of_the_work_tree_has_the_same_owner_and_time(
    client: docker.DockerClient, task: Task
) -> None:
    image = await task_image(task)
    seen = shell(client, image, "find /app -printf '%u:%g %T+ %y%m\\n' | sort -u").splitlines()
    moment = "agent:agent 2001-01-01+00:00:00.0000000000"
    assert seen == [f"{moment} d755", f"{moment} f644", f"{moment} f755"]


async def test_withheld_tests_are_gone_and_the_rest_is_there(client: docker.DockerClient, task: Task) -> None:
    image = await task_image(task)
    text = shell(client, image, "cat tests/test_tiny.py")
    assert "test_adds" in text
    assert "test_adds_negative_numbers" not in text


@pytest.mark.dear("two repositories are built and read, which is what is tested")
async def test_recipes_that_share_a_step_are_built_one_after_the_other(
    tmp_path: Path, nonce: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else BuildKit may make for the second target again what it made for the first."""
    begun_and_ended: list[str] = []

    async def noted(context: Path, target: str, tag: str, *options: Mapping[str, str]) -> None:
        begun_and_ended.append(tag)
        await build(context, target, tag, *options)
        begun_and_ended.append(tag)

    monkeypatch.setattr(task_images, "build", noted)
    repos = [tiny_repo(tmp_path / str(n), "true", nonce, run_tests=f"{RUN_TESTS}# {n}\n") for n in range(2)]
    await asyncio.gather(*map(repo_image, repos))
    assert len(begun_and_ended) == 2 * 2 * 2
    recipes = [recipe for recipe, _ in groupby(begun_and_ended, key=lambda tag: tag.rpartition(":")[2])]
    assert sorted(recipes) == sorted(read_recipe(repo).digest[:12] for repo in repos)


async def test_two_tasks_of_a_repo_differ_in_one_layer(client: docker.DockerClient) -> None:
    catalog = Catalog()
    images = [await task_image(catalog.task(name)) for name in ("aiosmtpd-proxy-tlv", "aiosmtpd-call-limit")]
    first, second = (client.images.get(image.reference).attrs["RootFS"]["Layers"] for image in images)
    assert first[:-1] == second[:-1]
    assert first[-1] != second[-1]
    assert images[0].digest != images[1].digest


async def test_lost_cache_is_made_again_from_the_image(
    task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = await task_image(task)
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "other"))
    again = await task_image(task)
    assert again.tree.is_relative_to(tmp_path)
    assert (again.reference, again.digest) == (image.reference, image.digest)
    assert image_record(again) == image_record(image)


async def test_packages_that_the_engine_lost_are_asked_for_again(
    task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "other"))
    await repo_image(task.repo)
    first = image_record(await task_image(task))
    [of_repo] = (tmp_path / "other" / "images").glob("tiny-repo-*/image.json")
    of_repo.write_text(json.dumps({**json.loads(of_repo.read_text()), "packages": []}))
    [of_task] = (tmp_path / "other" / "images").glob("tiny-*-task-*")
    shutil.rmtree(of_task)
    again = image_record(await task_image(task))
    assert first is not None
    assert first.packages
    assert again == first


async def test_containers_of_an_image_neither_pass_for_its_build_nor_suffer_from_it(
    client: docker.DockerClient, task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = await task_image(task)
    container = client.containers.run(image.reference, ["tail", "-f", "/dev/null"], detach=True)
    try:
        assert container.labels["testwright"] != "1"
        monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "other"))
        await task_image(task)
        container.reload()
        assert container.status == "running"
    finally:
        container.remove(force=True)


async def test_image_whose_tree_is_not_what_it_says_is_refused(
    client: docker.DockerClient, task: Task, nonce: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "one"))
    task = tiny_task(tiny_repo(tmp_path / "changed", nonce=nonce), tmp_path / "task")
    image = await task_image(task)
    container = client.containers.run(image.reference, ["sh", "-c", "echo x >> tiny/__init__.py"], detach=True)
    container.wait(timeout=60)
    repository, _, version = image.reference.partition(":")
    container.commit(repository, version)
    container.remove()
    with pytest.raises(ImageUnavailable, match=f"docker rmi {image.reference}"):
        await task_image(task)


@pytest.mark.dear("makes a repository by two recipes")
async def test_engine_and_local_recipe_make_the_same_commit(
    task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "repo" / "release"))
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "cache"))
    records = [image_record(await task_image(task)), image_record(await task_environment(task))]
    commits = {record.commit for record in records if record}
    assert len(commits) == 1


async def test_two_that_ask_at_once_get_one_build(nonce: str, tmp_path: Path) -> None:
    task = tiny_task(tiny_repo(tmp_path / "repo", nonce=nonce), tmp_path / "task")
    first, second = await asyncio.gather(task_image(task), task_image(task))
    assert first == second


async def test_patch_that_does_not_apply_is_named(tmp_path: Path) -> None:
    repo = tiny_repo(tmp_path / "repo")
    task = tiny_task(repo, tmp_path / "task")
    task = tiny_task(repo, tmp_path / "task", task.patch("withheld.patch").decode().replace("== 3", "== 4"))
    with pytest.raises(UserError, match=r"task/withheld\.patch: it doesn't apply to tiny 1\.0: .*test_tiny"):
        await task_image(task)


async def test_failed_build_gives_the_line_that_matters_and_the_log(nonce: str, tmp_path: Path) -> None:
    repo = tiny_repo(tmp_path / "repo", build_step="echo ERROR: no index today >&2; exit 7", nonce=nonce)
    with pytest.raises(ImageUnavailable, match=r"failed: ERROR: no index today \(all of it: (.*\.log)\)") as caught:
        await repo_image(repo)
    log = Path(str(caught.value).rpartition("all of it: ")[2].rstrip(")"))
    assert "no index today" in log.read_text()


async def test_cancelled_build_leaves_no_process(nonce: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "cache"))
    repo = tiny_repo(tmp_path / "repo", build_step="tail -f /dev/null", nonce=nonce)
    building = asyncio.create_task(repo_image(repo))
    logs = tmp_path / "cache" / "logs"
    await until(lambda: any("tail -f" in path.read_text() for path in logs.glob("tiny-*.log")))
    building.cancel()
    with pytest.raises(asyncio.CancelledError):
        await building
    await until(lambda: "tail -f /dev/null" not in processes() and "tiny-dependencies" not in processes())


def processes() -> str:
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return "\n".join(
        line for line in listed.splitlines() if "tiny-dependencies" in line or line.startswith("tail -f")
    )


async def until(condition: Callable[[], bool]) -> None:
    """Poll until it holds; a minute is the end."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.05)
