"""Agreement beyond chance, against values computed by hand."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.results.calibration import Agreement, JudgeComparison, Reference, agreement, calibrate, summarise
from harness.results.report.judge_report import report_calibration
from harness.specs.errors import UserError


def test_kappa_of_a_table_computed_by_hand():
    # Agree in 20 + 15 of 50: 0.7. By chance (25 * 30 + 25 * 20) / 2500 = 0.5, so kappa is (0.7 - 0.5) / 0.5 = 0.4.
    found = Agreement(yes_yes=20, yes_no=5, no_yes=10, no_no=15)
    assert found.raw == pytest.approx(0.7)
    assert found.kappa == pytest.approx(0.4)


def test_two_with_the_same_agreement_can_differ_in_kappa():
    # Agree in 60 of 100 both times; by chance in 0.54 and in 0.46, so kappa is 0.06 / 0.46 and 0.14 / 0.54.
    assert Agreement(45, 15, 25, 15).kappa == pytest.approx(0.06 / 0.46)
    assert Agreement(25, 35, 5, 35).kappa == pytest.approx(0.14 / 0.54)


@pytest.mark.parametrize(
    ("table", "raw", "kappa"),
    [
        (Agreement(), None, None),
        (Agreement(yes_yes=7), 1.0, None),
        (Agreement(no_no=7), 1.0, None),
        (Agreement(yes_yes=3, no_no=4), 1.0, 1.0),
        (Agreement(yes_no=3, no_yes=3), 0.0, -1.0),
        (Agreement(yes_yes=5, yes_no=5), 0.5, 0.0),
        (Agreement(yes_no=4), 0.0, 0.0),
    ],
)
def test_where_only_one_class_is_there_kappa_says_nothing(table, raw, kappa):
    assert table.raw == raw
    assert table.kappa == (None if kappa is None else pytest.approx(kappa))


@given(st.lists(st.tuples(st.booleans(), st.booleans())))
def test_kappa_is_a_number_from_minus_one_to_one_or_nothing(pairs):
    found = agreement(pairs)
    assert found.pairs == len(pairs)
    assert found.kappa is None or -1 <= found.kappa <= 1 + 1e-12


def compared(
    criterion: str, judge: bool | None, truth: bool, reference: Reference = Reference.PROBE
) -> JudgeComparison:
    return JudgeComparison("a/b/c/1", "a", criterion, int(criterion[0]), reference, truth, judge)


def test_answers_are_compared_by_axis_and_reference_and_the_worst_criteria_named_first(capsys):
    items = [
        compared("1.1", True, True),
        compared("1.1", False, True),
        compared("1.2", True, False),
        compared("1.3", None, True),
        compared("5.1", True, True, Reference.STATIC),
        compared("5.1", False, False, Reference.GOLD),
    ]
    found = summarise(items, ["openai/judge"])
    assert found.by_axis[Reference.PROBE, 1] == Agreement(yes_yes=1, yes_no=1, no_yes=1)
    assert found.whole[Reference.STATIC] == Agreement(yes_yes=1)
    assert found.unanswered == 1
    assert [(item.criterion, item.differing, item.answered) for item in found.worst] == [("1.2", 1, 1), ("1.1", 1, 2)]
    report_calibration(found, as_json=True)
    facts = json.loads(capsys.readouterr().out)
    [static] = [row for row in facts["agreement"] if row["against"] == "static" and row["axis"] == 5]
    assert (static["pairs"], static["raw"], static["kappa"]) == (1, 1.0, None)
    report_calibration(found, as_json=False)
    assert "differs" in capsys.readouterr().out


def test_a_run_without_a_judge_has_nothing_to_calibrate(tmp_path):
    (tmp_path / "run.yaml").write_text("")
    with pytest.raises(UserError, match="no criterion"):
        calibrate([tmp_path], None)


def test_labels_for_a_trial_that_is_not_there_are_refused(tmp_path):
    (tmp_path / "run.yaml").write_text("")
    (tmp_path / "gold.yaml").write_text("labels:\n  no/such/trial/1: {'1.1': met}\n")
    with pytest.raises(UserError, match="no/such/trial/1"):
        calibrate([tmp_path], tmp_path / "gold.yaml")


def test_a_label_that_is_no_answer_is_named_with_its_line(tmp_path):
    (tmp_path / "run.yaml").write_text("")
    (tmp_path / "gold.yaml").write_text("labels:\n  a/b/c/1:\n    '1.1': maybe\n")
    with pytest.raises(UserError, match=r"gold\.yaml:3"):
        calibrate([tmp_path], tmp_path / "gold.yaml")
