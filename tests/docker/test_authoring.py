"""A new task on a repository, by the authoring commands alone: docs/authoring.md, run as it stands."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness.authoring.task_new.command import NewTask, new_task, reached
from harness.sandbox.git_tree import GitTree
from harness.sandbox.images.task_images import repo_image
from harness.specs.authoring_facts import SuiteRecord
from harness.specs.catalog import Catalog
from harness.specs.catalog_places import default_directory
from harness.specs.errors import UserError
from harness.specs.test_results import TestId
from harness.specs.yaml_files import load_yaml
from tests.support.command import typed
from tests.support.console_blocks import blocks, printed
from tests.support.tiny_catalog import tiny_catalog

TASK = "aiosmtpd-call-limit"
PAGE = Path(__file__).parents[2] / "docs" / "authoring.md"


@pytest.mark.long
@pytest.mark.docker
@pytest.mark.timeout(1200)  # it compiles restic for each variant
def test_every_command_of_the_page_prints_what_the_page_shows(tmp_path: Path) -> None:
    (tmp_path / "repos").symlink_to(default_directory() / "repos")
    for shown in blocks(PAGE.read_text()):
        assert printed(shown.command, tmp_path) == shown.output, shown.command
    covers = (tmp_path / "mine" / "tasks" / "restic-secrets" / "reference" / "covers.yaml").read_text()
    assert '"TestEmptySecretIsPrintedAsNothing": ["1.2"]' in covers


@pytest.mark.docker
def test_a_preview_is_what_an_agent_is_told_and_where_it_works(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "harness.cli", "task", "preview", TASK]
    lines = "cd /tmp; id -un\npwd; exit 3\n"
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert Catalog().task(TASK).prompt.splitlines()[0] in done.stdout
    assert done.stdout.endswith("agent\n/app\n[status 3]\n")


def test_a_first_idea_of_a_tasks_difficulty_is_an_ordinary_run(tmp_path: Path) -> None:
    done = typed("task", "try", TASK, "-m", "scripted:none.yaml", "-o", tmp_path / "run", cwd=tmp_path)
    assert (done.status, done.output) == (2, "")
    assert "none.yaml" in done.complaint


@pytest.mark.docker
def test_a_repositorys_suite_is_run_three_times_and_recorded(nonce: str, tmp_path: Path) -> None:
    tiny_catalog(tmp_path, nonce)
    env = {**os.environ, "TESTWRIGHT_CACHE": str(tmp_path / "cache")}
    done = typed("--catalog", tmp_path, "repo", "suite", "tiny", cwd=tmp_path, environment=env)
    assert done.status == 0, done.complaint
    record = load_yaml(tmp_path / "repos" / "tiny" / "suite.yaml", SuiteRecord)
    assert (record.times, record.green, record.missing) == (3, 1, ("tests/test_tiny.py::test_adds_negative_numbers",))
    assert "tiny: 1 tests green 3 times; 1 missing" in done.output


@pytest.mark.long
@pytest.mark.docker
def test_classes_of_other_files_that_inherit_withheld_tests_are_named(tmp_path: Path) -> None:
    (tmp_path / "repos").symlink_to(default_directory() / "repos")
    (tmp_path / "tasks").mkdir()
    tests = ("tests/test_itsdangerous/test_signer.py",)
    made = new_task(Catalog(tmp_path), NewTask("signing", "itsdangerous", "signing", tests), lambda _: None)
    assert "tests/test_itsdangerous/test_timed.py::TestTimestampSigner (of TestSigner): " in made.remark
    assert made.symbols[0].file == "src/itsdangerous/signer.py"


@pytest.mark.docker
def test_files_alone_say_nothing_of_the_code(tmp_path: Path) -> None:
    (tmp_path / "repos").symlink_to(default_directory() / "repos")
    (tmp_path / "tasks").mkdir()
    tests = ("tests/test_itsdangerous/test_encoding.py::test_want_bytes",)
    given = NewTask("bytes", "itsdangerous", "bytes", tests, files_only=True)
    made = new_task(Catalog(tmp_path), given, lambda _: None)
    assert (made.symbols, made.remark) == ((), "")
    assert b"-def test_want_bytes" in (tmp_path / "tasks" / "bytes" / "withheld.patch").read_bytes()
    assert "TODO" in (tmp_path / "tasks" / "bytes" / "prompt.md").read_text()


@pytest.mark.long
@pytest.mark.docker
def test_where_others_reach_all_of_the_code_they_are_named_and_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "repos").symlink_to(default_directory() / "repos")
    (tmp_path / "tasks").mkdir()
    tests = ("tests/test_itsdangerous/test_encoding.py::test_want_bytes",)
    with pytest.raises(UserError) as refused:
        new_task(Catalog(tmp_path), NewTask("bytes", "itsdangerous", "bytes", tests), lambda _: None)
    named = re.search(r"reach all of it as well \((.*)\): choose those too", str(refused.value))
    assert named
    assert re.search(r"test_encoding\.py: (\d+) of \1 lines", named[1]), named[1]
    assert list((tmp_path / "tasks").iterdir()) == []
    assert not (tmp_path / "rubrics").exists()


@pytest.mark.docker
async def test_the_lines_that_a_c_test_reaches_are_those_that_it_runs() -> None:
    repo = Catalog().repo("jansson")
    test = TestId("test/suites/api/test_dump_callback.c", "test_dump_callback")
    lines = (await reached(repo, await repo_image(repo), {"with": [test], "beside": []}))["with"]
    tree = GitTree((await repo_image(repo)).tree)
    source = (await tree.read("src/dump.c")).decode().splitlines()
    ran = {source[number - 1].strip() for number in lines["src/dump.c"]}
    assert "int json_dump_callback(const json_t *json, json_dump_callback_t callback, void *data," in ran
    assert not {line for line in ran if line.startswith("int json_dumpfd(")}
    assert not [path for path in lines if path.startswith("test/")]
