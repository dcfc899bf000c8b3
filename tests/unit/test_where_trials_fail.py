"""The funnel, axes, criteria, probes, tests written, costs and composites of runs whose verdicts are made up."""

from pathlib import Path

import pytest

from harness.judging.verify.rubric_check import CriterionResult
from harness.judging.verify.verdict import ManifestStage, RubricStage, Stages, VerdictRecord
from harness.results.failing.criteria import axis_rates, criterion_rates, probe_kill_rate, probe_rates, suite_size
from harness.results.failing.funnel import WeightsFile, composite, funnel, load_weights
from harness.results.leaderboard import leaderboard, pareto_front
from harness.results.rows import TrialRow, TrialState
from harness.results.run_rows import load_rows
from harness.results.scores import Who
from harness.results.statistics.proportions import rate
from harness.specs.errors import UserError
from harness.specs.reasons import Reason, ReasonCode, Stage, Verdict
from harness.specs.rubric import GradedBy, Importance
from tests.support.compared_runs import ONE, THREE, TWO, judged_run


def trial(task: str, *codes: ReasonCode, tests: int = 2, criteria: tuple[CriterionResult, ...] = ()) -> TrialRow:
    """Reasons of the arms, unless they are of the rubric or of intake."""
    places = {
        ReasonCode.CRITERION_UNMET: Stage.RUBRIC,
        ReasonCode.EMPTY_SUBMISSION: Stage.INTAKE,
        ReasonCode.MANIFEST_UNKNOWN_TEST: Stage.MANIFEST,
        ReasonCode.PROVIDER_ERROR: Stage.TRIAL,
    }
    reasons = tuple(
        Reason(code=code, stage=places.get(code, Stage.MUTATION), subject=f"t{number}", words="because")
        for number, code in enumerate(codes)
    )
    verdict = codes[0].verdict if codes else Verdict.RESOLVED
    record = VerdictRecord(
        task=task,
        task_digest="0",
        image_digest="0",
        protocol_version=1,
        isolation="docker",
        verdict=verdict,
        reasons=reasons,
        stages=Stages(
            manifest=ManifestStage(tests=tuple(f"t{number}" for number in range(tests))),
            rubric=RubricStage(criteria=criteria),
        ),
    )
    return TrialRow(
        trial=f"{task}/mini/m/1",
        task=task,
        scaffold="mini",
        model="m",
        attempt=1,
        repository=task[0],
        state=TrialState.JUDGED,
        verdict=verdict,
        reasons=reasons,
        record=record,
    )


def criterion(name: str, met: bool | None, axis: int = 1, **killed_by: tuple[str, ...]) -> CriterionResult:
    return CriterionResult(
        id=name,
        axis=axis,
        importance=Importance.MUST if axis == 1 else Importance.NICE,
        met=met,
        decided_by=GradedBy.PROBE if met is not None else None,
        words="",
        killed_by=killed_by,
    )


def test_a_trial_is_lost_at_the_first_stage_that_gave_a_reason():
    rows = [
        trial("a"),
        trial("b", ReasonCode.PROVIDER_ERROR),
        trial("c", ReasonCode.EMPTY_SUBMISSION),
        trial("d", ReasonCode.MANIFEST_UNKNOWN_TEST),
        trial("e", ReasonCode.SURVIVED_REMOVAL, ReasonCode.SURVIVED_REMOVAL, ReasonCode.FLAKY),
        trial("f", ReasonCode.SURVIVED_REMOVAL, ReasonCode.CRITERION_UNMET),
        trial("g", ReasonCode.CRITERION_UNMET),
        trial("h").model_copy(update={"verdict": None, "state": TrialState.BEGUN, "record": None}),
    ]
    steps = {step.stage: step for step in funnel(rows)}
    assert [(step.entered, step.passed) for step in steps.values()] == [(8, 6), (6, 5), (5, 4), (4, 2), (2, 1)]
    assert (steps[Stage.TRIAL].unscored, steps[Stage.TRIAL].not_judged) == (1, 1)
    assert steps[Stage.MUTATION].codes == {ReasonCode.SURVIVED_REMOVAL: 2, ReasonCode.FLAKY: 1}


def test_axes_criteria_and_probes_have_rates_of_what_was_decided():
    rows = [
        trial("a1", criteria=(criterion("1.1", True, p=("t",), q=("t",)), criterion("2.1", None, axis=2))),
        trial("a1", criteria=(criterion("1.1", False, p=(), q=("t",)), criterion("2.1", True, axis=2))),
        trial("b1", criteria=(criterion("1.1", True), criterion("1.2", True))),
        trial("b2", ReasonCode.SURVIVED_REMOVAL),
    ]
    first, second = axis_rates(rows)
    assert (first.axis, first.rate and first.rate.value, first.trials) == (1, 0.75, 3)
    assert (second.rate and second.rate.value, second.trials, second.undecided) == (1.0, 1, 1)
    hardest = criterion_rates(rows)[0]
    assert (hardest.task, hardest.criterion, hardest.met) == ("a1", "1.1", rate(1, 2))
    assert [(item.probe, item.killed) for item in probe_rates(rows)] == [("p", rate(1, 2)), ("q", rate(2, 2))]
    kills = probe_kill_rate(rows)
    assert kills is not None
    assert (kills.value, kills.tasks) == (0.75, 1)


def test_tests_written_are_set_against_resolving_and_failures_in_the_arms():
    rows = [trial(f"a{number}", tests=number) for number in range(1, 7)]
    rows += [trial(f"b{n}", *[ReasonCode.SURVIVED_REMOVAL] * (n - 6), tests=n) for n in range(7, 13)]
    found = suite_size(rows)
    assert found.trials == 12
    assert found.resolved is not None
    assert found.resolved.value < -0.8
    assert found.resolved.excludes_zero
    assert found.failing_tests is not None
    assert found.failing_tests.value > 0.8
    assert [(item.name, item.resolved.part, item.failed_mutation.part) for item in found.classes] == [
        ("1 to 2", 2, 0), ("3 to 5", 3, 0), ("6 to 10", 1, 4), ("11 to 20", 0, 2)
    ]  # fmt: skip


def test_a_composite_has_an_interval_and_the_tiers_of_its_ends():
    weights = WeightsFile(weights={"comprehensiveness": 3, "placement": 1}, tiers={"A": 0.9, "B": 0.5, "C": 0})
    rows = [trial(f"a{n}", criteria=(criterion("1.1", True), criterion("2.1", n > 0, axis=2))) for n in range(5)]
    found = composite([*rows, trial("b", ReasonCode.SURVIVED_REMOVAL)], weights)
    assert found is not None
    assert found.value.value == pytest.approx((4 + 0.75 + 0) / 6)
    assert (found.tier, found.lowest, found.highest) == ("B", "C", "A")
    assert composite([], weights) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("weights: {placment: 1}", "no axis is called placment; known: comprehensiveness"),
        ("weights: {}", "no axis has a weight"),
        ("weights: {placement: 1}\ntiers: {A: 0.5}", "one tier must begin at 0"),
        ("weights: {placement: -1}", "weights"),
    ],
)
def test_a_wrong_file_of_weights_is_one_line(tmp_path: Path, text, words):
    (tmp_path / "w.yaml").write_text(text)
    with pytest.raises(UserError, match=words) as caught:
        load_weights(tmp_path / "w.yaml")
    assert "\n" not in str(caught.value)


def test_the_leaderboard_ranks_by_intervals_and_counts_what_never_began(tmp_path: Path):
    ends = {ONE: "RRRRRRRRRRR", TWO: "RRRRRRRRRR.", THREE: "fffffffffff"}
    first, second, third = leaderboard([load_rows(judged_run(tmp_path / "run", ends))])
    assert [item.who.model for item in (first, second, third)] == [ONE, TWO, THREE]
    assert [item.rank for item in (first, second, third)] == [1, 1, 3]
    assert (first.is_tied, third.is_tied) == (True, False)
    assert (second.rate.missing.part, second.rate.trials) == (1, 11)
    assert second.rate.without_faults is not None
    assert (second.rate.rate.value, second.rate.without_faults.value) == (pytest.approx(10 / 11), 1.0)
    assert (first.effort.cost_per_resolved, first.on_front, third.on_front) == (0.5, True, False)


def test_a_control_has_no_rank_and_takes_none_away(tmp_path: Path):
    run = judged_run(tmp_path / "run", {ONE: "f" * 11, "oracle": "R" * 11}, scaffolds=("mini", "oracle"))
    control, system = leaderboard([load_rows(run)])
    assert (control.who.scaffold, control.rank, control.is_tied, control.on_front) == ("oracle", None, False, None)
    assert (system.rank, system.on_front) == (1, True)


def test_runs_of_one_system_are_pooled(tmp_path: Path):
    runs = [judged_run(tmp_path / name, {ONE: text}) for name, text in (("a", "R" * 11), ("b", "f" * 11))]
    [found] = leaderboard([load_rows(run) for run in runs])
    assert (found.rate.rate.value, found.rate.trials) == (0.5, 22)


def test_the_front_has_what_none_beats_and_leaves_out_unknown_costs():
    a, b, c, d = (Who("mini", name) for name in "abcd")
    assert pareto_front({a: (0.5, 1.0), b: (0.5, 2.0), c: (0.8, 3.0), d: (0.9, None)}) == {a, c}
