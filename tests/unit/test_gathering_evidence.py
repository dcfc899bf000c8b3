"""Arms are run, run again and lost; what is made of them doesn't depend on the order in which that happens."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.sandbox.protocol import Image
from harness.specs.errors import SandboxLost
from harness.specs.ids import TestId
from harness.specs.reasons import ReasonCode, Verdict
from harness.specs.task import Task
from harness.specs.variants import ArmKey, ArmStatus, Role, VariantKind
from harness.tracks.registry import track_of
from harness.verify.arms import ARM_TRIES, ArmContext, Suite, run_arms
from harness.verify.evidence import BASELINES, EXISTING_AFTER, EXISTING_BEFORE, THIRD_BASELINE, Evidence, listed
from harness.verify.gathering import gather_evidence
from harness.verify.manifest_check import ManifestCheck
from harness.verify.mutation import judge_mutation
from harness.verify.rubric_check import grade, judge_rubric
from harness.verify.verdict import decide
from tests.support.fake_engine import Event, FakeEngine, Fate, Run, scripted_variant
from tests.support.small_task import small_task

FILE = "tests/test_sums.py"
A, B, CHANGED = (TestId(FILE, name) for name in ("test_a", "test_b", "test_changed"))
OLD = TestId("tests/test_old.py", "test_old")
KINDS = {
    "baseline": VariantKind.BASELINE,
    "placebo-text": VariantKind.PLACEBO_TEXT,
    "placebo-code": VariantKind.PLACEBO_CODE,
    "placebo-source": VariantKind.PLACEBO_SOURCE,
    "removal": VariantKind.REMOVAL,
    "removal-pristine-source": VariantKind.REMOVAL_PRISTINE_SOURCE,
    "probe-1.1": VariantKind.PROBE,
}
SUITE_FILES = {FILE: b"...", OLD.file: b"..."}
Behaviour = Mapping[tuple[str, str], Sequence[str]]
"""(variant, test) -> what it does at its first run, its second, ...; the last one for all further runs."""


def script(behaviour: Behaviour):
    """What isn't said is as a good test does it."""

    def does(run: Run, test: TestId) -> str:
        good = "passes" if KINDS[run.variant].behaves_like_baseline or test == OLD else "fails"
        if test == CHANGED and not run.patched:
            good = "passes"
        told = behaviour.get((run.variant, test.name + ("" if run.patched else " before")), [good])
        return told[min(run.number, len(told)) - 1]

    return does


@pytest.fixture(scope="module")
def task(tmp_path_factory) -> Task:
    directory = tmp_path_factory.mktemp("task")
    (directory / "probes").mkdir()
    (directory / "probes" / "1.1.patch").write_text("")
    return small_task(directory)


class Gathered(NamedTuple):
    engine: FakeEngine
    evidence: Evidence
    reasons: tuple[tuple[ReasonCode, str], ...]
    verdict: Verdict


def arm_context_of(task: Task, engine: FakeEngine, slots: int) -> ArmContext:
    image, toolchain = Image("fake", "0", "/app", task.directory), track_of(task).toolchain(task)
    return ArmContext(engine, image, asyncio.Semaphore(slots), {}, lambda *_: None, toolchain)


def gathered(task: Task, engine: FakeEngine, tests=(A, B), existing=(), changed=(), slots: int = 3) -> Gathered:
    """Raises SandboxLost."""

    async def gather() -> Evidence:
        arm_context = arm_context_of(task, engine, slots)
        variants = [scripted_variant(name, kind) for name, kind in KINDS.items()]
        check = ManifestCheck(tests, frozenset(changed), existing)
        return await gather_evidence(arm_context, task, variants, Suite(tests, SUITE_FILES), check)

    evidence = asyncio.run(gather())
    reasons = [*judge_mutation(evidence), *judge_rubric(grade(task, evidence, {}), task)]
    return Gathered(engine, evidence, tuple((item.code, item.subject) for item in reasons), decide(reasons))


def codes(found: Gathered) -> set[ReasonCode]:
    return {code for code, _ in found.reasons}


def test_every_arm_runs_once_for_a_good_suite(task):
    found = gathered(task, FakeEngine(script({})), (A, B, CHANGED), (OLD,), (CHANGED,))
    assert found.verdict is Verdict.RESOLVED
    listed_arms = {*BASELINES, *(listed(name) for name in KINDS if name != "baseline")}
    before = {ArmKey(Role.CHANGED_BEFORE, name) for name in ("removal", "removal-pristine-source", "probe-1.1")}
    assert set(found.evidence.arms) == {*listed_arms, *before, EXISTING_BEFORE, EXISTING_AFTER}
    assert found.engine.containers == len(found.evidence.arms)


def test_baselines_that_differ_get_a_third_and_the_test_is_flaky(task):
    found = gathered(task, FakeEngine(script({("baseline", "test_a"): ["passes", "fails", "passes"]})))
    assert THIRD_BASELINE in found.evidence.arms
    assert (ReasonCode.FLAKY, str(A)) in found.reasons
    assert str(B) not in {subject for _, subject in found.reasons}


def test_nothing_more_runs_where_no_test_is_green(task):
    found = gathered(task, FakeEngine(script({("baseline", test): ["fails"] for test in ("test_a", "test_b")})))
    assert set(found.evidence.arms) == set(BASELINES)
    assert codes(found) >= {ReasonCode.BASELINE_RED}


def test_probes_do_not_run_where_no_test_notices_the_removal(task):
    found = gathered(task, FakeEngine(script({("removal", test): ["passes"] for test in ("test_a", "test_b")})))
    assert listed("probe-1.1") not in found.evidence.arms
    assert ReasonCode.SURVIVED_REMOVAL in codes(found)


@pytest.mark.parametrize(
    ("does", "code"),
    [(["fails", "passes"], ReasonCode.FLAKY), (["fails", "fails"], ReasonCode.PLACEBO_SENSITIVE)],
)
def test_a_placebo_under_which_a_test_fails_runs_again(task, does, code):
    found = gathered(task, FakeEngine(script({("placebo-code", "test_b"): does})))
    again = {key for key in found.evidence.arms if key.role is Role.LISTED and key.repetition > 1}
    assert again == {BASELINES[1], listed("placebo-code").again}
    assert found.reasons == ((code, str(B)),)


def test_a_crash_hides_no_other_test(task):
    found = gathered(task, FakeEngine(script({("removal", "test_a"): ["crashes"]})))
    assert found.verdict is Verdict.RESOLVED
    alone = [run.tests for run in found.engine.finished if run.variant == "removal"]
    assert Counter(alone) == Counter([(A, B), (A,), (B,)])


def test_an_existing_test_that_fails_at_times_is_looked_at_again_with_the_patch_only(task):
    found = gathered(task, FakeEngine(script({("baseline", "test_old"): ["fails", "passes"]})), existing=(OLD,))
    assert found.verdict is Verdict.RESOLVED
    assert {key for key in found.evidence.arms if key.role is not Role.LISTED} == {
        EXISTING_BEFORE, EXISTING_AFTER, EXISTING_AFTER.again,
    }  # fmt: skip
    found = gathered(task, FakeEngine(script({("baseline", "test_old"): ["fails"]})), existing=(OLD,))
    assert found.reasons == ((ReasonCode.EXISTING_TEST_BROKEN, str(OLD)),)


def test_a_changed_test_earns_nothing_that_it_noticed_before(task):
    mutants = ("removal", "removal-pristine-source", "probe-1.1")
    noticed = {(name, "test_changed before"): ["fails"] for name in mutants}
    found = gathered(task, FakeEngine(script(noticed)), (CHANGED,), changed=(CHANGED,))
    assert found.reasons == ((ReasonCode.CRITERION_UNMET, "1.1"),)


def test_an_arm_over_its_limit_fails_the_suite_and_isnt_run_again(task):
    found = gathered(task, FakeEngine(script({}), [Event(fate=Fate.OVER_LIMIT)]))
    assert found.verdict is Verdict.FAILED
    assert ReasonCode.ARM_LIMIT in codes(found)
    assert found.engine.containers == len({*BASELINES, THIRD_BASELINE})


def test_an_arm_that_is_lost_runs_again_and_no_other_does(task):
    lost = [Event(), Event(fate=Fate.LOST), Event(fate=Fate.LOST)]
    found = gathered(task, FakeEngine(script({}), lost), slots=1)
    assert found.verdict is Verdict.RESOLVED
    assert found.engine.containers == len(found.evidence.arms) + 2
    assert len(found.engine.finished) == len(found.evidence.arms)


@pytest.mark.parametrize("slots", [1, 3])
def test_an_arm_that_is_lost_every_time_ends_the_judging(task, slots):
    barely = FakeEngine(script({}), [Event(fate=Fate.LOST)] * (ARM_TRIES - 1))
    assert gathered(task, barely, slots=slots).verdict is Verdict.RESOLVED
    engine = FakeEngine(script({}), [Event(fate=Fate.LOST)] * ARM_TRIES * len(BASELINES))
    with pytest.raises(SandboxLost, match="removed from outside"):
        gathered(task, engine, slots=slots)
    assert engine.finished == []


@pytest.mark.parametrize("hidden", ["test_a", "test_b"])
def test_a_test_run_alone_whose_variant_is_not_shown_is_no_evidence_against_it(task, hidden):
    """It is absent from the crashed arm and from its own: nothing was seen of it."""
    engine = FakeEngine(script({("removal", hidden): ["crashes"]}))
    whole = gathered(task, engine, slots=1)
    assert whole.verdict is Verdict.RESOLVED
    for number in range(engine.containers):
        order = [Event()] * number + [Event(fate=Fate.OTHER_VARIANT)]
        found = gathered(task, FakeEngine(script({("removal", hidden): ["crashes"]}), order), slots=1)
        assert codes(found) >= {ReasonCode.SANDBOX_LOST}
        assert found.verdict is Verdict.UNSCORED


def test_no_more_containers_run_at_once_than_there_are_slots(task):
    engine = FakeEngine(script({}), [Event(turns=5)] * 50)
    gathered(task, engine, existing=(OLD,), slots=2)
    assert engine.most_at_once == 2


@pytest.mark.parametrize("status", [Fate.LOST, Fate.OTHER_VARIANT])
async def test_a_lost_arm_never_kills(task, status):
    async def arm(engine: FakeEngine):
        arm_context = ArmContext(
            engine,
            Image("fake", "0", "/app", task.directory),
            asyncio.Semaphore(1),
            {},
            lambda *_: None,
            track_of(task).toolchain(task),
        )
        removal = (listed("removal"), scripted_variant("removal", VariantKind.REMOVAL))
        return (await run_arms(arm_context, task, Suite((A,), SUITE_FILES), [removal]))[listed("removal")]

    assert (await arm(FakeEngine(script({})))).results[0].killed
    events = [Event(fate=status)] * ARM_TRIES
    try:
        found = await arm(FakeEngine(script({}), events))
    except SandboxLost:
        return
    assert found.status is ArmStatus.WRONG_VARIANT
    assert not any(item.killed for item in found.results)


OUTCOMES = st.sampled_from(["passes", "fails", "skips", "absent", "crashes"])
CASES = st.tuples(
    st.sampled_from(sorted(KINDS)),
    st.sampled_from(["test_a", "test_b", "test_changed", "test_changed before", "test_old", "test_old before"]),
)
BEHAVIOURS = st.dictionaries(CASES, st.lists(OUTCOMES, min_size=1, max_size=3), max_size=4)
TURNS = st.integers(0, 12)
ORDERS = st.lists(st.builds(Event, TURNS, st.just(Fate.FINISHES)), max_size=40)
LOSSES = st.lists(
    st.builds(Event, TURNS, st.sampled_from([Fate.FINISHES] * 3 + [Fate.LOST] * 2 + [Fate.OTHER_VARIANT])),
    max_size=40,
)
EVERYTHING = {"tests": (A, B, CHANGED), "existing": (OLD,), "changed": (CHANGED,)}


def undisturbed(task: Task, behaviour: Behaviour) -> Gathered:
    return gathered(task, FakeEngine(script(behaviour)), **EVERYTHING)


@settings(deadline=None)
@given(BEHAVIOURS, ORDERS, st.integers(1, 8))
def test_the_same_suite_gets_the_same_verdict_in_any_order_of_events(task, behaviour, order, slots):
    found = gathered(task, FakeEngine(script(behaviour), order), **EVERYTHING, slots=slots)
    expected = undisturbed(task, behaviour)
    assert Counter(found.reasons) == Counter(expected.reasons)
    assert found.verdict is expected.verdict


@settings(deadline=None)
@given(BEHAVIOURS, LOSSES, st.integers(1, 8))
def test_lost_arms_change_no_verdict_but_to_unscored(task, behaviour, losses, slots):
    expected = undisturbed(task, behaviour)
    try:
        found = gathered(task, FakeEngine(script(behaviour), losses), **EVERYTHING, slots=slots)
    except SandboxLost:
        return
    if ReasonCode.SANDBOX_LOST in codes(found):
        assert found.verdict is not Verdict.RESOLVED
        return
    assert Counter(found.reasons) == Counter(expected.reasons)
    ran, would = (Counter(run[:3] for run in item.engine.finished) for item in (found, expected))
    assert ran == would, "a loss makes no other arm run again"


@settings(deadline=None)
@given(BEHAVIOURS, st.lists(st.builds(Event, TURNS, st.sampled_from(Fate)), max_size=40), st.integers(1, 8))
def test_no_order_of_faults_makes_a_suite_resolved_that_is_not(task, behaviour, events, slots):
    try:
        found = gathered(task, FakeEngine(script(behaviour), events), **EVERYTHING, slots=slots)
    except SandboxLost:
        return
    if found.verdict is Verdict.RESOLVED:
        assert undisturbed(task, behaviour).verdict is Verdict.RESOLVED
