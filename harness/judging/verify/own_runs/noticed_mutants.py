"""Mutants that the tests of a listed file notice, drawn for runs by the repository's own command.

Each file is held by itself: one may be honest, and another one leave its checks to arms.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from harness.judging.languages.variant_source import VariantSource
from harness.judging.verify.evidence import Evidence, derived_seed
from harness.judging.verify.gathering import ArmPlan
from harness.judging.verify.own_runs.command import Runs
from harness.judging.verify.own_runs.reasons import WHOLE_MUTANTS, is_green, is_red
from harness.specs.variants import Arm, ArmKey, ArmName, Role, VariantKind

_ALIKE = frozenset({VariantKind.TWIN, VariantKind.PLACEBO_AUTHORED})
ENOUGH_FILES = 5
"""Listed files that own runs are asked for; honest work has three."""


@dataclass(frozen=True)
class Order:
    """An order of runs on mutants that the tests of `file` notice.

    It has the arguments and the variables of the command. `part` is its number among those of its role, from 0.
    """

    role: Role
    part: int
    file: str
    arguments: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])


async def run_on_mutants(
    plan: ArmPlan,
    evidence: Evidence,
    orders: Iterable[Order],
    runs_on: Callable[[VariantSource, Order], Awaitable[Runs]],
) -> dict[ArmName, Arm]:
    """Return the runs of each order until one of them isn't green; none after an order whose runs all are.

    Args:
        plan: The variants and the suite.
        evidence: What arms came to: it says what the tests notice.
        orders: What is run.
        runs_on: Gives the runner on a mutant.
    """
    arms: dict[ArmName, Arm] = {}
    for order in orders:
        tries = noticed_mutants(plan.sources, evidence, order)
        for key, mutant in tries:
            arms[key] = await (await runs_on(mutant, order)).run(key, plan.suite, order.arguments)
            if not is_green(arms[key]):
                break
        else:
            if tries:
                break
    return arms


def noticed_mutants(
    sources: Sequence[VariantSource], evidence: Evidence, order: Order
) -> list[tuple[ArmKey, VariantSource]]:
    """Return mutants that the tests of an order's file notice, drawn: those first that no other listed file's do.

    They are probes where there are any. An only one is there twice.
    """
    noticing = files_that_notice(evidence)
    found = [
        each
        for each in sources
        if order.file in noticing.get(each.name, ()) and each.code not in ({}, sources[0].code)
    ]
    found = [each for each in found if each.kind is VariantKind.PROBE] or found
    drawn = _chance(evidence, f"own run {order.role} {order.part}").sample(found, len(found))
    tries = sorted(drawn, key=lambda each: len(noticing[each.name]))[:WHOLE_MUTANTS]
    times = WHOLE_MUTANTS if len(tries) == 1 else 1
    return [(ArmKey(order.role, each.name, time, order.part), each) for time in range(1, times + 1) for each in tries]


def twin_of_a_mutant(sources: Sequence[VariantSource], evidence: Evidence) -> VariantSource | None:
    """Return a variant that behaves like the baseline and has another text: where there is one, a mutant's twin.

    That mutant is one on which own runs were red.
    """
    others = [each for each in sources if each.kind in _ALIKE and each.code not in ({}, sources[0].code)]
    red = {key.variant for key, arm in evidence.arms.items() if key.role is Role.WHOLE_MUTANT and is_red(arm)}
    twins = [each for each in others if each.kind is VariantKind.TWIN]
    found = [each for each in twins if _probe_of(each.name) in red] or twins or others
    return _chance(evidence, "own run on a twin").choice(found) if found else None


def _probe_of(twin: str) -> str:
    """Return the name of a twin's mutant: that of `twin-1.4_2` is `probe-1.4`."""
    return f"probe-{twin.removeprefix('twin-').partition('_')[0]}"


def files_that_notice(evidence: Evidence) -> dict[str, set[str]]:
    """Return the listed files whose tests notice a variant, by the variant's name."""
    noticing: dict[str, set[str]] = {}
    for key in evidence.listed:
        noticing.setdefault(key.variant, set()).update(
            test.file for test in evidence.tests if evidence.kills(key, test)
        )
    return noticing


def files_asked_for(evidence: Evidence) -> dict[int, str]:
    """Return the listed files that own runs are asked for, each under its number among all of them, from 1.

    Those come first whose tests notice most that others before them don't: `ENOUGH_FILES`, or more where something is
    noticed by none of these.
    """
    noticing = files_that_notice(evidence)
    left = dict(enumerate(evidence.listed_files, 1))
    noticed = {path: {name for name, files in noticing.items() if path in files} for path in left.values()}
    chosen: dict[int, str] = {}
    seen: set[str] = set()
    while left:
        best = max(left, key=lambda part: (len(noticed[left[part]] - seen), -part))
        if len(chosen) >= ENOUGH_FILES and not noticed[left[best]] - seen:
            break
        seen |= noticed[left[best]]
        chosen[best] = left.pop(best)
    return dict(sorted(chosen.items()))


def files_held(evidence: Evidence) -> list[str]:
    """Return the files of `files_asked_for` that are held on mutants, drawn where these are many: runs take long."""
    asked = [*files_asked_for(evidence).values()]
    return sorted(_chance(evidence, "files held").sample(asked, min(len(asked), ENOUGH_FILES)))


def _chance(evidence: Evidence, name: str) -> Random:
    return Random(derived_seed(evidence.draw.order_seed if evidence.draw else 0, name))
