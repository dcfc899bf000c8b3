"""Mutants for runs by the repository's own command: which are drawn, and when the runs on them end."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import pytest

from harness.judging.languages.variant_source import VariantSource
from harness.judging.verify.arms import Suite
from harness.judging.verify.evidence import AT_BASELINE, Draw, Evidence, listed_arm
from harness.judging.verify.gathering import ArmPlan
from harness.judging.verify.manifest_check import ManifestCheck
from harness.judging.verify.mutation import judge_mutation
from harness.judging.verify.own_runs.command import Runs
from harness.judging.verify.own_runs.noticed_mutants import (
    ENOUGH_FILES,
    Order,
    files_asked_for,
    files_held,
    noticed_mutants,
    run_on_mutants,
)
from harness.specs.test_results import Outcome, Quality, TestId, TestResult
from harness.specs.variants import Arm, ArmKey, ArmStatus, Role, VariantKind

FIRST, SECOND, OTHER = TestId("tests/a.py", "test_1"), TestId("tests/a.py", "test_2"), TestId("tests/b.py", "test_3")
BASELINE = VariantSource("baseline", VariantKind.BASELINE, {}, {})


class Ends(Runs):
    """Ends with the status that its mutant has, red where there is none; None is a run that was kept waiting."""

    def __init__(self, mutant: VariantSource, ends: Mapping[str, int | None]) -> None:
        self.mutant, self.ends = mutant, ends

    async def run(self, key: ArmKey, suite: Suite, arguments: tuple[str, ...], times: float = 1) -> Arm:
        assert key.variant == self.mutant.name
        assert suite.tests
        status = self.ends.get(key.variant, 1)
        if status is None:
            return Arm(self.mutant.kind, ArmStatus.TIMED_OUT, 124, (), times)
        return Arm(self.mutant.kind, ArmStatus.FINISHED, status, (), times)


def result(test: TestId, fails: bool) -> TestResult:
    if fails:
        return TestResult(test=test, outcome=Outcome.FAILED, quality=Quality.ASSERTION, seconds=0.1)
    return TestResult(test=test, outcome=Outcome.PASSED, quality=None, seconds=0.1)


def noticed(by: Mapping[str, set[TestId]], seed: int = 0) -> tuple[list[VariantSource], Evidence]:
    """Each probe, and the tests that fail on it."""
    tests = tuple(sorted({test for each in by.values() for test in each}))

    def arm(kind: VariantKind, failing: set[TestId]) -> Arm:
        return Arm(kind, ArmStatus.FINISHED, 0, tuple(result(test, test in failing) for test in tests), 0.1)

    arms = {listed_arm(name): arm(VariantKind.PROBE, failing) for name, failing in by.items()}
    sources = [VariantSource(name, VariantKind.PROBE, {}, {"sums.py": name.encode()}) for name in by]
    arms[AT_BASELINE] = arm(VariantKind.BASELINE, set())
    return [BASELINE, *sources], Evidence(tests, arms, (), draw=Draw(0, seed))


def tries(by: Mapping[str, set[TestId]], file: str, seed: int = 0) -> list[str]:
    found = noticed_mutants(*noticed(by, seed), Order(Role.WHOLE_MUTANT, 3, file))
    assert {key.part for key, _ in found} <= {3}
    return [str(replace(key, part=0)).replace(",whole-mutant", "") for key, _ in found]


def test_a_file_is_held_on_what_it_alone_notices_first() -> None:
    """One file may be honest, and another one leave its checks to arms."""
    many = {f"probe-1.{number}": {FIRST, OTHER} for number in range(1, 20)}
    for seed in range(10):
        first, second = tries({**many, "probe-2.1": {FIRST}, "probe-3.1": {OTHER}}, "tests/b.py", seed)
        assert first == "probe-3.1"
        assert second in many
    drawn = {tries(many, "tests/b.py", seed)[0] for seed in range(10)}
    assert len(drawn) > 3


def test_an_only_mutant_is_tried_twice_and_what_is_not_noticed_never() -> None:
    by = {"probe-1.1": {FIRST}, "probe-1.2": {SECOND, OTHER}}
    assert tries(by, "tests/b.py") == ["probe-1.2", "probe-1.2,run-2"]
    assert tries({"probe-1.1": {FIRST}, "probe-1.2": set()}, "tests/b.py") == []


def test_there_are_no_more_files_than_so_many_which_are_drawn_unless_they_are_only_asked_for() -> None:
    by = {f"probe-1.{number}": {TestId(f"tests/{number}.py", "test")} for number in range(1, 20)}
    held = {tuple(files_held(noticed(by, seed)[1])) for seed in range(10)}
    assert {len(files) for files in held} == {ENOUGH_FILES}
    assert len(held) > 1
    assert len(files_asked_for(noticed(by)[1])) == len(by)


@pytest.mark.parametrize(
    ("ends", "ran", "refused"),
    [
        ({}, ["probe-1.1", "probe-2.1"], 0),
        ({"probe-1.1": 0}, ["probe-1.1", "probe-1.2", "probe-2.1"], 0),
        ({"probe-1.1": 0, "probe-1.2": 0}, ["probe-1.1", "probe-1.2"], 2),
        ({"probe-2.1": 0}, ["probe-1.1", "probe-2.1", "probe-2.1,run-2"], 1),
        ({"probe-1.1": None, "probe-2.1": None}, ["probe-1.1", "probe-2.1"], 0),
    ],
)
def test_an_order_ends_with_a_run_that_is_not_green_and_one_of_green_ones_is_a_reason(
    ends: Mapping[str, int | None], ran: list[str], refused: int
) -> None:
    """One that was kept waiting shows nothing, and more of them would take long."""
    by = {"probe-1.1": {FIRST}, "probe-1.2": {FIRST, SECOND}, "probe-2.1": {OTHER}}
    seed = next(seed for seed in range(100) if tries(by, "tests/a.py", seed)[0] == "probe-1.1")
    sources, evidence = noticed(by, seed)
    orders = [Order(Role.WHOLE_MUTANT, part, file) for part, file in enumerate(files_held(evidence))]

    async def runs_on(mutant: VariantSource, _order: Order) -> Runs:
        return Ends(mutant, ends)

    # The draw depends on the order's number, which `tries` gives as well.
    orders = [replace(order, part=3 + order.part) for order in orders]
    plan = ArmPlan(sources, Suite(evidence.tests, {}), ManifestCheck(evidence.tests), Draw(0, seed))
    arms = asyncio.run(run_on_mutants(plan, evidence, orders, runs_on))
    assert [str(replace(key, part=0)).replace(",whole-mutant", "") for key in arms] == ran
    found = judge_mutation(replace(evidence, arms={**evidence.arms, **arms}))
    assert len([reason for reason in found if "own command" in reason.words]) == refused
