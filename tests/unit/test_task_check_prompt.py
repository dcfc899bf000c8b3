"""A prompt that names a function of the removal is found in every language; ordinary words are nobody's name."""

import asyncio
from pathlib import Path

import pytest

from harness.authoring.task_check.prompt_lint import prompt_problems
from harness.authoring.task_check.subject import Subject
from harness.sandbox.git_tree import GitTree
from harness.specs.catalog import Catalog
from harness.specs.problem import Problem
from tests.support.small_task import small_task

LONG = "When somebody merges two objects, what becomes of the keys that both of them have is not tested. " * 3
HEAD = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n"


async def named(directory, definition: str, prompt: str) -> list[str]:
    (directory / "tasks").mkdir()
    task = small_task(directory / "tasks" / "sums-add")
    (task.directory / "prompt.md").write_text(f"{LONG}{prompt}\n")
    (task.directory / "removal.patch").write_text(f"{HEAD} {definition}\n-    old\n+    new\n \n")
    return [problem.message.partition(",")[0] for problem in await prompt_problems(Subject(Catalog(directory), task))]


@pytest.mark.parametrize(
    ("definition", "name"),
    [
        ("def apply_constants(value):", "apply_constants"),
        ("    async def _handle_hello(self):", "_handle_hello"),
        ("func (r *Repository) LoadIndex(ctx context.Context) error {", "LoadIndex"),
        ("func parseDuration(s string) error {", "parseDuration"),
        ("export function stringBool(params) {", "stringBool"),
        ("export const toJSONSchema = (schema) => {", "toJSONSchema"),
        ("int json_object_update(json_t *object, json_t *other)", "json_object_update"),
        ("static size_t buffer_add(const char *text,", "buffer_add"),
    ],
)
async def test_a_function_of_the_removal_is_not_for_the_prompt_to_name(tmp_path, definition, name):
    assert await named(tmp_path, definition, f"Please test {name} too.") == [f"names {name}"]


@pytest.mark.parametrize("definition", ["def merge(left):", "func Merge(left int) {", "int merge(int left)"])
async def test_a_name_that_is_an_ordinary_word_may_stand_in_a_request(tmp_path, definition):
    assert await named(tmp_path, definition, "Please test merge, Merge and merging.") == []


@pytest.mark.parametrize("written", ["pop() is what I mean", "Cache.pop fails", "call `pop` twice"])
async def test_an_ordinary_word_that_is_written_as_code_is_a_name(tmp_path, written):
    assert await named(tmp_path, "def pop(self):", written) == ["names pop"]


async def test_part_of_another_word_is_no_name(tmp_path):
    assert await named(tmp_path, "def add_all(x):", "Please test pre_add_all_of_it.") == []


METHOD = """\
class Cache:
    def lookup_all(self, names):
        def fetch(name):
            return name

        found = [fetch(name) for name in names]
        return found


def other():
    return 1
"""


def problems_of(directory: Path, product: str, old: str, prompt: str) -> list[Problem]:
    """What is said of a prompt where the removal takes out one line of a product file, in a tree that has it."""
    (directory / "tasks").mkdir()
    task = small_task(directory / "tasks" / "sums-add")
    (task.directory / "prompt.md").write_text(prompt)
    lines = product.splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines, 1) if old in line)
    hunk = f"@@ -{at},1 +{at},1 @@\n-{lines[at - 1]}+        raise RuntimeError\n"
    (task.directory / "removal.patch").write_text(f"diff --git a/c.py b/c.py\n--- a/c.py\n+++ b/c.py\n{hunk}")
    (directory / "tree").mkdir()
    (directory / "tree" / "c.py").write_text(product)
    tree = asyncio.run(GitTree.create(directory / "tree.git", directory / "tree"))
    return asyncio.run(prompt_problems(Subject(Catalog(directory), task, tree)))


def test_a_method_is_found_whose_body_has_a_function_of_its_own(tmp_path):
    [problem] = problems_of(tmp_path, METHOD, "found = [", f"{LONG}\nPlease test prelookup_all and lookup_all.\n")
    assert problem.message.startswith("names lookup_all, which the removal takes out")
    assert problem.where == "tasks/sums-add/prompt.md:2"


def test_the_line_that_is_told_is_one_that_names_the_function(tmp_path):
    prompt = f"{LONG}\nNothing of prelookup_all.\nPlease test lookup_all.\n"
    [problem] = problems_of(tmp_path, METHOD, "found = [", prompt)
    assert problem.where == "tasks/sums-add/prompt.md:3"


def test_a_function_that_the_removal_leaves_alone_may_be_named(tmp_path):
    assert problems_of(tmp_path, METHOD, "return 1", f"{LONG} Please test lookup_all and fetch_it.\n") == []
