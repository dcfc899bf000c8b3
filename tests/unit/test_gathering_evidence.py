"""Arms are run, run again and lost; what is made of them doesn't depend on the order in which that happens."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.judging.languages.toolchain import CompiledVariant, JobContext
from harness.judging.languages.variant_source import VariantSource
from harness.judging.verify.arms import ARM_TRIES, AS_FOR_AGENTS, ArmContext, ArmRunner, Scheduled, Suite
from harness.judging.verify.chance_failures import failed_once, flaky_tests
from harness.judging.verify.evidence import (
    EXISTING_AFTER,
    EXISTING_BEFORE,
    REWRITTEN_AFTER,
    Draw,
    Evidence,
    listed_arm,
)
from harness.judging.verify.examination import Examination
from harness.judging.verify.gathering import COMPILING_AT_ONCE, ArmPlan, gather_evidence
from harness.judging.verify.intake import Intake
from harness.judging.verify.judgement import judgement_of
from harness.judging.verify.manifest_check import ManifestCheck
from harness.judging.verify.mutation import judge_mutation, judge_unlisted, some_test_stands
from harness.judging.verify.rubric_check import grade, judge_rubric
from harness.judging.verify.verdict import decide
from harness.sandbox.protocol import Image, Job, JobResult, SandboxOptions
from harness.specs.errors import SandboxLost
from harness.specs.reasons import NoteCode, ReasonCode, Verdict
from harness.specs.task import Task, TaskLimits
from harness.specs.test_results import TestId
from harness.specs.variants import ArmKey, ArmStatus, Role, VariantKind
from tests.support.fake_engine import MARKER, Event, FakeEngine, Fate, Run, scripted_variant
from tests.support.scripted_language import ScriptedToolchain
from tests.support.scripted_plan import KINDS, MUTANTS, sources
from tests.support.small_task import small_task

FILE = "tests/test_sums.py"
A, B, CHANGED = (TestId(FILE, name) for name in ("test_a", "test_b", "test_changed"))
OLD = TestId("tests/test_old.py", "test_old")
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
    catalog = tmp_path_factory.mktemp("catalog")
    (catalog / "rubrics").mkdir()
    (catalog / "rubrics" / "sums-add.yaml").write_text("")
    directory = catalog / "tasks" / "sums-add"
    (directory / "probes").mkdir(parents=True)
    (directory / "probes" / "1.1.patch").write_text("")
    return small_task(directory)


class Gathered(NamedTuple):
    engine: FakeEngine
    evidence: Evidence
    reasons: tuple[tuple[ReasonCode, str], ...]
    verdict: Verdict


def arm_context_of(task: Task, engine: FakeEngine, slots: int) -> ArmContext:
    image = Image("fake", "0", "/app", task.directory)
    return ArmContext(
        engine, image, {}, slots=asyncio.Semaphore(slots), toolchain=ScriptedToolchain(), options=SandboxOptions()
    )


def gathered(
    task: Task, engine: FakeEngine, tests=(A, B), existing=(), changed=(), slots: int = 3, order: int = 0,
    unlisted=(), checking=(), empty=(),
) -> Gathered:  # fmt: skip
    """Raises SandboxLost."""

    async def gather() -> Evidence:
        arm_context = arm_context_of(task, engine, slots)
        check = ManifestCheck(tests, frozenset(changed), existing, unlisted, checking=checking, empty=empty)
        return await gather_evidence(
            arm_context, task, ArmPlan(sources(), Suite(tests, SUITE_FILES), check, Draw(0, order))
        )

    evidence = asyncio.run(gather())
    rubric = judge_rubric(grade(task, evidence, {}), task) if some_test_stands(evidence) else ()
    reasons = [
        *judge_mutation(evidence),
        *judge_unlisted(evidence, ManifestCheck(unlisted=unlisted, existing=existing)),
        *rubric,
    ]
    return Gathered(engine, evidence, tuple((item.code, item.subject) for item in reasons), decide(reasons))


def test_a_test_that_fails_in_its_fixture_alone_where_code_is_gone_stands_if_it_checks_something(task):
    gone = [name for name in MUTANTS if KINDS[name].removes]
    before = script({**{(name, "test_b"): ["fails before"] for name in gone}, ("probe-1.1", "test_b"): ["passes"]})
    assert gathered(task, FakeEngine(before), checking=(A, B)).verdict is Verdict.RESOLVED
    refused = gathered(task, FakeEngine(before), checking=(A,))
    assert refused.reasons == ((ReasonCode.SURVIVED_REMOVAL, str(B)),)


def test_a_test_with_an_empty_body_stands_nowhere(task):
    refused = gathered(task, FakeEngine(script({})), empty=(B,))
    assert (ReasonCode.SURVIVED_REMOVAL, str(B)) in refused.reasons


def notes(task: Task, found: Gathered) -> list[tuple[NoteCode, str]]:
    """Those of the verdict."""
    context = arm_context_of(task, found.engine, 1)
    examined = Examination(Intake((), b""), ManifestCheck(found.evidence.tests), found.evidence)
    return [(note.code, note.subject) for note in judgement_of(task, context, examined).record.notes]


def codes(found: Gathered) -> set[ReasonCode]:
    return {code for code, _ in found.reasons}


def test_every_arm_runs_once_for_a_good_suite(task):
    found = gathered(task, FakeEngine(script({})), (A, B, CHANGED), (OLD,), (CHANGED,))
    assert found.verdict is Verdict.RESOLVED
    before = {ArmKey(Role.CHANGED_BEFORE, name) for name in MUTANTS}
    assert set(found.evidence.arms) == {*map(listed_arm, KINDS), *before, EXISTING_BEFORE, EXISTING_AFTER}
    assert set(found.evidence.required) == set(found.evidence.arms) - before - {listed_arm("probe-1.1")}
    assert found.engine.containers == len(found.evidence.arms)


class CountingToolchain(ScriptedToolchain):
    """Notes which variants were asked for together, and answers when all that are asked for side by side were."""

    def __init__(self) -> None:
        self.asked: list[set[str]] = []
        self.together = asyncio.Barrier(COMPILING_AT_ONCE)

    async def compile(self, context: JobContext, asked: Sequence[VariantSource], /) -> list[CompiledVariant]:
        self.asked.append({source.name for source in asked})
        async with asyncio.timeout(10):
            await self.together.wait()
        return await super().compile(context, asked)


def test_variants_are_compiled_by_a_few_builds_side_by_side(task):
    toolchain, engine = CountingToolchain(), FakeEngine(script({}))
    context = replace(arm_context_of(task, engine, 3), toolchain=toolchain)
    suite, check = Suite((A, B), SUITE_FILES), ManifestCheck((A, B))
    asyncio.run(gather_evidence(context, task, ArmPlan(sources(), suite, check, Draw(0, 0))))
    assert [len(asked) for asked in toolchain.asked] == [len(KINDS) // COMPILING_AT_ONCE] * COMPILING_AT_ONCE
    assert set.union(*toolchain.asked) == set(KINDS)


@pytest.mark.parametrize("order", range(3))
@pytest.mark.parametrize(
    ("does", "code"),
    [
        (["fails"], ReasonCode.FLAKY),
        (["fails", "passes"], None),
        (["fails", "passes", "fails"], ReasonCode.FLAKY),
        (["fails", "fails", "passes"], ReasonCode.FLAKY),
        (["skips", "passes"], ReasonCode.BASELINE_SKIPPED),
    ],
)
def test_a_test_that_fails_at_baseline_alone_is_looked_at_twice_more_there(task, does, code, order):
    found = gathered(task, FakeEngine(script({("baseline", "test_a"): does})), order=order)
    assert found.reasons == (((code, str(A)),) if code else ())
    baselines = [key for key in found.evidence.arms if key.variant == "baseline"]
    assert len(baselines) == (1 if does[0] == "skips" else 3)


@pytest.mark.parametrize("order", range(5))
def test_a_suite_of_one_test_that_failed_at_baseline_by_chance_gets_all_its_arms(task, order):
    found = gathered(task, FakeEngine(script({("baseline", "test_a"): ["fails", "passes"]})), (A,), order=order)
    assert found.verdict is Verdict.RESOLVED
    assert set(map(listed_arm, KINDS)) <= set(found.evidence.arms)


@pytest.mark.parametrize(
    ("behaviour", "flaky"),
    [
        ({("baseline", "test_a"): ["fails", "passes"]}, ()),
        ({("rewritten-2", "test_a"): ["fails", "passes"]}, ()),
        ({("twin-1.1", "test_a"): ["fails", "passes"]}, ()),
        ({("rewritten-2", "test_a"): ["fails", "passes"], ("rewritten-3", "test_a"): ["fails", "passes"]}, (A,)),
        ({("baseline", "test_a"): ["fails", "passes"], ("twin-1.1", "test_b"): ["fails", "passes"]}, (A, B)),
        ({("rewritten-2", "test_a"): ["fails", "passes"], ("rewritten-2", "test_b"): ["fails", "passes"]}, (A, B)),
    ],
)
def test_one_failure_by_chance_is_a_note_and_more_are_flaky(task, behaviour, flaky):
    found = gathered(task, FakeEngine(script(behaviour)))
    assert found.reasons == tuple((ReasonCode.FLAKY, str(test)) for test in flaky)
    assert failed_once(found.evidence).keys() == {*flaky} or (not flaky and set(failed_once(found.evidence)) == {A})
    assert flaky_tests(found.evidence) == {*flaky}
    assert notes(task, found) == ([] if flaky or not behaviour else [(NoteCode.FLAKY_ONCE, str(A))])


@pytest.mark.parametrize(("seconds", "noted"), [(30.0, []), (30.1, [(NoteCode.SLOW_TESTS, "")])])
def test_listed_tests_that_take_long_at_baseline_are_noted(task, seconds, noted):
    found = gathered(task, FakeEngine(script({})))
    slow = replace(found.evidence.arms[listed_arm("baseline")], test_seconds=seconds)
    arms = {
        **found.evidence.arms,
        listed_arm("baseline"): slow,
        listed_arm("rewritten-1"): replace(slow, kind=KINDS["rewritten-1"], test_seconds=100),
    }
    assert notes(task, found._replace(evidence=replace(found.evidence, arms=arms))) == noted


def everywhere(does: str, *tests: str, kinds: Sequence[str] = tuple(KINDS)) -> Behaviour:
    return {(name, test): [does] for name in kinds for test in tests}


@pytest.mark.parametrize("order", range(5))
def test_where_no_test_is_green_only_what_tells_red_from_flaky_still_runs(task, order):
    red = everywhere("fails", "test_a", "test_b")
    found = gathered(task, FakeEngine(script(red)), order=order)
    assert found.reasons == ((ReasonCode.BASELINE_RED, str(A)), (ReasonCode.BASELINE_RED, str(B)))
    assert {name for name, kind in KINDS.items() if kind in (VariantKind.BASELINE, VariantKind.REWRITTEN)} <= {
        key.variant for key in found.evidence.arms
    }
    assert found.engine.containers <= len(KINDS)


@pytest.mark.parametrize("order", range(5))
def test_probes_that_can_show_nothing_more_are_left_out_and_no_other_arm_is(task, order):
    alive = everywhere("passes", "test_a", "test_b", kinds=("removal-1", "garbage-2"))
    found = gathered(task, FakeEngine(script(alive)), order=order)
    assert {name for name in KINDS if listed_arm(name) not in found.evidence.arms} <= {"probe-1.1"}
    assert found.reasons == ((ReasonCode.SURVIVED_REMOVAL, str(A)), (ReasonCode.SURVIVED_REMOVAL, str(B)))


@pytest.mark.parametrize("kinds", [("removal-1", "removal-2"), ("garbage-1", "garbage-2"), ("garbage-2",)])
def test_one_kind_of_removal_is_enough_where_a_test_fails_in_all_arms_of_it(task, kinds):
    assert gathered(task, FakeEngine(script(everywhere("passes", "test_a", kinds=kinds)))).verdict is Verdict.RESOLVED


def test_an_arm_of_each_kind_that_a_test_survives_is_too_much(task):
    alive = everywhere("passes", "test_a", kinds=("removal-2", "garbage-1"))
    assert gathered(task, FakeEngine(script(alive))).reasons == ((ReasonCode.SURVIVED_REMOVAL, str(A)),)


@pytest.mark.parametrize("order", range(5))
@pytest.mark.parametrize(
    ("name", "does", "code", "looks"),
    [
        ("rewritten-2", ["fails"], ReasonCode.PLACEBO_SENSITIVE, 1),
        ("rewritten-2", ["fails", "passes"], None, 2),
        ("rewritten-2", ["fails", "passes", "fails"], None, 2),
        ("twin-1.1", ["fails"], ReasonCode.PLACEBO_SENSITIVE, 1),
        ("twin-1.1", ["fails", "passes"], None, 2),
        ("twin-1.1", ["fails", "passes", "fails"], ReasonCode.PLACEBO_SENSITIVE, 2),
        ("placebo-authored", ["fails", "passes", "fails"], ReasonCode.PLACEBO_SENSITIVE, 2),
    ],
)
def test_a_failure_where_the_behaviour_is_the_same_is_looked_at_again(task, order, name, does, code, looks):
    found = gathered(task, FakeEngine(script({(name, "test_b"): does})), order=order)
    again = {key for key in found.evidence.arms if key.variant == name and key.repetition > 1}
    assert len(again) == looks
    assert found.reasons == (((code, str(B)),) if code else ())
    repeated = {key for key in found.evidence.arms if key.repetition > 1} - again
    assert len(repeated) == 2 * looks, "each time a removal of each kind runs again as well"
    assert all(KINDS[key.variant].removes for key in repeated)


def test_a_wrong_rewriting_is_excused_once(task):
    wrong = {("rewritten-2", "test_a"): ["fails", "passes", "fails"]}
    assert gathered(task, FakeEngine(script(wrong))).verdict is Verdict.RESOLVED
    two = {**wrong, ("rewritten-3", "test_b"): ["fails", "passes", "fails"]}
    assert gathered(task, FakeEngine(script(two))).reasons == ((ReasonCode.PLACEBO_SENSITIVE, str(B)),)


def test_a_removal_that_runs_again_must_be_noticed_as_well(task):
    """A test that knows that it is looked at again, because another one failed on purpose, isn't believed."""
    twice = {("rewritten-1", "test_a"): ["fails", "passes", "fails"]}
    lenient = {(name, "test_b"): ["fails", "passes"] for name in MUTANTS}
    found = gathered(task, FakeEngine(script({**twice, **lenient})))
    once_more = {KINDS[key.variant] for key in found.evidence.arms if key.repetition > 1} & {
        VariantKind.REMOVAL, VariantKind.GARBAGE,
    }  # fmt: skip
    assert (found.verdict is Verdict.FAILED) == (len(once_more) == 2)


def test_a_suite_that_sees_every_rewriting_costs_one_look(task):
    sensitive = {(name, "test_a"): ["fails"] for name, kind in KINDS.items() if name != "baseline"}
    found = gathered(task, FakeEngine(script({**sensitive, **{(n, "test_b"): d for (n, _), d in sensitive.items()}})))
    assert {code for code, _ in found.reasons} == {ReasonCode.PLACEBO_SENSITIVE}
    assert found.engine.containers <= len(KINDS) + 3


@pytest.mark.parametrize("passes", range(1, len(KINDS)))
def test_a_test_that_counts_arms_and_then_fails_is_found_in_any_order(task, passes):
    """Stages can't be told by order any more: what passes so many times and then fails, fails where it must pass."""
    for order in range(20):
        runs: Counter[TestId] = Counter()

        def counts(run: Run, test: TestId, runs: Counter[TestId] = runs) -> str:
            runs[test] += 1
            return "passes" if runs[test] <= passes else "fails"

        found = gathered(task, FakeEngine(counts), (A,), slots=1, order=order)
        assert found.verdict is Verdict.FAILED
        assert codes(found) <= {
            ReasonCode.PLACEBO_SENSITIVE, ReasonCode.BASELINE_RED, ReasonCode.FLAKY, ReasonCode.SURVIVED_REMOVAL,
        }  # fmt: skip


def test_a_crash_hides_no_other_test(task):
    found = gathered(task, FakeEngine(script({("removal-1", "test_a"): ["crashes"]})))
    assert found.verdict is Verdict.RESOLVED
    alone = [run.tests for run in found.engine.finished if run.variant == "removal-1"]
    assert Counter(alone) == Counter([(A, B), (A,), (B,)])


def test_an_existing_test_that_fails_at_times_is_looked_at_again_with_the_patch_only(task):
    found = gathered(task, FakeEngine(script({("baseline", "test_old"): ["fails", "passes"]})), existing=(OLD,))
    assert found.verdict is Verdict.RESOLVED
    assert {key for key in found.evidence.arms if key.role is not Role.LISTED} == {
        EXISTING_BEFORE, EXISTING_AFTER, EXISTING_AFTER.again,
    }  # fmt: skip
    found = gathered(task, FakeEngine(script({("baseline", "test_old"): ["fails"]})), existing=(OLD,))
    assert found.reasons == ((ReasonCode.EXISTING_TEST_BROKEN, str(OLD)),)


def test_a_listed_test_may_skip_some_of_its_cases_wherever_the_code_is_right(task):
    alike = [name for name, kind in KINDS.items() if kind.behaves_like_baseline]
    found = gathered(task, FakeEngine(script({(name, "test_a"): ["skips one"] for name in alike})))
    assert found.verdict is Verdict.RESOLVED
    at_baseline = found.evidence.result(listed_arm("baseline"), A)
    assert at_baseline is not None
    assert (at_baseline.cases, at_baseline.skipped) == (2, 1)
    assert notes(task, found) == [(NoteCode.SKIPPED_CASES, str(A))]
    gone = [name for name, kind in KINDS.items() if kind.removes]
    survives = gathered(task, FakeEngine(script({(name, "test_a"): ["skips one"] for name in gone})))
    assert survives.reasons == ((ReasonCode.SURVIVED_REMOVAL, str(A)),)


@pytest.mark.parametrize(("at_baseline", "elsewhere"), [("skips one", "passes both"), ("passes both", "skips one")])
def test_cases_that_run_in_some_arms_only_are_no_cases(task, at_baseline, elsewhere):
    """Skipped where there is a `.git`, as where people run them, or nowhere else."""
    alike = {name for name, kind in KINDS.items() if kind.behaves_like_baseline}
    does = {(name, "test_a"): [at_baseline if name == "baseline" else elsewhere] for name in alike}
    found = gathered(task, FakeEngine(script(does)))
    assert found.reasons == ((ReasonCode.PLACEBO_SENSITIVE, str(A)),)
    [reason] = [reason for reason in judge_mutation(found.evidence) if reason.code is ReasonCode.PLACEBO_SENSITIVE]
    assert reason.words.startswith("it fails, or skips other cases than at the baseline, in ")


@pytest.mark.parametrize(
    ("with_patch", "before", "broken"),
    [
        ("skips one", "passes both", True),
        ("skips one", "passes", False),
        ("skips one", "skips one", False),
        ("passes both", "skips one", False),
        ("skips", "skips one", True),
        ("fails", "skips one", True),
        ("absent", "skips one", True),
        ("skips", "skips", False),
    ],
)
def test_a_patch_may_skip_no_case_that_ran_before(task, with_patch, before, broken):
    does = {("baseline", "test_old"): [with_patch], ("baseline", "test_old before"): [before]}
    found = gathered(task, FakeEngine(script(does)), existing=(OLD,))
    assert found.reasons == (((ReasonCode.EXISTING_TEST_BROKEN, str(OLD)),) if broken else ())


def test_a_patch_may_drop_no_case_either(task):
    """By a hook, or by a table that it cuts: all that is left is green."""
    does = {("baseline", "test_old"): ["passes"], ("baseline", "test_old before"): ["passes both"]}
    found = gathered(task, FakeEngine(script(does)), existing=(OLD,))
    assert found.reasons == ((ReasonCode.EXISTING_TEST_BROKEN, str(OLD)),)


def test_an_existing_test_that_skips_a_case_once_is_looked_at_again(task):
    does = {("baseline", "test_old"): ["skips one", "passes both"], ("baseline", "test_old before"): ["passes both"]}
    found = gathered(task, FakeEngine(script(does)), existing=(OLD,))
    assert found.verdict is Verdict.RESOLVED
    assert EXISTING_AFTER.again in found.evidence.arms


@pytest.mark.parametrize(
    ("does", "reason"),
    [
        ({("baseline", "test_old"): ["fails"]}, ReasonCode.BASELINE_RED),
        ({("rewritten-1", "test_old"): ["fails"]}, ReasonCode.PLACEBO_SENSITIVE),
        ({("baseline", "test_old"): ["fails", "passes"], ("rewritten-1", "test_old"): ["fails", "passes"]}, None),
    ],
)
def test_a_test_that_needs_no_listing_must_not_be_red(task, does, reason):
    """It runs beside the listed ones, on the code as it is and rewritten, and never without the patch."""
    found = gathered(task, FakeEngine(script(does)), unlisted=(OLD,))
    assert found.reasons == (((reason, str(OLD)),) if reason else ())
    others = {key for key in found.evidence.arms if key.role is not Role.LISTED}
    assert others >= {EXISTING_AFTER, REWRITTEN_AFTER}
    assert EXISTING_BEFORE not in others


def test_a_changed_test_earns_nothing_that_it_noticed_before(task):
    noticed = {(name, "test_changed before"): ["fails"] for name in MUTANTS}
    found = gathered(task, FakeEngine(script(noticed)), (CHANGED,), changed=(CHANGED,))
    assert found.reasons == ((ReasonCode.CRITERION_UNMET, "1.1"),)


def test_an_arm_over_its_limit_fails_the_suite_and_isnt_run_again(task):
    found = gathered(task, FakeEngine(script({}), [Event(fate=Fate.OVER_LIMIT)]))
    assert found.verdict is Verdict.FAILED
    assert ReasonCode.ARM_LIMIT in codes(found)
    assert found.engine.containers <= 3, "those that ran at that moment"


@pytest.mark.parametrize("name", ["rewritten-1", "baseline", "twin-1.1"])
@pytest.mark.parametrize("order", range(3))
def test_tests_that_do_not_end_are_waited_for_once(task, name, order):
    found = gathered(task, FakeEngine(script({(name, "test_a"): ["hangs"]})), order=order)
    assert found.reasons == ((ReasonCode.ARM_TIMEOUT, ""),)
    told = [run for run in found.engine.finished if run.variant == name]
    assert len(told) == 1
    everywhere_hanging = FakeEngine(script({(each, "test_a"): ["hangs"] for each in KINDS}))
    assert codes(gathered(task, everywhere_hanging, order=order)) == {ReasonCode.ARM_TIMEOUT}


@pytest.mark.parametrize("order", range(5))
def test_a_verification_that_takes_longer_than_it_may_ends(tmp_path, order):
    """A container of the fake engine takes a tenth of a second."""
    (tmp_path / "probes").mkdir()
    (tmp_path / "probes" / "1.1.patch").write_text("")
    short, enough = (small_task(tmp_path, verification_seconds=seconds) for seconds in (1, 2))
    found = gathered(short, FakeEngine(script({})), slots=1, order=order)
    assert found.reasons == ((ReasonCode.ARM_TIMEOUT, ""),)
    assert found.evidence.out_of_time
    assert found.engine.containers in (10, 11)
    [reason] = judge_mutation(found.evidence)
    assert "a whole verification" in reason.words
    assert gathered(enough, FakeEngine(script({})), slots=1, order=order).verdict is Verdict.RESOLVED


def test_a_whole_verification_may_take_as_long_as_its_arms_do_by_default():
    assert TaskLimits(arm_seconds=100).of_verification(40) == 100 * (5 + 10)
    assert TaskLimits(verification_seconds=7).of_verification(40) == 7


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
    engine = FakeEngine(script({}), [Event(fate=Fate.LOST)] * ARM_TRIES * len(KINDS))
    with pytest.raises(SandboxLost, match="removed from outside"):
        gathered(task, engine, slots=slots)
    assert engine.finished == []


@pytest.mark.parametrize("hidden", ["test_a", "test_b"])
def test_a_test_run_alone_whose_variant_is_not_shown_is_no_evidence_against_it(task, hidden):
    """It is absent from the crashed arm and from its own: nothing was seen of it."""
    engine = FakeEngine(script({("removal-1", hidden): ["crashes"]}))
    whole = gathered(task, engine, slots=1)
    assert whole.verdict is Verdict.RESOLVED
    for number in range(engine.containers):
        order = [Event()] * number + [Event(fate=Fate.OTHER_VARIANT)]
        found = gathered(task, FakeEngine(script({("removal-1", hidden): ["crashes"]}), order), slots=1)
        assert codes(found) >= {ReasonCode.SANDBOX_LOST}
        assert found.verdict is Verdict.UNSCORED


def test_no_more_containers_run_at_once_than_there_are_slots(task):
    engine = FakeEngine(script({}), [Event(turns=5)] * 50)
    gathered(task, engine, existing=(OLD,), slots=2)
    assert engine.most_at_once == 2


@pytest.mark.parametrize("status", [Fate.LOST, Fate.OTHER_VARIANT])
async def test_a_lost_arm_never_kills(task, status):
    async def arm(engine: FakeEngine):
        removal = (listed_arm("removal-1"), scripted_variant("removal-1", VariantKind.REMOVAL))
        found = await ArmRunner(arm_context_of(task, engine, 1), task).run_suite(Suite((A,), SUITE_FILES), [removal])
        return found[listed_arm("removal-1")]

    assert (await arm(FakeEngine(script({})))).results[0].killed
    events = [Event(fate=status)] * ARM_TRIES
    try:
        found = await arm(FakeEngine(script({}), events))
    except SandboxLost:
        return
    assert found.status is ArmStatus.WRONG_VARIANT
    assert not any(item.killed for item in found.results)


OUTCOMES = st.sampled_from(["passes", "fails", "skips", "skips one", "absent", "crashes"])
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


@pytest.mark.long
@settings(deadline=None)
@given(BEHAVIOURS, ORDERS, st.integers(1, 8))
def test_the_same_suite_gets_the_same_verdict_in_any_order_of_events(task, behaviour, order, slots):
    found = gathered(task, FakeEngine(script(behaviour), order), **EVERYTHING, slots=slots)
    expected = undisturbed(task, behaviour)
    assert Counter(found.reasons) == Counter(expected.reasons)
    assert found.verdict is expected.verdict


@pytest.mark.long
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


@pytest.mark.parametrize("turn", range(12))
def test_a_limit_that_hides_what_existing_tests_did_before_makes_no_suite_resolved(task, turn):
    breaks = {("baseline", "test_old"): ["fails"]}
    events = [Event(0, Fate.OVER_LIMIT if number == turn else Fate.FINISHES) for number in range(12)]
    try:
        found = gathered(task, FakeEngine(script(breaks), events), tests=(A,), existing=(OLD,))
    except SandboxLost:
        return
    assert found.verdict is not Verdict.RESOLVED


@settings(deadline=None)
@given(BEHAVIOURS, st.lists(st.builds(Event, TURNS, st.sampled_from(Fate)), max_size=40), st.integers(1, 8))
def test_no_order_of_faults_makes_a_suite_resolved_that_is_not(task, behaviour, events, slots):
    try:
        found = gathered(task, FakeEngine(script(behaviour), events), **EVERYTHING, slots=slots)
    except SandboxLost:
        return
    if found.verdict is Verdict.RESOLVED:
        assert undisturbed(task, behaviour).verdict is Verdict.RESOLVED


@dataclass
class SeesUsers(FakeEngine):
    """An engine that keeps, by variant, whether each job was to have a user of its own."""

    own_users: dict[str, bool] = field(default_factory=dict)

    async def run_job(self, image: Image, job: Job, options: SandboxOptions, labels: Mapping[str, str]) -> JobResult:
        [variant] = [file.data.decode() for file in job.files if file.path == MARKER]
        self.own_users[variant] = options.own_user
        return await super().run_job(image, job, options, labels)


@pytest.mark.parametrize("own_user", [None, False, True])
def test_arms_as_for_agents_have_the_images_user_and_the_others_one_of_their_own(task, own_user: bool | None):
    engine = SeesUsers(script({}))
    context = replace(arm_context_of(task, engine, 3), options=SandboxOptions(own_user=True))
    arms = [
        Scheduled(listed_arm(name), scripted_variant(name, kind), Suite((A,), SUITE_FILES), own_user)
        for name, kind in KINDS.items()
    ]
    asyncio.run(ArmRunner(context, task).run(arms))
    as_for_agents = AS_FOR_AGENTS if own_user is None else () if own_user else KINDS
    assert engine.own_users == {name: name not in as_for_agents for name in KINDS}
