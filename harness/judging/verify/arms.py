"""Arms: the submission's tests on every variant, each in a fresh container."""

import asyncio
import os
import signal
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import NamedTuple

from harness.judging.languages.toolchain import (
    Built,
    CompiledVariant,
    JobContext,
    JobsStopped,
    Stage,
    SuiteFiles,
    Toolchain,
    with_suite,
)
from harness.judging.testing.arm_job import TESTS_FAILED, TestRun, read_job, test_job, unbuilt
from harness.judging.testing.readers import Lines
from harness.sandbox.deadline import seconds_per_test
from harness.sandbox.protocol import (
    Engine,
    Job,
    JobResult,
    LimitReached,
    SandboxOptions,
)
from harness.specs.errors import SandboxLost, Starved, first_error
from harness.specs.task import Task
from harness.specs.test_results import Outcome, Quality, TestId, TestResult, combine
from harness.specs.variants import Arm, ArmKey, ArmStatus, VariantKind

MAX_ALONE = {VariantKind.REMOVAL: 20, VariantKind.GARBAGE: 20, VariantKind.PROBE: 3}
"""Tests of one arm that are run again alone when a crash or a time-out hid them: a probe needs but one."""
ARM_TRIES = 3
"""Times that one arm's container may be lost before the judging ends; other arms aren't run again for it."""
MAX_ALONE_TIMEOUTS = 3
"""After so many that take all the time that an arm may take, no further one is run alone."""
AS_FOR_AGENTS = frozenset({"baseline", "rewritten-1", "removal-1", "garbage-1"})
"""Variants whose arms have the image's own user: as agents work, where a suite must do as well.

On a stage no arm has: of these only the baseline is there, which it would tell from all mutants.
"""
_CRASHED = 128
"""The number that a shell adds to that of the signal that ended a command."""
_KILLED = _CRASHED + signal.SIGKILL


class ArmObserver:
    """An observer of the arms of a judging. It does nothing: override what matters."""

    def planned(self, arms: int) -> None:
        """Hear that so many more arms are about to run, at most."""

    def printed(self, key: ArmKey, result: JobResult) -> None:
        """Hear that the container of an arm has ended, and what it left."""

    def ended(self, key: ArmKey, arm: Arm) -> None:
        """Hear that an arm has ended, with all containers that it took."""


@dataclass(frozen=True, kw_only=True)
class ArmContext(JobContext):
    """A place for the arms of a task: how many run at once, who hears of them, and what makes their variants.

    `options` are what each of their containers may use. With `every_twin` all twins of the task run, not only as many
    as there are probes.
    """

    slots: asyncio.Semaphore
    toolchain: Toolchain
    options: SandboxOptions
    observer: ArmObserver = field(default_factory=ArmObserver)
    every_twin: bool = False

    async def run_arm(
        self, job: Job, stage: Stage | None = None, own_user: bool = True, hides: bool = True
    ) -> JobResult:
        """Run a job in a container like an arm's, again where the container is lost, or the stage says so.

        Args:
            job: The job.
            stage: What its end is held against.
            own_user: Whether it has a user of its own, where the options give it one; else it has the image's.
            hides: Whether what the options hide is hidden.

        Raises:
            SandboxLost: It was lost again and again; Starved at once.
            LimitReached: It needed more than a container may have.
            JobsStopped: The limit lets no further container start.
        """
        options = replace(self.options, own_user=own_user and self.options.own_user)
        options = options if hides else replace(options, hidden=())
        for left in reversed(range(ARM_TRIES)):
            try:
                async with self.slots:
                    self.limit.check()
                    result = await self.engine.run_job(self.image, job, options, self.labels)
                if stage:
                    await self._check(stage, result, is_last=not left)
            except Starved:  # it has waited for very long: the next start may find a machine with less to do
                raise
            except SandboxLost:
                if not left:
                    raise
            else:
                self.limit.used += result.own_seconds
                return result
        raise AssertionError("unreachable: the last try returns or raises")

    async def _check(self, stage: Stage, result: JobResult, is_last: bool) -> None:
        try:
            stage.check(result)
        except SandboxLost:
            if not (is_last and await self.is_able(stage.control)):
                raise

    async def is_able(self, control: Job) -> bool:
        """Return whether a job without any test has status 0 in a container like an arm's."""
        try:
            async with self.slots:
                result = await self.engine.run_job(self.image, control, self.options, self.labels)
        except LimitReached:
            return False
        return result.exit_status == 0


@dataclass(frozen=True)
class Suite:
    """Tests and the files that hold them, as they are laid over every variant.

    `seconds` is the limit of an arm, None for the task's. `standing` are the tests that are run again alone where
    something hid them, None for all: one that was never green has nothing more to show. `places` are where tests
    stand by their text. Of the files in `whole` all tests run, known or not.
    """

    tests: tuple[TestId, ...]
    files: Mapping[str, bytes]
    executable: frozenset[str] = frozenset()
    removed: tuple[str, ...] = ()
    seconds: float | None = None
    standing: frozenset[TestId] | None = None
    places: Mapping[TestId, Lines] = field(default_factory=dict)
    whole: tuple[str, ...] = ()

    def is_worth_another_look(self, test: TestId) -> bool:
        """Return whether the test is run again alone where a crash or time-out hides its result."""
        return self.standing is None or test in self.standing


class Scheduled(NamedTuple):
    """An arm that is to run: `suite` on a variant.

    `own_user` says whether it has a user whom no other arm has; None: all but those of `AS_FOR_AGENTS` have.
    """

    key: ArmKey
    compiled: CompiledVariant
    suite: Suite
    own_user: bool | None = None


class ArmRunner:
    """A runner of one task's arms, begun in the order given, side by side as far as there are slots."""

    def __init__(self, context: ArmContext, task: Task, observer: ArmObserver | None = None) -> None:
        self._context, self._task = context, task
        self._observer = observer or context.observer

    async def run(self, arms: Sequence[Scheduled], apart: bool = False) -> dict[ArmKey, Arm]:
        """Run these arms; those that the context's limit kept from starting are absent.

        Args:
            arms: What is run; where variants are apart, the arms of one are neighbours.
            apart: Whether nothing of another variant runs beside the arms of one.

        Raises:
            SandboxLost: An arm was lost again and again.
            JobsStopped: The limit was reached before they were built.
        """
        built = list(zip(arms, await _build(self._context, arms), strict=True))
        running: dict[ArmKey, asyncio.Task[Arm | None]] = {}
        for _, beside in groupby(built, key=lambda pair: pair[0].key.variant if apart else ""):
            with first_error():
                async with asyncio.TaskGroup() as group:
                    for item, variant in beside:
                        running[item.key] = group.create_task(self._run(item, variant))
        return {key: arm for key in sorted(running) if (arm := running[key].result())}

    async def run_suite(self, suite: Suite, arms: Iterable[tuple[ArmKey, CompiledVariant]]) -> dict[ArmKey, Arm]:
        """Run one suite on each variant; see `run`."""
        return await self.run([Scheduled(key, compiled, suite) for key, compiled in arms])

    async def _run(self, item: Scheduled, built: Built) -> Arm | None:
        try:
            arm, crashed = await self._execute(item, built)
            arm = await self._look_behind(arm, crashed, item, built)
        except JobsStopped:
            return None
        self._observer.ended(item.key, arm)
        return arm

    async def _look_behind(self, arm: Arm, crashed: bool, item: Scheduled, built: Built) -> Arm:
        """Run tests alone that a crash or a time-out of the others hid."""
        missing = (result.test for result in arm.results if result.outcome is Outcome.MISSING)
        hidden = [test for test in missing if item.suite.is_worth_another_look(test)]
        most = MAX_ALONE.get(arm.kind, 0)
        if not (hidden and most) or arm.status not in (ArmStatus.FINISHED, ArmStatus.TIMED_OUT):
            return arm
        if len(item.suite.tests) == 1:
            return _settle_single(arm, crashed)
        alone: dict[TestId, Arm] = {}
        for number, test in enumerate(hidden[:most], start=1):
            only = item._replace(key=item.key.alone(number), suite=replace(item.suite, tests=(test,)))
            single, crashed = await self._execute(only, built)
            alone[test] = await self._look_behind(single, crashed, only, built)
            if sum(_timed_out(other) for other in alone.values()) == MAX_ALONE_TIMEOUTS:
                break
        return _settle(arm, alone)

    async def _execute(self, item: Scheduled, built: Built) -> "_Executed":
        variant = built.compiled.variant
        run = _test_run(self._task, item, built)
        if not run.arguments:
            return _Executed(Arm(variant.kind, ArmStatus.FINISHED, TESTS_FAILED, unbuilt(run), 0.0), crashed=False)
        stage = built.compiled.stage
        job = test_job(self._task.repo, self._context.image, run)
        job = replace(job, companion=stage.companion) if stage else job
        try:
            own_user = not _is_as_for_agents(built) if item.own_user is None else item.own_user
            result = await self._context.run_arm(job, stage, own_user)
            if result.was_terminated:  # perhaps by somebody on the engine's machine; a second time it counts
                result = await self._context.run_arm(job, stage, own_user)
        except LimitReached:
            missing = tuple(combine(test, ()) for test in item.suite.tests)
            return _Executed(Arm(variant.kind, ArmStatus.OVER_LIMIT, _KILLED, missing, 0.0), crashed=True)
        self._context.observer.printed(item.key, result)
        reading = await read_job(self._task.repo.report, run, built.compiled.proof, result)
        if variant.kind.behaves_like_baseline and any(item.quality is Quality.TIMEOUT for item in reading.results):
            check_not_kept_waiting(result, seconds_per_test(self._task.repo.limits.test_seconds))
        results = stage.settle(result, reading.results, reading.cases) if stage else reading.results
        arm = Arm(
            kind=variant.kind,
            status=reading.status,
            exit_status=result.exit_status,
            results=results,
            seconds=result.seconds,
            test_seconds=sum(item.seconds for item in reading.results),
            disagreement=reading.disagreement,
        )
        return _Executed(arm, crashed=result.exit_status > _CRASHED and not result.was_terminated)


def check_not_kept_waiting(result: JobResult, limit: float) -> None:
    """Raise Starved where a test's own clock, which knows nothing of other processes, may have ended it for theirs.

    Args:
        result: The arm's end, in which a test was out of time.
        limit: Seconds of that clock.
    """
    if result.own_seconds < result.seconds / 2 and result.seconds - result.own_seconds >= limit / 2:
        raise Starved(
            f"a test was out of time, by its clock, on a busy machine: the tests took {result.own_seconds:.0f} s of "
            f"their own in {result.seconds:.0f} s"
        )


class _Executed(NamedTuple):
    """A run of an arm's command.

    `crashed`: a signal of the code's own ended it, not one that may have come from outside.
    """

    arm: Arm
    crashed: bool


async def _build(context: ArmContext, arms: Sequence[Scheduled]) -> list[Built]:
    """Return each arm's variant with its suite, in the same order; all variants of one suite are built together."""
    made: list[Built | None] = [None] * len(arms)
    suites = list({id(item.suite): item.suite for item in arms}.values())
    for suite in suites:
        mine = [number for number, item in enumerate(arms) if item.suite is suite]
        different = {id(arms[number].compiled): arms[number].compiled for number in mine}
        files = SuiteFiles(suite.tests, suite.files, suite.removed)
        async with context.slots:
            built = await with_suite(context.toolchain, context, list(different.values()), files)
        of = dict(zip(different, built, strict=True))
        for number in mine:
            made[number] = of[id(arms[number].compiled)]
    return [item for item in made if item]


def _is_as_for_agents(built: Built) -> bool:
    return built.compiled.variant.name in AS_FOR_AGENTS and built.compiled.stage is None


def _test_run(task: Task, item: Scheduled, built: Built) -> TestRun:
    suite, variant = item.suite, built.compiled.variant
    return TestRun(
        tests=suite.tests,
        files={**suite.files, **variant.source, **variant.code},
        executable=suite.executable | built.compiled.executable,
        removed=suite.removed,
        prove=built.compiled.prove,
        env=built.compiled.env,
        broken=built.broken,
        seconds=suite.seconds or task.file.limits.arm_seconds,
        places=suite.places,
        whole=suite.whole,
    )


def _settle(arm: Arm, alone: Mapping[TestId, Arm]) -> Arm:
    """Return an arm with what its hidden tests did when they ran alone, and with the words of one that disagrees."""
    telling = (ArmStatus.WRONG_VARIANT, ArmStatus.DISAGREES)
    found = {other.status: other.disagreement for other in alone.values()}
    status = next((status for status in telling if status in found), ArmStatus.FINISHED)
    words = found.get(status, "")
    results = tuple(alone[item.test].results[0] if item.test in alone else item for item in arm.results)
    return replace(arm, status=status, results=results, disagreement=words)


def _settle_single(arm: Arm, crashed: bool) -> Arm:
    """Return an arm of one test: where it left no result it has timed out or crashed.

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
    """Return how many arms may run at once: one more than cores, since containers also wait while they come and go.

    One alone where arms would share a network.
    """
    cores = len(os.sched_getaffinity(0))
    return asyncio.Semaphore(cores + 1 if engine.capabilities.network_isolation else 1)
