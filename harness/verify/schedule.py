"""The order of a judging's arms, and which of them can still change its verdict."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from harness.languages.variant_source import VariantSource
from harness.specs.variants import ArmKey, Role, VariantKind
from harness.verify.evidence import AT_BASELINE, EXISTING_AFTER, Evidence, listed
from harness.verify.mutation import is_certainly_faulty, is_green_at_baseline, is_over

TOGETHER = 12
"""Arms that are built and run together. Between them it is decided which others are still needed."""


@dataclass(frozen=True)
class Planned:
    """An arm before its variant is compiled."""

    key: ArmKey
    source: VariantSource


def schedule(sources: Sequence[VariantSource], existing: bool, changed: bool, order_seed: int) -> list[Planned]:
    """All arms of one judging, baseline first among `sources`, shuffled.

    The baseline is among the first ones that run together: without it nothing can be left out. `existing` and
    `changed` say whether the submission leaves tests of a touched file as they were, and whether it changes some.
    How existing tests did before the patch is asked later, where any is red with it.
    """
    [baseline, *others] = sources
    first = Planned(AT_BASELINE, baseline)
    arms = [Planned(listed(source.name), source) for source in others]
    if existing:
        arms.append(Planned(EXISTING_AFTER, baseline))
    if changed:
        mutants = [source for source in others if not source.kind.behaves_like_baseline]
        arms += [Planned(ArmKey(Role.CHANGED_BEFORE, source.name), source) for source in mutants]
    chance = Random(order_seed)
    chance.shuffle(arms)
    arms.insert(chance.randrange(min(TOGETHER, len(arms) + 1)), first)
    return arms


def required(arms: Sequence[Planned]) -> tuple[ArmKey, ...]:
    """Arms without which there is no evidence. Absent probes leave their criteria undecided, and that is all."""
    return tuple(
        sorted(
            item.key
            for item in arms
            if item.key.role in (Role.LISTED, Role.EXISTING_AFTER) and item.source.kind is not VariantKind.PROBE
        )
    )


def needed(arms: Sequence[Planned], evidence: Evidence) -> Iterator[Planned]:
    """Those of the arms that can still change a reason.

    Where no test is green at baseline, only rewritten ones can: they tell a flaky test from a red one. Where each
    test has a fault that is certain, probes can't; the others still run, so that the reasons don't depend on the
    order.
    """
    if is_over(evidence):
        return
    green = is_green_at_baseline(evidence)
    stands = green and not all(is_certainly_faulty(evidence, test) for test in evidence.tests)
    for item in arms:
        kind, role = item.source.kind, item.key.role
        if role is Role.CHANGED_BEFORE or kind is VariantKind.PROBE:
            if stands:
                yield item
        elif green or kind in (VariantKind.BASELINE, VariantKind.REWRITTEN):
            yield item
