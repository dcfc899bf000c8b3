"""What `testwright show` tells of a run and of a trial, and which trials it is asked for."""

import json
import os
import shlex
import shutil
from pathlib import Path

import pytest

from harness.agents.trajectory import (
    EgressRecord,
    Ending,
    EndRecord,
    HeaderRecord,
    ObservationRecord,
    RefusedContact,
    Trajectory,
)
from harness.models.protocol import Message, MessageRole, ToolCall
from harness.models.replay import MessageRecord
from harness.results.filters import Filters
from harness.results.report.run_report import report_run, show_run
from harness.results.report.trajectory_report import chosen_steps, trajectory_lines
from harness.results.report.trial_report import why
from harness.results.rows import TrialRow
from harness.results.run_rows import load_rows
from harness.runs.command import FinishedRun
from harness.specs.errors import UserError
from harness.specs.model_file import called, called_apart
from harness.specs.reasons import ReasonCode
from harness.specs.usage import NO_USAGE, Usage
from tests.support.command import Done, typed
from tests.support.compared_runs import ONE, TASKS, TWO, catalog, judged_run
from tests.support.run_folder import begun, evidenced, judged, run_folder, worked

CHECKOUT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    return judged_run(tmp_path_factory.mktemp("runs") / "run", {ONE: "RRfRuiRRRfR", TWO: "ffffffRffe."})


def shown(capsys, *args, **options) -> str:
    show_run(*args, **{"as_json": False, **options})
    return str(capsys.readouterr().out)


def test_a_run_is_shown_with_rates_intervals_policy_cost_and_funnel(run, capsys):
    out = shown(capsys, run, None)
    assert "mini openai/one: resolve rate 64% over 11 tasks (95% interval by task" in out
    assert "mini openai/two: resolve rate 9% over 11 tasks" in out
    assert "95% by repository (t)" in out
    assert "rank 1 (tied) of 2" in out
    assert "counts as failed. Without faults:" in out
    assert "1 without a verdict, " not in out.split("openai/two")[0], "what never began belongs to its system"
    cells = [line.split() for line in out.splitlines() if line.startswith(" mini openai/one")]
    assert cells[0][2:] == ["11", "7", "12.0", "11,000", "1,100", "$5.5000", "$0.7857", "-"]
    funnel = {line.split()[0]: line.split()[1:7] for line in out.splitlines() if line[1:7] in ("intake", "rubric")}
    assert funnel == {"intake": ["21", "21", "0", "0", "0", "0"], "rubric": ["21", "8", "11", "1", "1", "0"]}


@pytest.mark.parametrize(("option", "name"), [("task", "nope"), ("scaffold", "minni"), ("model", "openai/none")])
def test_a_name_that_no_trial_has_is_refused(run, capsys, option, name):
    with pytest.raises(UserError, match=rf"--{option} {name}: no trial has it; there are: .*"):
        shown(capsys, run, None, filters=Filters(**{option: name}))


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        (Filters(verdict="unscored"), 1),
        (Filters(verdict="resolved"), 8),
        (Filters(reason="criterion-unmet"), 10),
        (Filters(task="aiosmtpd-*"), 6),
        (Filters(model="openai/one", scaffold="mi*"), 11),
        (Filters(verdict="none"), 0),
        (Filters(verdict="failed", model="*two", task="zod*"), 1),
    ],
)
def test_trials_are_chosen_by_verdict_reason_task_scaffold_and_model(run, capsys, filters, count):
    assert len(json.loads(shown(capsys, run, None, as_json=True, filters=filters))) == count


def test_no_rate_is_told_of_trials_that_were_chosen_by_their_outcome(run, capsys):
    assert "resolve rate" not in shown(capsys, run, None, filters=Filters(verdict="resolved"))
    assert "resolve rate 100%" not in shown(capsys, run, None, filters=Filters(task="zod-*"))


def test_the_last_line_counts_what_was_asked_for_and_never_began(tmp_path, capsys):
    show_run(judged_run(tmp_path / "run", {ONE: "Rf.", TWO: "R.."}, tasks=TASKS[:3]), None, as_json=False)
    last = " ".join(capsys.readouterr().out.split("\n")[-2].split())
    assert last.startswith("3 trials: 2 resolved, 1 failed, 3 more asked for and never begun; cost")
    show_run(judged_run(tmp_path / "whole", {ONE: "Rf"}, tasks=TASKS[:2]), None, as_json=False)
    assert "never begun;" not in capsys.readouterr().out


def test_what_never_began_counts_among_the_tasks_that_are_asked_for(run, capsys):
    assert "1 without a verdict" in shown(capsys, run, None, filters=Filters(task="zod-*"))
    assert "1 without a verdict" not in shown(capsys, run, None, filters=Filters(task="aiosmtpd-*"))


@pytest.mark.parametrize("filters", [Filters(verdict="fine"), Filters(reason="bad-luck")])
def test_a_verdict_or_reason_that_does_not_exist_is_refused(run, filters):
    with pytest.raises(UserError, match="known: "):
        show_run(run, None, as_json=False, filters=filters)


@pytest.fixture
def trial(tmp_path: Path) -> Path:
    """One trial with a trajectory, arms and a verdict."""
    run = run_folder(tmp_path / "a run")
    store = evidenced(judged(worked(begun(run, "sums", "mini", "openai/a")), ReasonCode.CRITERION_UNMET))
    with Trajectory(store.trajectory) as file:
        file.add(HeaderRecord(scaffold="mini", scaffold_version="1", model="openai/a", task="sums"))
        call = ToolCall(id="1", name="bash", arguments='{"command": "git log --all"}')
        answer = Message(role=MessageRole.ASSISTANT, content="I \x1b[31mlook", tool_calls=(call,))
        file.add(MessageRecord(step=1, message=answer, usage=Usage(input=10, output=2)))
        file.add(
            ObservationRecord(
                step=1,
                command="git log --all",
                exit_status=0,
                seconds=0.1,
                output_bytes=3,
                truncated=0,
                timed_out=False,
            )
        )
        file.add(MessageRecord(step=2, message=Message(role=MessageRole.ASSISTANT, content="done"), usage=NO_USAGE))
        file.add(EgressRecord(refused=(RefusedContact(host="forge.test", port=443, why="host", count=1),)))
        file.add(EndRecord(ending=Ending.STEP_LIMIT, steps=2, usage=NO_USAGE))
    return run


def test_a_trial_has_its_ending_tokens_seconds_tests_and_arms(trial, capsys):
    out = shown(capsys, trial, "sums")
    assert "agent: ended by submitted after 3 steps" in out
    assert "agent: 100 tokens in (0 cached), 20 out, $0.2500" in out
    assert "seconds: agent 9.0 (7.5 working), verification 4.0" in out
    [line] = [line for line in out.splitlines() if "test_adds" in line]
    assert line.split() == ["1", "tests/test_a.py::test_adds", "passed", "1", "failed", "1", "(assertion)", "0.50"]
    assert "git-history       1   git log --all" in out
    assert "refused-host      -   forge.test:443, once (host)" in out
    assert "never part of the verdict" in out


def test_criteria_have_the_statements_of_the_catalog_as_they_were_judged(run, capsys, tmp_path):
    place = f"{TASKS[0]}/mini/openai_one"
    name = next(row.trial for row in load_rows(run).trials if row.trial.startswith(place))
    statement = catalog().task(TASKS[0]).rubric.criteria[0].statement
    with_statements = " ".join(shown(capsys, run, name, catalog=catalog()).split())
    assert statement[:20] in with_statements
    assert statement[:20] not in shown(capsys, run, name)


def test_the_trajectory_is_printed_by_steps_and_made_safe(trial, capsys):
    out = shown(capsys, trial, "sums", trajectory=chosen_steps(None))
    assert "I �[31mlook" in out
    assert 'calls bash: {"command": "git log --all"}' in out
    assert "[1] ended with 0 after 0.1 s" in out
    assert "ended by step limit after 2 steps" in out
    second = shown(capsys, trial, "sums", trajectory=chosen_steps("2-"))
    assert "done" in second
    assert "git log" not in second
    for none in ("3", "2-1", "99-"):
        with pytest.raises(UserError, match="none of these is among the trajectory's answers, 1 to 2"):
            shown(capsys, trial, "sums", trajectory=chosen_steps(none))


def test_connections_to_registries_are_told_with_those_that_were_refused():
    refused = RefusedContact(host="evil\x1b.test", port=443, why="host", count=3)
    record = EgressRecord(allowed=("r.test:443",), opened={"r.test:443": 2}, refused=(refused,))
    [line] = trajectory_lines([record])
    assert line.endswith("registries: r.test:443 (2), evil\N{REPLACEMENT CHARACTER}.test:443 refused, host (3)")
    assert list(trajectory_lines([EgressRecord()])) == ["connections to package registries: none"]


@pytest.mark.parametrize(
    ("text", "steps"), [("7", (7, 7)), ("3-9", (3, 9)), ("3-", (3, None)), ("-9", (0, 9)), (None, (0, None))]
)
def test_steps_are_a_number_or_a_span(text, steps):
    assert chosen_steps(text) == steps


@pytest.mark.parametrize("text", ["", "-", "a", "1-b"])
def test_steps_that_are_no_number_are_refused(text):
    with pytest.raises(UserError, match="--steps"):
        chosen_steps(text)


@pytest.mark.parametrize(
    ("update", "words"),
    [
        ({}, "empty-submission: the patch is empty"),
        (
            {"ending": "format-errors", "ending_message": "3 in a row"},
            "ended by format errors: 3 in a row; empty-submission: the patch is empty",
        ),
        ({"failed_requests": 4}, "4 requests to its provider failed; empty-submission: the patch is empty"),
        ({"ending": "submitted", "model": "m"}, "its model gave no answer; empty-submission: the patch is empty"),
    ],
)
def test_what_stopped_the_agent_comes_before_an_empty_patch(tmp_path, update, words):
    run = run_folder(tmp_path / "run")
    store = worked(begun(run, "sums", "mini"))
    [row] = load_rows(run).trials
    reasons = ({"code": "empty-submission", "stage": "intake", "words": "the patch is empty"},)
    usage = {"agent": NO_USAGE.model_dump()}
    whole = {**row.model_dump(), "reasons": reasons, "verdict": "failed", "usage": usage, **update}
    assert why(TrialRow.model_validate(whole)) == words
    assert store.directory.is_dir()


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("anthropic/claude-x", "anthropic/claude-x"),
        ("/home/me/settings/small.yaml", "small"),
        ("replay:runs/a/trajectory.jsonl", "replay:trajectory"),
        ("ollama/llama3:70b", "ollama/llama3:70b"),
        ("", ""),
    ],
)
def test_a_model_is_called_by_its_name_and_not_by_its_files_path(model, name):
    assert called(model) == name


def test_models_that_would_be_called_alike_keep_their_paths():
    assert called_apart(["a/x.yaml", "b/x.yaml", "c/y.yaml"]) == {
        "a/x.yaml": "a/x.yaml", "b/x.yaml": "b/x.yaml", "c/y.yaml": "y"
    }  # fmt: skip


def typed_at(*words: str, columns: str = "", cwd: Path = CHECKOUT) -> Done:
    return typed(*words, cwd=cwd, environment={**os.environ, "COLUMNS": columns})


def test_at_80_columns_no_id_is_folded_and_titles_go_first():
    """Each task's id stands whole in one line."""
    lines = typed_at("task", "list", columns="80").output.splitlines()
    assert all(any(line.split()[:1] == [name] for line in lines) for name in catalog().names("tasks"))
    assert "title" not in lines[1]
    assert max(map(len, lines)) <= 80
    wide = typed_at("task", "list", columns="200").output
    assert "title" in wide.splitlines()[1]


def test_tasks_of_other_tracks_are_told_apart():
    [line] = [
        line for line in typed_at("task", "list", columns="200").output.splitlines() if "password-reset " in line
    ]
    assert line.split()[:3] == ["password-reset", "password-reset", "design"]
    listed = json.loads(typed_at("task", "list", "--json").output)
    assert {item["track"] for item in listed} >= {"behaviour", "bug", "design"}


def test_the_suggested_command_is_quoted(trial):
    done = typed_at("show", str(trial), "nothing")
    assert done.status == 2
    [line] = done.complaint.splitlines()
    command = line.partition("; ")[2].removesuffix(" lists them")
    assert shlex.split(command) == ["testwright", "show", str(trial)]


def test_the_next_command_after_a_run_is_quoted(trial, capsys):
    """What the closing line of a run tells to type works as it stands, also where a path has a space."""
    report_run(FinishedRun(trial, "docker", ()), as_json=False)
    [line] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("next: ")]
    assert shlex.split(line) == ["next:", "testwright", "show", str(trial)]


def test_the_end_of_a_run_counts_what_this_start_did_and_what_it_left_out(run, capsys):
    """Its directory has other trials, and one that an earlier start was asked for and never began."""
    report_run(FinishedRun(run, "docker", ()), as_json=False)
    assert "without a verdict" not in capsys.readouterr().out
    report_run(FinishedRun(run, "docker", (), left_out=1), as_json=False)
    assert " mini openai/two        0" in capsys.readouterr().out


def test_a_task_is_shown_with_its_limits_and_tags():
    out = typed_at("task", "show", "zod-stringbool").output
    assert "limits: agent 100 answers, 3600 s, $5; arms 120 s each" in out
    assert "tags: typescript, vitest, schema" in out


@pytest.fixture(scope="module")
def broken(tmp_path_factory) -> Path:
    """A catalog one of whose tasks can't be read."""
    there = tmp_path_factory.mktemp("catalog")
    for name in ("repos", "rubrics", "scaffolds", "models"):
        (there / name).symlink_to(CHECKOUT / name)
    for name in ("aiosmtpd-proxy-tlv", "restic-duration"):
        shutil.copytree(CHECKOUT / "tasks" / name, there / "tasks" / name)
    (there / "tasks" / "restic-duration" / "task.yaml").write_text("id: [")
    return there


def test_a_broken_task_is_a_line_of_the_table(broken):
    done = typed_at("--catalog", str(broken), "task", "list")
    assert done.status == 0
    text = " ".join(done.output.split())
    assert "aiosmtpd-proxy-tlv" in text
    assert "restic-duration - - - - - can't be read:" in text
    listed = json.loads(typed_at("--catalog", str(broken), "task", "list", "--json").output)
    assert [sorted(item)[:2] for item in listed if "problem" in item] == [["id", "problem"]]


@pytest.mark.long
def test_a_broken_task_does_not_take_the_others_of_a_glob_away(broken):
    done = typed_at("--catalog", str(broken), "run", "-t", "*", "-s", "nop", "--dry-run", "--sandbox", "local")
    assert done.status == 0, done.complaint
    assert "1 trials in" in done.output
    assert "task.yaml:1: not YAML" in done.complaint
    named = typed_at("--catalog", str(broken), "run", "-t", "restic-duration", "-s", "nop", "--dry-run")
    assert named.status == 2
    assert "task.yaml:1: not YAML" in named.complaint


def test_a_tag_that_is_misspelt_has_a_suggestion():
    done = typed_at("run", "-t", "tag:pyton", "-s", "nop", "--dry-run")
    assert done.status == 2
    assert done.complaint == "testwright: unknown tag 'pyton'; did you mean 'tag:python'?\n"


def test_seconds_of_agents_are_called_alike_in_each_table_and_apart_from_those_of_judgings(run, capsys):
    out = shown(capsys, run, None)
    assert out.count(" agent s") == 2
    assert (out.count(" judging s"), out.count(" time ")) == (1, 0)
