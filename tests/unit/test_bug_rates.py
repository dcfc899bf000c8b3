"""What a report says of the parts of bugs: a rate for each, one for all, and which parts are met together."""

from collections.abc import Sequence

import pytest

from harness.judging.verify.rubric_check import CriterionResult
from harness.judging.verify.verdict import RubricStage, Stages, StageStatus, VerdictRecord
from harness.plugins.bug.columns import LOCATED, REPAIRED, REPRODUCED, TOGETHER
from harness.results.rows import TrialRow, TrialState
from harness.results.signals import signal_values
from harness.specs.reasons import Verdict
from harness.specs.rubric import GradedBy, Importance

PARTS = ("reproduce", "localise", "repair")


def row(task: str, met: str, track: str = "bug", verdict: Verdict | None = None, attempt: int = 1) -> TrialRow:
    """A trial; `met` has a letter for each part: y, n, or ? where nothing could decide it."""
    known = {"y": True, "n": False, "?": None}
    criteria = tuple(
        CriterionResult(
            id=part,
            axis=1,
            importance=Importance.MUST,
            met=known[letter],
            decided_by=GradedBy.PROBE if known[letter] is not None else None,
            words="",
        )
        for part, letter in zip(PARTS, met, strict=True)
    )
    found = verdict or (Verdict.RESOLVED if met == "yyy" else Verdict.FAILED)
    record = VerdictRecord(
        task=task,
        task_digest="",
        repo_digest="",
        image_digest="",
        protocol_version=1,
        isolation="docker",
        track=track,
        verdict=found,
        stages=Stages(rubric=RubricStage(status=StageStatus.PASSED, criteria=criteria)),
    )
    return TrialRow(
        trial=f"{task}/mini/m/{attempt}",
        task=task,
        scaffold="mini",
        model="m",
        attempt=attempt,
        state=TrialState.JUDGED,
        verdict=found,
        record=record,
        track=track,
    )


def read(rows: Sequence[TrialRow], folder) -> list[TrialRow]:
    return [each.model_copy(update={"signals": signal_values(folder, each)}) for each in rows]


def test_each_part_has_a_rate_and_all_of_them_one(tmp_path):
    rows = read([row("a", "yyy"), row("b", "ynn"), row("c", "ynn"), row("d", "nyn")], tmp_path)
    assert REPRODUCED.of_system(rows).startswith("75% ")
    assert LOCATED.of_system(rows).startswith("50% ")
    assert REPAIRED.of_system(rows).startswith("25% ")
    together = TOGETHER.of_system(rows)
    assert together.startswith("all parts 25% ")
    assert together.endswith("of 4 trials: reproduce 2, all 1, localise 1")


def test_a_task_counts_once_however_often_it_was_tried(tmp_path):
    tries = [row("a", "nnn", attempt=number) for number in range(1, 4)]
    assert REPRODUCED.of_system(read([*tries, row("b", "yyy")], tmp_path)).startswith("50% ")


@pytest.mark.parametrize(
    "other", [row("b", "nnn", track="behaviour"), row("b", "nnn", verdict=Verdict.UNSCORED), row("b", "???")]
)
def test_other_tracks_and_what_has_no_verdict_dont_count(other, tmp_path):
    rows = read([row("a", "yyy"), other], tmp_path)
    assert [REPRODUCED.of_system(rows)[:5], REPAIRED.of_system(rows)[:5]] == ["100% ", "100% "]
    assert "of 1 trials: all 1" in TOGETHER.of_system(rows)


def test_two_systems_differ_in_a_part_at_tasks_that_both_have(tmp_path):
    first = read([row("a", "yyy"), row("b", "yyy"), row("c", "nnn")], tmp_path)
    second = read([row("a", "yny"), row("b", "nny")], tmp_path)
    assert "+50 percentage points" in REPRODUCED.of_pair(first, second)
    assert "+100 percentage points" in LOCATED.of_pair(first, second)
    assert REPAIRED.of_pair(first, read([row("z", "yyy")], tmp_path)) == ""
