"""Running every arm that a judgement needs.

The order of a judging's arms, and which of them can still change its verdict.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import NamedTuple

from harness.judging.languages.toolchain import CompiledVariant, JobLimit, JobsStopped
from harness.judging.languages.variant_source import VariantSource
from harness.judging.verify.arms import ArmContext, ArmObserver, ArmRunner, Scheduled, Suite
from harness.judging.verify.chance_failures import looks_to_take
from harness.judging.verify.compiling import compile_once
from harness.judging.verify.evidence import (
    AT_BASELINE,
    EXISTING_AFTER,
    EXISTING_BEFORE,
    REWRITTEN_AFTER,
    ArmLog,
    Draw,
    Evidence,
    UnkeptArms,
    derived_seed,
    listed_arm,
    lost,
    passed,
)
from harness.judging.verify.manifest_check import ManifestCheck
from harness.judging.verify.mutation import (
    is_certainly_faulty,
    is_green_at_baseline,
    is_over,
    unknown_red,
    unlisted_red,
)
from harness.judging.verify.variants import drawn_again, rewritten_on_disk
from harness.specs.errors import first_error
from harness.specs.task import Task
from harness.specs.variants import Arm, ArmKey, Role, VariantKind

TOGETHER = 12
"""Arms that are built and run together. Between them it is decided which others are still needed."""


@dataclass(frozen=True)
class Planned:
    """An arm before its variant is compiled."""

    key: ArmKey
    source: VariantSource


def schedule(sources: Sequence[VariantSource], check: ManifestCheck, order_seed: int) -> list[Planned]:
    """Return all arms of one judging, baseline first among `sources`, shuffled.

    The baseline is among the first ones that run together: without it nothing can be left out. Whether there are
    arms of other tests than the listed ones depends on `check`. Existing tests also run without the patch: a table
    that it has cut leaves fewer of their cases, all of them green.
    """
    [baseline, *others] = sources
    first = Planned(AT_BASELINE, baseline)
    arms = [Planned(listed_arm(source.name), source) for source in others]
    if check.existing or check.unlisted or check.whole:
        arms.append(Planned(EXISTING_AFTER, baseline))
    if check.existing:
        arms.append(Planned(EXISTING_BEFORE, baseline))
    if check.unlisted:
        arms += [Planned(REWRITTEN_AFTER, item) for item in others if item.name == REWRITTEN_AFTER.variant]
    if check.changed:
        mutants = [source for source in others if not source.kind.behaves_like_baseline]
        arms += [Planned(ArmKey(Role.CHANGED_BEFORE, source.name), source) for source in mutants]
    chance = Random(order_seed)
    chance.shuffle(arms)
    arms.insert(chance.randrange(min(TOGETHER, len(arms) + 1)), first)
    return arms


def required(arms: Sequence[Planned]) -> tuple[ArmKey, ...]:
    """Return the arms without which there is no evidence. Without a probe only its criterion stays undecided."""
    return tuple(
        sorted(
            item.key
            for item in arms
            if item.key.role is not Role.CHANGED_BEFORE and item.source.kind is not VariantKind.PROBE
        )
    )


def needed(arms: Sequence[Planned], evidence: Evidence) -> Iterator[Planned]:
    """Yield the arms that can still change a reason.

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


OF_A_JUDGING = (Role.LISTED, Role.CHANGED_BEFORE, Role.EXISTING_BEFORE, Role.EXISTING_AFTER)
COMPILING_AT_ONCE = 2
"""Containers that compile a judging's variants, side by side. Compilers of one container mostly use one core."""
EXISTING_TIMES = 10
"""An arm of existing tests may take so many times as long as one of the listed tests: they can be very many."""


class ArmPlan(NamedTuple):
    """The plan of one judging: a suite, checked, on the variants that were drawn, baseline first."""

    sources: Sequence[VariantSource]
    suite: Suite
    check: ManifestCheck
    draw: Draw


async def gather_evidence(context: ArmContext, task: Task, plan: ArmPlan, log: ArmLog | None = None) -> Evidence:
    """Run every arm that the judgement needs and the log doesn't know, in one drawn order.

    The time of a whole verification counts from here: what is compiled without the submission is not its fault.

    Args:
        context: Where arms run.
        task: Its limits hold for each arm and for all of them.
        plan: What is to run.
        log: Keeps each arm as it ends, and knows those of an earlier start; None keeps nothing.

    Raises:
        SandboxLost: An arm was lost again and again.
    """
    log = log or UnkeptArms()
    if not any(source.kind is VariantKind.REWRITTEN for source in plan.sources):  # on a stage, where arms are dear
        plan = plan._replace(check=replace(plan.check, whole=(), whole_before=()))
    arms = schedule(plan.sources, plan.check, plan.draw.order_seed)
    variants = CompiledOnce(context, task)
    await variants.of([item.source for item in arms if item.key not in log.known])
    limit = JobLimit(task.file.limits.of_verification(len(arms)), log.seconds, with_builds=False)
    gathering = _Gathering(replace(context, limit=limit), task, plan, required(arms), variants, log)
    gathering.announce(arms)
    runner = ArmRunner(gathering.context, task, observer=gathering)
    try:
        todo = arms
        while todo and not limit.is_stopped:
            for first in range(0, len(todo), TOGETHER):
                some = list(needed(todo[first : first + TOGETHER], gathering.evidence))
                gathering.arms |= await runner.run(await gathering.ready(some))
            chance = Random(derived_seed(plan.draw.order_seed, "looks"))
            while looks := _looks(gathering, [item.source for item in arms], chance):
                gathering.announce(looks)
                gathering.arms |= await runner.run(await gathering.ready(looks))
            # A test that turns out to be green needs what was left out while it seemed red.
            todo = [item for item in needed(arms, gathering.evidence) if item.key not in gathering.arms]
    except JobsStopped:  # while something was built
        pass
    return replace(gathering.evidence, out_of_time=limit.ran_out_of_time)


@dataclass(frozen=True)
class _Suites:
    """The tests of each role."""

    listed: Suite
    by_role: Mapping[Role, Suite]

    @classmethod
    def of(cls, task: Task, suite: Suite, check: ManifestCheck) -> "_Suites":
        long = EXISTING_TIMES * task.file.limits.arm_seconds
        roles = {
            Role.EXISTING_BEFORE: Suite(
                check.existing, {}, seconds=long, places=check.before, whole=check.whole_before
            ),
            Role.EXISTING_AFTER: replace(
                suite,
                tests=(*check.existing, *check.unlisted, *(test for test in suite.tests if test.file in check.whole)),
                seconds=long,
                places=check.after,
                whole=check.whole,
            ),
            Role.CHANGED_BEFORE: Suite(tuple(sorted(check.changed)), {}),
        }
        return cls(suite, roles)

    def suite(self, role: Role, evidence: Evidence) -> Suite:
        """Return the tests of a role. What was never green isn't run alone where something hides it."""
        if role is not Role.LISTED:
            return self.by_role[role]
        baseline = evidence.arms.get(AT_BASELINE)
        return replace(self.listed, standing=frozenset(passed(baseline))) if baseline else self.listed


class _Gathering(ArmObserver):
    """The evidence of one judging while it grows."""

    def __init__(
        self,
        context: ArmContext,
        task: Task,
        plan: ArmPlan,
        needed_arms: tuple[ArmKey, ...],
        variants: "CompiledOnce",
        log: ArmLog,
    ) -> None:
        self.context, self.plan = context, plan
        self.arms: dict[ArmKey, Arm] = {}
        self._required, self._variants, self._log = needed_arms, variants, log
        self._suites = _Suites.of(task, plan.suite, plan.check)

    @property
    def evidence(self) -> Evidence:
        arms, draw, check = dict(self.arms), self.plan.draw, self.plan.check
        tests = self.plan.suite.tests
        return Evidence(tests, arms, self._required, draw, checking=check.checking, empty=check.empty)

    def announce(self, arms: Sequence[Planned]) -> None:
        """Tell how many arms are about to run."""
        self.context.observer.planned(sum(item.key not in self._log.known for item in arms))

    async def ready(self, arms: Sequence[Planned]) -> list[Scheduled]:
        """Return those of the arms that the log doesn't know, compiled; take the others from it.

        Raises:
            SandboxLost: A container that compiled was lost.
            JobsStopped: Nothing of it could be built.
        """
        suites: dict[Role, Suite] = {role: self._suites.suite(role, self.evidence) for role in OF_A_JUDGING}
        known = {item.key: self._log.known[item.key] for item in arms if item.key in self._log.known}
        for key, arm in known.items():
            self._heed(key, arm)
        unknown = [item for item in arms if item.key not in known]
        compiled = await self._variants.of([item.source for item in unknown])
        self.arms |= known
        return [
            Scheduled(item.key, variant, suites[item.key.role])
            for item, variant in zip(unknown, compiled, strict=True)
        ]

    def ended(self, key: ArmKey, arm: Arm) -> None:
        self._log.add(key, arm, self.context.limit.used)
        self._heed(key, arm)

    def _heed(self, key: ArmKey, arm: Arm) -> None:
        if is_over(replace(self.evidence, arms={key: arm})):
            self.context.limit.stop()


@dataclass
class CompiledOnce:
    """The variants of one judging, each compiled when it is first asked for, without the submission."""

    context: ArmContext
    task: Task
    made: dict[tuple[str, int | None], CompiledVariant] = field(default_factory=dict)

    async def of(self, sources: Sequence[VariantSource]) -> list[CompiledVariant]:
        """Return the compiled variants in the order of their sources.

        A variant that is drawn again has another seed.
        """
        while missing := [source for source in sources if _drawn(source) not in self.made]:
            some = {source.name: source for source in missing}
            compiled = await _compile(self.context, self.task, some)
            self.made |= {_drawn(some[name]): item for name, item in compiled.items()}
        return [self.made[_drawn(source)] for source in sources]


def _drawn(source: VariantSource) -> tuple[str, int | None]:
    return source.name, source.seed


async def _compile(
    context: ArmContext, task: Task, different: Mapping[str, VariantSource]
) -> dict[str, CompiledVariant]:
    """Compile variants, by name, in few containers: each of them reads the task's texts anew."""
    if not context.toolchain.separates:
        different = {name: rewritten_on_disk(source, task.repo) for name, source in different.items()}
    names = list(different)
    parts = [names[first::COMPILING_AT_ONCE] for first in range(min(COMPILING_AT_ONCE, len(names)))]

    async def compiled(some: Sequence[str]) -> list[CompiledVariant]:
        return await compile_once(context.toolchain, context, [different[name] for name in some])

    with first_error():
        async with asyncio.TaskGroup() as group:
            builds = [(some, group.create_task(compiled(some))) for some in parts]
    return {name: made for some, build in builds for name, made in zip(some, build.result(), strict=True)}


def _looks(gathering: "_Gathering", sources: Sequence[VariantSource], chance: Random) -> list[Planned]:
    """Return second looks at failures, or third ones; none where each failure has come to an end.

    A removal of each kind is repeated among them, or a test that knows that it is looked at again would know how to
    behave.
    """
    if gathering.context.limit.is_stopped:
        return []
    by_name = {source.name: source for source in sources}
    removals: dict[VariantKind, list[str]] = {}
    for source in by_name.values():
        if source.kind.removes:
            removals.setdefault(source.kind, []).append(source.name)
    other = _existing_looks(gathering.evidence, gathering.plan.check)
    looks = [*looks_to_take(gathering.evidence), *dict.fromkeys(other)]
    if not looks:
        return []
    looks += [_unused(listed_arm(chance.choice(names)), gathering.arms) for names in removals.values()]
    chance.shuffle(looks)
    return [Planned(key, _seen_again(by_name[key.variant], key)) for key in looks]


def _unused(key: ArmKey, arms: Mapping[ArmKey, Arm]) -> ArmKey:
    """Return the next repetition of an arm."""
    while key in arms:
        key = key.again
    return key


def _seen_again(source: VariantSource, key: ArmKey) -> VariantSource:
    """Return the source of a repetition: the second has another rewriting, the third the first one again."""
    is_second = key.role is Role.LISTED and key.repetition == 2
    return drawn_again(source, key.repetition) if is_second else source


def _existing_looks(evidence: Evidence, check: ManifestCheck) -> Iterator[ArmKey]:
    """Yield further looks at existing tests.

    These are arms once more with the patch where tests passed without it and don't with it, or run fewer cases, or
    where tests fail that aren't listed; and one without it where no text shows the tests that fail.
    """
    unknown = unknown_red(evidence, (*check.unlisted, *check.existing))
    for key in (EXISTING_AFTER, REWRITTEN_AFTER):
        red = unlisted_red(evidence, check.unlisted, key) or (unknown and key == EXISTING_AFTER)
        if red and key.again not in evidence.arms:
            yield key.again
    if EXISTING_BEFORE not in evidence.arms and {test.file for test in unknown}.intersection(check.whole_before):
        yield EXISTING_BEFORE
    before, after = evidence.arms.get(EXISTING_BEFORE), evidence.arms.get(EXISTING_AFTER)
    if before and after and lost(before, after) and EXISTING_AFTER.again not in evidence.arms:
        yield EXISTING_AFTER.again
