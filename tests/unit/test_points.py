"""Points: their arithmetic, scoring.yaml, and the command on a copy of the sample run."""

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.plugins.points.columns import POINTS, tier_words
from harness.plugins.points.run_scores import facts_of
from harness.plugins.points.score import Facts, ScoreFile, Share, Sources, addends, compute
from harness.plugins.points.scoring_file import Cap, Deduction, Item, Scoring, load_scoring, track_path
from harness.results.run_rows import load_rows
from tests.support.command import typed

CHECKOUT = Path(__file__).parents[2]
SAMPLE = CHECKOUT / "docs" / "sample-run"
BEHAVIOUR = track_path("behaviour")
FROM = Sources(task="a-task", scoring="", verdict="")


@st.composite
def scorings(draw: st.DrawFn) -> Scoring:
    cuts = sorted(draw(st.sets(st.integers(1, 99), max_size=4)))
    points = [after - before for before, after in zip([0, *cuts], [*cuts, 100], strict=True)]
    items = tuple(Item(id=f"item-{n}", points=each, of=(f"measure-{n}",)) for n, each in enumerate(points))
    deductions = tuple(
        Deduction(id=f"minus-{n}", points=each, note=f"note-{n}", at_most=each + draw(st.integers(0, 50)))
        for n, each in enumerate(draw(st.lists(st.integers(1, 50), max_size=3)))
    )
    caps = tuple(
        Cap(when=f"event-{n}", at=at) for n, at in enumerate(draw(st.lists(st.integers(0, 100), max_size=3)))
    )
    return Scoring(items=items, deductions=deductions, caps=caps, tiers={"A": 80, "B": 60})


@st.composite
def facts(draw: st.DrawFn, scoring: Scoring) -> Facts:
    wholes = [draw(st.integers(1, 12)) for _ in scoring.items]
    shares = {f"measure-{n}": Share(draw(st.integers(0, whole)), whole) for n, whole in enumerate(wholes)}
    notes = {each.note: draw(st.integers(0, 9)) for each in scoring.deductions}
    return Facts(shares, notes, frozenset(cap.when for cap in scoring.caps if draw(st.booleans())))


@given(st.data())
def test_the_addends_sum_to_the_score_and_no_cap_is_exceeded(data: st.DataObject) -> None:
    scoring = data.draw(scorings())
    found = data.draw(facts(scoring))
    score = compute(scoring, found, FROM)
    assert score.score is not None
    assert round(sum(addends(score)), 9) == score.score
    assert 0 <= score.score <= min([100, *(cap.at for cap in scoring.caps if cap.when in found.events)])
    for each, told in zip(scoring.deductions, score.deductions, strict=True):
        assert -each.at_most <= told.addend <= 0


@given(st.data())
def test_meeting_more_never_lowers_a_score(data: st.DataObject) -> None:
    scoring = data.draw(scorings())
    before = data.draw(facts(scoring))
    more = {name: Share(data.draw(st.integers(each.met, each.whole)), each.whole)
            for name, each in before.shares.items() if each}  # fmt: skip
    fewer = {name: data.draw(st.integers(0, count)) for name, count in before.notes.items()}
    after = Facts(more, fewer, frozenset(event for event in before.events if data.draw(st.booleans())))
    old, new = compute(scoring, before, FROM).score, compute(scoring, after, FROM).score
    assert old is not None
    assert new is not None
    assert new >= old


@given(st.data())
def test_an_unmeasured_item_makes_a_score_unscored_unless_a_cap_of_zero_decides(data: st.DataObject) -> None:
    scoring = data.draw(scorings())
    found = data.draw(facts(scoring))
    lost = data.draw(st.sampled_from(sorted(found.shares)))
    score = compute(scoring, Facts({**found.shares, lost: None}, found.notes, found.events), FROM)
    is_zero = any(cap.at == 0 and cap.when in found.events for cap in scoring.caps)
    assert score.score == (0 if is_zero else None)


def test_points_left_to_another_item_are_told_and_a_judges_stand_apart() -> None:
    scoring = load_scoring(BEHAVIOUR)
    found = Facts({"must-haves": Share(4, 5), "judged": Share(3, 5)}, {"slow-tests": 9}, frozenset())
    score = compute(scoring, found, FROM)
    assert {item.id: item.left_to for item in score.items if item.left_to} == {
        "nice-to-haves": "must-haves",
        "mutation-score": "must-haves",
    }
    assert score.words == "68 + judge 6 of 10"  # 90 x 4/5 - 4
    without = compute(scoring, Facts({"must-haves": Share(5, 5)}, {}, frozenset()), FROM)
    assert without.words == "90 + judge not measured"


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    catalog = tmp_path / "catalog"
    for folder in ("tasks/aiosmtpd-proxy-tlv", "repos/aiosmtpd"):
        shutil.copytree(CHECKOUT / folder, catalog / folder)
    for folder in ("rubrics", "scaffolds"):
        (catalog / folder).symlink_to(CHECKOUT / folder)
    return catalog


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("points: 70", "points: 69", 2, "the points sum to 99; make them 100"),
        ("of: [must-haves]", "of: [must-have]", 3, "item 'must-haves': unknown 'must-have'"),
        ("A: 80, B: 60", "A: 60, B: 80", 18, "tier B (80) isn't below A (60)"),
        ("judge: true", "judge: false", 6, "go together"),
        ("of: [nice-to-haves]", "of: [judged], judge: true", 2, "20 points are a judge's; at most 10 may be"),
        ("note: flaky-once", "note: flaky", 9, "unknown note 'flaky'"),
        ("when: mutation-failed", "when: mutation", 17, "unknown event 'mutation'"),
        ("else_to: must-haves", "else_to: must", 4, "'must' is no item"),
        ("at_most: 15", "at_mots: 15", 8, "unknown key 'at_mots'; did you mean 'at_most'?"),
    ],
)
def test_a_wrong_scoring_file_is_one_line_with_file_and_line(
    catalog: Path, tmp_path: Path, old: str, new: str, line: int, words: str
) -> None:
    file = catalog / "tasks" / "aiosmtpd-proxy-tlv" / "scoring.yaml"
    text = BEHAVIOUR.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    shutil.copytree(SAMPLE, tmp_path / "run")
    done = typed("--catalog", catalog, "score", "write", tmp_path / "run", cwd=tmp_path)
    assert done.status == 2
    assert done.complaint.startswith(f"testwright: {file}:{line}: ")
    assert words in done.complaint
    assert done.complaint.count("\n") == 1
    assert not list(tmp_path.glob("run/**/score.json"))


def test_a_scoring_file_that_is_a_folder_is_not_passed_over(catalog: Path, tmp_path: Path) -> None:
    (catalog / "tasks" / "aiosmtpd-proxy-tlv" / "scoring.yaml").mkdir()
    shutil.copytree(SAMPLE, tmp_path / "run")
    done = typed("--catalog", catalog, "score", "write", tmp_path / "run", cwd=tmp_path)
    assert (done.status, done.complaint.count("\n")) == (2, 1)
    assert "scoring.yaml: Is a directory" in done.complaint


def test_a_stored_run_is_scored_shown_and_checked_without_running_anything(tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(SAMPLE, run)
    verdicts = {path: path.read_bytes() for path in run.glob("**/verdict.json")}
    assert typed("score", "write", run, cwd=tmp_path).status == 0
    assert {path: path.read_bytes() for path in verdicts} == verdicts
    checked = typed("score", "check", run, cwd=tmp_path)
    assert checked.status == 0, checked.output
    assert "all as written" in checked.output
    report = typed("report", run, cwd=tmp_path).output
    assert "Points are no verdict" in report
    assert "tier A-D" in report
    assert "points,points_judge" in typed("show", run, "--csv", "trials", cwd=tmp_path).output.splitlines()[0]
    file = next(run.glob("trials/aiosmtpd-proxy-tlv/mini/*/2/score.json"))
    told = json.loads(file.read_text())
    [item] = [item for item in told["items"] if item["id"] == "must-haves"]
    item["addend"] += 1
    told["score"] += 1
    file.write_text(json.dumps(told))
    wrong = typed("score", "check", run, cwd=tmp_path)
    assert wrong.status == 1
    assert "items must-haves: addend is" in wrong.output
    assert "score is" in wrong.output
    assert "2 differences" in wrong.output


def test_a_score_of_an_older_verdict_is_no_column_and_differs(tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(SAMPLE, run)
    typed("score", "write", run, cwd=tmp_path)
    verdict = next(run.glob("trials/aiosmtpd-proxy-tlv/oracle/none/1/verdict.json"))
    verdict.write_text(verdict.read_text() + "\n")
    [row] = [row for row in load_rows(run).trials if row.trial == "aiosmtpd-proxy-tlv/oracle/none/1"]
    assert row.signals["points"] is None
    assert "verdict is" in typed("score", "check", run, cwd=tmp_path).output


def test_what_the_rubric_never_reached_is_unmeasured_and_not_zero(tmp_path: Path) -> None:
    [row] = [row for row in load_rows(SAMPLE).trials if row.trial == "aiosmtpd-proxy-tlv/oracle/none/1"]
    assert row.record is not None
    without = row.record.model_copy(update={"stages": type(row.record.stages)()})
    score: ScoreFile = compute(load_scoring(BEHAVIOUR), facts_of(without, None), FROM)
    assert score.score is None


def test_a_systems_tier_is_one_only_where_its_interval_lies_in_one() -> None:
    tiers = {"A": 80, "B": 60, "C": 40}
    assert tier_words(tiers, 82, 95) == "A"
    assert tier_words(tiers, 70, 95) == "A-B"
    assert tier_words(tiers, 20, 95) == "A-below C"
    assert POINTS.of_system([]) == ""
