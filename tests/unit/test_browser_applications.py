"""The recipes of applications: the stages that all have, and those that one has for itself."""

import shutil
from pathlib import Path

import pytest

from harness.plugins.browser.application import application_repo, data_directory, is_release
from harness.plugins.browser.task import TECHNIQUE, load_task, task_directories
from harness.sandbox.images.frames import DOCKERFILE
from harness.sandbox.images.recipe import read_recipe


@pytest.mark.parametrize(
    ("name", "of_others", "pin"),
    [
        ("deskapp", False, ""),
        ("datasette", True, "release.lock"),
        ("roundup", True, "release.lock"),
        ("tiddlywiki", True, "package-lock.json"),
    ],
)
def test_an_application_has_the_stages_of_all_but_for_its_own(name: str, of_others: bool, pin: str) -> None:
    files, own = read_recipe(application_repo(data_directory() / name)).files, data_directory() / name
    dockerfile, stages = files[DOCKERFILE].decode(), []
    for stage in ("tests", "release", "repo"):
        text = (data_directory() / f"{DOCKERFILE}.{stage}").read_text()
        stages.append(dockerfile.count(text) == 1)
    assert stages == [True, not (own / f"{DOCKERFILE}.release").exists(), True]
    assert is_release(own) == of_others
    assert not pin or files[pin] == (own / pin).read_bytes()


@pytest.mark.parametrize("place", ["sign-in/../garden", "../garden", "../browser/garden"])
def test_an_application_beside_a_task_is_found_and_has_the_stages_of_all(tmp_path: Path, place: str) -> None:
    [task] = task_directories("sign-in", TECHNIQUE)
    mine = tmp_path / "tasks" / "sign-in"
    shutil.copytree(task, mine)
    application = (tmp_path / "tasks" / place).resolve()
    shutil.copytree(data_directory() / "deskapp", application, ignore=shutil.ignore_patterns("__pycache__"))
    for path, name in ((mine / "task.yaml", "repo"), (application / "repo.yaml", "name")):
        path.write_text(path.read_text().replace(f"{name}: deskapp", f"{name}: garden"))
    loaded = load_task(mine, TECHNIQUE)
    assert (loaded.application, loaded.repo.name) == (application, "garden")
    own = application_repo(data_directory() / "deskapp")
    assert read_recipe(loaded.repo).files[DOCKERFILE] == read_recipe(own).files[DOCKERFILE]


def test_what_npm_has_is_fetched_by_hash_and_by_a_lent_bundle_and_registry() -> None:
    files = read_recipe(application_repo(data_directory() / "tiddlywiki")).files
    dockerfile = files[DOCKERFILE].decode()
    assert "ci --silent --ignore-scripts" in dockerfile
    assert dockerfile.count("AS release") == 1
    assert all(f"--mount=type=secret,id={name},required=false" in dockerfile for name in ("ca", "npm_conf"))
    assert b'"integrity": "sha512-' in files["package-lock.json"]
    assert b'"resolved"' not in files["package-lock.json"]


def test_a_release_of_source_alone_is_unpacked_without_the_folder_around_it() -> None:
    dockerfile = read_recipe(application_repo(data_directory() / "roundup")).files[DOCKERFILE].decode()
    assert "tar --extract --file /tmp/wheel/*.tar.gz --strip-components 1 --directory /release" in dockerfile
    assert "zipfile" not in dockerfile
