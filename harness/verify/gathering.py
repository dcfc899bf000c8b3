"""Running every arm that a judgement needs."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from harness.languages.toolchain import CompiledVariant
from harness.specs.errors import first_error
from harness.specs.task import Task
from harness.specs.variants import Arm, ArmKey, Role, VariantKind
from harness.verify.arms import ArmContext, Suite, run_arms
from harness.verify.evidence import (
    BASELINES,
    EXISTING_AFTER,
    EXISTING_BEFORE,
    REQUIRED,
    THIRD_BASELINE,
    Evidence,
    listed,
    passed,
)
from harness.verify.manifest_check import ManifestCheck
from harness.verify.mutation import faults, stands_at_baseline

EXISTING_TIMES = 10
"""An arm of existing tests may take so many times as long as one of the listed tests: they can be very many."""


async def gather_evidence(
    context: ArmContext,
    task: Task,
    variants: Sequence[CompiledVariant],
    suite: Suite,
    check: ManifestCheck,
    required: tuple[ArmKey, ...] = REQUIRED,
) -> Evidence:
    """Run every arm that the judgement needs. Raises SandboxLost.

    Every step is for tests that stand after the one before: baselines, placebos and removals, probes. Where none
    does, the next one could show nothing and isn't run.
    """
    baseline = next(item for item in variants if item.variant.kind is VariantKind.BASELINE)
    others = [item for item in variants if item is not baseline]
    with first_error():
        async with asyncio.TaskGroup() as group:
            arms = group.create_task(_arms(context, task, suite, baseline, others))
            existing = group.create_task(_existing(context, task, suite, check, baseline))
    if check.existing:
        required = (*required, EXISTING_BEFORE, EXISTING_AFTER)
    evidence = Evidence(suite.tests, {**arms.result(), **existing.result()}, required)
    if not evidence.probed:
        return evidence
    return replace(evidence, arms={**evidence.arms, **await _changed_before(context, task, check, others)})


async def _arms(
    context: ArmContext, task: Task, suite: Suite, baseline: CompiledVariant, others: Sequence[CompiledVariant]
) -> dict[ArmKey, Arm]:
    arms = await run_arms(context, task, suite, [(key, baseline) for key in BASELINES])
    if passed(arms[BASELINES[0]]) != passed(arms[BASELINES[1]]):
        arms |= await run_arms(context, task, suite, [(THIRD_BASELINE, baseline)])
    if not stands_at_baseline(Evidence(suite.tests, arms)):
        return arms
    suite = replace(suite, standing=frozenset(passed(arms[BASELINES[0]]) & passed(arms[BASELINES[1]])))
    probes = [item for item in others if item.variant.kind is VariantKind.PROBE]
    arms |= await run_arms(context, task, suite, _first_arms([item for item in others if item not in probes]))
    arms |= await run_arms(context, task, suite, _second_looks(arms, others))
    if any(not faults(Evidence(suite.tests, arms), test) for test in suite.tests):
        arms |= await run_arms(context, task, suite, _first_arms(probes))
    return arms


def _first_arms(variants: Iterable[CompiledVariant]) -> list[tuple[ArmKey, CompiledVariant]]:
    return [(listed(item.variant.name), item) for item in variants]


def _second_looks(
    arms: Mapping[ArmKey, Arm], others: Iterable[CompiledVariant]
) -> Iterator[tuple[ArmKey, CompiledVariant]]:
    """Once more each placebo under which a green test failed."""
    green = passed(arms[BASELINES[0]]) & passed(arms[BASELINES[1]])
    for item in others:
        key = listed(item.variant.name)
        if item.variant.kind.behaves_like_baseline and not green <= passed(arms[key]):
            yield key.again, item


async def _existing(
    context: ArmContext, task: Task, suite: Suite, check: ManifestCheck, baseline: CompiledVariant
) -> dict[ArmKey, Arm]:
    """The untouched tests of touched files, without and with the patch."""
    if not check.existing:
        return {}
    long = EXISTING_TIMES * task.file.limits.arm_seconds
    pristine = Suite(check.existing, {}, seconds=long)
    after = Suite(check.existing, suite.files, suite.executable, suite.removed, seconds=long)
    with first_error():
        async with asyncio.TaskGroup() as group:
            runs = [
                group.create_task(run_arms(context, task, pristine, [(EXISTING_BEFORE, baseline)])),
                group.create_task(run_arms(context, task, after, [(EXISTING_AFTER, baseline)])),
            ]
    arms = {key: arm for run in runs for key, arm in run.result().items()}
    if not passed(arms[EXISTING_BEFORE]) <= passed(arms[EXISTING_AFTER]):
        arms |= await run_arms(context, task, after, [(EXISTING_AFTER.again, baseline)])
    return arms


async def _changed_before(
    context: ArmContext, task: Task, check: ManifestCheck, others: Iterable[CompiledVariant]
) -> dict[ArmKey, Arm]:
    """What changed tests noticed before they were changed."""
    if not check.changed:
        return {}
    suite = Suite(tuple(sorted(check.changed)), {})
    changing = [item for item in others if not item.variant.kind.behaves_like_baseline]
    arms = [(ArmKey(Role.CHANGED_BEFORE, item.variant.name), item) for item in changing]
    return await run_arms(context, task, suite, arms)
