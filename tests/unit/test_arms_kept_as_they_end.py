"""Arms are kept as they end: a judging that is cut short goes on with its draw, and runs no arm again."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from harness.judging.languages.toolchain import JobLimit, JobsStopped
from harness.judging.verify.arms import ArmContext, Suite
from harness.judging.verify.evidence import AT_BASELINE, Draw, Evidence, listed_arm
from harness.judging.verify.examination import Examination
from harness.judging.verify.gathering import ArmPlan, gather_evidence
from harness.judging.verify.intake import Intake
from harness.judging.verify.manifest_check import ManifestCheck
from harness.judging.verify.mutation import judge_mutation
from harness.judging.verify.verdict import decide
from harness.judging.verify.verification import Judging
from harness.runs.evidence_file import Conditions, EvidenceFileCache
from harness.specs.grading import ControlRound
from harness.specs.reasons import Verdict
from harness.specs.task import Task
from harness.specs.test_results import Outcome, TestId, TestResult
from harness.specs.variants import Arm, ArmKey, ArmStatus, VariantKind
from tests.support.fake_engine import FakeEngine
from tests.support.scripted_plan import sources
from tests.support.small_task import small_task
from tests.unit.test_gathering_evidence import SUITE_FILES, A, B, arm_context_of, script
from tests.unit.test_gathering_evidence import task as task

TESTS = (A, B)
CONDITIONS = Conditions(task="1", image="2", isolation="docker", patch="3", manifest="4")
DRAW = Draw(5, 6)
LOOKED_AT_AGAIN = [{}, {("rewritten-2", "test_a"): ["fails"]}, {("baseline", "test_b"): ["fails"]}]
"""Of which there are no second looks, one, and two."""


class Ended(Exception):
    """The runner's, in the middle of a judging."""


@dataclass
class DyingLog:
    """Keeps so many arms, then dies."""

    most: int
    known: Mapping[ArmKey, Arm] = field(default_factory=dict)
    seconds: float = 0.0
    added: dict[ArmKey, Arm] = field(default_factory=dict)

    def add(self, key: ArmKey, arm: Arm, seconds: float) -> None:
        if len(self.added) == self.most:
            raise Ended
        self.added[key] = arm
        self.seconds = seconds


def gather(task: Task, engine: FakeEngine, log: DyingLog) -> Evidence:
    context: ArmContext = arm_context_of(task, engine, 1)
    suite = Suite(TESTS, SUITE_FILES)
    return asyncio.run(gather_evidence(context, task, ArmPlan(sources(), suite, ManifestCheck(TESTS), DRAW), log))


@pytest.mark.parametrize("looks", [0, 1, 2])
def test_a_judging_that_is_cut_short_anywhere_goes_on_from_there(task: Task, looks: int) -> None:
    does = script(LOOKED_AT_AGAIN[looks])
    whole = DyingLog(most=1000)
    evidence = gather(task, FakeEngine(does), whole)
    assert max(key.repetition for key in evidence.arms) == 1 + looks
    for most in range(len(whole.added)):
        engine = FakeEngine(does)
        first = DyingLog(most)
        with pytest.raises(Ended):
            gather(task, engine, first)
        second = DyingLog(1000, known=dict(first.added), seconds=first.seconds)
        again = gather(task, engine, second)
        assert not second.added.keys() & first.added.keys(), "an arm that had ended ran again"
        assert again.arms.keys() == evidence.arms.keys()
        assert decide(judge_mutation(again)) is decide(judge_mutation(evidence))
        assert len(second.added) + most == len(evidence.arms)


def test_the_time_of_a_verification_counts_what_an_earlier_start_has_used(tmp_path: Path) -> None:
    """A container of the fake engine takes a tenth of a second."""
    (tmp_path / "probes").mkdir()
    (tmp_path / "probes" / "1.1.patch").write_text("")
    short = small_task(tmp_path, verification_seconds=2)
    assert not gather(short, FakeEngine(script({})), DyingLog(1000)).out_of_time
    late = gather(short, FakeEngine(script({})), DyingLog(1000, seconds=1.5))
    assert late.out_of_time
    assert 0 < len(late.arms) < 10


def test_a_limit_begins_with_what_jobs_of_an_earlier_start_have_taken() -> None:
    limit = JobLimit(10.0, used=4.0)
    limit.check()
    assert (limit.used, limit.is_stopped) == (4.0, False)
    limit.used += 6.0
    with pytest.raises(JobsStopped):
        limit.check()
    assert limit.ran_out_of_time


def passing(test: TestId) -> Arm:
    result = TestResult(test=test, outcome=Outcome.PASSED, cases=1, message="printed by the test")
    return Arm(VariantKind.BASELINE, ArmStatus.FINISHED, 0, (result,), 1.0)


@pytest.fixture
def cache(tmp_path) -> EvidenceFileCache:
    """Two arms were kept of a judging that was cut short."""
    made = EvidenceFileCache(tmp_path / "evidence.json", CONDITIONS)
    log = made.begin(TESTS, DRAW)
    log.add(AT_BASELINE, passing(A), 1.5)
    log.add(listed_arm("removal-1"), passing(A), 2.25)
    return made


def test_what_was_kept_comes_back_with_its_draw_and_without_what_tests_printed(cache: EvidenceFileCache) -> None:
    assert cache.draw() == DRAW
    assert cache.ended_arms() == 2
    log = cache.begin(TESTS, DRAW)
    assert set(log.known) == {AT_BASELINE, listed_arm("removal-1")}
    assert log.seconds == 2.25
    assert log.known[AT_BASELINE].results[0].outcome is Outcome.PASSED
    assert "printed" not in cache.path.with_name("arms.jsonl").read_text()


def test_whatever_byte_is_damaged_no_arm_comes_back_as_another_one(cache: EvidenceFileCache) -> None:
    """A result that is read wrongly would be another verdict."""
    path = cache.path.with_name("arms.jsonl")
    whole = path.read_bytes()
    sound = cache.begin(TESTS, DRAW).known
    for place in range(0, len(whole), 3):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        log = cache.begin(TESTS, DRAW)
        assert all(sound[key] == arm for key, arm in log.known.items()), place
    path.write_bytes(whole)
    assert cache.begin(TESTS, DRAW).known == sound


@pytest.mark.parametrize("name", [*Conditions.model_fields])
def test_arms_of_other_conditions_are_not_gone_on_with(cache: EvidenceFileCache, name: str) -> None:
    other = CONDITIONS.model_copy(update={name: 99 if name == "protocol_version" else "x"})
    changed = replace(cache, conditions=other)
    assert changed.draw() is None
    assert changed.ended_arms() == 0
    assert not changed.begin(TESTS, DRAW).known
    assert cache.draw() is None, "they are gone"


@pytest.mark.parametrize(("tests", "draw"), [((A,), DRAW), (TESTS, Draw(5, 7))])
def test_arms_of_other_tests_and_of_another_draw_are_not_gone_on_with(cache, tests, draw) -> None:
    assert not cache.begin(tests, draw).known


def test_a_torn_line_costs_its_arm_and_a_torn_first_line_all(cache: EvidenceFileCache) -> None:
    path = cache.path.with_name("arms.jsonl")
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    log = cache.begin(TESTS, DRAW)
    assert set(log.known) == {AT_BASELINE}
    log.add(listed_arm("removal-1"), passing(A), 3.0)
    assert set(cache.begin(TESTS, DRAW).known) == {AT_BASELINE, listed_arm("removal-1")}
    path.write_bytes(whole[9:])
    assert cache.draw() is None
    assert not cache.begin(TESTS, DRAW).known
    assert len(path.read_text().splitlines()) == 1


def test_whole_evidence_takes_the_place_of_single_arms(cache: EvidenceFileCache) -> None:
    evidence = Evidence(TESTS, {AT_BASELINE: passing(A)}, required=(AT_BASELINE,), draw=DRAW)
    assert decide(judge_mutation(evidence)) is not Verdict.UNSCORED
    cache.keep(evidence)
    assert cache.read() is not None
    assert not cache.path.with_name("arms.jsonl").exists()


def test_kept_evidence_is_judged_by_what_the_suite_checks_as_it_is_read_now(
    task: Task, cache: EvidenceFileCache
) -> None:
    arms = {AT_BASELINE: passing(A)}
    cache.keep(Evidence(TESTS, arms, (AT_BASELINE,), DRAW, control=ControlRound.ALL, checking=(A,)))
    judging = Judging(task, arm_context_of(task, FakeEngine(script({})), 1), cache=cache)
    found = Examination(Intake((), b""), ManifestCheck(TESTS, checking=(B,), empty=(A,)))
    evidence = asyncio.run(judging.evidence(found))
    assert (evidence.checking, evidence.empty) == ((B,), (A,))


def test_arms_that_show_nothing_are_all_run_again(cache: EvidenceFileCache) -> None:
    other = replace(passing(A), status=ArmStatus.WRONG_VARIANT)
    cache.keep(Evidence(TESTS, {AT_BASELINE: other}, required=(AT_BASELINE,), draw=DRAW))
    assert cache.read() is None
    assert cache.draw() is None


def test_each_line_is_an_object_with_the_arms_name(cache: EvidenceFileCache) -> None:
    lines = [json.loads(line) for line in cache.path.with_name("arms.jsonl").read_text().splitlines()]
    assert [line.get("key") for line in lines] == [None, "baseline", "removal-1"]
