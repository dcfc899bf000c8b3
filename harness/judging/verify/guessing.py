"""The chance that a suite is resolved whose tests know nothing of the code, and so guess in which arm they run. Pure.

The baseline counts as known: it is the one arm that runs what an agent saw. All probes count as must-haves. Both
chances are upper bounds.
"""

from collections import Counter
from collections.abc import Sequence
from math import comb

from harness.judging.verify.chance_failures import EXCUSABLE
from harness.judging.verify.control import KILLS_DRAWN, SLOW_FIRST
from harness.judging.verify.variants import FEWEST_REWRITTEN, OF_A_REMOVAL
from harness.specs.variants import VariantKind

_LOOKS = 2
"""Looks at a failure where the behaviour is the same, before it is excused or counts as chance."""
_LOOKS_GUESSED = 0.25
"""The best chance in both looks together. With one kind of removal, one of two arms must fail each time. With two,
failing in one of three arms keeps one kind whole with a chance of 2/3 at first, and then of 1/3."""
STEPS = 200
"""Steps in which the probability of a pass is tried."""


def fewest_arms(probes: int, twins: int, garbage: bool = True) -> list[VariantKind]:
    """Return the kinds of a judging's arms where as few as possible are drawn, and none takes the place of a twin."""
    alike = [VariantKind.REWRITTEN] * FEWEST_REWRITTEN + [VariantKind.TWIN] * twins + [VariantKind.PLACEBO_AUTHORED]
    removals = [VariantKind.REMOVAL, *([VariantKind.GARBAGE] if garbage else [])] * OF_A_REMOVAL
    return [VariantKind.BASELINE, *alike, *removals, *[VariantKind.PROBE] * probes]


def guess_table(probes: int, most: int) -> list[str]:
    """Return lines of a Markdown table: the best chance to guess a judging, by the number of its twins."""
    rows = [f"| {twins} | {chance_of_guessing(fewest_arms(probes, twins)):.0e} |" for twins in range(0, most + 1, 2)]
    return ["| twins | chance |", "|---|---|", *rows]


def chance_of_guessing(kinds: Sequence[VariantKind]) -> float:
    """Return the best chance of either kind of guess, for a judging with arms of these kinds (one for each arm)."""
    apart = max(chance_apart(kinds, step / STEPS, tests) for step in range(1, STEPS) for tests in (1, 2))
    return max(apart, chance_together(kinds))


def chance_of_voters(probes: int, voted: int) -> float:
    """Return the highest chance that the draw of a control round misses what a suite knows by votes alone.

    Its tests notice all other probes by themselves, one of them slowly, which takes a draw; their votes never fail
    among all arms and are never told from the control round. Whoever doesn't know which probes there are has to vote
    on all.

    Args:
        probes: Must-haves' probes of the task.
        voted: Of these, as many are noticed only where arms with right code vote.
    """
    others, drawn = probes - SLOW_FIRST, min(KILLS_DRAWN, probes) - SLOW_FIRST
    return comb(others - voted, drawn) / comb(others, drawn) if voted <= others else 0.0


def vote_table(probes: int) -> list[str]:
    """Return lines of a Markdown table: the chance of `chance_of_voters`, by the number of probes that are voted."""
    numbers = range(1, probes - KILLS_DRAWN + 2)  # no more can be missed
    rows = [f"| {voted} | {chance_of_voters(probes, voted):.2f} |" for voted in numbers]
    return ["| probes known by votes alone | chance |", "|---|---|", *rows]


def chance_apart(kinds: Sequence[VariantKind], passes: float, tests: int = 1) -> float:
    """Return the chance that tests which guess are accepted, each for itself.

    Each of them passes with the probability `passes` in each arm, whatever it did in others.
    """
    fails = 1 - passes
    alike, excusable, removals, probes = _counted(kinds)
    # One rewriting may look wrong: it fails, passes when it is rewritten again, and then fails again. In one arm a
    # test may have failed by chance: it passes there twice. A removal of each kind runs twice more then.
    wrong, chance = passes * fails, passes**2
    stands, after_looks = passes**alike, 0.0
    if alike:
        after_looks = (excusable * wrong + alike * chance) * fails * passes ** (alike - 1)
    if alike > 1:
        after_looks += excusable * (alike - 1) * wrong * chance * fails**2 * passes ** (alike - 2)
    noticed, noticed_again = (_one_is_whole(fails, removals, more) for more in (0, _LOOKS))
    return float((stands * noticed + after_looks * noticed_again) ** tests * (1 - passes**tests) ** probes)


def _one_is_whole(fails: float, removals: Sequence[int], more: int) -> float:
    """Return the chance to fail in all arms of some kind of removal, if each has so many more."""
    survives = 1.0
    for count in removals:
        survives *= 1 - fails ** (count + more)
    return 1 - survives


def chance_together(kinds: Sequence[VariantKind]) -> float:
    """Return the best chance of tests that agree by some shared counter, and know how many arms each group has.

    They choose at random in how many and in which arms they fail. The number of arms is drawn, so they don't know it.
    """
    alike, excusable, removals, probes = _counted(kinds)
    arms = alike + sum(removals) + probes
    best = 0.0
    for failing in range(1, arms + 1):
        right = _right_choices(removals, failing - probes)
        wrong_once = alike * _right_choices(removals, failing - probes - 1)
        wrong_twice = excusable * max(0, alike - 1) * _right_choices(removals, failing - probes - 2)
        best = max(best, (right + _LOOKS_GUESSED * (wrong_once + wrong_twice)) / comb(arms, failing))
    return best


def _right_choices(removals: Sequence[int], failing: int) -> int:
    """Count the ways to choose so many arms of removals so that one kind of them is whole."""
    everything = comb(sum(removals), failing) if failing >= 0 else 0
    ways = [1]
    for count in removals:  # choices in which no kind is whole
        ways = [
            sum(ways[taken - here] * comb(count, here) for here in range(count) if 0 <= taken - here < len(ways))
            for taken in range(len(ways) + count)
        ]
    return everything - (ways[failing] if 0 <= failing < len(ways) else 0)


def _counted(kinds: Sequence[VariantKind]) -> tuple[int, int, list[int], int]:
    """Count arms like the baseline, those of them that may be excused, each kind of removal, and probes."""
    counts = Counter(kinds)
    alike = sum(count for kind, count in counts.items() if kind.behaves_like_baseline)
    removals = [count for kind, count in counts.items() if kind.removes]
    excusable = sum(counts[kind] for kind in EXCUSABLE)
    return alike - counts[VariantKind.BASELINE], excusable, removals, counts[VariantKind.PROBE]
