"""`arms.yaml` of a task on a stage: what can't be meant is refused where it stands."""

import re
import shutil
from copy import deepcopy
from pathlib import Path

import pytest
import yaml

from harness.authoring.task_check.subject import Subject
from harness.plugins.browser.arms_file import ArmsFile
from harness.plugins.browser.stage import decoded
from harness.plugins.browser.task import TECHNIQUE, load_task, task_directories
from harness.plugins.browser.task_files import arm_problems
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.yaml_files import load_yaml

MUTANT = {"probe": "1.1", "options": {"report-seconds": "9"}}
STRUCTURE = {
    "label": "Log in",
    "becomes": ["Enter", "Begin"],
    "probe": "1.1",
    "edit": {"file": "p.py", "old": "<b>Log in</b>", "new": "<b>{label}</b>"},
}


def same(**told: object) -> dict[str, object]:
    return {"schema_version": 1, "same": [{"name": "slow", "own_seconds": 8, **told}], "must_fail": [MUTANT]}


def edit(**told: str) -> dict[str, object]:
    return same(edits=[{"file": "p.py", "old": "a", "new": "b", **told}])


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (same(proxy={"refuse": [{"path": "[", "how": 503}]}), "refuse.0.path: no regular expression: "),
        (same(proxy={"refuse": [{"path": "^/", "how": 5000}]}), "refuse.0.how"),
        (same(proxy={"refuse": [{"path": "^/", "how": True}]}), "refuse.0.how"),
        (same(proxy={"delay": [-5, -1]}), "delay.0: Input should be greater than or equal to 0"),
        (same(proxy={"delay": [5, 1]}), "delay: the least seconds come first, then the most"),
        (same(proxy={"delay": [0, float("inf")]}), "delay.1: Input should be a finite number"),
        (same(proxy={"once": float("nan")}), "once: Input should be"),
        (same(own_seconds=float("inf")), "own_seconds: Input should be a finite number"),
        (same(options={"port": "1"}), "same.0: options: 'port' is drawn for each arm"),
        (same(env={"BASE_URL": "http://x"}), "same.0: env: BASE_URL is drawn for each arm"),
        (same(env={"BROWSER_WINDOW": "big"}), "BROWSER_WINDOW is a width and a height in pixels, such as 1100x640"),
        (same(env={"BROWSER_WINDOWS": "1x1"}), "'BROWSER_WINDOWS'; did you mean 'BROWSER_WINDOW'?"),
        (same(env={"BROWSER_ZONE": "x"}), "'BROWSER_ZONE'; known: BROWSER_WINDOW, BROWSER_LOCALE"),
        (same(env={"TZ": "Asia/Tokio"}), "env: TZ: 'Asia/Tokio' is no time zone, such as Asia/Tokyo"),
        (same(own_seconds=None), "the arm slow differs in nothing from the application, and has no own_seconds"),
        ({**same(), "must_fail": [{"probe": "1.1", "own_seconds": 8}]}, "probe 1.1 differs in nothing"),
        (
            {**same(), "must_fail": [MUTANT, {**deepcopy(MUTANT), "probe": "1.2"}]},
            "1.1 and 1.2 change the same;",
        ),
        (edit(new="a"), "edits.0: old and new are the same"),
        (edit(file="/etc/passwd"), "edits.0.file: '/etc/passwd' is not relative to the repository"),
        (edit(file="../../repo.yaml"), "'../../repo.yaml' leaves the repository"),
        ({**same(), "structure": {**STRUCTURE, "becomes": ["Enter", "Enter"]}}, "becomes: 'Enter' is there twice"),
        ({**same(), "structure": {**STRUCTURE, "becomes": ["Enter", "Log in now"]}}, "'Log in now' has the label"),
    ],
)
def test_a_value_that_would_fail_later_is_refused_at_once(
    tmp_path: Path, told: dict[str, object], words: str
) -> None:
    file = tmp_path / "arms.yaml"
    file.write_text(yaml.safe_dump(told))
    with pytest.raises(UserError, match=re.escape(words)) as complaint:
        load_yaml(file, ArmsFile)
    assert str(complaint.value).startswith(f"{file}:")


def test_what_a_window_and_a_structure_may_be_is_taken(tmp_path: Path) -> None:
    file = tmp_path / "arms.yaml"
    told = same(
        env={"BROWSER_WINDOW": "1100x640", "TZ": "Asia/Tokyo", "LANG": "de_DE.UTF-8"},
        proxy={"delay": [0, 0.5], "refuse": [{"path": "^/", "how": "drop"}]},
    )
    file.write_text(yaml.safe_dump({**told, "structure": STRUCTURE}))
    assert load_yaml(file, ArmsFile).structure


async def test_a_label_and_a_mutant_that_change_the_same_place_are_told_before_anything_runs(tmp_path: Path) -> None:
    [own] = task_directories("sign-in", TECHNIQUE)
    shutil.copytree(own, tmp_path / "sign-in")
    file = tmp_path / "sign-in" / "arms.yaml"
    told = yaml.safe_load(file.read_text())
    told["must_fail"][1]["edits"] = [{"file": "deskapp/pages.py", "old": "<button>Log in", "new": "<button>Log"}]
    file.write_text(yaml.safe_dump(told))
    task = load_task(tmp_path / "sign-in", TECHNIQUE)
    assert [problem.message for problem in await arm_problems(Subject(Catalog(), task))] == [
        f"probe 1.2, label {label!r}: deskapp/pages.py has '<button>Log in' 0 times; it must be there once"
        for label in ("Sign in", "Enter", "To my account")
    ]


def test_a_file_that_is_no_text_cannot_be_edited() -> None:
    with pytest.raises(UserError, match=r"logo\.png isn't UTF-8, so no arm can edit it"):
        decoded("logo.png", b"\x89PNG")
