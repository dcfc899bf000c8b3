"""Failures under variants that behave as the baseline: what another look makes of them. Pure.

An arm in which a test fails that is green at baseline runs again, rewritten in another way. Where the test fails
again it is the test: it sees what isn't behaviour. Where it passes, the first rewriting runs once more. A test that
fails there as it did shows that this rewriting is wrong: that is excused once in a judging, for the variants that a
machine alone has made. A test that passes both times failed by chance: once in a judging that is a note, twice it is
flaky, and so is every test if two of them are so. The baseline runs twice more where a test fails only there.
"""

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import cast

from harness.judging.verify.evidence import (
    AT_BASELINE,
    Evidence,
)
from harness.specs.test_results import Outcome, TestId
from harness.specs.variants import ArmKey, VariantKind

EXCUSABLE = frozenset({VariantKind.REWRITTEN})
"""Kinds of variants in which a machine wrote all that is new. Authored twins and placebos were checked beforehand."""
MOST_EXCUSED = MOST_BY_CHANCE = 1
"""Arms of one judging."""


class Explanation(Enum):
    """The explanation of one failure under a variant that behaves as the baseline."""

    SENSITIVE = "sensitive"
    ONCE = "once"
    """Green in both other looks."""
    EXCUSED = "excused"
    OPEN = "open"
    """The failure wasn't looked at again so far."""


def failures(evidence: Evidence, test: TestId) -> Mapping[ArmKey, Explanation]:
    """Return the arms like the baseline in which a test fails that is green there, with the explanation of each."""
    return _all_failures(evidence).get(test, {})


def _all_failures(evidence: Evidence) -> Mapping[TestId, Mapping[ArmKey, Explanation]]:
    if "failures" not in evidence.worked_out:
        excused = excused_arms(evidence)
        evidence.worked_out["failures"] = {
            test: dict.fromkeys(_red_baselines(evidence, test), Explanation.ONCE)
            | {key: _found(evidence, key, test, excused) for key in _red_arms(evidence, test)}
            for test in evidence.tests
            if evidence.passes_baseline(test)
        }
    return cast("Mapping[TestId, Mapping[ArmKey, Explanation]]", evidence.worked_out["failures"])


def failed_once(evidence: Evidence) -> dict[TestId, int]:
    """Return tests that failed by chance and by nothing else, and in how many arms."""
    found = {test: list(failures(evidence, test).values()) for test in evidence.tests}
    return {
        test: what.count(Explanation.ONCE)
        for test, what in found.items()
        if Explanation.ONCE in what and not {Explanation.SENSITIVE, Explanation.OPEN} & set(what)
    }


def flaky_tests(evidence: Evidence) -> frozenset[TestId]:
    """Return the tests that failed by chance more than once, or all of them where there is more than one."""
    if "flaky" not in evidence.worked_out:
        found = failed_once(evidence)
        evidence.worked_out["flaky"] = frozenset(found) if sum(found.values()) > 1 else frozenset()
    return cast("frozenset[TestId]", evidence.worked_out["flaky"])


def excused_arms(evidence: Evidence) -> tuple[ArmKey, ...]:
    """Return the arms whose rewriting is at fault, and no test: as many as may be excused."""
    keys = {key for test in evidence.tests for key in _red_arms(evidence, test) if _is_wrong(evidence, key, test)}
    return tuple(sorted(keys)[:MOST_EXCUSED])


def looks_to_take(evidence: Evidence) -> tuple[ArmKey, ...]:
    """Return the arms that are to run next so that each failure comes to an end; none where all have.

    One arm can settle several tests; a test that one arm has settled needs no other.
    """
    wanted: dict[ArmKey, None] = {}
    for test in evidence.tests:
        if baseline_is_open(evidence, test):
            wanted |= dict.fromkeys((AT_BASELINE.again, AT_BASELINE.again.again))
        found = failures(evidence, test)
        if Explanation.SENSITIVE in found.values():
            continue
        if unsettled := [_next(evidence, key) for key, what in found.items() if what is Explanation.OPEN]:
            wanted.setdefault(next((key for key in unsettled if key in wanted), unsettled[0]))
    return tuple(wanted)


def certain(evidence: Evidence, test: TestId) -> bool:
    """Return whether the failures that are known can't all be excused any more, whatever further looks show."""
    found = failures(evidence, test)
    return Explanation.SENSITIVE in found.values() or len(found) > MOST_EXCUSED + MOST_BY_CHANCE


def baseline_is_open(evidence: Evidence, test: TestId) -> bool:
    """Return whether a test fails only at the baseline of all arms that it must pass, with no second look yet."""
    if evidence.outcome(AT_BASELINE, test) is not Outcome.FAILED or AT_BASELINE.again in evidence.arms:
        return False
    alike = [key for key, arm in evidence.listed.items() if arm.kind.behaves_like_baseline and key != AT_BASELINE]
    return all(evidence.outcome(key, test) is Outcome.PASSED for key in alike)


def _red_baselines(evidence: Evidence, test: TestId) -> Iterator[ArmKey]:
    for key, arm in sorted(evidence.listed.items()):
        if arm.kind is VariantKind.BASELINE and evidence.outcome(key, test) is not Outcome.PASSED:
            yield key


def _red_arms(evidence: Evidence, test: TestId) -> Iterator[ArmKey]:
    if not evidence.passes_baseline(test):
        return
    for key, arm in sorted(evidence.listed.items()):
        first = arm.kind.behaves_like_baseline and arm.kind is not VariantKind.BASELINE and key.repetition == 1
        if first and not evidence.is_green(key, test):
            yield key


def _found(evidence: Evidence, key: ArmKey, test: TestId, excused: tuple[ArmKey, ...]) -> Explanation:
    if key.again not in evidence.arms:
        return Explanation.OPEN
    if not evidence.is_green(key.again, test):
        return Explanation.SENSITIVE
    if key.again.again not in evidence.arms:
        return Explanation.OPEN
    if evidence.is_green(key.again.again, test):
        return Explanation.ONCE
    return Explanation.EXCUSED if key in excused else Explanation.SENSITIVE


def _is_wrong(evidence: Evidence, key: ArmKey, test: TestId) -> bool:
    """Return whether a test fails under this rewriting each time and passes under another one."""
    third = key.again.again
    return (
        evidence.arms[key].kind in EXCUSABLE
        and third in evidence.arms
        and evidence.is_green(key.again, test)
        and not evidence.is_green(third, test)
    )


def _next(evidence: Evidence, key: ArmKey) -> ArmKey:
    return key.again.again if key.again in evidence.arms else key.again
