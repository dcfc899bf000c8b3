"""Figures of a design beside its verdict: kills by kind, wrong cases, redundancy, and their columns."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.plugins.design.columns import BOUNDARIES, PAIRS, PARTITIONS, REDUNDANCY, WRONG_CASES
from harness.plugins.design.design_file import MutantKind
from harness.plugins.design.figures import Figures, figures_of, greedy_cover
from harness.results.rows import TrialRow, TrialState
from harness.results.signals import SIGNALS
from harness.specs.reasons import Verdict
from tests.support.designs import handed_in, judged, page_task

KILLED = {
    "1.1-partition-a": frozenset({"A", "B"}),
    "1.1-boundary-a": frozenset({"B"}),
    "1.1-boundary-b": frozenset[str](),
    "1.2-partition-a": frozenset({"C"}),
    "1.2-partition-b": frozenset({"A", "C"}),
}
HERE = Path()


def test_a_greedy_cover_takes_what_kills_most_and_forgets_what_lives():
    assert greedy_cover(KILLED) == ["A", "B", "C"]
    assert greedy_cover({name: cases - {"A"} for name, cases in KILLED.items()}) == ["B", "C"]
    assert greedy_cover({"1.1-pair-a": frozenset()}) == []


@given(st.dictionaries(st.text(max_size=3), st.sets(st.sampled_from("ABCDEF"))))
def test_a_cover_kills_all_that_is_killed_and_no_case_stands_in_it_twice(killed):
    chosen = greedy_cover(killed)
    assert len(set(chosen)) == len(chosen)
    assert all(cases & set(chosen) for cases in killed.values() if cases)


def test_kills_are_counted_by_kind_of_mutant():
    figures = Figures(KILLED, cases=4, wrong=0, over_specified=0, cover=3)
    assert [str(figures.kills(kind)) for kind in MutantKind] == ["3/3", "1/2", "-"]
    assert figures.redundancy == pytest.approx(4 / 3)
    assert Figures({}, cases=4, wrong=4, over_specified=0, cover=0).redundancy is None


async def rows(tmp_path):
    """The design of the page, two of its cases with a wrong one, and a trial of another track."""
    task = page_task(tmp_path)
    lines = task.patch("reference/cases.yaml").decode().splitlines(keepends=True)
    wrong = lines[1].replace("900", "1").replace("heavy", "wrong")
    made = []
    for attempt, text in enumerate(["".join(lines), "".join(lines[:2]) + wrong], 1):
        record = await judged(task, handed_in(task, text.encode()), tmp_path)
        facts = {"scaffold": "mini", "model": "m", "state": TrialState.JUDGED, "verdict": record.verdict}
        made.append(TrialRow(trial=f"t{attempt}", task=task.id, attempt=attempt, record=record, **facts))
    other = made[0].record.model_copy(update={"track": "behaviour"})
    facts = {"scaffold": "mini", "model": "m", "state": TrialState.JUDGED, "verdict": Verdict.RESOLVED}
    return [*made, TrialRow(trial="t3", task="other", attempt=1, record=other, **facts)]


async def test_a_trial_has_its_figures_in_columns_and_one_of_another_track_has_none(tmp_path):
    whole, half, other = await rows(tmp_path)
    columns = (PARTITIONS, BOUNDARIES, PAIRS, WRONG_CASES, REDUNDANCY)
    assert [column.value(HERE, whole) for column in columns] == [1.0, 1.0, 1.0, 0, 1.0]
    assert [column.value(HERE, half) for column in columns] == [0.5, 0.5, 0.0, 1, 1.5]
    assert [column.value(HERE, other) for column in columns] == [None] * 5
    assert figures_of(None) is None


async def test_a_system_has_the_mean_over_its_designs_alone(tmp_path):
    signals = {"design-partitions": PARTITIONS, "design-wrong-cases": WRONG_CASES, "design-redundancy": REDUNDANCY}
    made = [
        row.model_copy(update={"signals": {name: signal.value(HERE, row) for name, signal in signals.items()}})
        for row in await rows(tmp_path)
    ]
    assert PARTITIONS.of_system(made).startswith("75% of partition mutants (")
    assert PARTITIONS.of_system(made).endswith("1 task")
    assert WRONG_CASES.of_system(made) == "0.50, mean of 1 task"
    assert REDUNDANCY.of_system(made) == "1.25, mean of 1 task"
    assert [signal.of_system(made[2:]) for signal in signals.values()] == ["", "", ""]
    assert PARTITIONS.of_pair(made[:1], made[1:2]).startswith("difference +50 percentage points")
    assert WRONG_CASES.of_pair(made[:1], made[1:2]) == "difference -1.00 at 1 task"
    assert [signal.of_pair(made[:1], made[2:]) for signal in signals.values()] == ["", "", ""]


def test_the_columns_are_registered_by_their_names():
    for signal in (PARTITIONS, BOUNDARIES, PAIRS, WRONG_CASES, REDUNDANCY):
        assert SIGNALS.get(signal.name) is signal
