"""What becomes of each part of a bug, from what arms show: nothing runs here."""

from dataclasses import replace

import pytest

from harness.authoring.task_check.fuzzing import FuzzCall
from harness.judging.verify.evidence import AT_BASELINE, Evidence, listed_arm
from harness.judging.verify.intake import FileChange
from harness.judging.verify.mutation import judge_mutation
from harness.plugins.bug.handed_in import HandedIn, with_place
from harness.plugins.bug.hidden import (
    DRAWN,
    ELSEWHERE,
    LOCATED,
    REPAIRED,
    UPSTREAM,
    compared,
    first_difference,
    hidden_arm,
)
from harness.plugins.bug.parts import (
    Hidden,
    part_result,
    place_reasons,
    repair_reasons,
    reproduction_reasons,
    without_hidden,
)
from harness.plugins.bug.spans import Span
from harness.plugins.bug.task import Part
from harness.specs.catalog import Catalog
from harness.specs.reasons import Reason, ReasonCode, Stage, Verdict
from harness.specs.test_results import Outcome, Quality, TestId, TestResult
from harness.specs.variants import Arm, ArmKey, ArmStatus, VariantKind
from tests.support.plugin_reasons import without_a_fixture, without_a_row

TEST, OTHER = TestId("tests/test_a.py", "test_a"), TestId("tests/test_a.py", "test_b")
PASSED = (Outcome.PASSED, None)
FAILED = (Outcome.FAILED, Quality.ASSERTION)
KINDS = {
    "rewritten": VariantKind.REWRITTEN,
    "twin": VariantKind.TWIN,
    "placebo": VariantKind.PLACEBO_AUTHORED,
    "removal": VariantKind.REMOVAL,
    "garbage": VariantKind.GARBAGE,
    "probe": VariantKind.PROBE,
    "baseline": VariantKind.BASELINE,
}
GOOD = {
    "baseline": PASSED,
    **{f"rewritten-{number}": PASSED for number in range(1, 5)},
    "twin-other": PASSED,
    "placebo-authored": PASSED,
    "removal-1": FAILED,
    "removal-2": FAILED,
    "garbage-1": FAILED,
    "garbage-2": FAILED,
    "probe-one": FAILED,
    "probe-two": FAILED,
    "probe-wrong-fix": FAILED,
}
PARTIAL = ("probe-one", "probe-two")


def arm(kind, status=ArmStatus.FINISHED, **outcomes):
    tests = {"a": TEST, "b": OTHER}
    results = tuple(
        TestResult(test=tests[name], outcome=outcome, quality=quality, cases=1)
        for name, (outcome, quality) in outcomes.items()
    )
    return Arm(kind, status, 0, results, 0.1)


def evidence(changed=None, other=None):
    """One test, or two where `other` says how the second one differs from a good one."""
    arms = {}
    for name, outcome in {**GOOD, **(changed or {})}.items():
        outcomes = {"a": outcome} if other is None else {"a": outcome, "b": {**GOOD, **other}[name]}
        made = arm(KINDS[name.partition("-")[0]], **outcomes)
        arms[listed_arm(name)] = made
        if made.kind.behaves_like_baseline and made.kind is not VariantKind.BASELINE and outcome != PASSED:
            arms[listed_arm(name).again] = made  # it fails again when it is looked at again
    required = tuple(listed_arm(name) for name in GOOD if not name.startswith("probe"))
    return Evidence((TEST,) if other is None else (TEST, OTHER), arms, required)


def codes(changed=None, other=None):
    found = evidence(changed, other)
    return [str(reason.code) for reason in reproduction_reasons(judge_mutation(found), found, PARTIAL)]


def test_a_test_that_fails_with_the_bug_and_nowhere_else_reproduces_it():
    assert codes() == []


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"removal-1": PASSED, "removal-2": PASSED}, "not-reproduced"),
        ({"removal-2": PASSED}, "not-reproduced"),
        ({"removal-1": (Outcome.FAILED, Quality.COLLECTION)}, "not-reproduced"),
        ({"removal-1": (Outcome.FAILED, Quality.TIMEOUT)}, "not-reproduced"),
        ({"removal-1": (Outcome.SKIPPED, None)}, "not-reproduced"),
        ({"removal-1": (Outcome.MISSING, None)}, "not-reproduced"),
        ({"baseline": FAILED, **{f"rewritten-{number}": FAILED for number in range(1, 5)}}, "fix-rejected"),
        ({"baseline": (Outcome.SKIPPED, None), "rewritten-1": (Outcome.SKIPPED, None),
          "rewritten-2": (Outcome.SKIPPED, None), "rewritten-3": (Outcome.SKIPPED, None),
          "rewritten-4": (Outcome.SKIPPED, None)}, "fix-rejected"),
        ({"twin-other": FAILED}, "fix-rejected"),
        ({"rewritten-1": FAILED, "rewritten-2": FAILED}, "text-dependent"),
        ({"placebo-authored": FAILED}, "text-dependent"),
        ({"garbage-1": PASSED}, "text-dependent"),
        ({"probe-two": PASSED}, "accepts-partial-fix"),
        ({"probe-wrong-fix": PASSED}, "accepts-wrong-fix"),
        ({"probe-wrong-fix": (Outcome.SKIPPED, None)}, "accepts-wrong-fix"),
    ],
)  # fmt: skip
def test_each_way_to_fail_has_its_own_reason(changed, code):
    assert codes(changed) == [code]


@pytest.mark.parametrize("quality", [Quality.ASSERTION, Quality.RAISED, Quality.CRASH])
def test_an_assertion_an_exception_or_a_crash_shows_the_bug(quality):
    assert codes({"removal-1": (Outcome.FAILED, quality)}) == []


def test_another_test_may_notice_a_partial_fix():
    assert codes({"probe-two": PASSED}, other={}) == []
    assert codes({"probe-two": PASSED}, other={"probe-two": PASSED}) == ["accepts-partial-fix"]


def test_every_listed_test_must_fail_on_the_wrong_fix():
    assert codes(other={"probe-wrong-fix": PASSED}) == ["accepts-wrong-fix"]


@pytest.mark.parametrize("outcome", [(Outcome.FAILED, Quality.COLLECTION), (Outcome.MISSING, None)])
def test_what_shows_nothing_on_the_wrong_fix_is_no_reason(outcome):
    assert codes({"probe-wrong-fix": outcome}) == []


def test_every_listed_test_must_reproduce_the_bug():
    assert codes(other={"removal-1": PASSED, "removal-2": PASSED}) == ["not-reproduced"]


def test_a_review_that_is_open_says_nothing_beside_a_failure():
    review = Reason(code=ReasonCode.NEEDS_REVIEW, stage=Stage.MANIFEST, words="look at it")
    found = evidence({"probe-one": PASSED})
    told = reproduction_reasons([review, *judge_mutation(found)], found, PARTIAL)
    assert [reason.code for reason in told] == ["accepts-partial-fix"]
    assert reproduction_reasons([review], evidence(), PARTIAL) == (review,)
    assert part_result(Part.REPRODUCE, [review]).met is None


def test_a_run_of_all_tests_that_is_red_where_the_bug_is_mended_says_so():
    of_all = Reason(code=ReasonCode.BASELINE_RED, stage=Stage.MUTATION, subject="", words="the run of all is red")
    of_one = Reason(code=ReasonCode.BASELINE_RED, stage=Stage.MUTATION, subject="test_x.py::test_y", words="red")
    [of_all_told, of_one_told] = reproduction_reasons([of_all, of_one], None, ())
    assert (of_all_told.code, of_all_told.words) == ("fix-rejected", "the run of all is red")
    assert (of_one_told.code, of_one_told.words) == ("fix-rejected", "it fails where the fault is mended")


def test_no_test_at_all_reproduces_nothing():
    empty = Reason(code=ReasonCode.EMPTY_SUBMISSION, stage=Stage.INTAKE, words="the patch is empty")
    [told] = reproduction_reasons([empty], None, PARTIAL)
    assert (told.code, told.code.verdict) == ("not-reproduced", Verdict.FAILED)


BUGGY, FIXED = {"src/a.py": b"a\nbug\nc\n"}, {"src/a.py": b"a\ngood\nc\n"}
MENDED = FileChange("src/a.py", BUGGY["src/a.py"], b"a\ngood\nc\n")


def hidden(arms, spans=(), product=(MENDED,), fault="", fixes=(FIXED,)):
    handed = HandedIn(product=tuple(product), spans=tuple(spans), fault=fault)
    return Hidden(frozenset({TEST}), with_place(handed, BUGGY, fixes), arms, BUGGY, fixes)


def good_arms(**changed):
    passing = arm(VariantKind.BASELINE, a=PASSED, b=PASSED)
    arms = {hidden_arm(name): passing for name in (LOCATED, REPAIRED, UPSTREAM, *DRAWN)}
    return arms | {hidden_arm(name.replace("_", "-")): made for name, made in changed.items()}


def told(reasons):
    return [str(reason.code) for reason in reasons]


RED_A, RED_B = arm(VariantKind.BASELINE, a=FAILED, b=PASSED), arm(VariantKind.BASELINE, a=PASSED, b=FAILED)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, []),
        ({"repaired": RED_A}, ["bug-stays"]),
        ({"repaired": RED_B}, ["repair-breaks"]),
        ({"repaired": arm(VariantKind.BASELINE, a=FAILED, b=FAILED)}, ["bug-stays", "repair-breaks"]),
        ({"repaired_upstream": RED_B}, ["repair-breaks"]),
        ({"repaired": RED_A, "repaired_upstream": RED_B}, ["bug-stays"]),
        ({"repaired_drawn_1": RED_A}, ["repair-overfits"]),
        ({"repaired_drawn_2": RED_A}, ["repair-overfits"]),
        ({"repaired": RED_A, "repaired_drawn_1": RED_A}, ["bug-stays"]),
        ({"repaired": arm(VariantKind.BASELINE, a=(Outcome.FAILED, Quality.COLLECTION))}, ["repair-breaks"]),
        ({"repaired": arm(VariantKind.BASELINE, ArmStatus.DISAGREES, a=PASSED)}, ["forged-report"]),
        (
            {"repaired": arm(VariantKind.BASELINE, ArmStatus.TIMED_OUT, a=(Outcome.MISSING, None), b=PASSED)},
            ["bug-stays"],
        ),
    ],
)  # fmt: skip
def test_a_repair_fails_by_what_hidden_tests_and_drawn_inputs_show(changed, expected):
    assert told(repair_reasons(hidden(good_arms(**changed)))) == expected


def test_a_hidden_test_that_failed_once_and_passes_in_a_second_look_counts_as_passed():
    again = hidden_arm(REPAIRED).again
    arms = {**good_arms(repaired=RED_B), again: arm(VariantKind.BASELINE, a=PASSED, b=PASSED)}
    assert told(repair_reasons(hidden(arms))) == []


def test_a_repair_that_names_the_test_runner_is_none_whatever_hidden_tests_say():
    for arms, expected in ((good_arms(), []), (good_arms(repaired=RED_B), ["repair-breaks"])):
        shown = hidden(arms)
        asking = replace(shown, handed=replace(shown.handed, asks="src/a.py names pytest"))
        assert told(repair_reasons(asking)) == [*expected, "repair-asks-for-tests"]


def test_nothing_changed_mends_nothing():
    assert told(repair_reasons(hidden({}, product=()))) == ["bug-stays"]


def test_spans_are_judged_by_what_they_bring_from_the_fixed_tree():
    spans = [Span("src/a.py", 2, 2)]
    assert told(place_reasons(hidden(good_arms(), spans), False)) == []
    assert told(place_reasons(hidden(good_arms(located=RED_A), spans), False)) == ["not-located"]
    assert told(place_reasons(hidden(good_arms(), [Span("src/a.py", 1, 11)]), True)) == ["located-too-widely"]
    assert told(place_reasons(hidden(good_arms(), (), fault="there is no fault.yaml"), True)) == ["not-located"]


def test_the_place_of_an_own_repair_is_right_where_the_repair_is():
    beside = [Span("src/a.py", 3, 3)]
    change = FileChange("src/a.py", BUGGY["src/a.py"], b"a\nbug\nmended\n")
    without = {key: made for key, made in good_arms().items() if key.variant != LOCATED}
    assert told(place_reasons(hidden(without, beside, (change,)), True)) == []
    assert told(place_reasons(hidden(without, beside, (change,)), False)) == ["not-located"]
    assert told(place_reasons(hidden(without, beside, (change, MENDED)), True)) == ["not-located"]


def test_named_lines_that_cant_be_built_alone_are_the_place_of_an_own_repair_or_none():
    span, unbuilt = Span("src/a.py", 2, 2), arm(VariantKind.BASELINE, a=(Outcome.FAILED, Quality.COLLECTION))
    arms = good_arms(located=unbuilt)
    assert told(place_reasons(hidden(arms, [span]), True)) == []
    [reason] = place_reasons(hidden(arms, [Span("src/a.py", 1, 1)]), True)
    assert (reason.code, "can't be built" in reason.words) == ("not-located", True)


def test_a_repair_far_from_every_known_fix_makes_no_place():
    elsewhere = [Span("src/b.py", 1, 1)]
    change = FileChange("src/b.py", b"x\n", b"y\n")
    without = {key: made for key, made in good_arms().items() if key.variant != LOCATED}
    assert told(place_reasons(hidden(without, elsewhere, (change,)), True)) == ["not-located"]


def test_a_repair_that_holds_without_what_it_changes_at_the_place_is_somewhere_else():
    beside, there = FileChange("src/a.py", BUGGY["src/a.py"], b"a\nbug\nc # seen\n"), Span("src/a.py", 3, 3)
    wraps = FileChange("src/b.py", b"x\n", b"y\n")
    parts = ([there, Span("src/b.py", 1, 1)], (beside, wraps))
    without = {key: made for key, made in good_arms().items() if key.variant != LOCATED}
    elsewhere = hidden_arm(ELSEWHERE)
    holds = {**without, elsewhere: arm(VariantKind.BASELINE, a=PASSED, b=PASSED)}
    assert told(place_reasons(hidden(holds, *parts), True)) == ["not-located"]
    assert told(place_reasons(hidden({**without, elsewhere: RED_A}, *parts), True)) == []


def test_an_arm_that_shows_nothing_is_seen():
    assert hidden(good_arms(located=arm(VariantKind.BASELINE, ArmStatus.WRONG_VARIANT))).wrong_variants
    assert not hidden(good_arms()).wrong_variants
    assert not hidden(good_arms(repaired=arm(VariantKind.BASELINE, ArmStatus.WRONG_VARIANT))).wrong_variants


UNPROVED = arm(VariantKind.BASELINE, ArmStatus.WRONG_VARIANT, a=(Outcome.MISSING, None), b=(Outcome.MISSING, None))


@pytest.mark.parametrize("name", [REPAIRED, UPSTREAM, *DRAWN])
def test_a_repair_of_which_no_run_shows_that_it_ran_counts_as_one_that_breaks(name):
    arms = {**good_arms(), hidden_arm(name): UNPROVED}
    assert told(repair_reasons(hidden(arms))) == ["repair-breaks"]
    again = {**arms, hidden_arm(name).again: arm(VariantKind.BASELINE, a=PASSED, b=PASSED)}
    assert told(repair_reasons(hidden(again))) == []


def test_drawn_inputs_are_compared_call_by_call():
    right = [FuzzCall("f(1)", "1"), FuzzCall("f(2)", "2")]
    assert first_difference(right, right) == ""
    assert "f(2)" in first_difference(right, [right[0], FuzzCall("f(2)", "3")])
    assert "1 calls" in first_difference(right, right[:1])
    passing = arm(VariantKind.BASELINE, a=PASSED)
    assert compared(passing, "") is passing
    assert [item.outcome for item in compared(passing, "f(2)").results] == [Outcome.FAILED]


def test_hidden_arms_are_kept_beside_the_listed_tests_and_never_count_for_them():
    whole = evidence()
    both = replace(whole, arms={**whole.arms, **good_arms(located=arm(VariantKind.BASELINE, ArmStatus.TIMED_OUT))})
    rest, apart = without_hidden(both)
    assert rest.arms == whole.arms
    assert set(apart) == set(good_arms())
    assert judge_mutation(rest) == judge_mutation(whole)
    assert AT_BASELINE in rest.arms
    assert ArmKey.parse(str(hidden_arm(LOCATED))) == hidden_arm(LOCATED)


def test_the_reasons_are_described():
    assert without_a_row("bug", "bug.md") == []


def test_each_reason_is_shown_by_a_hand_in_that_is_kept():
    assert without_a_fixture("bug", Catalog()) == []
