"""`testwright report`: what is told of several systems, as tables, JSON, CSV and parquet."""

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from harness.agents.trajectory import HeaderRecord, ObservationRecord, Trajectory
from harness.plugins.exports.inspect import export_inspect, inspect_logs
from harness.plugins.exports.parquet import export_rows, schema_of
from harness.results.failing.funnel import WeightsFile
from harness.results.report.csv_report import CsvRows, csv_text, flat_facts
from harness.results.report.exporting import export_runs
from harness.results.report.facts import results_facts
from harness.results.report.results_report import report_results
from harness.results.run_rows import load_rows
from harness.results.site.build import report_site
from harness.results.summary import results
from harness.runs.trial_store import TrialStore
from harness.specs.errors import UserError
from tests.support.command import typed_beside
from tests.support.compared_runs import ONE, TASKS, TWO, judged_run

ENDS = {ONE: "RRfRuiRRRfR", TWO: "ffffffRffe."}
HOSTILE = "=cmd|' /C calc'!A0; curl https://example.org \x1b[31m"


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """The trials of one system have trajectories."""
    run = judged_run(tmp_path_factory.mktemp("runs") / "run", ENDS)
    for number, row in enumerate(load_rows(run).trials):
        if row.model == ONE:
            commands = ["ls; cat a"] * (number % 4) + ["echo 1 > t.py", "run_tests t.py", HOSTILE]
            with Trajectory(TrialStore(run / "trials" / row.trial).trajectory) as file:
                file.add(HeaderRecord(scaffold="mini", scaffold_version="1", model=ONE, task=row.task))
                for step, command in enumerate(commands, start=1):
                    file.add(observation(step, command))
    return run


def observation(step: int, command: str) -> ObservationRecord:
    return ObservationRecord(
        step=step, command=command, exit_status=0, seconds=1, output_bytes=0, truncated=0, timed_out=False
    )


def test_tables_have_rates_with_what_they_must_not_be_read_without(run, capsys):
    weights = WeightsFile(weights={"comprehensiveness": 2, "placement": 1})
    report_results([load_rows(run)], weights, as_json=False)
    out = capsys.readouterr().out
    board = next(line for line in out.splitlines() if line.startswith(" mini openai/one"))
    assert board.split()[2:7] == ["1=", "64%", "27%", "to", "91%"]
    for words in (
        "no verdict", "unscored", "counts as failed", "Pareto front", "rubric: criterion-unmet 2, forged-report 1",
        "Hardest criteria", "Share of each group", "tested after the last edit",
        "rank correlation with resolving", "What looks out of bounds (never part of a verdict)",
        "tiers of the interval",
    ):  # fmt: skip
        assert words in out, words
    assert "\x1b" not in out
    composites = out.split("tiers of the interval")[1].split("Where trials")[0]
    assert "resolve rate" in composites, "never a composite without the plain rate"
    assert "64%" in composites


def test_json_has_flat_rows_of_everything(run, capsys):
    report_results([load_rows(run)], None, as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert {name for name, value in told.items() if isinstance(value, list)} == {
        "runs", "systems", "funnel", "axes", "criteria", "probes", "behaviour", "deciles", "trials", "out_of_bounds",
        "watchdog",
    }  # fmt: skip
    [one, two] = told["systems"]
    assert (one["model"], one["resolved"], one["unscored"]["part"], two["missing"]["part"]) == (ONE, 7, 1, 1)
    assert one["rate"]["by_task"]["low"] == pytest.approx(3 / 11)
    assert one["effort"]["cost_per_resolved"] == pytest.approx(5.5 / 7)
    assert len(told["trials"]) == 11
    assert {item["kind"] for item in told["out_of_bounds"]} == {"network"}
    assert two["composite"] is None


@pytest.mark.parametrize("kind", list(CsvRows))
def test_every_kind_of_row_is_csv_and_no_cell_is_a_formula(run, kind):
    read = list(csv.DictReader(io.StringIO(csv_text(load_rows(run), kind))))
    assert all(None not in row and None not in row.values() for row in read)
    assert not any(cell.startswith(("=", "+", "@")) for row in read for cell in row.values())
    expected = {CsvRows.TRIALS: 21, CsvRows.BEHAVIOUR: 11, CsvRows.OUT_OF_BOUNDS: 11, CsvRows.WATCHDOG: 0}
    assert len(read) == expected.get(kind, len(read))


@pytest.mark.parametrize(
    ("name", "lines"),
    [("systems", 2), ("funnel", 10), ("axes", 6), ("criteria", 33), ("behaviour", 1), ("deciles", 60), ("sizes", 0)],
)
def test_each_list_of_the_report_is_csv(run, capsys, name, lines):
    report_results([load_rows(run)], None, as_json=False, csv=name)
    read = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(read) == lines
    assert all(None not in row and None not in row.values() for row in read)
    if name == "systems":
        assert [(row["model"], row["rate.value"][:5]) for row in read] == [(ONE, "0.636"), (TWO, "0.090")]


def test_a_list_that_does_not_exist_is_refused(run):
    with pytest.raises(UserError, match="known: systems, funnel"):
        report_results([load_rows(run)], None, as_json=False, csv="sums")


def test_parquet_has_the_same_rows_with_types(run, tmp_path, capsys):
    parquet = pytest.importorskip("pyarrow.parquet")
    assert export_rows([load_rows(run)], tmp_path / "new" / "folder", as_json=False) == 0
    assert "trials 21" in capsys.readouterr().out
    found = {path.stem: parquet.read_table(path) for path in (tmp_path / "new" / "folder").iterdir()}
    assert set(found) == {kind.value for kind in CsvRows}
    trials = found["trials"].to_pylist()
    assert [row["trial"] for row in trials] == [row.trial for row in load_rows(run).trials]
    assert {type(row[name]) for row in trials for name in ("agent_cost_usd", "judge_cost_usd")} == {float}
    assert {row["run"] for row in trials} == {str(run)}
    assert {type(row["has_edited"]) for row in found["behaviour"].to_pylist()} == {bool}


def test_types_of_parquet_do_not_depend_on_what_a_run_has(run, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    full = load_rows(run)
    unknown = dict.fromkeys(("steps", "agent_seconds", "waiting_seconds", "failed_requests", "usage"))
    changes = (unknown, {"signals": {"points": "unscored"}}, {"signals": {"points": 7}})
    changed = [tuple(row.model_copy(update=each) for row in full.trials) for each in changes]
    runs = [full, *(replace(full, trials=rows) for rows in (*changed, ()))]
    for number, each in enumerate(runs):
        export_rows([each], tmp_path / str(number), as_json=True)
    for kind in CsvRows:
        schemas = [parquet.read_schema(tmp_path / str(number) / f"{kind}.parquet") for number in range(len(runs))]
        assert all(schema.equals(schemas[0]) for schema in schemas), kind
    [worded, numbered] = [parquet.read_table(tmp_path / name / "trials.parquet").to_pylist()[0] for name in "23"]
    assert (worded["points"], worded["points_words"]) == (None, "unscored")
    assert (numbered["points"], numbered["points_words"]) == (7.0, None)


@pytest.mark.parametrize("kind", list(CsvRows))
def test_each_column_of_parquet_has_the_type_of_its_values(run, kind):
    arrow = pytest.importorskip("pyarrow")
    types = {arrow.bool_(): bool, arrow.int64(): int, arrow.float64(): int | float, arrow.string(): str}
    sample = load_rows(Path(__file__).parents[2] / "docs" / "sample-run")
    for rows in (load_rows(run), sample):
        for fact in flat_facts(rows, kind):
            for field in schema_of(kind):
                if (value := fact.get(field.name)) is not None:
                    assert isinstance(value, types[field.type]), field.name
                    assert isinstance(value, bool) == (field.type == arrow.bool_()), field.name


def test_a_folder_that_cannot_be_written_is_one_line(run, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="file"):
        export_rows([load_rows(run)], tmp_path / "file" / "below", as_json=False)


def test_systems_of_several_runs_stand_in_one_table(run, tmp_path):
    other = judged_run(tmp_path / "other", {ONE: "R" * 11, "oracle": "R" * 11}, scaffolds=("mini", "oracle"))
    told = results_facts(results([load_rows(run), load_rows(other)]), [run, other])
    assert {(item["scaffold"], item["model"]): item["trials"] for item in told["systems"]} == {
        ("mini", ONE): 22, ("mini", TWO): 11, ("oracle", None): 11
    }  # fmt: skip
    assert len(TASKS) == 11


async def test_the_command_reports_and_refuses_what_is_no_run(run, tmp_path):
    done = await typed_beside("report", run, "--json", cwd=tmp_path)
    assert done.status == 0
    assert len(json.loads(done.output)["systems"]) == 2
    refused = await typed_beside("report", tmp_path, cwd=tmp_path)
    assert (refused.status, refused.output) == (2, "")
    assert refused.complaint.count("\n") == 1


def test_inspect_logs_have_a_sample_for_each_trial_and_no_score_without_a_verdict(run):
    logs = [*inspect_logs(load_rows(run))]
    assert [len(log["samples"]) for log in logs] == [1] * 21
    assert {log["eval"]["task"] for log in logs} == set(TASKS)
    own = [log for log in logs if log["eval"]["model"] == ONE]
    assert {(log["version"], log["eval"]["solver"]) for log in own} == {(2, "mini")}
    samples = [sample for log in own for sample in log["samples"]]
    scores = [sample["scores"].get("testwright", {}).get("value") for sample in samples]
    assert (scores.count(1.0), scores.count(0.0), scores.count(None)) == (7, 3, 1)
    [unscored] = [sample for sample in samples if not sample["scores"]]
    assert "message" in unscored["error"]


def test_an_inspect_log_has_its_times_and_the_request_of_a_native_agent(tmp_path, capsys):
    sample = Path(__file__).parents[2] / "docs" / "sample-run"
    assert export_inspect([load_rows(sample)], tmp_path, as_json=True) == 0
    names = json.loads(capsys.readouterr().out)["samples"]
    form = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\+00-00_[a-z-]+_[0-9a-f]{22}\.(eval|json)")
    assert all(map(form.fullmatch, names))
    assert {path.name for path in tmp_path.iterdir()} == set(names)
    logs = [*inspect_logs(load_rows(sample))]
    [native] = [log for log in logs if log["eval"]["solver"] == "claude-code" and "proxy" in log["eval"]["task"]]
    assert native["stats"]["started_at"] < native["stats"]["completed_at"]
    assert [item["epoch"] for item in native["samples"]] == [1, 2]
    assert all("system-reminder" not in item["input"] for item in native["samples"])
    assert all("tests" in item["input"] for item in native["samples"])


def test_an_inspect_log_has_the_events_of_a_trajectory():
    logs = [*inspect_logs(load_rows(Path(__file__).parents[2] / "docs" / "sample-run"))]
    [mini] = [log for log in logs if log["eval"]["solver"] == "mini" and "proxy" in log["eval"]["task"]]
    first = mini["samples"][0]
    answers = [message for message in first["messages"] if message["role"] == "assistant"]
    events = [event for event in first["events"] if event["event"] == "model"]
    assert [event["output"]["choices"][0]["message"] for event in events] == answers
    tools = [event for event in first["events"] if event["event"] == "tool"]
    assert [event["result"] for event in tools] == [
        message["content"] for message in first["messages"] if message["role"] == "tool"
    ]
    assert {type(event["metadata"]["exit_status"]) for event in tools if "metadata" in event} == {int}
    assert first["events"][-1]["score"] == first["scores"]["testwright"]
    starts = [event["working_start"] for event in first["events"] if event["event"] != "tool"]
    assert starts == sorted(starts)
    assert len({event["uuid"] for event in first["events"]}) == len(first["events"])


def test_inspect_lists_and_reads_its_logs(run, tmp_path, capsys):
    log = pytest.importorskip("inspect_ai.log", reason="pip install inspect-ai (the dependency group exchange)")
    export_inspect([load_rows(run)], tmp_path, as_json=True)
    listed = log.list_eval_logs(str(tmp_path))
    assert len(listed) == len(json.loads(capsys.readouterr().out)["samples"]) == 21
    assert {item.task for item in listed} == set(TASKS)
    assert {Path(item.name).suffix for item in listed} == {".eval"}, "written by Inspect itself"
    read = [log.read_eval_log(item) for item in listed]
    assert {(each.status, len(each.samples)) for each in read} == {("success", 1)}
    assert any(event.event == "score" for each in read for event in each.samples[0].events)
    assert read[0].samples[0].model_usage[read[0].eval.model].total_cost == 0.5


def test_options_that_do_nothing_together_are_refused(run, tmp_path):
    rows, out = [load_rows(run)], tmp_path / "out"
    with pytest.raises(UserError, match="--format atif says what --export writes; add --export DIR"):
        export_runs(rows, None, "atif", as_json=False)
    with pytest.raises(UserError, match="--export excludes --weights and --csv"):
        export_runs(rows, out, None, as_json=False, others=[None, "systems"])
    with pytest.raises(UserError, match="--site excludes --export, --format, --json and --csv"):
        report_site([run], out, None, others=[None, "atif", False, None])
    assert not out.exists()


def test_files_of_others_are_left_alone(run, tmp_path, capsys):
    rows, out = [load_rows(run)], tmp_path / "out"
    assert export_runs(rows, out, "atif", as_json=False) == 0
    assert export_runs(rows, out, "inspect", as_json=False) == 0, "an export's own folder is taken again"
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("mine")
    with pytest.raises(UserError, match="files that aren't an export's"):
        export_runs(rows, tmp_path / "mine", "atif", as_json=False)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]
    with pytest.raises(UserError, match="can't be written"):
        export_runs(rows, tmp_path / "mine" / "thesis.txt", "atif", as_json=False)


def test_a_refused_export_leaves_no_folder(run, tmp_path, monkeypatch):
    def refuse(*_given):
        raise UserError("not installed")

    monkeypatch.setattr("harness.plugins.exports.parquet.check_extra", refuse)
    with pytest.raises(UserError, match="not installed"):
        export_runs([load_rows(run)], tmp_path / "out", None, as_json=False)
    assert not (tmp_path / "out").exists()


def test_an_unknown_format_is_refused(run, tmp_path):
    with pytest.raises(UserError, match="known: atif, inspect, parquet"):
        export_runs([load_rows(run)], tmp_path, "xml", as_json=False)
