"""What `testwright task browser` lays out is judged once it is filled in: its reference in each of its arms."""

from pathlib import Path

import pytest
import yaml

from harness.authoring.task_check.check import check_tasks
from harness.plugins.browser.task import TECHNIQUE, task_directories
from harness.specs.catalog import Catalog
from harness.specs.problem import Severity
from harness.specs.task_facts import Level
from tests.support.command import typed

pytestmark = [pytest.mark.docker, pytest.mark.long]

KEPT = ("1.1", "1.2", "1.3", "1.4")
SERVICE = "^/api/"


def filled_in(task: Path, like_it: Path) -> None:
    """Say in a task that was laid out what another task of the same application says; the form stays."""
    rubric, its_rubric, arms, its_arms = (
        yaml.safe_load((place / name).read_text())
        for name in ("rubric.yaml", "arms.yaml")
        for place in (task, like_it)
    )
    statements = {each["id"]: each["statement"] for each in its_rubric["criteria"]}
    for criterion in rubric["criteria"]:
        criterion["statement"] = statements[criterion["id"]]
    edits = {each["probe"]: each["edits"] for each in its_arms["must_fail"]}
    assert [each["probe"] for each in arms["must_fail"]] == list(KEPT)
    for each in arms["must_fail"]:
        each["edits"] = edits[each["probe"]]
    [constraint] = [each for each in arms["same"] if each["name"] == "constraint"]
    constraint["proxy"]["refuse"][0]["path"] = SERVICE
    [manifest] = yaml.safe_load((like_it / "reference" / "manifest.yaml").read_text())
    tests = (like_it / "reference" / manifest["file"]).read_text()
    [own_tests] = (task / "reference" / "tests").iterdir()
    texts = {
        "rubric.yaml": yaml.safe_dump(rubric),
        "arms.yaml": yaml.safe_dump(arms),
        "prompt.md": (like_it / "prompt.md").read_text().replace(manifest["file"], f"tests/{own_tests.name}"),
        "reference/manifest.yaml": yaml.safe_dump([{**manifest, "file": f"tests/{own_tests.name}"}]),
        own_tests.relative_to(task).as_posix(): tests,
        "task.yaml": (task / "task.yaml").read_text().replace("TODO", "To-dos while their service is away"),
        "pages.py": (task / "pages.py").read_text().replace("TODO: go", "Go"),
    }
    for name, text in texts.items():
        (task / name).write_text(text)


def test_its_reference_passes_where_it_must_and_fails_where_it_must(tmp_path: Path) -> None:
    task = tmp_path / "tasks" / "mine"
    assert typed("task", "browser", "deskapp", task, "--track", TECHNIQUE, cwd=tmp_path).status == 0
    [like_it] = task_directories("network-outage", TECHNIQUE)
    filled_in(task, like_it)
    address = f"{TECHNIQUE}:{task}"
    [done] = check_tasks(Catalog(), {address: Level.BRIEF}, 1, lambda task, part: None, lambda done: None)
    assert [str(problem) for problem in done.problems if problem.severity is Severity.ERROR] == []
    assert done.passed
    assert done.counts.probes == len(KEPT)
