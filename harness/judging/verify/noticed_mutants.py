"""Mutants that a submission's tests notice, drawn for runs by the repository's own command.

A file may leave its checks to arms while another one is honest: a run that is red on a mutant which both notice says
nothing of it. So what few files notice comes first, and each further draw is of what other files notice, or of what
other tests do.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from harness.judging.languages.variant_source import VariantSource
from harness.judging.verify.evidence import Evidence, derived_seed
from harness.judging.verify.mutation import WHOLE_MUTANTS, is_green, is_red
from harness.specs.test_results import TestId
from harness.specs.variants import Arm, ArmKey, ArmName, Role, VariantKind

MOST_DRAWS = 5
"""Mutants on which files are held at most, where each set of them alone notices something."""


@dataclass(frozen=True)
class Order:
    """An order of runs on mutants that some tests notice, with the command's arguments.

    `envs` are the variables of the command: those of each draw, and the last ones for all further draws. There are
    so many draws, though they be of the same mutants; `least` of different ones, where so many are noticed; and up to
    `MOST_DRAWS` where further files notice something that no others do.
    """

    role: Role
    tests: tuple[TestId, ...]
    arguments: tuple[str, ...] = ()
    envs: tuple[Mapping[str, str], ...] = ({},)
    least: int = 1

    def env(self, key: ArmKey) -> Mapping[str, str]:
        """Return the variables of a run: the key's `part` is the number of its draw, from 0."""
        return self.envs[min(key.part, len(self.envs) - 1)]


async def run_on_mutants(
    sources: Sequence[VariantSource],
    evidence: Evidence,
    order: Order,
    run: Callable[[ArmKey, VariantSource], Awaitable[Arm]],
) -> dict[ArmName, Arm]:
    """Return runs on the mutants of each draw until one of them is red; no further draw where all are green.

    Args:
        sources: The baseline's source, then those of all variants.
        evidence: What arms came to: it says what the tests notice.
        order: What is drawn.
        run: Runs an order on a mutant.
    """
    arms: dict[ArmName, Arm] = {}
    for tries in noticed_mutants(sources, evidence, order):
        for key, mutant in tries:
            arms[key] = await run(key, mutant)
            if is_red(arms[key]):
                break
        if all(is_green(arms[key]) for key, _ in tries if key in arms):
            break
    return arms


def noticed_mutants(
    sources: Sequence[VariantSource], evidence: Evidence, order: Order
) -> list[list[tuple[ArmKey, VariantSource]]]:
    """Return the draws of mutants that tests notice, each with its tries: the key's `part` is the number of the draw.

    Probes are drawn where there are any. A try after the first is on another mutant that the same files notice, or
    on the same one again where there is none.
    """
    noticed: dict[str, set[TestId]] = {}
    for key in evidence.listed:
        noticed.setdefault(key.variant, set()).update(test for test in order.tests if evidence.kills(key, test))
    found = [each for each in sources if noticed.get(each.name) and each.code and each.code != sources[0].code]
    found = [each for each in found if each.kind is VariantKind.PROBE] or found
    if not found:
        return []
    chance = Random(derived_seed(evidence.draw.order_seed if evidence.draw else 0, "own run"))
    files = {each.name: frozenset(test.file for test in noticed[each.name]) for each in found}
    found = chance.sample(found, len(found))
    left, draws = [*found], list[list[tuple[ArmKey, VariantSource]]]()
    of_few = {name for name, of in files.items() if not any(other < of for other in files.values())}
    seen_files, seen_tests = set[str](), set[TestId]()
    while (left or len(draws) < len(order.envs)) and len(draws) < MOST_DRAWS:
        left = left or [*found]
        best = min(left, key=lambda each: _seen(each.name, of_few, files, seen_files, noticed, seen_tests))
        is_extra = len(draws) >= max(order.least, len(order.envs))
        if is_extra and (best.name not in of_few or files[best.name] & seen_files):
            break
        others = [each for each in found if each is not best and files[each.name] == files[best.name]]
        draws.append(_tries(order.role, [best, *others][:WHOLE_MUTANTS], len(draws)))
        seen_files |= files[best.name]
        seen_tests |= noticed[best.name]
        left.remove(best)
    return draws


def _seen(
    name: str,
    of_few: set[str],
    files: Mapping[str, frozenset[str]],
    seen_files: set[str],
    noticed: Mapping[str, set[TestId]],
    seen_tests: set[TestId],
) -> tuple[bool, int, int]:
    return name not in of_few, len(files[name] & seen_files), len(noticed[name] & seen_tests)


def _tries(role: Role, mutants: Sequence[VariantSource], draw: int) -> list[tuple[ArmKey, VariantSource]]:
    times = WHOLE_MUTANTS if len(mutants) == 1 else 1
    return [(ArmKey(role, each.name, time, draw), each) for time in range(1, times + 1) for each in mutants]
