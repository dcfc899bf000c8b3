"""Mutants for runs by the repository's own command: which are drawn, and when the runs on them end."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import pytest

from harness.judging.languages.variant_source import VariantSource
from harness.judging.verify.evidence import AT_BASELINE, Draw, Evidence, listed_arm
from harness.judging.verify.mutation import judge_mutation
from harness.judging.verify.noticed_mutants import MOST_DRAWS, Order, noticed_mutants, run_on_mutants
from harness.specs.test_results import Outcome, Quality, TestId, TestResult
from harness.specs.variants import Arm, ArmKey, ArmStatus, Role, VariantKind

FIRST, SECOND, OTHER = TestId("tests/a.py", "test_1"), TestId("tests/a.py", "test_2"), TestId("tests/b.py", "test_3")
BASELINE = VariantSource("baseline", VariantKind.BASELINE, {}, {})


def results(failing: set[TestId], tests: tuple[TestId, ...]) -> tuple[TestResult, ...]:
    return tuple(
        TestResult(test=test, outcome=Outcome.FAILED, quality=Quality.ASSERTION, seconds=0.1) if test in failing
        else TestResult(test=test, outcome=Outcome.PASSED, quality=None, seconds=0.1)
        for test in tests
    )  # fmt: skip


def noticed(by: Mapping[str, set[TestId]], seed: int = 0) -> tuple[list[VariantSource], Evidence]:
    """Each probe, and the tests that fail on it."""
    tests = tuple(sorted({test for each in by.values() for test in each}))
    arms = {AT_BASELINE: Arm(VariantKind.BASELINE, ArmStatus.FINISHED, 0, results(set(), tests), 0.1)}
    for name, failing in by.items():
        arms[listed_arm(name)] = Arm(VariantKind.PROBE, ArmStatus.FINISHED, 0, results(failing, tests), 0.1)
    sources = [VariantSource(name, VariantKind.PROBE, {}, {"sums.py": name.encode()}) for name in by]
    return [BASELINE, *sources], Evidence(tests, arms, (), draw=Draw(0, seed))


def order_of(evidence: Evidence, least: int = 1, envs: tuple[Mapping[str, str], ...] = ({},)) -> Order:
    return Order(Role.WHOLE_MUTANT, evidence.tests, (), envs, least)


def drawn(by: Mapping[str, set[TestId]], least: int = 1, seed: int = 0) -> list[list[str]]:
    sources, evidence = noticed(by, seed)
    draws = noticed_mutants(sources, evidence, order_of(evidence, least))
    for number, tries in enumerate(draws):
        assert {key.part for key, _ in tries} == {number}
    return [[str(replace(key, part=0)).replace(",whole-mutant", "") for key, _ in tries] for tries in draws]


@pytest.mark.parametrize("seed", range(10))
def test_each_file_is_held_on_a_mutant_that_it_alone_notices(seed: int) -> None:
    """One file may be honest, and another one leave its checks to arms."""
    many = {f"probe-1.{number}": {FIRST, OTHER} for number in range(1, 20)}
    draws = drawn({**many, "probe-2.1": {FIRST}, "probe-2.2": {SECOND}, "probe-3.1": {OTHER}}, seed=seed)
    assert sorted(tries[0] for tries in draws if tries[0] != "probe-3.1")[0].startswith("probe-2.")
    assert ["probe-3.1", "probe-3.1,run-2"] in draws
    assert len(draws) == 2


def test_of_one_file_so_many_are_drawn_as_are_asked_for_and_first_what_other_tests_notice() -> None:
    by = {"probe-1.1": {FIRST}, "probe-1.2": {FIRST}, "probe-1.3": {FIRST}, "probe-2.1": {SECOND}}
    assert len(drawn(by)) == 1
    for seed in range(10):
        first, second = drawn(by, least=2, seed=seed)
        assert "probe-2.1" in (first[0], second[0])
    assert len(drawn(by, least=9)) == len(by)
    assert drawn({"probe-1.1": set()}) == []


def test_there_are_no_more_draws_than_so_many() -> None:
    by = {f"probe-1.{number}": {TestId(f"tests/{number}.py", "test")} for number in range(1, 20)}
    assert len(drawn(by)) == MOST_DRAWS


def test_each_of_several_environments_has_a_draw_though_only_one_mutant_is_noticed() -> None:
    sources, evidence = noticed({"probe-1.1": {FIRST}})
    order = order_of(evidence, envs=({"A": "1"}, {"A": "2"}))
    draws = noticed_mutants(sources, evidence, order)
    assert [order.env(tries[0][0]) for tries in draws] == [{"A": "1"}, {"A": "2"}]
    assert order.env(ArmKey(Role.WHOLE_MUTANT, "probe-1.1", part=4)) == {"A": "2"}


@pytest.mark.parametrize(
    ("green", "runs", "refused"),
    [(set[str](), 2, 0), ({"probe-1.1"}, 3, 0), ({"probe-1.1", "probe-1.2"}, 2, 2), ({"probe-2.1"}, 3, 1)],
)
def test_a_draw_ends_with_a_run_that_is_not_green_and_one_without_is_a_reason(
    green: set[str], runs: int, refused: int
) -> None:
    sources, evidence = noticed({"probe-1.1": {FIRST}, "probe-1.2": {FIRST}, "probe-2.1": {OTHER}}, seed=FIRST_OF_TWO)
    ran = list[ArmKey]()

    async def run(key: ArmKey, mutant: VariantSource) -> Arm:
        assert key.variant == mutant.name
        ran.append(key)
        return Arm(mutant.kind, ArmStatus.FINISHED, int(mutant.name not in green), (), 0.1)

    arms = asyncio.run(run_on_mutants(sources, evidence, order_of(evidence), run))
    assert [*arms] == ran
    assert len(ran) == runs
    found = judge_mutation(replace(evidence, arms={**evidence.arms, **arms}))
    assert len([reason for reason in found if "own command" in reason.words]) == refused


FIRST_OF_TWO = next(seed for seed in range(100) if drawn({
    "probe-1.1": {FIRST}, "probe-1.2": {FIRST}, "probe-2.1": {OTHER}}, seed=seed)[0][0] == "probe-1.1")  # fmt: skip
"""An order in which the draw begins with a certain mutant."""
