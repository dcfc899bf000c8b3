"""A suite that guesses in which arm it runs: how likely that ends well, from the arms of real judgings."""

import asyncio
from collections import Counter
from itertools import combinations, pairwise
from pathlib import Path
from random import Random

import pytest

from harness.authoring.task_check.subject import kept_tree
from harness.judging.languages.variant_source import VariantSource
from harness.judging.verify.chance_failures import EXCUSABLE
from harness.judging.verify.control import KILLS_DRAWN
from harness.judging.verify.guessing import (
    chance_apart,
    chance_of_guessing,
    chance_of_voters,
    chance_together,
    fewest_arms,
    guess_table,
    vote_table,
)
from harness.judging.verify.task_texts import read_texts
from harness.judging.verify.variants import draw_variants
from harness.specs.reasons import Verdict
from harness.specs.test_results import TestId
from harness.specs.variants import VariantKind
from tests.support.fake_engine import FakeEngine, Run
from tests.support.guessing import FEW, judged_by_guess, removal_and_probes_are_noticed
from tests.support.small_task import small_task
from tests.support.sound_catalog import TASK, sound_catalog


def test_the_chance_falls_with_each_twin():
    chances = [chance_of_guessing(fewest_arms(10, twins)) for twins in range(13)]
    assert chances == sorted(chances, reverse=True)
    assert all(more < 0.75 * fewer for fewer, more in pairwise(chances))


def test_with_as_many_twins_as_probes_nobody_guesses_a_judging_of_a_shipped_task():
    assert chance_of_guessing(fewest_arms(9, 9)) < 3e-6
    assert chance_of_guessing(fewest_arms(9, 9, garbage=False)) < 3e-6
    assert chance_of_guessing(fewest_arms(13, 13)) < 2e-8


def test_the_arms_that_are_counted_are_those_of_a_real_judging(tmp_path, monkeypatch):
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "cache"))
    task = sound_catalog(tmp_path / "catalog").task(TASK)

    async def plans() -> list[list[VariantSource]]:
        async with kept_tree(task) as tree:
            texts = await read_texts(task, tree)
            return [draw_variants(task, texts, True, seed) for seed in range(30)]

    real = [[item.kind for item in plan] for plan in asyncio.run(plans())]
    assert Counter(min(real, key=len)) == Counter(fewest_arms(len(task.probes), len(task.twins)))
    chances = {chance_of_guessing(plan) for plan in real}
    assert max(chances) == chance_of_guessing(fewest_arms(len(task.probes), len(task.twins)))
    assert len(chances) == 3, "how many arms there are is drawn"


def test_the_page_tells_the_chance_as_it_is():
    page = (Path(__file__).parents[2] / "docs" / "validity.md").read_text()
    assert "\n".join(guess_table(10, 12)) in page
    assert "\n".join(vote_table(10)) in page


def test_the_chance_of_voters_is_that_of_a_draw_that_misses_them():
    """Every draw of a control round, one after the other; the last probe is noticed slowly, unless all are voted."""
    for probes in (2, 3, 7):
        draws = [draw for draw in combinations(range(probes), min(KILLS_DRAWN, probes)) if probes - 1 in draw]
        for voted in range(probes + 1):
            missed = [draw for draw in draws if min(draw) >= voted]
            assert chance_of_voters(probes, voted) == len(missed) / len(draws)
    assert chance_of_voters(10, 8) == 0, "votes on all probes are always found out"


def test_a_shared_guess_is_counted_as_it_is():
    """Every set of failing arms of a small judging, one after the other."""
    arms = [kind for kind in FEW.values() if kind is not VariantKind.BASELINE]
    best = 0.0
    for size in range(1, len(arms) + 1):
        sets = list(combinations(range(len(arms)), size))
        weights = [removal_and_probes_are_noticed(arms, set(chosen)) for chosen in sets]
        best = max(best, sum(weights) / len(sets))
    assert chance_together(list(FEW.values())) == pytest.approx(best)
    assert {VariantKind.REWRITTEN} == EXCUSABLE


@pytest.mark.long
@pytest.mark.parametrize("passes", [0.4, 0.6])
def test_a_suite_that_guesses_is_resolved_as_often_as_is_computed(tmp_path, passes):
    """Judged by the verifier's own schedule and rules, with few arms so that it happens at all."""
    (tmp_path / "probes").mkdir()
    (tmp_path / "probes" / "1.1.patch").write_text("")
    task, times, chance = small_task(tmp_path), 400, Random(1)

    def guesses(run: Run, _test: TestId) -> str:
        return "passes" if run.variant == "baseline" or chance.random() < passes else "fails"

    async def resolved() -> int:
        verdicts = [await judged_by_guess(task, FakeEngine(guesses), order) for order in range(times)]
        return verdicts.count(Verdict.RESOLVED)

    expected = chance_apart(list(FEW.values()), passes)
    found = asyncio.run(resolved()) / times
    assert found == pytest.approx(expected, abs=4 * (expected * (1 - expected) / times) ** 0.5)
    assert found > 0
