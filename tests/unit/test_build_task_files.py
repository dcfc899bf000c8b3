"""What the files of a brief say is checked without a container: each defect is one line, with its place."""

import shutil
from pathlib import Path

import pytest

from harness.authoring.task_check.controls import check_record_problems
from harness.plugins.build.task import task_directories
from harness.specs.catalog import Catalog
from tests.support.command import typed
from tests.support.defects import Plant, edit, errors, line, remove, write

RECORDS = Path(__file__).parents[2] / "docs" / "check-records"
BRIEF = "link-shortener"
KEPT_PATCHES = ("1.1.patch", "1.2.patch")
"""Broken applications of a copied brief: all of each shipped brief's are checked with the track."""
OTHERS = "testwright canary 5b3c9b0a-7f0e-4c6e-9a55-3d1d4b8c62f7: x"


def copied(place: Path, plant: Plant = lambda _: None) -> Path:
    [own] = task_directories(BRIEF)
    shutil.copytree(own, place / BRIEF, ignore=others_than_kept)
    plant(place / BRIEF)
    return place / BRIEF


def others_than_kept(folder: str, names: list[str]) -> set[str]:
    return set(names) - set(KEPT_PATCHES) if Path(folder).name == "broken" else set()


def emptied(name: str) -> Plant:
    def plant(task: Path) -> None:
        shutil.rmtree(task / name)
        (task / name).mkdir()

    return plant


def renamed(name: str, to: str) -> Plant:
    return lambda task: (task / name).rename(task / to)


def same(name: str, other: str) -> Plant:
    return lambda task: shutil.copy(task / other, task / name)


def not_executable(name: str) -> Plant:
    return lambda task: (task / name).chmod(0o644)


def both(first: Plant, then: Plant) -> Plant:
    def plant(task: Path) -> None:
        first(task)
        then(task)

    return plant


def link(name: str, to: str = "nowhere") -> Plant:
    return lambda task: (task / name).symlink_to(to)


def nothing(name: str, of: str) -> Plant:
    """A patch of the first reference that replaces the first line of a file with itself."""

    def plant(task: Path) -> None:
        lines = (task / "references" / "flask" / of).read_text().splitlines()
        rest = "".join(f" {each}\n" for each in lines[1:])
        head = f"--- a/{of}\n+++ b/{of}\n@@ -1,{len(lines)} +1,{len(lines)} @@\n"
        (task / name).write_text(f"diff --git a/{of} b/{of}\n{head}-{lines[0]}\n+{lines[0]}\n{rest}")

    return plant


DEFECTS: dict[str, tuple[Plant, str]] = {
    "no brief": (remove("tree/brief.md"), "tree/brief.md: is missing or empty; say in it"),
    "a brief that says nothing": (write("tree/brief.md", "\n"), "tree/brief.md: is missing or empty; say in it"),
    "a link that leads nowhere": (link("tree/other.md"), "tree/other.md: a link that leads nowhere"),
    "a link to something that can't be copied": (link("tree/other.md", "/proc/self/mem"), "tree/other.md: "),
    "a name that is no UTF-8": (
        write("tree/a\udcff.md", "x"),
        "tree/a\\udcff.md: its name isn't UTF-8, or has a control character; rename it",
    ),
    "no contract": (remove("tree/contract.yaml"), "tree/contract.yaml: No such file"),
    "nothing for the agent": (remove("tree"), "tree/contract.yaml: No such file"),
    "an environment that is no mapping": (
        edit("tree/contract.yaml", "environment:\n", "environment: 5\nothers:\n"),
        "tree/contract.yaml:3: environment: expected a mapping",
    ),
    "no application that is nothing": (remove("null"), "null: no application there; add one that is healthy"),
    "one that can't be started": (remove("null/run"), "null/run: is missing"),
    "no broken applications": (remove("broken"), "broken: no patch there; add changes of the first reference"),
    "a folder without broken applications": (emptied("broken"), "broken: no patch there; add changes"),
    "a patch that doesn't apply": (write("broken/1.1.patch", "x\n"), "broken/1.1.patch: it doesn't apply to flask: "),
    "a patch of no criterion": (
        renamed("broken/1.1.patch", "broken/1.99.patch"),
        "broken/1.99.patch: its name has something that is no criterion",
    ),
    "two patches that do the same": (
        same("broken/1.2.patch", "broken/1.1.patch"),
        "broken/1.2.patch: makes the same application as 1.1.patch",
    ),
    "no references": (remove("references"), "references: no application there; add one that is as it should be"),
    "a folder without references": (emptied("references"), "references: no application there; add one"),
    "a reference that can't be tested": (remove("references/flask/test"), "references/flask/test: is missing"),
    "a reference that isn't executable": (
        not_executable("references/node-express/run"),
        "references/node-express/run: isn't executable",
    ),
    "a reference without a manifest": (
        remove("references/node-express/manifest.yaml"),
        "references/node-express/manifest.yaml: is missing",
    ),
    "a manifest that is no YAML": (
        write("references/flask/manifest.yaml", "- {"),
        "references/flask/manifest.yaml: manifest-unparseable: line 1",
    ),
    "a manifest of nothing": (
        write("references/flask/manifest.yaml", "[]\n"),
        "references/flask/manifest.yaml: manifest-missing: the manifest lists no test",
    ),
    "a manifest of a file that isn't there": (
        edit("references/flask/manifest.yaml", "tests/test_rules.py", "tests/test_rule.py"),
        "references/flask/manifest.yaml: names tests/test_rule.py, and there is no such file",
    ),
    "hidden tests that aren't there": (remove("hidden/test_kept.py"), "hidden/test_kept.py: is missing; write"),
    "hidden tests that are no Python": (
        write("hidden/test_kept.py", "\ndef test_a(:\n"),
        "hidden/test_kept.py:2: isn't Python",
    ),
    "hidden tests that nothing runs": (
        edit("hidden/covers.yaml", "test_kept.py:", "test_more.py:\n  test_a: ['5.1']\ntest_kept.py:"),
        "hidden/covers.yaml:29: hidden/test_more.py is run by no judging; move its tests",
    ),
    "a hidden test that isn't there": (
        edit("hidden/test_strike.py", "def test_the_service_is_killed", "def the_service_is_killed"),
        "hidden/covers.yaml:32: hidden/test_strike.py: test_the_service_is_killed_while_it_writes isn't there",
    ),
    "a hidden test without a criterion": (
        edit("hidden/test_strike.py", "def test_the", "def test_more(): ...\ndef test_the"),
        "hidden/covers.yaml: hidden/test_strike.py: test_more has no criterion",
    ),
    "no canary": (line("task.yaml", "canary:", ""), "task.yaml: has no canary"),
    "another brief's canary": (
        line("task.yaml", "canary:", f'canary: "{OTHERS}"'),
        "task.yaml:9: its canary is also that of lending-desk",
    ),
    "a task of another track": (edit("task.yaml", "track: build", "track: e2e"), "task.yaml:4: it is a task of the"),
    "tests of a home page that there isn't": (
        both(
            write("hidden/test_home.py", "def test_h(): ...\n"),
            edit("hidden/covers.yaml", "test_kept.py:", "test_home.py:\n  test_h: ['5.1']\ntest_kept.py:"),
        ),
        "hidden/covers.yaml:29: hidden/test_home.py is run by no judging; move its tests",
    ),
    "fixtures that each judging replaces": (
        write("hidden/conftest.py", "import pytest\n"),
        "hidden/conftest.py: has the name of a file that each judging puts in its place",
    ),
    "criteria of tests that are ours": (
        edit("hidden/covers.yaml", "test_kept.py:", "test_boot.py:\n  test_h: ['5.1']\ntest_kept.py:"),
        "hidden/covers.yaml:29: test_boot.py: its tests are testwright's own; take it out",
    ),
    "a test whose name is a number": (
        edit("hidden/covers.yaml", "test_kept.py:", "test_kept.py:\n  5: ['5.1']"),
        "hidden/covers.yaml:1: expected FILE: {TEST: [CRITERION, ...]}",
    ),
    "hidden tests that are a folder": (
        both(remove("hidden/test_kept.py"), lambda task: (task / "hidden" / "test_kept.py").mkdir()),
        "hidden/test_kept.py: is missing; write",
    ),
    "hidden tests that nest too deeply": (
        write("hidden/drawing.py", f"x = {'-' * 20_000}1\n"),
        "hidden/drawing.py:1: is nested too deeply to be read",
    ),
    "a patch that changes nothing": (nothing("broken/1.1.patch", "README.md"), "broken/1.1.patch: changes nothing"),
    "a patch for an application's own tests": (
        renamed("broken/1.1.patch", "broken/3.1.patch"),
        "broken/3.1.patch: its name has something that is no criterion of a hidden test",
    ),
    "a stray file": (write("notes.txt", "x"), "notes.txt: is no file of a task"),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_of_a_file_is_one_line_with_its_place(tmp_path: Path, defect: str) -> None:
    plant, told = DEFECTS[defect]
    task = copied(tmp_path, plant)
    [found] = errors(task, f"build:{task}")
    assert found.startswith(told)


def test_names_of_files_may_have_any_letters_and_signs(tmp_path: Path) -> None:
    task = copied(tmp_path, write("tree/a\u3000b \U0001f469\u200d\U0001f4bb.md", "x"))
    assert errors(task, f"build:{task}") == []


@pytest.mark.parametrize("name", [path.name for path in task_directories("*")])
def test_each_brief_of_this_package_has_a_check_record_of_its_files(name: str) -> None:
    assert check_record_problems(RECORDS, Catalog().task(f"build:{name}")) == []


def test_a_copy_of_a_brief_is_in_order(tmp_path: Path) -> None:
    task = copied(tmp_path)
    assert errors(task, f"build:{task}") == []


@pytest.mark.parametrize("missing", ["tree/brief.md", "null", "broken", "references"])
def test_the_command_says_it_in_one_line_with_status_1(tmp_path: Path, missing: str) -> None:
    task = copied(tmp_path, remove(missing))
    done = typed("task", "check", f"build:{task}", "--quick", cwd=tmp_path)
    told = done.output + done.complaint
    assert done.status == 1
    assert len([row for row in told.splitlines() if f"{BRIEF}/{missing}: " in row]) == 1
    assert "Traceback" not in told
