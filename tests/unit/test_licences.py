"""What a checkout and a wheel say of licences is true of the tasks in them."""

import tomllib
from pathlib import Path, PurePosixPath

import pytest
from packaging.licenses import canonicalize_license_expression

from harness.specs.catalog import Catalog
from harness.specs.repo import matches
from tests.support.corpora import BEHAVIOUR_TASKS

ROOT = Path(__file__).parents[2]
REUSE = tomllib.loads((ROOT / "REUSE.toml").read_text())["annotations"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def licence_of(path: PurePosixPath) -> str:
    return [item["SPDX-License-Identifier"] for item in REUSE if matches(path.as_posix(), item["path"])][-1]


@pytest.mark.parametrize("task", [task.id for task in BEHAVIOUR_TASKS])
@pytest.mark.parametrize(
    "file", ["tasks/{}/withheld.patch", "tasks/{}/probes/1.1.patch", "tests/honest/{}/a/patch.diff"]
)
def test_files_with_lines_of_a_repository_have_its_licence(task, file) -> None:
    assert licence_of(PurePosixPath(file.format(task))) == Catalog().task(task).repo.licence


@pytest.mark.parametrize("task", Catalog().select(["e2e:*"]), ids=lambda task: task.id)
def test_arms_of_an_application_have_its_licence_or_one_of_them(task) -> None:
    path = PurePosixPath(task.directory.relative_to(ROOT).as_posix()) / "arms.yaml"
    assert licence_of(path) in (task.repo.licence, *task.repo.licence.split(" AND "))


def test_the_wheels_own_expression_has_every_licence_and_brings_its_text() -> None:
    within = {licence for item in REUSE for licence in item["SPDX-License-Identifier"].split(" AND ")}
    assert canonicalize_license_expression(PROJECT["license"]) == PROJECT["license"]
    assert set(PROJECT["license"].split(" AND ")) == within
    assert {path.stem for path in (ROOT / "LICENSES").iterdir()} == within
    assert "LICENSES/*" in PROJECT["license-files"]


def test_our_own_code_is_apaches() -> None:
    assert licence_of(PurePosixPath("harness/cli/main.py")) == "Apache-2.0"
