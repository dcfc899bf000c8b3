"""Running arms: the submission's tests on every variant, each in a fresh container.

An engine that starts no more containers once a judging has used up its time, or is over for another reason.
"""

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from harness.judging.languages.toolchain import (
    BuildContext,
    Built,
    CompiledVariant,
    SuiteFiles,
    Toolchain,
    with_suite,
)
from harness.judging.testing.arm_job import TestRun, read_job, test_job, unbuilt
from harness.sandbox.options import arm_options
from harness.sandbox.protocol import (
    Capabilities,
    Engine,
    Image,
    Job,
    JobResult,
    LimitReached,
    Sandbox,
    SandboxOptions,
)
from harness.specs.errors import SandboxLost, first_error
from harness.specs.task import Task
from harness.specs.test_results import Outcome, Quality, TestId, TestResult, combine
from harness.specs.variants import Arm, ArmKey, ArmStatus, VariantKind


class EngineStopped(Exception):
    """No container was started: the judging is over."""


class LimitedEngine:
    """See `Engine`. `seconds` are what all its jobs may take together, `used` what they have taken; those that run
    are not ended.

    `ran_out_of_time` says that a job was refused because they were used up.
    """

    def __init__(self, engine: Engine, seconds: float, used: float = 0.0) -> None:
        self._engine, self._most = engine, seconds
        self.used = used
        self._stopped = False
        self.ran_out_of_time = False
        self.name, self.isolation, self.capabilities = engine.name, engine.isolation, engine.capabilities

    name: str
    isolation: str
    capabilities: Capabilities

    @property
    def is_stopped(self) -> bool:
        return self._stopped or self.ran_out_of_time

    def stop(self) -> None:
        """Start nothing more."""
        self._stopped = True

    async def run_job(self, image: Image, job: Job, options: SandboxOptions, labels: Mapping[str, str]) -> JobResult:
        """See `Engine.run_job`. Raises EngineStopped."""
        if self._stopped:
            raise EngineStopped
        if self.used >= self._most:
            self.ran_out_of_time = True
            raise EngineStopped
        result = await self._engine.run_job(image, job, options, labels)
        self.used += result.seconds
        return result

    async def image(self, task: Task) -> Image:
        return await self._engine.image(task)

    def sandbox(self, image: Image, options: SandboxOptions, labels: Mapping[str, str]) -> Sandbox:
        return self._engine.sandbox(image, options, labels)

    async def reap(self, labels: Mapping[str, str]) -> int:
        return await self._engine.reap(labels)

    async def close(self) -> None:
        await self._engine.close()


MAX_ALONE = {VariantKind.REMOVAL: 20, VariantKind.GARBAGE: 20, VariantKind.PROBE: 3}
"""Tests of one arm that are run again alone when a crash or a time-out hid them: a probe needs but one."""
ARM_TRIES = 3
"""How often the container of one arm may be lost before the judging ends; other arms aren't run again for it."""
MAX_ALONE_TIMEOUTS = 3
"""After so many that take all the time that an arm may take, no further one is run alone."""
_CRASHED = 128
_TESTS_FAILED = 1


def _unheard(_: int) -> None:
    """Nobody counts."""


@dataclass(frozen=True)
class ArmContext:
    """Where arms run: engine and image, how many at once, who keeps what they print, and what makes their variants.

    `keep` is called once per arm with the engine's result. With `every_twin` all twins of the task run, not only as
    many as there are probes. `planned` is told how many arms are about to be scheduled, at most.
    """

    engine: Engine
    image: Image
    slots: asyncio.Semaphore
    labels: Mapping[str, str]
    keep: Callable[[ArmKey, JobResult], None]
    toolchain: Toolchain
    every_twin: bool = False
    planned: Callable[[int], None] = _unheard

    @property
    def build(self) -> BuildContext:
        """Where variants are compiled."""
        return BuildContext(self.engine, self.image, self.labels)


@dataclass(frozen=True)
class Suite:
    """Tests and the files that hold them, as they are laid over every variant.

    `seconds` is the limit of an arm, None for the task's. `standing` are the tests that are run again alone where
    something hid them, None for all: one that was never green has nothing more to show.
    """

    tests: tuple[TestId, ...]
    files: Mapping[str, bytes]
    executable: frozenset[str] = frozenset()
    removed: tuple[str, ...] = ()
    seconds: float | None = None
    standing: frozenset[TestId] | None = None

    def is_worth_another_look(self, test: TestId) -> bool:
        return self.standing is None or test in self.standing


class Scheduled(NamedTuple):
    """An arm that is to run: `suite` on a variant."""

    key: ArmKey
    compiled: CompiledVariant
    suite: Suite


async def run_arms(
    context: ArmContext, task: Task, suite: Suite, arms: Iterable[tuple[ArmKey, CompiledVariant]]
) -> dict[ArmKey, Arm]:
    """Run `suite` on each variant; see `run_scheduled`."""
    return await run_scheduled(context, task, [Scheduled(key, compiled, suite) for key, compiled in arms])


def _nobody(_key: ArmKey, _arm: Arm) -> None:
    pass


async def run_scheduled(
    context: ArmContext,
    task: Task,
    arms: Sequence[Scheduled],
    ended: Callable[[ArmKey, Arm], None] = _nobody,
) -> dict[ArmKey, Arm]:
    """Run these arms, begun in this order, side by side as far as there are slots; `ended` hears of each.

    Where the engine stops meanwhile (see `LimitedEngine`), arms are absent. Raises SandboxLost, and EngineStopped
    where it stopped before they were built.
    """
    built = await _build(context, arms)
    with first_error():
        async with asyncio.TaskGroup() as group:
            running = {
                item.key: group.create_task(_unless_stopped(context, task, item, variant, ended))
                for item, variant in zip(arms, built, strict=True)
            }
    return {key: arm for key in sorted(running) if (arm := running[key].result())}


async def _unless_stopped(
    context: ArmContext, task: Task, item: Scheduled, built: Built, ended: Callable[[ArmKey, Arm], None]
) -> Arm | None:
    try:
        arm = await _run_arm(context, task, item.suite, item.key, built)
    except EngineStopped:
        return None
    ended(item.key, arm)
    return arm


async def _build(context: ArmContext, arms: Sequence[Scheduled]) -> list[Built]:
    """Each arm's variant with its suite, in the same order; all variants of one suite are built together."""
    made: list[Built | None] = [None] * len(arms)
    suites = list({id(item.suite): item.suite for item in arms}.values())
    for suite in suites:
        mine = [number for number, item in enumerate(arms) if item.suite is suite]
        different = {id(arms[number].compiled): arms[number].compiled for number in mine}
        files = SuiteFiles(suite.tests, suite.files, suite.removed)
        async with context.slots:
            built = await with_suite(context.toolchain, context.build, list(different.values()), files)
        of = dict(zip(different, built, strict=True))
        for number in mine:
            made[number] = of[id(arms[number].compiled)]
    return [item for item in made if item]


async def _run_arm(context: ArmContext, task: Task, suite: Suite, key: ArmKey, built: Built) -> Arm:
    arm, crashed = await _execute(context, task, suite, key, built)
    missing = (item.test for item in arm.results if item.outcome is Outcome.MISSING)
    hidden = [test for test in missing if suite.is_worth_another_look(test)]
    most = MAX_ALONE.get(arm.kind, 0)
    if not (hidden and most) or arm.status not in (ArmStatus.FINISHED, ArmStatus.TIMED_OUT):
        return arm
    if len(suite.tests) == 1:
        return _settle_single(arm, crashed)
    alone: dict[TestId, Arm] = {}
    for number, test in enumerate(hidden[:most], start=1):
        only = replace(suite, tests=(test,))
        alone[test] = await _run_arm(context, task, only, key.alone(number), built)
        if sum(_timed_out(other) for other in alone.values()) == MAX_ALONE_TIMEOUTS:
            break
    return _settle(arm, alone)


class _Executed(NamedTuple):
    """`crashed`: a signal of the code's own ended the command, not one that somebody may have sent from outside."""

    arm: Arm
    crashed: bool


async def _execute(context: ArmContext, task: Task, suite: Suite, key: ArmKey, built: Built) -> _Executed:
    variant = built.compiled.variant
    run = _test_run(task, suite, built)
    if not run.runnable:
        return _Executed(Arm(variant.kind, ArmStatus.FINISHED, _TESTS_FAILED, unbuilt(run), 0.0), crashed=False)
    job = test_job(task.repo, context.image, run)
    try:
        result = await run_job(context, task, job)
        if result.was_terminated:  # perhaps by somebody on the engine's machine; a second time it counts
            result = await run_job(context, task, job)
    except LimitReached:
        missing = tuple(combine(test, ()) for test in suite.tests)
        return _Executed(Arm(variant.kind, ArmStatus.OVER_LIMIT, _CRASHED + 9, missing, 0.0), crashed=True)
    context.keep(key, result)
    reading = await read_job(task.repo.report, run, built.compiled.proof, result)
    arm = Arm(
        kind=variant.kind,
        status=reading.status,
        exit_status=result.exit_status,
        results=reading.results,
        seconds=result.seconds,
        test_seconds=sum(item.seconds for item in reading.results),
        disagreement=reading.disagreement,
    )
    return _Executed(arm, crashed=result.exit_status > _CRASHED and not result.was_terminated)


def _test_run(task: Task, suite: Suite, built: Built) -> TestRun:
    variant = built.compiled.variant
    return TestRun(
        tests=suite.tests,
        files={**suite.files, **variant.source, **variant.code},
        executable=suite.executable | built.compiled.executable,
        removed=suite.removed,
        prove=built.compiled.prove,
        env=built.compiled.env,
        broken=built.broken,
        seconds=suite.seconds or task.file.limits.arm_seconds,
    )


async def run_job(context: ArmContext, task: Task, job: Job) -> JobResult:
    """Run a job in a container like an arm's, again where the container is lost. Raises SandboxLost, LimitReached."""
    for left in reversed(range(ARM_TRIES)):
        try:
            async with context.slots:
                return await context.engine.run_job(context.image, job, arm_options(task.repo), context.labels)
        except SandboxLost:
            if not left:
                raise
    raise AssertionError("unreachable: the last try returns or raises")


def _settle(arm: Arm, alone: Mapping[TestId, Arm]) -> Arm:
    """An arm with what its hidden tests did when they ran alone."""
    statuses = {other.status for other in alone.values()}
    telling = (ArmStatus.WRONG_VARIANT, ArmStatus.DISAGREES)
    status = next((status for status in telling if status in statuses), ArmStatus.FINISHED)
    results = tuple(alone[item.test].results[0] if item.test in alone else item for item in arm.results)
    return replace(arm, status=status, results=results)


def _settle_single(arm: Arm, crashed: bool) -> Arm:
    """An arm of one test: where it left no result it has timed out or crashed.

    It stays missing where the process ended by itself, or by a signal that somebody may have sent from outside: that
    is no evidence of anything.
    """
    if arm.status is ArmStatus.TIMED_OUT:
        results = tuple(_failed_unless_known(item, Quality.TIMEOUT) for item in arm.results)
        return replace(arm, status=ArmStatus.FINISHED, results=results)
    if crashed:
        return replace(arm, results=tuple(_failed_unless_known(item, Quality.CRASH) for item in arm.results))
    return arm


def _failed_unless_known(item: TestResult, quality: Quality) -> TestResult:
    if item.outcome is not Outcome.MISSING:
        return item
    return item.model_copy(update={"outcome": Outcome.FAILED, "quality": quality})


def _timed_out(arm: Arm) -> bool:
    return any(item.quality is Quality.TIMEOUT for item in arm.results)


def arm_slots(engine: Engine) -> asyncio.Semaphore:
    """How many arms may run at once: one more than cores, since containers also wait while they come and go.

    One alone where arms would share a network.
    """
    cores = len(os.sched_getaffinity(0))
    return asyncio.Semaphore(cores + 1 if engine.capabilities.network_isolation else 1)
