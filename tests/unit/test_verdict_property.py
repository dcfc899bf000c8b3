"""Nothing that is removed, cut off or garbled ever turns into a `resolved`."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.sandbox.protocol import JobResult
from harness.specs.ids import TestId
from harness.specs.reasons import NoteCode, Reason, ReasonCode, Stage, Verdict
from harness.specs.results import Outcome, Quality, TestResult
from harness.specs.variants import Arm, ArmKey, ArmStatus, VariantKind
from harness.testing.arm_job import Reading, TestRun, read_job
from harness.verify.evidence import Evidence, listed
from harness.verify.mutation import judge_mutation
from harness.verify.rubric_check import grade, judge_rubric
from harness.verify.verdict import decide
from tests.support.small_task import small_task

TEST = TestId("tests/test_x.py", "test_a")
PASSED = TestResult(test=TEST, outcome=Outcome.PASSED, cases=1)
KILLED = TestResult(test=TEST, outcome=Outcome.FAILED, quality=Quality.ASSERTION, cases=1)
KINDS = {
    "baseline": VariantKind.BASELINE,
    "baseline,run-2": VariantKind.BASELINE,
    "placebo-text": VariantKind.PLACEBO_TEXT,
    "placebo-code": VariantKind.PLACEBO_CODE,
    "placebo-source": VariantKind.PLACEBO_SOURCE,
    "removal": VariantKind.REMOVAL,
    "removal-pristine-source": VariantKind.REMOVAL_PRISTINE_SOURCE,
    "probe-1.1": VariantKind.PROBE,
}


def arm(name: str, result: TestResult, status: ArmStatus = ArmStatus.FINISHED) -> Arm:
    return Arm(KINDS[name], status, 0, (result,), 1.0)


def good_arms() -> dict[str, Arm]:
    return {name: arm(name, PASSED if kind.behaves_like_baseline else KILLED) for name, kind in KINDS.items()}


def evidence_of(arms: Mapping[str, Arm], tests: tuple[TestId, ...] = (TEST,)) -> Evidence:
    return Evidence(tests, {ArmKey.parse(name): found for name, found in arms.items()})


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
        TestResult(test=TEST, outcome=Outcome.MISSING),
    ]
)


@given(st.sampled_from(sorted(KINDS)), outcomes, st.sampled_from(ArmStatus))
def test_only_a_change_that_keeps_the_evidence_whole_stays_resolved(task, name, result, status):
    arms = {**good_arms(), name: arm(name, result, status)}
    whole = result.outcome is Outcome.PASSED if KINDS[name].behaves_like_baseline else result.killed
    found, _ = verdict(task, arms)
    assert (found is Verdict.RESOLVED) == (whole and status is ArmStatus.FINISHED)


@given(st.sets(st.sampled_from(sorted(KINDS)), min_size=1))
def test_missing_arms_never_resolve(task, missing):
    arms = {name: found for name, found in good_arms().items() if name not in missing}
    assert verdict(task, arms)[0] is not Verdict.RESOLVED


@given(st.sampled_from(sorted(KINDS)))
def test_an_arm_without_results_never_resolves(task, name):
    assert verdict(task, {**good_arms(), name: replace(good_arms()[name], results=())})[0] is not Verdict.RESOLVED


@pytest.mark.parametrize(
    ("name", "result", "code"),
    [
        ("baseline", TestResult(test=TEST, outcome=Outcome.SKIPPED, cases=1), ReasonCode.FLAKY),
        ("placebo-text", KILLED, ReasonCode.PLACEBO_SENSITIVE),
        ("placebo-code", KILLED, ReasonCode.PLACEBO_SENSITIVE),
        ("placebo-source", KILLED, ReasonCode.PLACEBO_SENSITIVE),
        ("removal", PASSED, ReasonCode.SURVIVED_REMOVAL),
        ("removal-pristine-source", PASSED, ReasonCode.SURVIVED_REMOVAL),
        ("removal", TestResult(test=TEST, outcome=Outcome.SKIPPED, cases=1), ReasonCode.SURVIVED_REMOVAL),
        ("removal", KILLED.model_copy(update={"quality": Quality.TEARDOWN}), ReasonCode.SURVIVED_REMOVAL),
        ("removal", KILLED.model_copy(update={"quality": Quality.COLLECTION}), ReasonCode.KILLED_BY_COLLECTION),
        ("probe-1.1", PASSED, ReasonCode.CRITERION_UNMET),
    ],
)
def test_each_fault_is_named_by_its_own_code(task, name, result, code):
    assert code in verdict(task, {**good_arms(), name: arm(name, result)})[1]


def test_a_changed_test_earns_no_kill_that_its_old_version_had(task):
    evidence = evidence_of({**good_arms(), "probe-1.1,changed-before": arm("probe-1.1", KILLED)})
    assert not evidence.kills(listed("probe-1.1"), TEST)
    assert evidence.kills(listed("removal"), TEST)


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
