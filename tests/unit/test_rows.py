"""A run's directory read as rows, whole or damaged, and what is told of them."""

import csv
import io
import json
from pathlib import Path

import pytest

from harness.judging.verify.verdict import StageStatus
from harness.results.leaderboard import by_system
from harness.results.report.csv_report import CsvRows, csv_text
from harness.results.report.run_report import show_run
from harness.results.rows import TrialState
from harness.results.run_rows import load_rows
from harness.results.scores import resolve_rate, task_scores
from harness.specs.errors import UserError
from harness.specs.reasons import ReasonCode, Verdict
from harness.specs.test_results import Outcome
from tests.support.run_folder import begun, evidenced, judged, run_folder, worked

UNMET, LOST = ReasonCode.CRITERION_UNMET, ReasonCode.SANDBOX_LOST


@pytest.fixture
def run(tmp_path: Path) -> Path:
    run = run_folder(tmp_path / "run")
    evidenced(judged(worked(begun(run, "sums", "mini", "openai/a", 1))))
    judged(worked(begun(run, "sums", "mini", "openai/a", 2)), UNMET)
    judged(worked(begun(run, "sums", "mini", "openai/b", 1)), LOST)
    judged(begun(run, "sums", "oracle"))
    worked(begun(run, "terms", "mini", "openai/a", 1))
    begun(run, "terms", "nop")
    return run


def test_each_trial_is_a_row_with_how_far_it_came(run):
    rows = {row.trial: (row.state, row.verdict, row.ending) for row in load_rows(run).trials}
    assert rows == {
        "sums/mini/openai-a/1": (TrialState.JUDGED, Verdict.RESOLVED, "submitted"),
        "sums/mini/openai-a/2": (TrialState.JUDGED, Verdict.FAILED, "submitted"),
        "sums/mini/openai-b/1": (TrialState.JUDGED, Verdict.UNSCORED, "submitted"),
        "sums/oracle/none/1": (TrialState.JUDGED, Verdict.RESOLVED, ""),
        "terms/mini/openai-a/1": (TrialState.AGENT_DONE, None, "submitted"),
        "terms/nop/none/1": (TrialState.BEGUN, None, ""),
    }


def test_a_row_has_who_did_it_what_it_cost_and_what_came_of_each_stage(run):
    [row] = load_rows(run).below("sums/mini/openai-a/2").trials
    assert (row.task, row.scaffold, row.model, row.attempt) == ("sums", "mini", "openai/a", 2)
    assert (row.steps, row.agent_seconds, row.usage and row.usage.total.cost_usd) == (3, 7.5, 0.25)
    assert row.stages == {
        "manifest": StageStatus.PASSED, "mutation": StageStatus.PASSED, "rubric": StageStatus.FAILED
    }  # fmt: skip
    assert [reason.code for reason in row.reasons] == [UNMET]


def test_criteria_and_tests_in_arms_are_rows(run):
    found = load_rows(run).below("sums/mini/openai-a")
    assert [(row.attempt, row.criterion, row.met) for row in found.criteria] == [
        (1, "1.1", True), (1, "2.1", None), (2, "1.1", False), (2, "2.1", None)
    ]  # fmt: skip
    assert [(row.arm, row.variant, row.test, row.outcome, row.killed) for row in found.arm_tests] == [
        ("baseline", "baseline", "tests/test_a.py::test_adds", Outcome.PASSED, False),
        ("removal-1", "removal-1", "tests/test_a.py::test_adds", Outcome.FAILED, True),
    ]


def test_a_rate_is_a_mean_over_tasks_in_which_a_trial_without_a_verdict_has_failed(run):
    """`openai/a` has resolved one of two attempts at one task; the other task's isn't judged yet."""
    systems = by_system(load_rows(run).trials)
    rates = {who: resolve_rate(task_scores(rows)) for who, rows in systems.items()}
    assert {who: (found.rate.value, found.resolved, found.trials) for who, found in rates.items()} == {
        ("mini", "openai/a"): (0.25, 1, 3),
        ("mini", "openai/b"): (0.0, 0, 1),
        ("oracle", ""): (1.0, 1, 1),
        ("nop", ""): (0.0, 0, 1),
    }
    without = {who: found.without_faults.value for who, found in rates.items() if found.without_faults}
    assert without == {("mini", "openai/a"): 0.5, ("oracle", ""): 1.0}


def test_the_line_of_a_rate_has_the_trials_that_were_not_scored(run, capsys):
    assert show_run(run, None, as_json=False) == 0
    assert (
        "mini openai/a: resolve rate 25% over 2 tasks (95% interval by task 0% to 50%): "
        "1 of 3 trials resolved, 1 without a verdict; 50% without faults"
    ) in capsys.readouterr().out


@pytest.mark.parametrize("name", ["trial.json", "agent.json", "verdict.json", "usage.json", "evidence.json"])
@pytest.mark.parametrize("text", [None, "", "{", "[]", '{"schema_version": 1}', "\0"])
def test_a_trial_with_a_damaged_file_is_a_row_and_the_others_stay_as_they_are(run, name, text):
    before = load_rows(run)
    path = run / "trials" / "sums" / "mini" / "openai-a" / "1" / name
    path.write_text(text) if text is not None else path.unlink()
    after = load_rows(run)
    assert [row for row in after.trials if row.trial != "sums/mini/openai-a/1"] == [
        row for row in before.trials if row.trial != "sums/mini/openai-a/1"
    ]
    [row] = after.below("sums/mini/openai-a/1").trials
    assert (row.task, row.scaffold, row.attempt) == ("sums", "mini", 1)
    if text is not None and name != "evidence.json":
        assert row.problem.startswith(f"{name} can't be read")
    assert (row.verdict is None) == (name == "verdict.json")
    assert len(after.criteria) == len(before.criteria) - (2 if name == "verdict.json" else 0)
    assert len(after.arm_tests) == (0 if name == "evidence.json" else 2)


def test_a_trial_whose_attempts_cannot_be_read_is_not_said_to_be_not_judged_yet(run):
    begun(run, "sums", "mini", "openai/d")
    (run / "trials" / "sums" / "mini" / "openai-d" / "1.attempts.jsonl").write_text('{"number": 1, "end": "fau')
    [row] = load_rows(run).below("sums/mini/openai-d").trials
    assert row.state is TrialState.DAMAGED
    assert row.problem == "1.attempts.jsonl can't be read; give its run another start"


@pytest.mark.parametrize("chosen", [None, "sums/mini/openai-a/1"])
def test_a_damaged_verdict_is_told_and_never_a_traceback(run, chosen, capsys):
    (run / "trials" / "sums" / "mini" / "openai-a" / "1" / "verdict.json").write_text("{")
    assert show_run(run, chosen, as_json=False) == 0
    assert "verdict.json can't be read" in capsys.readouterr().out


def test_json_of_a_run_has_a_flat_row_for_each_trial(run, capsys):
    assert show_run(run, None, as_json=True) == 0
    rows = json.loads(capsys.readouterr().out)
    assert not [value for row in rows for value in row.values() if isinstance(value, list | dict)]
    told = {row["trial"]: row for row in rows}
    failed = told["sums/mini/openai-a/2"]
    assert (failed["verdict"], failed["reasons"], failed["agent_cost_usd"]) == ("failed", "criterion-unmet", 0.25)
    assert told["terms/nop/none/1"]["verdict"] is None
    assert told["terms/nop/none/1"]["problem"] == "not judged yet; give its run another start"


@pytest.mark.parametrize("kind", CsvRows)
def test_each_kind_of_row_is_json_with_the_columns_of_its_csv(run, kind, capsys):
    assert show_run(run, None, as_json=True, kind=kind) == 0
    rows = json.loads(capsys.readouterr().out)
    columns, *lines = csv.reader(io.StringIO(csv_text(load_rows(run), kind)))
    assert [list(row) for row in rows] == [columns] * len(lines)


def test_json_of_one_trial_has_all_of_it(run, capsys):
    assert show_run(run, "sums/mini/openai-a/2", as_json=True) == 0
    [told] = json.loads(capsys.readouterr().out)
    assert told["verdict"]["reasons"][0]["code"] == "criterion-unmet"
    assert told["usage"]["agent"]["cost_usd"] == 0.25
    with pytest.raises(UserError, match="--rows tests says which rows --json prints"):
        show_run(run, None, as_json=False, kind=CsvRows.TESTS)


@pytest.mark.parametrize(
    ("chosen", "lines"), [(CsvRows.TRIALS, 6), (CsvRows.REASONS, 2), (CsvRows.CRITERIA, 8), (CsvRows.TESTS, 2)]
)
def test_csv_has_a_head_and_a_line_for_each_row(run, chosen, lines, capsys):
    assert show_run(run, None, as_json=False, csv=chosen) == 0
    read = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(read) == lines
    assert {row["trial"] for row in read} <= {row.trial for row in load_rows(run).trials}
    assert all(None not in row and None not in row.values() for row in read)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "=cmd|' /C calc'!A0", 'a,"b"\nc'])
def test_no_cell_is_a_formula(run, text):
    """An agent chooses the names of its tests, and a provider the text of its model's name."""
    store = begun(run, "sums", "mini", "openai/c")
    path = store.directory / "trial.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "model": text}))
    told = csv_text(load_rows(run).below("sums/mini/openai-c"), CsvRows.TRIALS)
    [row] = csv.DictReader(io.StringIO(told))
    assert not row["model"].startswith(("=", "+", "-", "@", "\t", "\r"))
    assert row["model"].lstrip("'") == text.replace("\r", "�")


def test_numbers_and_truth_values_are_written_plainly(run):
    [first, *_] = csv.DictReader(io.StringIO(csv_text(load_rows(run), CsvRows.TESTS)))
    assert (first["killed"], first["cases"], first["seconds"], first["quality"]) == ("false", "2", "0.5", "")


def test_what_is_no_run_and_what_is_no_trial_are_refused(run, tmp_path):
    with pytest.raises(UserError, match="no run here"):
        load_rows(tmp_path)
    with pytest.raises(UserError, match="no trial 'suns'"):
        show_run(run, "suns", as_json=False)
    with pytest.raises(UserError, match="--json and --csv exclude each other"):
        show_run(run, None, as_json=True, csv=CsvRows.TRIALS)
