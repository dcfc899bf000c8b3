"""`testwright repo new` to its end: a shipped task's reference is resolved on the repository that the command makes.

Fetches releases and builds images, so it runs by `make repositories` alone.
"""

import json
import os
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from harness.specs.catalog_places import default_directory
from tests.support.command import testwright

pytestmark = [
    pytest.mark.docker,
    pytest.mark.timeout(3600),
    pytest.mark.long,
    pytest.mark.skipif(not os.environ.get("TESTWRIGHT_REPO_NEW"), reason="make repositories runs it"),
]

SECONDS = 1700.0
"""Of one command: it may fetch a whole toolchain."""


class Made(NamedTuple):
    """What is typed behind `repo new NAME`, and a task whose patches are of the same release."""

    arguments: tuple[str, ...]
    task: str


MADE = {
    "c": Made(("--debian", "jansson=2.14-2"), "jansson-object-merge"),
    "typescript": Made(("--npm", "zod@4.6.7", "--needs", "@web-std/file@3.0.3"), "zod-stringbool"),
    "scoped-typescript": Made(
        (
            "--npm",
            "@maplibre/maplibre-gl-style-spec@26.6.0",
            "--licence",
            "ISC AND BSD-3-Clause AND MIT",
        ),
        "maplibre-style-spec-old-styles",
    ),
    "python": Made(("--pypi", "itsdangerous==2.2.0", "--needs", "freezegun"), "itsdangerous-expiring-tokens"),
}


@pytest.mark.parametrize("language", MADE)
async def test_a_tasks_reference_is_resolved_on_a_repository_made_by_the_command(language, tmp_path: Path) -> None:
    made, name, catalog = MADE[language], f"made-in-{language}", tmp_path / "mine"
    for folder in ("tasks", "rubrics", "repos"):
        (catalog / folder).mkdir(parents=True)
    whole = ("--catalog", catalog)
    new = await testwright(
        *whole, "repo", "new", name, *made.arguments, "--files-only", cwd=tmp_path, seconds=SECONDS
    )
    assert new.status == 0, new.complaint
    folder = catalog / "tasks" / made.task
    shutil.copytree(default_directory() / "tasks" / made.task, folder)
    shutil.copy(default_directory() / "rubrics" / f"{made.task}.yaml", catalog / "rubrics")
    text = (folder / "task.yaml").read_text()
    [line] = [line for line in text.splitlines() if line.startswith("repo: ")]
    (folder / "task.yaml").write_text(text.replace(line, f"repo: {name}"))
    submission = (
        "--patch",
        folder / "reference" / "tests.patch",
        "--manifest",
        folder / "reference" / "manifest.yaml",
    )
    judged = await testwright(*whole, "verify", made.task, *submission, "--json", cwd=tmp_path, seconds=SECONDS)
    assert judged.status == 0, judged.complaint
    assert json.loads(judged.output)["verdict"] == "resolved"


async def test_the_suite_of_a_small_go_package_of_debian_is_green(tmp_path: Path) -> None:
    for folder in ("tasks", "rubrics", "repos"):
        (tmp_path / "mine" / folder).mkdir(parents=True)
    source = ("--debian", "golang-github-pkg-errors=0.9.1-2")
    done = await testwright(
        "--catalog", tmp_path / "mine", "repo", "new", "go-errors", *source, cwd=tmp_path, seconds=SECONDS
    )
    assert done.status == 0, done.complaint
    assert "go-errors: 39 tests green 3 times" in done.output
