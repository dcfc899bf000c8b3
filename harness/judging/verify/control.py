"""The control round: kills that a submission needs, run again apart from all other arms.

Arms of one judging share a machine. Tests that find a way to tell one another what they saw can vote: right arms
agree, mutants don't. Mutants that are alone with their like agree as well. So kills are drawn, and each mutant runs
twice more, side by side, with no arm of another variant beside them, and on files that no other arm has used. A test
that knows what is right fails there as it did. Where just one of the two runs fails, chance may have had its part:
they run once more, and both must fail.

A test may recognise the round, by the numbers of files for example, and fail there in any case. So one variant among
them has right code, and its tests must pass. It runs as the others do, twice and alone: if it ran once, tests that
find their like beside them would know a mutant by that. If other mutants ran beside a pair, tests of one criterion
would be among arms that are right in it.

Of two copies one has the image's user, as agents have (see `AS_FOR_AGENTS`): tests that check little for that one,
and all of it for others, are found out.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from random import Random

from harness.judging.languages.toolchain import JobLimit
from harness.judging.verify.arms import ArmContext, ArmObserver, ArmRunner, Scheduled
from harness.judging.verify.evidence import (
    AT_BASELINE,
    ArmLog,
    Evidence,
    UnkeptArms,
    derived_seed,
    listed_arm,
    passed,
)
from harness.judging.verify.gathering import ArmPlan, CompiledOnce
from harness.judging.verify.mutation import judge_mutation
from harness.judging.verify.rubric_check import grade, judge_rubric
from harness.sandbox.abilities import CopyingEngine
from harness.specs.grading import ControlRound
from harness.specs.reasons import Reason, ReasonCode, Stage
from harness.specs.rubric import Importance
from harness.specs.task import Task
from harness.specs.test_results import TestId
from harness.specs.variants import Arm, ArmKey, Role, VariantKind

KILLS_DRAWN = 3
SLOW_FIRST = 1
"""Kills that are drawn from those that no test noticed soon, of `KILLS_DRAWN`."""
SLOW_SECONDS = 1.0
"""Tests that learn from others what is right wait for them; few tests that know it take so long."""
COPIES = 2
"""Copies of one variant, side by side."""
_ROUNDS = 2
"""At most: the second one where only one copy was noticed in the first."""
_FLAKY_WORDS = "it passed among all other arms, and not apart from them, on code of the same behaviour"
_WORDS = "tests failed under this change among all other arms, and not when it ran again apart from them"


@dataclass(frozen=True)
class ControlRules:
    """How a control round is held: `kills` are drawn (None: `KILLS_DRAWN`), on a copy of the image or on itself."""

    kills: int | None = None
    on_copy: bool = True


USUAL = ControlRules()


async def control_round(
    context: ArmContext,
    task: Task,
    plan: ArmPlan,
    evidence: Evidence,
    control: ControlRound,
    log: ArmLog | None = None,
    rules: ControlRules = USUAL,
) -> Evidence:
    """Return the evidence with the arms of a control round, where one is to be held: see `kills_to_repeat`.

    Args:
        context: Where arms run. Control arms run on a second copy of its image, where the engine can make one and
            the rules say so.
        task: The task.
        plan: What ran before; the variants are those that were compiled for it.
        evidence: What that came to.
        control: Which kills are repeated.
        log: Keeps each arm as it ends, and knows those of an earlier start; None keeps nothing.
        rules: How many kills are drawn, and where they run.

    Raises:
        SandboxLost: An arm was lost again and again; that says nothing of the submission.
    """
    kills = kills_to_repeat(task, plan, evidence, control, rules.kills)
    evidence = replace(evidence, control=control)
    if not kills:
        return evidence
    names = _with_a_right_one(evidence, kills)
    async with _on_copy(context, rules) as apart:
        runs = _ControlArms(replace(apart, limit=JobLimit()), task, plan, log or UnkeptArms())
        for number in range(_ROUNDS):
            open_still = [name for name in names if number == 0 or _is_open(evidence, name)]
            keys = [
                ArmKey(Role.CONTROL, name, number * COPIES + copy)
                for name in open_still
                for copy in range(1, COPIES + 1)
            ]
            evidence = replace(evidence, arms={**evidence.arms, **await runs.run(keys, evidence)})
    return evidence


@asynccontextmanager
async def _on_copy(context: ArmContext, rules: ControlRules) -> AsyncIterator[ArmContext]:
    """Provide the context with a copy of its image, where the rules and the engine have one."""
    engine = context.engine
    if not (rules.on_copy and isinstance(engine, CopyingEngine)):
        yield context
        return
    async with engine.second_copy(context.image) as copy:
        yield replace(context, image=copy)


def kills_to_repeat(
    task: Task, plan: ArmPlan, evidence: Evidence, control: ControlRound, kills: int | None = None
) -> tuple[str, ...]:
    """Return the variants that are to run again: none where the submission isn't about to be resolved.

    What it needs are the kills of must-haves' probes; those of removals make up the number where there are too few.
    One for which every test took long is drawn before others; no more, or a suite could have just enough honest tests
    that take long.
    """
    most = KILLS_DRAWN if kills is None else kills
    if control is ControlRound.NONE or not is_about_to_be_resolved(task, plan, evidence):
        return ()
    musts = {criterion.id for criterion in task.rubric.criteria if criterion.importance is Importance.MUST}
    probes = [probe.variant for probe in task.probes if control is ControlRound.ALL or probe.criterion in musts]
    probes = sorted({name for name in probes if _killers(evidence, name)})
    removals = sorted({key.variant for key, arm in evidence.listed.items() if arm.kind.removes})
    removals = [name for name in removals if len(_killers(evidence, name)) == len(evidence.tests)]
    if control is ControlRound.ALL:
        return (*probes, *removals)
    chance = Random(derived_seed(evidence.draw.order_seed if evidence.draw else 0, "control"))
    slow = [name for name in probes if _is_slow(evidence, name)]
    drawn = chance.sample(slow, min(SLOW_FIRST, most, len(slow)))
    for names in ([name for name in probes if name not in drawn], removals):
        drawn += chance.sample(names, min(most - len(drawn), len(names)))
    return tuple(drawn)


def _with_a_right_one(evidence: Evidence, kills: Sequence[str]) -> list[str]:
    """Return the variants with one among them whose code is right, and where all passed.

    It is rewritten as theirs is; on a stage, which has no such arm, it is one of those that must pass.
    """
    chance = Random(derived_seed(evidence.draw.order_seed if evidence.draw else 0, "right"))
    kinds = {arm.kind for arm in evidence.listed.values()}
    kind = VariantKind.REWRITTEN if VariantKind.REWRITTEN in kinds else VariantKind.TWIN
    right = [
        key.variant
        for key, arm in sorted(evidence.listed.items())
        if arm.kind is kind and key.repetition == 1 and passed(arm).issuperset(evidence.tests)
    ]
    names = list(kills)
    if right:
        names.insert(chance.randrange(len(names) + 1), chance.choice(right))
    return names


def kills_not_repeated(evidence: Evidence) -> tuple[Reason, ...]:
    """Return a reason for each kill that isn't repeated, and for each test that fails there on right code. Pure."""
    arms = {key: arm for key, arm in sorted(evidence.arms.items()) if key.role is Role.CONTROL}
    right = [key for key, arm in arms.items() if arm.kind.behaves_like_baseline]
    names = sorted({key.variant for key in arms.keys() - set(right)})
    not_repeated = [name for name in names if not _is_repeated(list(_noticed(evidence, name)))]
    # Earlier versions ran one arm on right code.
    alone = len(right) == 1
    green = {test: [test in passed(arms[key]) for key in right] for test in evidence.tests if right}
    red = [test for test, there in green.items() if not (_is_repeated(there) or (alone and all(there)))]
    return (
        *(_reason(ReasonCode.KILL_NOT_REPEATED, name, _WORDS) for name in not_repeated),
        *(_reason(ReasonCode.FLAKY, str(test), _FLAKY_WORDS) for test in red),
    )


def _is_repeated(found: Sequence[bool]) -> bool:
    """Return whether something was there in both arms of the first pair, or of a second one that is whole."""
    pairs = found[:COPIES], found[COPIES:]
    return any(len(pair) == COPIES and all(pair) for pair in pairs)


def is_about_to_be_resolved(task: Task, plan: ArmPlan, evidence: Evidence) -> bool:
    """Return whether nothing but a judge can keep the submission from it any more."""
    rubric = judge_rubric(grade(task, evidence, plan.check.static), task)
    open_still = [reason for reason in rubric if reason.code is not ReasonCode.JUDGE_UNAVAILABLE]
    return not (judge_mutation(evidence) or open_still)


def _killers(evidence: Evidence, name: str) -> list[TestId]:
    return [test for test in evidence.tests if evidence.kills(listed_arm(name), test)]


def _is_slow(evidence: Evidence, name: str) -> bool:
    """Return whether no test notices a variant in less than a second."""
    results = (evidence.result(listed_arm(name), test) for test in _killers(evidence, name))
    return all(item.seconds >= SLOW_SECONDS for item in results if item)


def _reason(code: ReasonCode, subject: str, words: str) -> Reason:
    return Reason(code=code, stage=Stage.MUTATION, subject=subject, words=words)


def _is_open(evidence: Evidence, name: str) -> bool:
    """Return whether one copy was noticed and another one wasn't, or a test failed where the code is right."""
    arm = evidence.arms[listed_arm(name)]
    if arm.kind.behaves_like_baseline:
        copies = [ArmKey(Role.CONTROL, name, copy) for copy in range(1, COPIES + 1)]
        return not all(passed(evidence.arms[key]).issuperset(evidence.tests) for key in copies)
    return len(set(_noticed(evidence, name))) > 1


def _noticed(evidence: Evidence, name: str) -> Iterator[bool]:
    """Yield whether a variant's killers kill again in each control arm: all of a removal's, one of a probe's."""
    killers = _killers(evidence, name)
    enough = all if evidence.arms[listed_arm(name)].kind.removes else any
    for key in sorted(key for key in evidence.arms if key.role is Role.CONTROL and key.variant == name):
        yield enough(evidence.notices(key, test) for test in killers)


class _ControlArms(ArmObserver):
    """A runner of control arms that keeps each as it ends."""

    def __init__(self, context: ArmContext, task: Task, plan: ArmPlan, log: ArmLog) -> None:
        self._context, self._task, self._plan, self._log = context, task, plan, log

    async def run(self, keys: Sequence[ArmKey], evidence: Evidence) -> dict[ArmKey, Arm]:
        """Return these arms: run now, or known from an earlier start."""
        known = {key: self._log.known[key] for key in keys if key in self._log.known}
        rest = [key for key in keys if key not in known]
        sources = {source.name: source for source in self._plan.sources}
        self._context.observer.planned(len(rest))
        compiled = await CompiledOnce(self._context, self._task).of([sources[key.variant] for key in rest])
        standing = frozenset(passed(evidence.arms[AT_BASELINE]))
        suite = replace(self._plan.suite, standing=standing)
        # The second of two copies has the image's user, also where the code is right: it tells nothing.
        scheduled = [
            Scheduled(key, variant, suite, own_user=key.repetition % COPIES != 0)
            for key, variant in zip(rest, compiled, strict=True)
        ]
        return known | await ArmRunner(self._context, self._task, observer=self).run(scheduled, apart=True)

    def ended(self, key: ArmKey, arm: Arm) -> None:
        self._log.add(key, arm, self._context.limit.used)
