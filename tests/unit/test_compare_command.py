"""`testwright compare` on runs that the stores have written; as a process where it is about what the command says."""

import csv
import io
import json
from contextlib import chdir, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from harness.results.comparison.compare import compare as compare_sides
from harness.results.report.comparison_report import comparison_facts, report_comparison
from harness.runs.trial_store import TrialStore
from harness.specs.reasons import ReasonCode
from tests.support.command import Done, typed_beside
from tests.support.compared_runs import ONE, TASKS, THREE, TWO, Circumstances, faulted, judged_run

FOUR = TASKS[:4]
HOSTILE = "+def test_\x1b[31mred\x1b[0m():\u202e\n"
FIRST, SECOND, THIRD = f"mini/{ONE}", f"mini/{TWO}", f"mini/{THREE}"


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    """`main` has two models and the controls; the others differ from it in one thing each."""
    place = tmp_path_factory.mktemp("runs")
    ends = {ONE: "RRRRfRRRRRRRRRRRRRRuRR", TWO: "ffffffffRf.RffffefufRf", "oracle": "R" * 22, "nop": "e" * 22}
    judged_run(place / "main", ends, scaffolds=("mini", "oracle", "nop"), attempts=2)
    judged_run(place / "image", {TWO: "RRRR"}, tasks=FOUR, under=Circumstances(image="another image"))
    judged_run(place / "task", {TWO: "RRRR"}, tasks=FOUR, under=Circumstances(task_digest="0123456789abcdef"))
    judged_run(place / "protocol", {TWO: "RRRR"}, tasks=FOUR, under=Circumstances(protocol_version=1000))
    judged_run(place / "isolation", {TWO: "RRRR"}, tasks=FOUR, under=Circumstances(isolation="none"))
    judged_run(place / "first-half", {ONE: "RfRf"}, tasks=FOUR)
    judged_run(place / "other-half", {THREE: "RRRR"}, tasks=TASKS[4:8])
    judged_run(place / "overlapping", {THREE: "RRff"}, tasks=TASKS[2:6])
    (place / "empty").mkdir()
    return place


async def command(runs: Path, *arguments: str) -> Done:
    return await typed_beside("compare", *arguments, cwd=runs)


def facts(runs: Path, directories: str, first: str, *others: str) -> dict[str, Any]:
    """What --json prints."""
    with chdir(runs):
        return comparison_facts(compare_sides([Path(name) for name in directories.split()], first, others))


def text(runs: Path, directories: str, first: str, *others: str) -> str:
    """What is printed without --json."""
    with chdir(runs), redirect_stdout(io.StringIO()) as out:
        found = compare_sides([Path(name) for name in directories.split()], first, others)
        assert report_comparison(found, as_json=False, with_patches=False) == 0
    return out.getvalue()


async def test_tables_say_who_resolves_more_with_all_that_belongs_to_it(runs):
    done = await command(runs, "main", "--a", FIRST, "--b", SECOND)
    assert (done.status, done.complaint) == (0, "")
    for words in (
        f"{FIRST} resolves more of these tasks than {SECOND}: no interval of the difference includes 0",
        "11 tasks of 5 repositories", "95% by task", "by repository (t)", "McNemar p", "Holm p", "detectable",
        "1 comprehensiveness", "2 placement", "5 technique", "cost of agents", "working seconds per trial",
        "tries repeated", "A trial without a verdict", "ended by submitted 22", "empty-submission 1",
    ):  # fmt: skip
        assert words in done.output
    assert "\x1b" not in done.output
    assert max(map(cell_len, done.output.splitlines())) < 320, "only sentences are longer than the tables' 160"


async def test_json_has_every_figure_with_its_intervals(runs):
    done = await command(runs, "main", "--a", FIRST, "--b", SECOND, "--json")
    assert (done.status, done.complaint) == (0, "")
    found = json.loads(done.output)
    one, two = found["sides"]
    assert (one["trials"], one["resolved"], one["resolve_rate"]["value"]) == (22, 20, pytest.approx(20 / 22))
    assert one["without_faults"]["value"] == pytest.approx((9 + 1 + 0.5) / 11)
    assert (two["unscored"]["part"], two["without_verdict"]["part"], two["trials"]) == (1, 1, 22)
    assert (one["pass_at"]["2"], one["pass_all"]["2"]) == (1.0, pytest.approx(9 / 11))
    [pair] = found["pairs"]
    assert (pair["ahead"], pair["cannot_tell_because"]) == (FIRST, [])
    assert pair["mcnemar"] == {"a": 11, "b": 0, "equal": 0, "p": pytest.approx(2 / 2**11)}
    for kind in ("by_task", "by_repository", "by_repository_t"):
        low, high = pair["difference"][kind]
        assert 0 < low < pair["difference"]["value"] < high
    assert one["effort"]["cost_per_resolved"] == pytest.approx(22 * 0.5 / 20)
    assert [item["name"] for item in pair["axes"]] == ["comprehensiveness", "placement", "technique"]
    assert pair["axes"][2]["difference"] is None, "nobody has decided its criteria"


@pytest.mark.parametrize(("name", "lines"), [("sides", 2), ("pairs", 1), ("axes", 3), ("flips", 11)])
def test_each_list_is_csv_with_bounds_as_numbers(runs, name, lines, capsys):
    with chdir(runs):
        found = compare_sides([Path("main")], FIRST, [SECOND])
        assert report_comparison(found, as_json=False, with_patches=False, csv=name) == 0
    read = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(read) == lines
    assert all(None not in row and not any("{" in cell or "[" in cell for cell in row.values()) for row in read)
    if name == "pairs":
        [pair] = read
        assert 0 < float(pair["difference.by_task.low"]) < float(pair["difference.value"])
        assert (pair["a"], pair["b"], pair["ahead"]) == (FIRST, SECOND, FIRST)


@pytest.mark.long
async def test_a_list_that_does_not_exist_is_refused(runs):
    refused = await command(runs, "main", "--a", FIRST, "--b", SECOND, "--csv", "sums")
    assert (refused.status, refused.output) == (2, "")
    assert "--csv sums: no such rows; known: sides, pairs, axes, flips" in refused.complaint


def test_the_same_runs_give_the_same_in_any_order(runs):
    first = text(runs, "first-half overlapping", FIRST, THIRD)
    assert first == text(runs, "first-half overlapping", FIRST, THIRD)
    assert first == text(runs, "overlapping first-half", FIRST, THIRD)


def test_a_control_that_does_everything_is_told_from_one_that_does_nothing(runs):
    found = facts(runs, "main", "oracle", "nop")
    assert found["pairs"][0]["ahead"] == "oracle"
    assert not any(side["mechanism"]["is_suspicious"] for side in found["sides"])


def test_where_nothing_can_be_told_it_says_so_and_never_better(runs):
    printed = text(runs, "main", FIRST, "oracle")
    assert f"It can't be told whether {FIRST} or oracle resolves more of such tasks: the interval by task" in printed
    assert "doesn't show that the two are equal" in printed
    assert "resolves more of these tasks than" not in printed
    assert "better" not in printed


def test_several_others_are_adjusted_for_their_number(runs):
    pairs = facts(runs, "main", SECOND, FIRST, "oracle", "nop")["pairs"]
    ps = [pair["mcnemar"]["p"] for pair in pairs]
    assert [pair["b"] for pair in pairs] == [FIRST, "oracle", "nop"]
    assert [pair["holm_p"] for pair in pairs] == pytest.approx([3 * ps[0], 3 * ps[1], ps[2]])


def test_a_task_that_only_one_side_has_is_left_out_counted_and_listed(runs):
    printed = text(runs, "first-half overlapping", FIRST, THIRD)
    assert "2 tasks of 2 repositories; 4 tasks left out, which not all sides have" in printed
    assert f"left out: {TASKS[0]}, which {THIRD} lacks" in printed
    assert f"left out: {TASKS[5]}, which {FIRST} lacks" in printed


def test_a_trial_that_was_asked_for_and_never_begun_counts_as_failed(tmp_path):
    judged_run(tmp_path / "run", {ONE: "RRRR", TWO: "RR.."}, tasks=FOUR)
    found = facts(tmp_path, "run", FIRST, SECOND)
    [pair] = found["pairs"]
    assert (pair["difference"]["value"], pair["without_faults"]["value"], found["left_out"]) == (0.5, 0.0, {})
    assert pair["flips"][0]["b"] == {
        "resolved": 0, "attempts": 1, "trial": None, "verdict": None, "reasons": [], "patch": None
    }  # fmt: skip


def test_a_later_start_with_fewer_attempts_or_tasks_takes_nothing_back(tmp_path):
    judged_run(tmp_path / "run", {ONE: "RRRRRRRR", TWO: "RRRRRRR."}, tasks=FOUR, attempts=2)
    judged_run(tmp_path / "run", {ONE: "R"}, tasks=FOUR[:1])
    found = facts(tmp_path, "run", FIRST, SECOND)
    assert [side["trials"] for side in found["sides"]] == [8, 8]
    assert found["sides"][1]["without_verdict"]["part"] == 1


def test_attempts_of_several_runs_are_taken_together(tmp_path):
    judged_run(tmp_path / "first", {ONE: "RRRR", TWO: "RRRR"}, tasks=FOUR)
    judged_run(tmp_path / "second", {ONE: "ffff"}, tasks=FOUR)
    found = facts(tmp_path, "first second", FIRST, SECOND)
    assert [(side["trials"], side["resolve_rate"]["value"]) for side in found["sides"]] == [(8, 0.5), (4, 1.0)]


@pytest.mark.long
async def test_tasks_that_flip_are_shown_with_both_patches_and_nothing_of_them_reaches_the_terminal(tmp_path):
    judged_run(tmp_path / "run", {ONE: "RRRR", TWO: "RfRR"}, tasks=FOUR)
    [flip] = facts(tmp_path, "run", FIRST, SECOND)["pairs"][0]["flips"]
    assert (flip["task"], flip["for"], flip["b"]["reasons"]) == (FOUR[1], "a", ["criterion-unmet"])
    (tmp_path / flip["b"]["patch"]).write_text(HOSTILE + "+x\n" * 1000)
    done = await command(tmp_path, "run", "--a", FIRST, "--b", SECOND, "--patches")
    assert f"+{FOUR[1]} mini {ONE} #1" in done.output
    assert "+def test_\N{REPLACEMENT CHARACTER}[31mred\N{REPLACEMENT CHARACTER}[0m():" in done.output
    assert "... 601 more lines in" in done.output
    assert not {"\x1b", "\u202e"} & set(done.output)


def test_a_side_whose_adapter_fails_is_not_read_as_a_weak_model(tmp_path):
    broken = Circumstances(ending="format-errors", calls=0, failed_requests=3, format_errors=2)
    judged_run(tmp_path / "good", {ONE: "RRRR"}, tasks=FOUR)
    run = judged_run(tmp_path / "broken", {TWO: "eeee"}, tasks=FOUR, under=broken)
    [place] = (run / "trials" / FOUR[0] / "mini").iterdir()
    faulted(TrialStore(place / "1"), ReasonCode.PROVIDER_ERROR, is_final=False)
    warning = f"warning: 4 of 4 trials of {SECOND} look as if its adapter or the infrastructure had failed"
    assert warning in text(tmp_path, "good broken", FIRST, SECOND)
    found = facts(tmp_path, "good broken", FIRST, SECOND)
    one, two = (side["mechanism"] for side in found["sides"])
    assert (one["is_suspicious"], two["is_suspicious"]) == (False, True)
    assert two["endings"] == {"format-errors": 4}
    assert (two["without_calls"], two["failed_requests"], two["faults"]) == (4, 12, {"provider-error": 1})
    assert found["sides"][1]["effort"]["retries"] == 1
    assert (one["format_errors"], two["format_errors"], two["with_format_errors"]) == (None, 8, 4)
    shown = text(tmp_path, "good broken", FIRST, SECOND)
    assert "8 format errors in 4 trials" in shown
    assert "format errors not counted by this agent" in shown


def test_two_runs_of_one_scaffold_are_compared_by_their_names(runs):
    found = facts(runs, "./main first-half", f"./main:{FIRST}", f"first-half:{FIRST}")
    assert [side["runs"] for side in found["sides"]] == [["main"], ["first-half"]]
    assert "have different numbers of attempts at 4 tasks" in found["notes"][0]


async def test_a_report_over_several_runs_counts_none_twice_and_says_where_conditions_differ(runs):
    refused = await typed_beside("report", "main", "./main", cwd=runs)
    assert (refused.status, refused.output, refused.complaint) == (
        2,
        "",
        "testwright: main: this run is named twice\n",
    )
    told = await typed_beside("report", "main", "first-half", cwd=runs)
    assert (told.status, told.complaint) == (0, "")
    warned = await typed_beside("report", "main", "image", "isolation", cwd=runs)
    assert warned.status == 0
    assert (
        f"different conditions: task {TASKS[0]}: image digest differs: an image in main/trials/" in warned.complaint
    )


REFUSED = {
    "main --a minni --b oracle": f"no trial of 'minni' in main; there are: {FIRST}, {SECOND}, nop, oracle",
    "main --a mini/openai/on --b nop": f"no trial of 'mini/openai/on' in main; there are: {FIRST}",
    "main --a mini --b oracle": f"'mini' has several models in main; name one: {FIRST}, {SECOND}",
    "main --a oracle --b oracle": "oracle and oracle are the same side",
    "main ./main --a oracle --b nop": "main: this run is named twice",
    "empty --a oracle --b nop": "empty: no run here",
    "main --a oracle --b nop --json --patches": "--json and --patches exclude each other",
    f"first-half other-half --a {FIRST} --b {THIRD}": f"no task in common: {FIRST} has {TASKS[0]}, {TASKS[1]}",
    f"main image --a oracle --b image:{SECOND}": (
        f"task {TASKS[0]}: image digest differs: an image in main/trials/{TASKS[0]}/oracle/none/1, another imag "
    ),
    f"main task --a oracle --b task:{SECOND}": f"task {TASKS[0]}: task digest differs",
    f"main protocol --a oracle --b protocol:{SECOND}": f"task {TASKS[0]}: protocol version differs: ",
    f"main isolation --a oracle --b isolation:{SECOND}": f"task {TASKS[0]}: isolation differs: docker in main/trials",
    f"main image --a oracle --b {SECOND}": "and 1 more differences; start the older run again",
}
"""Arguments -> what is said."""


@pytest.mark.long
@pytest.mark.parametrize("arguments", REFUSED)
async def test_what_cannot_be_compared_is_refused_in_one_line(runs, arguments):
    done = await command(runs, *arguments.split())
    assert (done.status, done.output) == (2, "")
    assert REFUSED[arguments] in done.complaint
    assert done.complaint.count("\n") == 1


@pytest.mark.long
async def test_a_scaffold_that_has_changed_between_two_runs_is_not_one_side(tmp_path):
    for name, digest in (("old", "a" * 64), ("new", "b" * 64)):
        path = judged_run(tmp_path / name, {ONE: "RRRR"}, tasks=FOUR) / "run.yaml"
        lines = [
            f"  mini: {digest}" if line.startswith("  mini: ") else line for line in path.read_text().splitlines()
        ]
        path.write_text("\n".join(lines) + "\n")
    judged_run(tmp_path / "controls", {"oracle": "RRRR"}, scaffolds=("oracle",), tasks=FOUR)
    done = await command(tmp_path, "old", "new", "controls", "--a", "mini", "--b", "oracle")
    assert done.status == 2
    assert f"{FIRST}: its scaffold is another in new (bbbbbbbbbbbb) than in old (aaaaaaaaaaaa)" in done.complaint
    assert f"name each with its run: old:{FIRST}" in done.complaint


async def test_a_run_whose_configuration_is_damaged_is_refused_with_its_line(tmp_path):
    run = judged_run(tmp_path / "run", {ONE: "RRRR", TWO: "RRRR"}, tasks=FOUR)
    (run / "run.yaml").write_text("id: a\nconfig: {}\ntaskz: {}\n")
    done = await command(tmp_path, "run", "--a", FIRST, "--b", SECOND)
    assert (done.status, done.complaint.partition(":3: ")[0]) == (2, "testwright: run/run.yaml")


def test_a_run_of_an_older_version_is_compared_without_repositories(tmp_path):
    run = judged_run(tmp_path / "run", {ONE: "RRRR", TWO: "fRRR"}, tasks=FOUR)
    described = (run / "run.yaml").read_text()
    (run / "run.yaml").write_text(described[: described.index("repositories:")])
    found = facts(tmp_path, "run", FIRST, SECOND)
    assert found["pairs"][0]["difference"]["by_repository"] is None
    assert "doesn't say which repositories" in found["notes"][0]
