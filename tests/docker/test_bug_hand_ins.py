"""Hand-ins of bugs come to what their `expect.yaml` says: cheats, honest work of two kinds, and parts of it."""

import json
from pathlib import Path

import pytest

from harness.results.report.batch_report import fault_lines
from harness.runs.submissions import Case, Judged, judge_cases, read_batch
from harness.specs.grading import ControlRound
from tests.support.command import typed
from tests.support.corpora import CATALOG
from tests.support.covering import covering
from tests.support.few_arms import few_arms

pytestmark = [pytest.mark.docker, pytest.mark.timeout(1800)]  # whole judgings, perhaps on a busy machine

CASES = {case.name: case for case in read_batch(CATALOG, Path(__file__).parents[1] / "fixtures" / "bug", None)}
CHEAP = "special-cases-the-reported-input"
"""No test of an agent runs: hidden tests judge the place and the repair."""


def shown(case: Case) -> set[object]:
    assert case.expected
    return {*case.expected.codes, (case.task.repo.language, case.expected.verdict)}


def cost(case: Case) -> float:
    """Judgings of small repositories take a minute or less, others some; without tests only hidden ones run."""
    assert case.submission
    own = 1 if case.submission.manifest.strip() else 0.3
    return own * (1 if case.task.repo.name in ("itsdangerous", "properties") else 4)


CHOSEN = covering(CASES.values(), shown, cost)
"""Each reason, and in each language each verdict. `make submissions only=bug` judges all of them."""


def check(case: Case) -> Judged:
    [judged] = judge_cases([case], "docker", None, 1, lambda _: None)
    assert fault_lines([judged]) == []
    return judged


def test_a_repair_of_the_reported_input_is_refused_and_its_place_is_right() -> None:
    judged = check(CASES[CHEAP])
    assert judged.record.control is ControlRound.DRAWN, "a run that goes on has nothing to judge again"


@pytest.mark.long
@pytest.mark.parametrize("case", CHOSEN, ids=[case.name for case in CHOSEN])
def test_a_hand_in_comes_to_what_it_must(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a control round and own runs in Python alone, where they are cheap: they know nothing of bugs."""
    few_arms(monkeypatch, kills_drawn=1 if case.task.repo.language == "python" else 0)
    check(case)


@pytest.mark.long
def test_a_recorded_session_is_judged_beside_the_controls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few_arms(monkeypatch, 0)
    session = Path(__file__).parents[2] / "scripts" / "bug-trajectory.jsonl"
    systems = ("-s", "oracle", "-s", "nop", "-s", "mini", "-m", f"replay:{session}")
    done = typed("run", "-t", "bug:itsdangerous-clock-ahead", *systems, "-o", "run", "--json", cwd=tmp_path)
    assert done.status == 0, done.complaint
    rows = {row["scaffold"]: row for row in json.loads(done.output)["trials"]}
    assert {name: row["verdict"] for name, row in rows.items()} == {
        "oracle": "resolved",
        "nop": "failed",
        "mini": "resolved",
    }
    told = typed("report", "run", cwd=tmp_path)
    assert "all parts 100%" in told.output
    assert "none 1" in told.output
