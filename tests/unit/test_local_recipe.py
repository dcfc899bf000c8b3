"""The environment for machines without an engine, made from a release that lies in a directory."""

import asyncio
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.sandbox.images.work_tree import image_record
from harness.sandbox.local.recipe import task_environment
from harness.sandbox.protocol import Image
from harness.specs.errors import ImageUnavailable, UserError
from harness.specs.task import Task
from tests.support.tiny_repo import tiny_repo, tiny_task


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all: a venv takes seconds."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def task(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Task:
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(cache))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "repo" / "release"))
    return tiny_task(tiny_repo(tmp_path / "repo"), tmp_path / "task")


def run(image: Image, *command: str) -> str:
    """A command with the environment's own programs first, in its tree."""
    reference = Path(image.reference)
    path = f"{reference}/venv/bin:{reference}/bin:/usr/bin:/bin"
    env = {"PATH": path, "PYTHONPATH": str(reference / "tree"), "HOME": str(reference)}
    return subprocess.run(
        command, cwd=reference / "tree", env=env, capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.mark.long
async def test_environment_has_metadata_and_scripts_and_no_withheld_test(task: Task) -> None:
    image = await task_environment(task)
    assert run(image, "python", "-c", "import importlib.metadata as m; print(m.version('tiny'))") == "1.0"
    assert run(image, "tiny-add") == "42"
    assert run(image, "git", "status", "--porcelain") == ""
    assert run(image, "git", "rev-list", "--all", "--count") == "1"
    assert run(image, "git", "rev-parse", "HEAD") == getattr(image_record(image), "commit", None)
    assert (Path(image.reference) / "bin" / "run_tests").stat().st_mode & 0o777 == 0o755
    assert "test_adds_negative_numbers" not in run(image, "cat", "tests/test_tiny.py")


@pytest.mark.dear("makes a virtual environment, for all tests here")
async def test_development_install_names_the_work_directory_and_no_place_of_this_machine(task: Task) -> None:
    image = await task_environment(task)
    packages = next(Path(image.reference).glob("venv/lib/python*/site-packages"))
    assert (packages / "__editable__.tiny.pth").read_text() == "/app\n"
    assert "file:///app" in (packages / "tiny-1.0.dist-info" / "direct_url.json").read_text()


async def test_finished_environment_is_used_again_by_everyone(task: Task) -> None:
    first, second = await asyncio.gather(task_environment(task), task_environment(task))
    assert first == second
    python = (Path(first.reference) / "venv" / "pyvenv.cfg").stat().st_mtime_ns
    assert await task_environment(task) == first
    assert (Path(first.reference) / "venv" / "pyvenv.cfg").stat().st_mtime_ns == python


async def test_unfinished_environment_is_made_again(task: Task) -> None:
    first = await task_environment(task)
    (first.tree.parent / "image.json").unlink()
    shutil.rmtree(Path(first.reference) / "tree")
    assert await task_environment(task) == first
    assert (Path(first.reference) / "tree" / "tiny" / "__init__.py").is_file()


@pytest.mark.long
async def test_release_with_another_hash_is_refused(task: Task, tmp_path: Path) -> None:
    source = task.repo.source.model_copy(update={"sha256": "0" * 64})
    repo = task.repo.model_copy(update={"source": source})
    with pytest.raises(ImageUnavailable, match=r"tiny-environment-\w+ failed: .*\.log"):
        await task_environment(task.model_copy(update={"repo": repo}))


async def test_repo_without_a_local_recipe_says_that_it_needs_an_engine(task: Task) -> None:
    repo = task.repo.model_copy(update={"local": None})
    with pytest.raises(UserError, match=r"repo\.yaml: no key 'local'"):
        await task_environment(task.model_copy(update={"repo": repo}))


async def test_withheld_patch_that_does_not_apply_is_named(task: Task) -> None:
    (task.directory / "withheld.patch").write_text((task.directory / "withheld.patch").read_text().replace("3", "4"))
    with pytest.raises(UserError, match=r"task/withheld\.patch: it doesn't apply to tiny 1\.0"):
        await task_environment(task)
