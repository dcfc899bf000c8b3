"""What is said and made per language is there for each of them."""

import pytest

from harness.agents.mini import Mini
from harness.agents.registry import agent_context
from harness.authoring.task_check.controls import worthless_submissions
from harness.judging.languages.registry import LANGUAGES
from harness.judging.submission.manifest import parse_manifest
from harness.models.replay import ScriptedModel
from tests.support.small_task import scaffold, small_task

NEIGHBOURS = {
    "python": "tests/test_sums.py",
    "c": "test/suites/api/test_sums.c",
    "go": "internal/sums/sums_test.go",
    "typescript": "packages/sums/tests/sums.test.ts",
}


def task_of(directory, language: str):
    task = small_task(directory)
    (directory / "reference").mkdir()
    neighbour = NEIGHBOURS[language]
    head = f"diff --git a/{neighbour} b/{neighbour}\n--- a/{neighbour}\n+++ b/{neighbour}\n@@ -1 +1,2 @@\n"
    (directory / "reference" / "tests.patch").write_text(f"{head} package sums_test\n+more\n")
    (directory / "reference" / "manifest.yaml").write_text(f'- file: {neighbour}\n  tests: ["test_a"]\n')
    return task.model_copy(update={"repo": task.repo.model_copy(update={"language": language})})


@pytest.mark.parametrize("language", LANGUAGES.names)
def test_the_common_scaffold_tells_the_model_how_tests_are_named(tmp_path, language):
    [_, told] = Mini(agent_context(task_of(tmp_path, language), scaffold("mini"), ScriptedModel([]))).prompts()
    assert "The ids are " in told.content


@pytest.mark.parametrize("language", LANGUAGES.names)
def test_a_test_that_asserts_nothing_is_one_that_discovery_finds(tmp_path, language):
    submission = worthless_submissions(task_of(tmp_path, language))["a test that asserts nothing"]
    [test] = parse_manifest(submission.manifest, LANGUAGES.get(language).ids).tests
    text = "\n".join(line[1:] for line in submission.patch.decode().splitlines()[5:])
    discovery = LANGUAGES.get(language).discovery
    assert discovery.is_test_file(test.file)
    assert [found.name for found in discovery.discover(text.encode(), test.file).tests] == [test.name]
    assert test.file.rpartition("/")[0] == NEIGHBOURS[language].rpartition("/")[0]


def test_a_go_file_is_of_its_neighbours_package(tmp_path):
    patch = worthless_submissions(task_of(tmp_path, "go"))["a test that asserts nothing"].patch
    assert b"+package sums_test\n" in patch
