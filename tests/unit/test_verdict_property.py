"""Nothing that is removed, cut off or garbled ever turns into a `resolved`."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judging.testing.arm_job import Reading, TestRun, read_job
from harness.judging.verify.evidence import REQUIRED, Evidence, listed_arm
from harness.judging.verify.mutation import judge_mutation
from harness.judging.verify.rubric_check import grade, judge_rubric
from harness.judging.verify.verdict import decide
from harness.sandbox.protocol import JobResult
from harness.specs.reasons import NoteCode, Reason, ReasonCode, Stage, Verdict
from harness.specs.test_results import Outcome, Quality, TestId, TestResult
from harness.specs.variants import Arm, ArmKey, ArmStatus, VariantKind
from tests.support.scripted_plan import KINDS
from tests.support.small_task import small_task

TEST = TestId("tests/test_x.py", "test_a")
PASSED = TestResult(test=TEST, outcome=Outcome.PASSED, cases=1)
KILLED = TestResult(test=TEST, outcome=Outcome.FAILED, quality=Quality.ASSERTION, cases=1)


def arm(name: str, result: TestResult, status: ArmStatus = ArmStatus.FINISHED) -> Arm:
    return Arm(KINDS[name], status, 0, (result,), 1.0)


def good_arms() -> dict[str, Arm]:
    return {name: arm(name, PASSED if kind.behaves_like_baseline else KILLED) for name, kind in KINDS.items()}


def evidence_of(arms: Mapping[str, Arm], tests: tuple[TestId, ...] = (TEST,)) -> Evidence:
    required = tuple(listed_arm(name) for name, kind in KINDS.items() if kind is not VariantKind.PROBE)
    return Evidence(tests, {ArmKey.parse(name): found for name, found in arms.items()}, required)


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    directory = tmp_path_factory.mktemp("task")
    (directory / "probes").mkdir()
    (directory / "probes" / "1.1.patch").write_text("")
    return small_task(directory)


def verdict(task, arms: dict[str, Arm], tests: tuple[TestId, ...] = (TEST,)) -> tuple[Verdict, set[ReasonCode]]:
    evidence = evidence_of(arms, tests)
    reasons = [*judge_mutation(evidence), *judge_rubric(grade(task, evidence, {}), task)]
    return decide(reasons), {reason.code for reason in reasons}


def test_good_evidence_is_resolved(task):
    assert verdict(task, good_arms()) == (Verdict.RESOLVED, set())


outcomes = st.sampled_from(
    [
        PASSED,
        KILLED,
        *(KILLED.model_copy(update={"quality": quality}) for quality in Quality),
        TestResult(test=TEST, outcome=Outcome.SKIPPED, cases=1),
        TestResult(test=TEST, outcome=Outcome.PASSED, cases=2, skipped=1),
        TestResult(test=TEST, outcome=Outcome.MISSING),
    ]
)


@given(st.sampled_from(sorted(KINDS)), outcomes, st.sampled_from(ArmStatus))
def test_only_a_change_that_keeps_the_evidence_whole_stays_resolved(task, name, result, status):
    arms = {**good_arms(), name: arm(name, result, status)}
    # The other arms skip no case.
    passed = result.outcome is Outcome.PASSED and not result.skipped
    whole = passed if KINDS[name].behaves_like_baseline else result.killed
    found, _ = verdict(task, arms)
    # One kind of removal is enough.
    assert (found is Verdict.RESOLVED) == ((whole or KINDS[name].removes) and status is ArmStatus.FINISHED)


@given(st.sampled_from(["removal-1", "removal-2"]), st.sampled_from(["garbage-1", "garbage-2"]), outcomes, outcomes)
def test_a_test_must_notice_one_kind_of_removal_each_time(task, refusing, garbage, one, other):
    found, _ = verdict(task, {**good_arms(), refusing: arm(refusing, one), garbage: arm(garbage, other)})
    assert (found is Verdict.RESOLVED) == (one.killed or other.killed)


@given(st.sets(st.sampled_from(sorted(KINDS)), min_size=1))
def test_missing_arms_never_resolve(task, missing):
    arms = {name: found for name, found in good_arms().items() if name not in missing}
    assert verdict(task, arms)[0] is not Verdict.RESOLVED


@given(st.sampled_from(sorted(KINDS)))
def test_an_arm_without_results_never_resolves(task, name):
    kinds = [kind for kind in VariantKind if kind.removes] if KINDS[name].removes else []
    chosen = [name, *(f"{kind}-1" for kind in kinds)]  # of removals one kind is enough
    empty = {name: replace(good_arms()[name], results=()) for name in chosen}
    assert verdict(task, {**good_arms(), **empty})[0] is not Verdict.RESOLVED


@pytest.mark.parametrize(
    ("name", "result", "code"),
    [
        ("baseline", TestResult(test=TEST, outcome=Outcome.SKIPPED, cases=1), ReasonCode.BASELINE_SKIPPED),
        ("rewritten-1", KILLED, ReasonCode.PLACEBO_SENSITIVE),
        ("twin-1.1", KILLED, ReasonCode.PLACEBO_SENSITIVE),
        ("placebo-authored", KILLED, ReasonCode.PLACEBO_SENSITIVE),
        ("removal-1", PASSED, ReasonCode.SURVIVED_REMOVAL),
        ("removal-2", PASSED, ReasonCode.SURVIVED_REMOVAL),
        ("removal-1", TestResult(test=TEST, outcome=Outcome.SKIPPED, cases=1), ReasonCode.SURVIVED_REMOVAL),
        ("removal-1", KILLED.model_copy(update={"quality": Quality.TEARDOWN}), ReasonCode.SURVIVED_REMOVAL),
        ("removal-1", KILLED.model_copy(update={"quality": Quality.COLLECTION}), ReasonCode.KILLED_BY_COLLECTION),
        ("probe-1.1", PASSED, ReasonCode.CRITERION_UNMET),
    ],
)
def test_each_fault_is_named_by_its_own_code(task, name, result, code):
    without_garbage = {other: found for other, found in good_arms().items() if not other.startswith("garbage")}
    evidence = replace(evidence_of({**without_garbage, name: arm(name, result)}), required=REQUIRED)
    rubric = judge_rubric(grade(task, evidence, {}), task)
    assert code in {reason.code for reason in (*judge_mutation(evidence), *rubric)}


SETUP = KILLED.model_copy(update={"quality": Quality.SETUP})
MUTANT_ARMS = tuple(name for name, kind in KINDS.items() if not kind.behaves_like_baseline)


def test_what_a_fixture_notices_is_nothing_that_an_empty_test_notices(task):
    """Two listed tests that are `pass`, with a fixture that calls the code under test."""
    everywhere = {**good_arms(), **{name: arm(name, SETUP) for name in MUTANT_ARMS}}
    assert verdict(task, everywhere) == (
        Verdict.FAILED, {ReasonCode.SURVIVED_REMOVAL, ReasonCode.CRITERION_UNMET},
    )  # fmt: skip


def test_where_code_is_gone_a_fixture_counts_for_a_test_that_checks_something_and_under_a_probe_for_none(task):
    evidence = evidence_of({**good_arms(), **{name: arm(name, SETUP) for name in MUTANT_ARMS}})
    checks = replace(evidence, checking=(TEST,))
    assert {reason.code for reason in judge_mutation(evidence)} == {ReasonCode.SURVIVED_REMOVAL}
    assert judge_mutation(checks) == ()
    gone = {name for name in MUTANT_ARMS if checks.kills(listed_arm(name), TEST)}
    assert gone == {name for name in MUTANT_ARMS if KINDS[name].removes}
    assert gone < set(MUTANT_ARMS)


def test_an_empty_test_notices_nothing_whatever_the_report_takes_for_its_failure(task):
    """What fixtures note by subtests, hooks by soft checks and a `setUp` by itself is reported as a test's own."""
    evidence = evidence_of({**good_arms(), **{name: arm(name, KILLED) for name in MUTANT_ARMS}})
    assert judge_mutation(evidence) == ()
    empty = replace(evidence, empty=(TEST,), checking=(TEST,))
    assert {reason.code for reason in judge_mutation(empty)} == {ReasonCode.SURVIVED_REMOVAL}


ALONE = (VariantKind.BASELINE, VariantKind.REMOVAL)


@given(st.sampled_from(MUTANT_ARMS), st.sampled_from([q for q in Quality if q.kills and q is not Quality.SETUP]))
def test_a_fixture_that_fails_counts_for_a_test_that_fails_by_itself_somewhere(task, name, quality):
    itself = arm(name, KILLED.model_copy(update={"quality": quality}))
    arms = {**good_arms(), **{other: arm(other, SETUP) for other in MUTANT_ARMS}, name: itself}
    # Where the behaviour refuses, a fixture can step aside: then any test fails by itself.
    assert (verdict(task, arms) == (Verdict.RESOLVED, set())) == (KINDS[name] is not VariantKind.REMOVAL)
    removals = {key: each for key, each in arms.items() if key == name or KINDS.get(key) in ALONE}
    assert evidence_of(removals).kills(listed_arm(name), TEST)


def test_a_failing_fixture_is_not_believed_by_a_failure_that_shows_nothing(task):
    for quality in (Quality.COLLECTION, Quality.TEARDOWN):
        nothing = arm("probe-1.1", KILLED.model_copy(update={"quality": quality}))
        arms = {**good_arms(), **{other: arm(other, SETUP) for other in MUTANT_ARMS}, "probe-1.1": nothing}
        assert ReasonCode.SURVIVED_REMOVAL in verdict(task, arms)[1]


def test_a_changed_test_earns_no_kill_that_its_old_version_had(task):
    evidence = evidence_of({**good_arms(), "probe-1.1,changed-before": arm("probe-1.1", KILLED)})
    assert not evidence.kills(listed_arm("probe-1.1"), TEST)
    assert evidence.kills(listed_arm("removal-1"), TEST)


REPORT = (
    b'<testsuites><testsuite><testcase classname="tests.test_x" name="test_a" time="0.1"/></testsuite></testsuites>'
)
RUN = TestRun((TEST,), {}, frozenset(), (), ("true",), 10)
PROOF = ("running lib.py aa bb",)


def job(**changes) -> JobResult:
    log = b"running lib.py aa bb\nmore\n"
    good = JobResult(0, False, False, log, {"1.xml": REPORT}, True, 1.0)
    return replace(good, **changes)


def reading_of(result: JobResult) -> Reading:
    return asyncio.run(read_job("junit", RUN, PROOF, result))


def test_a_whole_report_with_a_matching_status_is_read():
    reading = reading_of(job())
    assert reading.status is ArmStatus.FINISHED
    assert reading.results[0].outcome is Outcome.PASSED


@given(st.integers(min_value=0, max_value=len(REPORT) - 1))
def test_a_cut_report_never_yields_a_pass(length):
    reading = reading_of(job(outputs={"1.xml": REPORT[:length]}))
    assert reading.results[0].outcome is not Outcome.PASSED
    assert reading.status is ArmStatus.DISAGREES


@given(st.binary(max_size=100))
def test_a_garbled_report_never_yields_a_pass(data):
    assert reading_of(job(outputs={"1.xml": data})).results[0].outcome is not Outcome.PASSED


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"log": b"running lib.py aa cc\n"}, ArmStatus.WRONG_VARIANT),
        ({"log": b""}, ArmStatus.WRONG_VARIANT),
        ({"exit_status": 1}, ArmStatus.DISAGREES),
        ({"outputs": {}}, ArmStatus.DISAGREES),
        ({"complete": False}, ArmStatus.DISAGREES),
        ({"timed_out": True}, ArmStatus.TIMED_OUT),
        ({"outputs": {"1.xml": REPORT.replace(b"/>", b"><failure/></testcase>", 1)}}, ArmStatus.DISAGREES),
    ],
)
def test_status_report_and_proof_must_tell_one_story(changes, status):
    assert reading_of(job(**changes)).status is status


@given(st.lists(st.sampled_from(ReasonCode), min_size=1))
def test_a_reason_always_keeps_a_verdict_from_resolved_and_the_worst_one_wins(codes):
    reasons = [Reason(code=code, stage=Stage.MUTATION, words="x") for code in codes]
    order = [Verdict.UNSCORED, Verdict.FAILED, Verdict.INVALID]
    assert decide(reasons) is max((code.verdict for code in codes), key=order.index)


def test_every_reason_leads_to_a_verdict_and_none_to_resolved():
    assert all(code.verdict is not Verdict.RESOLVED for code in ReasonCode)
    assert not set(ReasonCode) & set(NoteCode)


@given(st.sampled_from(sorted(KINDS)))
def test_an_arm_that_ran_another_variant_is_nobodys_failure(task, name):
    missing = TestResult(test=TEST, outcome=Outcome.MISSING)
    arms = {**good_arms(), name: arm(name, missing, ArmStatus.WRONG_VARIANT)}
    assert [reason.code for reason in judge_mutation(evidence_of(arms))] == [ReasonCode.SANDBOX_LOST]


@pytest.mark.parametrize("status", [ArmStatus.TIMED_OUT, ArmStatus.DISAGREES, ArmStatus.OVER_LIMIT])
def test_what_upstreams_own_tests_do_is_not_the_submissions_fault(status):
    ended = Arm(VariantKind.BASELINE, status, 1, (), 1.0)
    whole = replace(ended, status=ArmStatus.FINISHED)
    names = ("baseline,existing-before", "baseline,existing-after")
    assert judge_mutation(evidence_of({**good_arms(), **dict(zip(names, (ended, whole), strict=True))})) == ()
    assert judge_mutation(evidence_of({**good_arms(), **dict(zip(names, (whole, ended), strict=True))}))
