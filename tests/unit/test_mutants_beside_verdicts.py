"""A mutation score lies beside a verdict and never changes it; what can't be done is said in one line."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.cli.main import main
from harness.judging.verify.mutants.records import (
    MutantRecord,
    MutantsFile,
    MutantStatus,
    RemovedCoverage,
    SourceRange,
)
from harness.results.report.mutants_report import coverage_words, mutant_lines, report_proposals, score_words
from harness.results.report.run_report import show_run
from harness.runs.mutants_file import MUTANTS_FILE, keep_mutants, read_mutants
from tests.support.runs_here import TASK, RunsHere, runs_here


@pytest.fixture
def here(tmp_path: Path) -> Iterator[RunsHere]:
    with runs_here(tmp_path) as runs:
        yield runs


def of(number: int, status: MutantStatus, *killed_by: str) -> MutantRecord:
    return MutantRecord(
        id=f"{number:010d}",
        file="sums.py",
        operator="ArithmeticOperator",
        place=SourceRange(line=number, column=1, end_line=number, end_column=2),
        original="+",
        replacement="-",
        description="+ becomes -",
        status=status,
        killed_by=killed_by,
    )


FILE = MutantsFile(
    task=TASK,
    seed=0,
    asked=3,
    candidates=9,
    seconds=4.2,
    tests=("tests/test_a.py::test_a", "tests/test_a.py::test_b"),
    mutants=(
        of(1, MutantStatus.KILLED, "tests/test_a.py::test_a", "tests/test_a.py::test_b"),
        of(2, MutantStatus.SURVIVED),
        of(3, MutantStatus.KILLED, "tests/test_a.py::test_b"),
    ),
)


def test_a_run_that_asks_for_mutants_has_the_verdicts_of_one_that_does_not(here: RunsHere) -> None:
    here.run()
    without = (here.store().directory / "verdict.json").read_bytes()
    assert not (here.store().directory / MUTANTS_FILE).exists()
    here.output.rename(here.directory / "earlier")
    here.run(mutants=3)
    assert (here.store().directory / "verdict.json").read_bytes() == without
    kept = read_mutants(here.store().directory)
    assert kept is not None
    assert kept.score is None
    assert kept.why_none


def test_a_trial_shows_its_score_and_the_mutants_that_live(
    here: RunsHere, capsys: pytest.CaptureFixture[str]
) -> None:
    here.run(mutants=3)
    keep_mutants(here.store().directory, FILE)
    show_run(here.output, f"{TASK}/nop", as_json=False)
    shown = " ".join(capsys.readouterr().out.split())
    assert "mutation score 0.67: 2 Killed, 1 Survived (3 of 9 mutants of the removed lines, seed 0" in shown
    assert "0000000002 sums.py:2" in shown
    assert "0000000001" not in shown
    show_run(here.output, f"{TASK}/nop", as_json=True)
    [facts] = json.loads(capsys.readouterr().out)
    assert facts["mutation_score"] == pytest.approx(2 / 3)
    assert [each["status"] for each in facts["mutants"]["mutants"]] == ["Killed", "Survived", "Killed"]


def test_what_a_suite_reaches_of_the_removed_lines_stands_below_its_score(
    here: RunsHere, capsys: pytest.CaptureFixture[str]
) -> None:
    here.run(mutants=3)
    lines = RemovedCoverage(lines=12, reached=2, missed=tuple(f"sums.py:{number}" for number in range(1, 11)))
    keep_mutants(here.store().directory, FILE.model_copy(update={"coverage": lines}))
    show_run(here.output, f"{TASK}/nop", as_json=False)
    shown = " ".join(capsys.readouterr().out.split())
    assert "reaches 2 of 12 removed lines; no test runs sums.py:1, sums.py:2," in shown
    assert "sums.py:8 and 2 more" in shown
    show_run(here.output, f"{TASK}/nop", as_json=True)
    [facts] = json.loads(capsys.readouterr().out)
    assert facts["mutants"]["coverage"]["branches"] is None
    branched = RemovedCoverage(lines=4, reached=4, branches=6, taken=5)
    assert coverage_words(FILE.model_copy(update={"coverage": branched})) == (
        "reaches 4 of 4 removed lines and 5 of 6 branches"
    )
    nobody = FILE.model_copy(update={"why_no_coverage": "the time was over"})
    assert coverage_words(nobody) == "removed lines weren't counted: the time was over"
    assert coverage_words(FILE) == ""


def test_a_mutant_without_coverage_counts_as_one_that_lives() -> None:
    file = FILE.model_copy(update={"mutants": (*FILE.mutants, of(4, MutantStatus.NO_COVERAGE))})
    assert file.score == pytest.approx(2 / 4)
    assert "2 Killed, 1 Survived, 1 NoCoverage" in score_words(file)


def test_a_trial_without_a_score_says_nothing_of_mutants(here: RunsHere, capsys: pytest.CaptureFixture[str]) -> None:
    here.run()
    show_run(here.output, f"{TASK}/nop", as_json=False)
    assert "mutation score" not in capsys.readouterr().out
    assert list(mutant_lines(None)) == []


def test_why_there_is_no_score_is_one_line() -> None:
    nothing = FILE.model_copy(update={"why_none": "no test is green at baseline"})
    assert score_words(nothing) == "no mutation score: no test is green at baseline"
    assert len(list(mutant_lines(nothing))) == 1


def test_the_best_mutant_for_a_criterion_is_killed_by_its_tests_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert report_proposals(FILE, frozenset({"tests/test_a.py::test_b"}), as_json=True) == 0
    assert json.loads(capsys.readouterr().out)["proposed"] == ["0000000003", "0000000001", "0000000002"]
    assert report_proposals(FILE, frozenset({"tests/test_a.py::test_b"}), as_json=False) == 0
    assert "2 tests/test_a.py::test_b  (for this criterion)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ["verify", TASK, "--export-mutants", "out.json"],
            "--export-mutants goes with --mutants N",
        ),
        (["task", "stub", TASK, "--symbol", "x:y"], "no task tiny-add|tiny-add"),
        (["task", "probe", TASK, "--criterion", "1.1"], "tiny-add"),
    ],
)
def test_bad_input_is_one_line_and_status_two(
    options: list[str], words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["testwright", *options])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    [line] = capsys.readouterr().err.strip().splitlines()
    assert any(word in line for word in words.split("|"))


def test_a_damaged_file_of_mutants_is_no_score(tmp_path: Path) -> None:
    (tmp_path / MUTANTS_FILE).write_text("{")
    assert read_mutants(tmp_path) is None
