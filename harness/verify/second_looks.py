"""Failures under variants that behave as the baseline: what another look makes of them. Pure.

An arm in which a test fails that is green at baseline runs again, rewritten in another way. Where the test fails
again it is the test: it sees what isn't behaviour. Where it passes, the first rewriting runs once more: a test that
now passes is flaky, and one that fails shows that this rewriting is wrong. That is excused once in a judging, for the
variants that a machine alone has made.
"""

from collections.abc import Iterator
from enum import Enum

from harness.specs.ids import TestId
from harness.specs.results import Outcome
from harness.specs.variants import ArmKey, VariantKind
from harness.verify.evidence import Evidence

EXCUSABLE = frozenset({VariantKind.REWRITTEN})
"""Kinds of variants in which a machine wrote all that is new. Authored twins and placebos were checked beforehand."""
MOST_EXCUSED = 1


class Found(Enum):
    """What became of one failure under a variant that behaves as the baseline."""

    SENSITIVE = "sensitive"
    FLAKY = "flaky"
    EXCUSED = "excused"
    OPEN = "open"
    """Nobody has looked again so far."""


def failures(evidence: Evidence, test: TestId) -> dict[ArmKey, Found]:
    """The arms of variants like the baseline in which a test fails that is green there, and what came of each."""
    if not evidence.passes_baseline(test):
        return {}
    excused = excused_arms(evidence)
    return {key: _found(evidence, key, test, excused) for key in _red_arms(evidence, test)}


def excused_arms(evidence: Evidence) -> tuple[ArmKey, ...]:
    """The arms whose rewriting is at fault, and no test: as many as may be excused."""
    keys = {key for test in evidence.tests for key in _red_arms(evidence, test) if _is_wrong(evidence, key, test)}
    return tuple(sorted(keys)[:MOST_EXCUSED])


def looks_to_take(evidence: Evidence) -> tuple[ArmKey, ...]:
    """The arms that are to run next so that each failure comes to an end; none where all have.

    One arm can settle several tests; a test that one arm has settled needs no other.
    """
    wanted: dict[ArmKey, None] = {}
    for test in evidence.tests:
        found = failures(evidence, test)
        if Found.SENSITIVE in found.values() or Found.FLAKY in found.values():
            continue
        if unsettled := [_next(evidence, key) for key, what in found.items() if what is Found.OPEN]:
            wanted.setdefault(next((key for key in unsettled if key in wanted), unsettled[0]))
    return tuple(wanted)


def certain(evidence: Evidence, test: TestId) -> bool:
    """Whether the failures that are known can't all be excused any more, whatever further looks show."""
    red = list(_red_arms(evidence, test)) if evidence.passes_baseline(test) else []
    excusable = [key for key in red if evidence.arms[key].kind in EXCUSABLE]
    return len(red) > len(excusable) or len(excusable) > MOST_EXCUSED


def _red_arms(evidence: Evidence, test: TestId) -> Iterator[ArmKey]:
    if not evidence.passes_baseline(test):
        return
    for key, arm in sorted(evidence.listed.items()):
        first = arm.kind.behaves_like_baseline and arm.kind is not VariantKind.BASELINE and key.repetition == 1
        if first and evidence.outcome(key, test) is not Outcome.PASSED:
            yield key


def _found(evidence: Evidence, key: ArmKey, test: TestId, excused: tuple[ArmKey, ...]) -> Found:
    if key.again not in evidence.arms:
        return Found.OPEN
    if evidence.outcome(key.again, test) is not Outcome.PASSED:
        return Found.SENSITIVE
    if evidence.arms[key].kind not in EXCUSABLE:
        return Found.FLAKY
    if key.again.again not in evidence.arms:
        return Found.OPEN
    if evidence.outcome(key.again.again, test) is Outcome.PASSED:
        return Found.FLAKY
    return Found.EXCUSED if key in excused else Found.SENSITIVE


def _is_wrong(evidence: Evidence, key: ArmKey, test: TestId) -> bool:
    """Whether a test fails under this rewriting each time and passes under another one."""
    third = key.again.again
    return (
        evidence.arms[key].kind in EXCUSABLE
        and third in evidence.arms
        and evidence.outcome(key.again, test) is Outcome.PASSED
        and evidence.outcome(third, test) is not Outcome.PASSED
    )


def _next(evidence: Evidence, key: ArmKey) -> ArmKey:
    return key.again.again if key.again in evidence.arms else key.again
