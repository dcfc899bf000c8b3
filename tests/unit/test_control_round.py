"""Kills that a submission needs are run again apart from all other arms, and must be there again."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import pairwise, repeat

import pytest

from harness.judging.verify.arms import ArmContext, Suite
from harness.judging.verify.control import (
    COPIES,
    KILLS_DRAWN,
    SLOW_SECONDS,
    control_round,
    kills_not_repeated,
    kills_to_repeat,
)
from harness.judging.verify.evidence import Draw, Evidence, UnkeptArms, listed_arm
from harness.judging.verify.examination import Examination
from harness.judging.verify.gathering import ArmPlan, gather_evidence
from harness.judging.verify.intake import Intake
from harness.judging.verify.judgement import judgement_of
from harness.judging.verify.manifest_check import ManifestCheck
from harness.sandbox.protocol import Image, Job, SandboxOptions
from harness.specs.errors import SandboxLost
from harness.specs.grading import ControlRound
from harness.specs.reasons import ReasonCode, Verdict
from harness.specs.task import Task
from harness.specs.test_results import TestId
from harness.specs.variants import Arm, ArmKey, Role, VariantKind
from tests.support.fake_engine import MARKER, Event, FakeEngine, Run
from tests.support.guessing import FEW, TEST
from tests.support.scripted_language import ScriptedToolchain
from tests.support.scripted_plan import sources
from tests.support.small_task import small_task

COPY = "the second copy"


class CopyingFakeEngine(FakeEngine):
    """Has every image twice, and knows on which of them a variant ran, and which arms of the copy ran at once."""

    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.images: list[str] = []
        self.held: list[int] = []
        """The jobs before a copy was provided, and after that."""
        self.running: list[str] = []
        self.users = Counter[tuple[str, bool]]()
        self.beside: list[tuple[str, ...]] = []

    @asynccontextmanager
    async def second_copy(self, image: Image) -> AsyncIterator[Image]:
        self.held.append(len(self.images))
        yield replace(image, reference=COPY)
        self.held.append(len(self.images))

    async def run_job(self, image: Image, job: Job, options: SandboxOptions, labels):
        variant = next(file.data.decode() for file in job.files if file.path == MARKER)
        if image.reference == COPY:
            self.users[variant, options.own_user] += 1
            self.running.append(variant)
            self.beside.append(tuple(self.running))
        result = await super().run_job(image, job, options, labels)
        if image.reference == COPY:
            self.running.remove(variant)
        self.images.append(image.reference)
        return result

    @property
    def apart(self) -> list[Run]:
        """Those runs that were on the copy."""
        return [run for run, image in zip(self.finished, self.images, strict=True) if image == COPY]


def honest(run: Run, _test: TestId) -> str:
    return "passes" if FEW[run.variant].behaves_like_baseline else "fails"


def until_it_is_alone(run: Run, test: TestId) -> str:
    """A test that lets others tell it what is right: with its like it passes anywhere."""
    return "passes" if run.number > 1 else honest(run, test)


@pytest.fixture
def task(tmp_path) -> Task:
    (tmp_path / "rubrics").mkdir()
    (tmp_path / "rubrics" / "sums-add.yaml").write_text("")
    directory = tmp_path / "tasks" / "sums-add"
    (directory / "probes").mkdir(parents=True)
    (directory / "probes" / "1.1.patch").write_text("")
    return small_task(directory)


class Log(UnkeptArms):
    """Keeps arms in memory."""

    has_three = asyncio.Event()

    def __init__(self) -> None:
        super().__init__({}, 0.0)

    def add(self, key: ArmKey, arm: Arm, seconds: float) -> None:
        self.known[key] = arm  # type: ignore[index]
        if self.control_arms == 3:
            self.has_three.set()

    @property
    def control_arms(self) -> int:
        return sum(key.role is Role.CONTROL for key in self.known)


def planned(order: int, kinds: dict[str, VariantKind] = FEW) -> ArmPlan:
    return ArmPlan(sources(kinds), Suite((TEST,), {TEST.file: b"..."}), ManifestCheck((TEST,)), Draw(0, order))


def judged(task: Task, engine: FakeEngine, control=ControlRound.DRAWN, order: int = 0, log=None, slots=1) -> Evidence:
    context = ArmContext(
        engine,
        Image("fake", "0", "/app", task.directory),
        {},
        slots=asyncio.Semaphore(slots),
        toolchain=ScriptedToolchain(),
        options=SandboxOptions(own_user=True),
    )
    plan = planned(order)

    async def both() -> Evidence:
        evidence = await gather_evidence(context, task, plan, log)
        return await control_round(context, task, plan, evidence, control, log)

    return asyncio.run(both())


def verdict_of(task: Task, evidence: Evidence):
    context = ArmContext(
        FakeEngine(honest), Image("fake", "0", "/app", task.directory), {},
        slots=asyncio.Semaphore(1), toolchain=ScriptedToolchain(), options=SandboxOptions(),
    )  # fmt: skip
    return judgement_of(task, context, Examination(Intake((), b""), ManifestCheck(evidence.tests), evidence)).record


def control_arms(evidence: Evidence) -> Counter[VariantKind]:
    return Counter(arm.kind for key, arm in evidence.arms.items() if key.role is Role.CONTROL)


def test_an_honest_suite_is_resolved_and_its_verdict_says_how(task):
    engine = CopyingFakeEngine(honest)
    evidence = judged(task, engine)
    record = verdict_of(task, evidence)
    assert (record.verdict, record.control) == (Verdict.RESOLVED, ControlRound.DRAWN)
    removals = KILLS_DRAWN - 1
    found = control_arms(evidence)
    assert found[VariantKind.PROBE] == COPIES, "its only probe"
    assert found[VariantKind.REMOVAL] + found[VariantKind.GARBAGE] == removals * COPIES, "make up the number"
    assert found[VariantKind.REWRITTEN] == COPIES, "else a test that fails wherever it is alone would pass"
    assert len(engine.apart) == found.total(), "control arms ran on the copy, and no other arm did"
    assert [after - before for before, after in pairwise(engine.held)] == [found.total()], "and it was let go of"
    ran = {run.variant for run in engine.apart}
    both = dict.fromkeys(((name, own) for name in ran for own in (True, False)), 1)
    assert engine.users == both, "one of two has the image's user, with right code as with mutants"


def test_tests_that_check_little_for_the_images_user_are_found_out(task):
    """As agents have: among all arms no mutant of a probe has it."""

    class SeesUsers(CopyingFakeEngine):
        async def run_job(self, image: Image, job: Job, options: SandboxOptions, labels):
            self.is_own = options.own_user
            return await super().run_job(image, job, options, labels)

    def does(run: Run, test: TestId) -> str:
        checks = engine.is_own or FEW[run.variant].removes
        return honest(run, test) if checks else "passes"

    engine = SeesUsers(does)
    evidence = judged(task, engine)
    reasons = verdict_of(task, evidence).reasons
    assert [(reason.code, reason.subject) for reason in reasons] == [(ReasonCode.KILL_NOT_REPEATED, "probe-1.1")]


def test_copies_of_one_variant_run_side_by_side_and_nothing_beside_them(task):
    engine = CopyingFakeEngine(honest, events=repeat(Event(turns=20)))
    judged(task, engine, slots=8)
    assert all(len(set(running)) == 1 for running in engine.beside), "tests could vote among arms of other variants"
    assert max(Counter(running).most_common(1)[0][1] for running in engine.beside) == COPIES
    pairs = Counter(running[0] for running in engine.beside if len(running) == COPIES)
    assert len(pairs) == KILLS_DRAWN + 1, "right code runs as mutants do: nothing but behaviour tells it apart"


def test_a_kill_that_is_not_there_any_more_is_named(task):
    evidence = judged(task, CopyingFakeEngine(until_it_is_alone))
    record = verdict_of(task, evidence)
    assert record.verdict is Verdict.FAILED
    assert ("kill-not-repeated", "probe-1.1") in {(reason.code, reason.subject) for reason in record.reasons}


def test_a_test_that_fails_wherever_it_is_alone_is_not_resolved_either(task):
    def fails_in_the_round(run: Run, test: TestId) -> str:
        return "fails" if run.number > 1 else honest(run, test)

    reasons = kills_not_repeated(judged(task, CopyingFakeEngine(fails_in_the_round)))
    assert [(reason.code, reason.subject) for reason in reasons] == [(ReasonCode.FLAKY, str(TEST))]


def test_without_a_control_round_it_is_as_it_was(task):
    evidence = judged(task, CopyingFakeEngine(until_it_is_alone), ControlRound.NONE)
    assert (verdict_of(task, evidence).verdict, verdict_of(task, evidence).control) == ("resolved", "none")
    assert not control_arms(evidence)


def test_all_repeats_every_kill(task):
    found = control_arms(judged(task, CopyingFakeEngine(honest), ControlRound.ALL))
    mutants = Counter(kind for kind in FEW.values() if not kind.behaves_like_baseline)
    assert all(found[kind] == count * COPIES for kind, count in mutants.items())


def test_only_what_would_be_resolved_has_a_control_round(task):
    evidence = judged(task, CopyingFakeEngine(lambda _run, _test: "passes"))
    assert not control_arms(evidence)
    assert evidence.control is ControlRound.DRAWN, "nothing of it is missing"


def chances(outcomes: str) -> Iterator[str]:
    yield from ("passes" if one == "p" else "fails" for one in outcomes)


@pytest.mark.parametrize(
    ("alone", "is_repeated"), [("ff", True), ("pp", False), ("pfff", True), ("fpff", True), ("pffp", False)]
)
def test_a_kill_by_chance_gets_one_more_pair_and_two_passes_none(task, alone, is_repeated):
    def script(run: Run, test: TestId) -> str:
        if run.variant == "probe-1.1" and run.number > 1:
            return "passes" if alone[run.number - 2] == "p" else "fails"
        return honest(run, test)

    evidence = judged(task, CopyingFakeEngine(script))
    assert (not kills_not_repeated(evidence)) is is_repeated
    assert control_arms(evidence)[VariantKind.PROBE] == len(alone)


def test_a_right_arm_that_fails_once_by_chance_gets_another_chance(task):
    def script(run: Run, test: TestId) -> str:
        return "fails" if (run.variant, run.number) == ("rewritten-1", 2) else honest(run, test)

    assert verdict_of(task, judged(task, CopyingFakeEngine(script))).verdict is Verdict.RESOLVED


@pytest.mark.parametrize(("alone", "is_red"), [("pp", False), ("pfpp", False), ("fppf", True), ("fffp", True)])
def test_right_code_that_fails_in_the_second_pair_as_well_is_flaky(task, alone, is_red):
    def script(run: Run, test: TestId) -> str:
        if run.variant == "rewritten-1" and run.number > 1:
            return "passes" if alone[run.number - 2] == "p" else "fails"
        return honest(run, test)

    evidence = judged(task, CopyingFakeEngine(script))
    assert [reason.code for reason in kills_not_repeated(evidence)] == [ReasonCode.FLAKY] * is_red
    assert control_arms(evidence)[VariantKind.REWRITTEN] == len(alone)


@pytest.mark.parametrize("missing", [(3, 4), (4,), (3,)])
@pytest.mark.parametrize(("name", "code"), [("rewritten-1", "flaky"), ("probe-1.1", "kill-not-repeated")])
def test_a_second_pair_that_is_not_whole_decides_nothing(task, name, code, missing):
    def script(run: Run, test: TestId) -> str:
        by_chance = (run.variant, run.number) == (name, 2)
        return honest(run, test) if not by_chance else "fails" if name == "rewritten-1" else "passes"

    whole = judged(task, CopyingFakeEngine(script))
    assert not kills_not_repeated(whole)
    lost = {ArmKey(Role.CONTROL, name, repetition) for repetition in missing}
    rest = replace(whole, arms={key: arm for key, arm in whole.arms.items() if key not in lost})
    assert len(whole.arms) - len(rest.arms) == len(missing)
    assert [reason.code for reason in kills_not_repeated(rest)] == [code]


NAMES = tuple(f"probe-1.{number}" for number in range(1, 8))


def draws(task: Task, slow: dict[str, float]) -> list[tuple[str, ...]]:
    """Return what is drawn of seven kills, twenty times, where tests take that many seconds for these."""
    for name in NAMES:
        (task.directory / "probes" / f"{name.removeprefix('probe-')}.patch").write_text("")
    [criterion] = task.rubric.criteria
    criteria = tuple(criterion.model_copy(update={"id": name.removeprefix("probe-")}) for name in NAMES)
    task = task.model_copy(update={"rubric": task.rubric.model_copy(update={"criteria": criteria})})
    arms = judged(task, CopyingFakeEngine(honest), ControlRound.NONE).arms
    fails = arms[listed_arm("probe-1.1")]

    def taking(seconds: float) -> Arm:
        return replace(fails, results=tuple(item.model_copy(update={"seconds": seconds}) for item in fails.results))

    probes = {listed_arm(name): taking(slow[name]) if name in slow else fails for name in NAMES}

    def drawn(order: int) -> tuple[str, ...]:
        plan = planned(order)
        evidence = Evidence((TEST,), {**arms, **probes}, (*map(listed_arm, FEW), *probes), plan.draw)
        return kills_to_repeat(task, plan, evidence, ControlRound.DRAWN)

    found = [drawn(order) for order in range(20)]
    assert {len(kills) for kills in found} == {KILLS_DRAWN}
    assert len(set(found)) > 1, "the others are drawn by chance"
    return found


@pytest.mark.parametrize(("seconds", "is_always_drawn"), [(SLOW_SECONDS, True), (SLOW_SECONDS / 2, False)])
def test_kills_for_which_tests_had_to_wait_are_drawn_first(task, seconds, is_always_drawn):
    assert all("probe-1.4" in kills for kills in draws(task, {"probe-1.4": seconds})) is is_always_drawn


def test_tests_that_take_long_take_one_draw_and_no_more(task):
    quick = set(NAMES[KILLS_DRAWN:])
    found = draws(task, dict.fromkeys(NAMES[:KILLS_DRAWN], 2.0))
    assert {len(quick.intersection(kills)) for kills in found} >= {1, KILLS_DRAWN - 1}
    assert all(len(quick.intersection(kills)) < KILLS_DRAWN for kills in found)


def test_the_same_draw_repeats_the_same_kills_and_another_one_others(task):
    def drawn(order: int) -> frozenset[ArmKey]:
        arms = judged(task, CopyingFakeEngine(honest), order=order).arms
        return frozenset(key for key in arms if key.role is Role.CONTROL)

    assert drawn(1) == drawn(1)
    assert len({drawn(order) for order in range(8)}) > 1


def test_a_lost_container_is_no_evidence_and_what_ended_needn_t_run_again(task):
    log = Log()

    class LosingEngine(CopyingFakeEngine):
        """Loses every control arm after the first three, once these have been read."""

        async def run_job(self, image: Image, job: Job, options: SandboxOptions, labels):
            if image.reference == COPY and self.images.count(COPY) == 3:
                await log.has_three.wait()
                raise SandboxLost("the container was removed from outside")
            return await super().run_job(image, job, options, labels)

    with pytest.raises(SandboxLost):
        judged(task, LosingEngine(honest), log=log)
    assert log.control_arms == 3
    again = CopyingFakeEngine(honest)
    evidence = judged(task, again, log=log)
    assert verdict_of(task, evidence).verdict is Verdict.RESOLVED
    assert again.containers == control_arms(evidence).total() - 3
