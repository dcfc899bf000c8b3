"""What the files of a task on a stage say is checked without a container, with the place of each fault."""

import shutil
from pathlib import Path

import pytest
import yaml

from harness.authoring.task_check.subject import Subject
from harness.plugins.browser.task import E2E, TECHNIQUE, load_task, task_directories
from harness.plugins.browser.task_files import arm_problems
from harness.specs.catalog import Catalog
from tests.support.defects import Plant, edit, line, write
from tests.support.defects import errors as errors_of
from tests.support.docs import examples
from tests.support.stages import app_tree

TREES, SIGN_IN = f"{E2E}:datasette-trees", f"{TECHNIQUE}:sign-in"
SUITES = Path(__file__).parents[1] / "fixtures" / "browser" / "datasette-trees"


def suites(then: Plant = lambda _: None) -> Plant:
    def plant(task: Path) -> None:
        shutil.copytree(SUITES, task / "suites")
        then(task)

    return plant


def copied(place: Path, address: str, plant: Plant) -> Path:
    track, _, name = address.partition(":")
    [own] = task_directories(name, track)
    shutil.copytree(own, place / own.name)
    plant(place / own.name)
    return place / own.name


def errors(task: Path, track: str) -> list[str]:
    return errors_of(task, f"{track}:{task}")


WRONG = 'statement: "Tests that a wrong'
OTHERS = "testwright canary 47acfb7e-aa6c-4bc6-828b-2b849b83811c: x"
HONEST = "suites/honest-by-addresses"
DEFECTS: dict[str, tuple[str, Plant, str]] = {
    "no canary": (TREES, line("task.yaml", "canary:", ""), "task.yaml: has no canary"),
    "another task's canary": (
        TREES,
        line("task.yaml", "canary:", f'canary: "{OTHERS}"'),
        "task.yaml:9: its canary is also that of sign-in",
    ),
    "a vague statement": (
        SIGN_IN,
        line("rubric.yaml", WRONG, '    statement: "Tests that a wrong one works properly."'),
        "rubric.yaml:9: criterion 1.2 says 'works'",
    ),
    "two statements": (
        SIGN_IN,
        line("rubric.yaml", WRONG, '    statement: "Tests a wrong password. Tests a right one."'),
        "rubric.yaml:9: criterion 1.2 is more than one statement",
    ),
    "a short prompt": (SIGN_IN, write("prompt.md", "Test it."), "prompt.md: 9 characters"),
    "a manifest that is no YAML": (
        SIGN_IN,
        write("reference/manifest.yaml", "- {"),
        "reference/manifest.yaml: manifest-",
    ),
    "a manifest with an unknown test": (
        SIGN_IN,
        edit("reference/manifest.yaml", "test_a_wrong_password_is_refused", "test_a_wrong_one"),
        "reference/manifest.yaml: manifest-unknown-test: tests/test_sign_in.py::test_a_wrong_one",
    ),
    "a reference that is no Python": (
        SIGN_IN,
        write("reference/tests/test_sign_in.py", "\ndef test_a(:\n"),
        "reference/tests/test_sign_in.py:2: isn't Python",
    ),
    "no reference": (SIGN_IN, lambda task: shutil.rmtree(task / "reference"), "reference/tests: no test file there"),
    "a stray file": (SIGN_IN, write("notes.txt", "x"), "notes.txt: is no file of a task"),
    "a list of what stays, of a technique": (
        SIGN_IN,
        write("stable.yaml", "routes: {"),
        "stable.yaml: is no file of a task",
    ),
    "a walk that is no Python": (TREES, write("pages.py", "def test_pages(:\n"), "pages.py:1: isn't Python"),
    "a walk of another name": (
        TREES,
        write("pages.py", "def test_walk(page): ...\n"),
        "pages.py: has no function test_pages",
    ),
    "a suite without its verdict": (
        TREES,
        suites(lambda task: (task / HONEST / "expect.yaml").unlink()),
        f"{HONEST}/expect.yaml: is missing",
    ),
    "a verdict that there is not": (
        TREES,
        suites(edit(f"{HONEST}/expect.yaml", "resolved", "good")),
        f"{HONEST}/expect.yaml:4: verdict: ",
    ),
    "a suite that must fail for no reason": (
        TREES,
        suites(edit(f"{HONEST}/expect.yaml", "resolved", "failed")),
        f"{HONEST}/expect.yaml: doesn't say why",
    ),
    "an empty word that stays": (
        TREES,
        edit("stable.yaml", "routes: [", 'routes: ["", '),
        "stable.yaml:2: routes.0: ",
    ),
    "a word that stays twice": (
        TREES,
        edit("stable.yaml", "labels: [", "labels: [/trees, "),
        "stable.yaml:1: '/trees' is there twice",
    ),
    "a label that stays": (
        TREES,
        edit(
            "arms.yaml",
            "must_fail:",
            "structure:\n  label: Next page\n  probe: '1.1'\n  becomes: [More, Further]\n"
            "  edit: {file: datasette/x.html, old: Next page, new: '{label}'}\nmust_fail:",
        ),
        "stable.yaml: the structure's label changes 'Next page'",
    ),
    "an edit of no file": (
        SIGN_IN,
        edit("arms.yaml", "deskapp/server.py", "deskapp/servers.py"),
        "arms.yaml:12: probe 1.1: there is no file deskapp/servers.py in the application",
    ),
    "an edit of several places": (
        SIGN_IN,
        edit("arms.yaml", """old: 'self._go("/account", {"Set-Cookie"'""", "old: self"),
        "arms.yaml:12: probe 1.1: deskapp/server.py has 'self' ",
    ),
    "an edit that leaves no Python": (
        SIGN_IN,
        edit("arms.yaml", 'new: "pass"', 'new: "pass ("'),
        "arms.yaml:44: probe 1.5: deskapp/server.py:",
    ),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_of_a_file_is_found_at_its_place(tmp_path: Path, defect: str) -> None:
    address, plant, told = DEFECTS[defect]
    task = copied(tmp_path, address, plant)
    found = errors(task, address.partition(":")[0])
    assert any(each.startswith(told) or f"/{told}" in each for each in found), found


def test_a_copy_under_another_name_with_its_suites_is_in_order(tmp_path: Path) -> None:
    task = copied(tmp_path, TREES, suites())
    mine = task.rename(task.with_name("our-trees"))
    for path in (*mine.glob("*.yaml"), *mine.glob("suites/*/expect.yaml")):
        path.write_text(path.read_text().replace("datasette-trees", "our-trees"))
    line("task.yaml", "canary:", f'canary: "{OTHERS.replace("47acfb7e", "11111111")}"')(mine)
    assert errors(mine, E2E) == []


async def test_files_of_a_release_are_known_where_its_tree_is(tmp_path: Path) -> None:
    task = load_task(copied(tmp_path, TREES, lambda _: None), E2E)
    subject = Subject(Catalog(), task)
    assert await arm_problems(subject) == []
    other = Subject(Catalog(), task, await app_tree(tmp_path))
    words = [problem.message for problem in await arm_problems(other)]
    assert "arm other-elements: there is no file datasette/static/table.js in the application" in words


def test_the_examples_of_the_page_are_in_order_in_a_task(tmp_path: Path) -> None:
    arms, structure, criteria, manifest = (yaml.safe_load(text) for text in examples("browser.md", "A task", "yaml"))
    [walk] = examples("browser.md", "A task")
    report, sign_in = (
        copied(tmp_path, f"{TECHNIQUE}:{name}", lambda _: None) for name in ("polling-report", "sign-in")
    )
    mine = yaml.safe_load((report / "arms.yaml").read_text())
    told = {arm["probe"] for arm in arms["must_fail"]}
    kept = [arm for arm in mine["must_fail"] if arm["probe"] not in told]
    (report / "arms.yaml").write_text(yaml.safe_dump({**mine, **arms, "must_fail": [*kept, *arms["must_fail"]]}))
    rubric = yaml.safe_load((report / "rubric.yaml").read_text())
    others = [each for each in rubric["criteria"] if each["id"] not in {item["id"] for item in criteria}]
    (report / "rubric.yaml").write_text(yaml.safe_dump({**rubric, "criteria": [*others, *criteria]}))
    shutil.rmtree(report / "reference")
    write("reference/manifest.yaml", yaml.safe_dump(manifest))(report)
    for each in manifest:
        write(f"reference/{each['file']}", "".join(f"def {name}(page): ...\n" for name in each["tests"]))(report)
    write("pages.py", walk)(report)
    mine = yaml.safe_load((sign_in / "arms.yaml").read_text())
    (sign_in / "arms.yaml").write_text(yaml.safe_dump({**mine, **structure}))
    assert (errors(report, TECHNIQUE), errors(sign_in, TECHNIQUE)) == ([], [])
