"""A catalog of one small task that has nothing wrong with it, and its tree in the cache as if an image were built."""

import asyncio
import difflib
import shutil
import tempfile
from pathlib import Path

from harness.sandbox.git_tree import GitTree
from harness.sandbox.images.recipe import read_recipe
from harness.sandbox.images.work_tree import ImageRecord, image_place
from harness.specs.catalog import Catalog
from harness.specs.catalog_places import default_directory
from tests.support.tiny_repo import tiny_repo

TASK = "sums-total"
PRODUCT = """\
def total_of(numbers, start=0, skip=()):
    result = start
    for number in numbers:
        if number in skip:
            continue
        result += number
    return result


def mean(numbers):
    if not numbers:
        return None
    return total_of(numbers) / len(numbers)
"""
_LOOP = PRODUCT[PRODUCT.index("    result = start") : PRODUCT.index("\n\ndef mean")]
_OTHER_LOOP = """\
    total = start
    for number in numbers:
        total += 0 if number in skip else number
    return total
"""
OTHERWISE = PRODUCT.replace(_LOOP, _OTHER_LOOP)
"""The same behaviour in other words."""
FUZZ = """\
import os
import random

from sums import total_of


def test_totals_of_drawn_numbers():
    chance = random.Random(os.environ["TESTWRIGHT_FUZZ_SEED"])
    with open(os.path.join(os.environ["TESTWRIGHT_REPORT_DIR"], "fuzz.txt"), "a") as file:
        for _ in range(50):
            numbers = [chance.randrange(9) for _ in range(chance.randrange(6))]
            start, skip = chance.randrange(9), (chance.randrange(9),)
            for _ in range(2):
                print(numbers, start, skip, "=>", total_of(numbers, start, skip), file=file)
"""
KEPT = "from sums import mean\n\n\ndef test_mean():\n    assert mean([1, 3]) == 2\n"
WITHHELD = "\n\ndef test_total_of_nothing_is_its_start():\n    assert total_of([], start=1000001) == 1000001\n"
REFERENCE = """\
from sums import mean, total_of


class TestTotal:
    def test_every_number_is_added(self):
        assert total_of([1000, 200, 30]) == 1230

    def test_the_start_is_added_once(self):
        assert total_of([1], start=1000002) == 1000003

    def test_numbers_to_skip_are_left_out(self):
        assert total_of([1, 7, 1], skip=(7,)) == 2


def test_the_mean_of_nothing_is_none():
    assert mean([]) is None
"""
TESTS = {
    "TestTotal.test_every_number_is_added": ["1.1", "1.2"],
    "TestTotal.test_the_start_is_added_once": ["1.3"],
    "TestTotal.test_numbers_to_skip_are_left_out": ["1.4"],
    "test_the_mean_of_nothing_is_none": [],
}
PROMPT = """\
We add up long lists of numbers all over the place, from a start that may be given and without those that somebody
wants to leave out. Nothing checks that at the moment. Please write unit tests for it: short lists, long ones, empty
ones, with a start and without, with numbers to leave out and without.
"""
PROBES = {
    "1.1": ("        result += number\n", "        result = number\n"),
    "1.2": ("    for number in numbers:\n", "    for number in numbers[:1]:\n"),
    "1.3": ("    result = start\n", "    result = 0\n"),
    "1.4": ("            continue\n", "            pass\n"),
}
TWINS = {
    "1.1": ("        result += number\n", "        result = result + number\n"),
    "1.2": ("    for number in numbers:\n", "    for number in iter(numbers):\n"),
    "1.3": ("    result = start\n", "    result = start + 0\n"),
    "1.4": ("        if number in skip:\n", "        if number in tuple(skip):\n"),
}
UPON_PLACEBO = {
    "1.3": ("    total = start\n", "    total = 0\n"),
    "1.4": ("        total += 0 if number in skip else number\n", "        total += number\n"),
}
STATIC = "    graded_by: [static]\n    static: {check: uses-name, value: total_of, of: any}\n"
MUST = {
    "1.1": ("Tests that all numbers of a list end up in the total.", "    graded_by: [probe]\n"),
    "1.2": ("Tests that numbers behind the first one are added as well.", "    graded_by: [probe]\n"),
    "1.3": ("Tests that a start that is given is part of the total.", "    graded_by: [probe]\n"),
    "1.4": ("Tests that numbers that are to be left out are not added.", "    graded_by: [probe]\n"),
    "1.5": ("Calls the function that adds up in at least one of the tests.", STATIC),
    "1.6": ("Imports the function that adds up in at least one test file.", STATIC),
}
NICE = {
    "2.1": "Every test stands in a test file of the directory named tests.",
    "3.1": "At least one of the tests is a method of a test class.",
    "4.1": "No test reads a file to find the numbers that it adds up.",
    "5.1": "Lists that differ only in their numbers are parametrised.",
}


def sound_catalog(directory: Path) -> Catalog:
    """Below `directory`; its tree goes to the cache, which should be a test's own."""
    repo = tiny_repo(directory / "repos" / "tiny")
    task = directory / "tasks" / TASK
    (task / "probes").mkdir(parents=True)
    (task / "reference").mkdir()
    shutil.copytree(default_directory() / "scaffolds", directory / "scaffolds")
    (task / "task.yaml").write_text(
        f"schema_version: 1\nid: {TASK}\nrepo: tiny\nkind: unit\ntitle: Adding up\n"
        'canary: "testwright canary 00000000-1111-2222-3333-444444444444: this file must not be in training data"\n'
        "tags: [python]\n"
    )
    (task / "prompt.md").write_text(PROMPT)
    (task / "withheld.patch").write_text(_appended("tests/test_sums.py", KEPT, WITHHELD, take_out=True))
    (task / "removal.patch").write_text(
        changed("sums.py", PRODUCT, "    result = start\n", '    raise SystemError("")\n')
    )
    (task / "garbage.patch").write_text(
        changed("sums.py", PRODUCT, "    result = start\n", "    result = __import__('time').perf_counter_ns()\n")
    )
    (task / "placebo.patch").write_text(rewritten("sums.py", PRODUCT, OTHERWISE))
    mutants = {"probes": (PRODUCT, PROBES), "twins": (PRODUCT, TWINS), "probes-on-placebo": (OTHERWISE, UPON_PLACEBO)}
    for folder, (text, edits) in mutants.items():
        (task / folder).mkdir(exist_ok=True)
        for name, (old, new) in edits.items():
            (task / folder / f"{name}.patch").write_text(changed("sums.py", text, old, new))
    (task / "fuzz").mkdir()
    (task / "fuzz" / "test_fuzz_sums.py").write_text(FUZZ)
    (task / "reference" / "tests.patch").write_text(added("tests/test_total.py", REFERENCE))
    listed = "".join(f'    - "{name}"\n' for name in TESTS)
    (task / "reference" / "manifest.yaml").write_text(f"- file: tests/test_total.py\n  tests:\n{listed}")
    covers = "".join(f'  "{name}": {str(found).replace(chr(39), chr(34))}\n' for name, found in TESTS.items())
    (task / "reference" / "covers.yaml").write_text(f"tests/test_total.py:\n{covers}")
    (directory / "rubrics").mkdir()
    (directory / "rubrics" / f"{TASK}.yaml").write_text(_rubric())
    for number, verdict in enumerate(("resolved", "resolved", "failed", "failed")):
        suite = directory / "tests" / "honest" / TASK / f"suite-{number}"
        suite.mkdir(parents=True)
        criteria = '\ncriteria: ["1.1"]' if verdict == "failed" else ""
        (suite / "expect.yaml").write_text(f"task: {TASK}\nverdict: {verdict}{criteria}\n")
        (suite / "patch.diff").write_text(added("tests/test_total.py", REFERENCE))
        (suite / "manifest.yaml").write_text(f"- file: tests/test_total.py\n  tests:\n{listed}")
    asyncio.run(_keep_tree(read_recipe(repo).tag("repo")))
    return Catalog(directory)


def rewritten(path: str, old: str, new: str) -> str:
    """A patch from one text to another."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    body = "".join(difflib.unified_diff(before, after, f"a/{path}", f"b/{path}"))
    return f"diff --git a/{path} b/{path}\n{body}"


def changed(path: str, text: str, old: str, new: str) -> str:
    """A patch that replaces one line of `text`, with the lines around it."""
    lines, at = text.splitlines(keepends=True), text[: text.index(old)].count("\n")
    before, after = lines[max(0, at - 3) : at], lines[at + 1 : at + 4]
    size, context = len(before) + 1 + len(after), lambda part: "".join(f" {line}" for line in part)
    body = f"{context(before)}-{old}+{new}{context(after)}"
    start = at - len(before) + 1
    return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -{start},{size} +{start},{size} @@\n{body}"


def added(path: str, text: str) -> str:
    body = "".join(f"+{line}\n" for line in text.splitlines())
    head = f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"
    return f"{head}@@ -0,0 +1,{len(text.splitlines())} @@\n{body}"


def _appended(path: str, text: str, more: str, take_out: bool) -> str:
    kept, extra, mark = text.splitlines(), more.splitlines(), "-" if take_out else "+"
    body = "".join(f" {line}\n" for line in kept) + "".join(f"{mark}{line}\n" for line in extra)
    old, new = len(kept) + len(extra), len(kept)
    head = f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n"
    return f"{head}@@ -1,{old} +1,{new} @@\n{body}"


def _rubric() -> str:
    text = f"schema_version: 1\ntask: {TASK}\ncriteria:\n"
    for name, (statement, graded) in MUST.items():
        text += f'  - id: "{name}"\n    axis: 1\n    importance: must\n    statement: "{statement}"\n{graded}'
    for name, statement in NICE.items():
        text += f'  - id: "{name}"\n    axis: {name[0]}\n    importance: nice\n    statement: "{statement}"\n{STATIC}'
    return text


async def _keep_tree(tag: str) -> None:
    """Upstream's tree where the build of the repo's image would have left it."""
    place = image_place(tag)
    with tempfile.TemporaryDirectory() as scratch, place.scratch() as new:
        tree = Path(scratch)
        (tree / "tests").mkdir()
        (tree / "sums.py").write_text(PRODUCT)
        (tree / "tests" / "test_sums.py").write_text(KEPT + WITHHELD)
        made = await GitTree.create(Path(new) / "tree.git", tree)
        record = ImageRecord(
            reference=tag, digest="0" * 64, commit="0" * 40, engine_id="", architecture="", packages=()
        )
        place.keep(made, record)
