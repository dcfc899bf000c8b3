"""Stage 2: do the tests notice when the code is gone, and nothing else?"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness.specs.errors import first_error
from harness.specs.ids import TestId
from harness.specs.reasons import Reason, ReasonCode, Stage
from harness.specs.results import Outcome, Quality, TestResult
from harness.specs.task import Task
from harness.specs.variants import Arm, ArmStatus, VariantKind
from harness.verify.arms import Bench, Suite, run_arms
from harness.verify.compilation import CompiledVariant
from harness.verify.manifest_check import ManifestCheck

BASELINES = ("baseline-1", "baseline-2")
REQUIRED = (
    *BASELINES, "placebo-text", "placebo-code", "placebo-source", "removal", "removal-pristine-source",
)  # fmt: skip
"""Without every one of these arms there is no evidence to speak of."""
THIRD_BASELINE = "baseline-3"
EXISTING_BEFORE, EXISTING_AFTER, EXISTING_AGAIN = "existing-before", "existing-after", "existing-after-again"
EXISTING_TIMES = 10
"""An arm of existing tests may take so many times as long as one of the listed tests: they can be very many."""
AGAIN = "-again"
OLD = "-old"


@dataclass(frozen=True)
class Evidence:
    """Every arm of one judging by name. `old` are arms of changed tests as they were before the patch."""

    tests: tuple[TestId, ...]
    arms: Mapping[str, Arm]
    existing: Mapping[str, Arm] = field(default_factory=dict)
    old: Mapping[str, Arm] = field(default_factory=dict)

    def all_arms(self) -> tuple[Arm, ...]:
        return (*self.arms.values(), *self.existing.values(), *self.old.values())

    @property
    def probed(self) -> bool:
        return any(arm.kind is VariantKind.PROBE for arm in self.arms.values())

    def result(self, arm: str, test: TestId) -> TestResult | None:
        found = self.arms.get(arm)
        return next((item for item in found.results if item.test == test), None) if found else None

    def passes_baseline(self, test: TestId) -> bool:
        names = [name for name in self.arms if self.arms[name].kind is VariantKind.BASELINE]
        results = [self.result(name, test) for name in names]
        return bool(results) and all(item is not None and item.outcome is Outcome.PASSED for item in results)

    def kills(self, arm: str, test: TestId) -> bool:
        """Whether a test that is green at baseline fails here, and failed not already before it was changed."""
        item = self.result(arm, test)
        return bool(item and item.killed and self.passes_baseline(test) and not self._killed_before(arm, test))

    def _killed_before(self, arm: str, test: TestId) -> bool:
        found = self.old.get(f"{arm}{OLD}")
        return any(item.killed for item in found.results if item.test == test) if found else False


async def gather_evidence(
    bench: Bench, task: Task, variants: Sequence[CompiledVariant], suite: Suite, check: ManifestCheck
) -> Evidence:
    """Run every arm that the judgement needs. Raises SandboxLost.

    Probes are for tests that stand: where none does, they could show nothing and aren't run.
    """
    baseline = next(item for item in variants if item.variant.kind is VariantKind.BASELINE)
    others = [item for item in variants if item is not baseline]
    with first_error():
        async with asyncio.TaskGroup() as group:
            arms = group.create_task(_arms(bench, task, suite, baseline, others))
            existing = group.create_task(_existing(bench, task, suite, check, baseline))
    evidence = Evidence(suite.tests, arms.result(), existing.result())
    return replace(evidence, old=await _old(bench, task, check, others)) if evidence.probed else evidence


async def _arms(
    bench: Bench, task: Task, suite: Suite, baseline: CompiledVariant, others: Sequence[CompiledVariant]
) -> dict[str, Arm]:
    first = [(item.variant.name, item) for item in others if item.variant.kind is not VariantKind.PROBE]
    probes = [(item.variant.name, item) for item in others if item.variant.kind is VariantKind.PROBE]
    arms = await run_arms(bench, task, suite, [*((name, baseline) for name in BASELINES), *first])
    arms |= await run_arms(bench, task, suite, _second_looks(arms, baseline, others))
    if any(not _faults(Evidence(suite.tests, arms), test) for test in suite.tests):
        arms |= await run_arms(bench, task, suite, probes)
    return arms


def _second_looks(
    arms: Mapping[str, Arm], baseline: CompiledVariant, others: Iterable[CompiledVariant]
) -> Iterator[tuple[str, CompiledVariant]]:
    """A third baseline where two disagree, and once more each placebo under which a green test failed."""
    first, second = (_passed(arms[name]) for name in BASELINES)
    if first != second:
        yield THIRD_BASELINE, baseline
    for item in others:
        name = item.variant.name
        if item.variant.kind.behaves_like_baseline and not (first & second) <= _passed(arms[name]):
            yield f"{name}{AGAIN}", item


def _passed(arm: Arm) -> set[TestId]:
    return {item.test for item in arm.results if item.outcome is Outcome.PASSED}


async def _existing(
    bench: Bench, task: Task, suite: Suite, check: ManifestCheck, baseline: CompiledVariant
) -> dict[str, Arm]:
    """The untouched tests of touched files, without and with the patch."""
    if not check.existing:
        return {}
    long = EXISTING_TIMES * task.file.limits.arm_seconds
    pristine = Suite(check.existing, {}, seconds=long)
    after = Suite(check.existing, suite.files, suite.executable, suite.removed, seconds=long)
    with first_error():
        async with asyncio.TaskGroup() as group:
            runs = [
                group.create_task(run_arms(bench, task, pristine, [(EXISTING_BEFORE, baseline)])),
                group.create_task(run_arms(bench, task, after, [(EXISTING_AFTER, baseline)])),
            ]
    arms = {name: arm for run in runs for name, arm in run.result().items()}
    if not _passed(arms[EXISTING_BEFORE]) <= _passed(arms[EXISTING_AFTER]):
        arms |= await run_arms(bench, task, after, [(EXISTING_AGAIN, baseline)])
    return arms


async def _old(bench: Bench, task: Task, check: ManifestCheck, others: Iterable[CompiledVariant]) -> dict[str, Arm]:
    """What changed tests noticed before they were changed."""
    if not check.changed:
        return {}
    suite = Suite(tuple(sorted(check.changed)), {})
    changing = [item for item in others if not item.variant.kind.behaves_like_baseline]
    return await run_arms(bench, task, suite, [(f"{item.variant.name}{OLD}", item) for item in changing])


def judge_mutation(evidence: Evidence) -> tuple[Reason, ...]:
    """Why the evidence doesn't show that every test notices the removal and nothing but behaviour. Pure."""
    if lost := tuple(_lost(evidence)):
        return lost
    reasons = [*_untrustworthy(evidence)]
    for test in evidence.tests:
        reasons += _faults(evidence, test)
    reasons += _existing_broken(evidence)
    return tuple(dict.fromkeys(reasons))


def _faults(evidence: Evidence, test: TestId) -> list[Reason]:
    return _baseline(evidence, test) or [*_placebos(evidence, test), *_removals(evidence, test)]


def _lost(evidence: Evidence) -> Iterator[Reason]:
    """Arms without which nothing can be said of anybody's tests."""
    for name in REQUIRED:
        if name not in evidence.arms:
            yield _reason(ReasonCode.SANDBOX_LOST, name, "this arm is missing")
    for arm in evidence.all_arms():
        if arm.status is ArmStatus.WRONG_VARIANT:
            words = "an arm could not show that its variant is what runs"
            yield _reason(ReasonCode.SANDBOX_LOST, arm.variant, words)


def _untrustworthy(evidence: Evidence) -> Iterator[Reason]:
    for arm in evidence.all_arms():
        match arm.status:
            case ArmStatus.DISAGREES:
                yield _reason(ReasonCode.FORGED_REPORT, arm.variant, arm.disagreement)
            case ArmStatus.TIMED_OUT:
                yield _reason(ReasonCode.ARM_TIMEOUT, arm.variant, "the tests did not end within the task's limit")
            case ArmStatus.OVER_LIMIT:
                words = "the tests use more disk, memory or processes than the repository allows"
                yield _reason(ReasonCode.ARM_LIMIT, arm.variant, words)
            case ArmStatus.FINISHED | ArmStatus.WRONG_VARIANT:
                pass


def _baseline(evidence: Evidence, test: TestId) -> list[Reason]:
    results = [evidence.result(name, test) for name in BASELINES]
    outcomes = {item.outcome for item in results if item}
    if outcomes == {Outcome.PASSED} and len(outcomes) == 1 and all(results):
        return []
    if len(outcomes) > 1:
        words = "it passed in one baseline run and not in another; both outputs are kept with the arms"
        return [_reason(ReasonCode.FLAKY, str(test), words)]
    if Outcome.FAILED in outcomes:
        return [_reason(ReasonCode.BASELINE_RED, str(test), "it fails on the code as it is")]
    if Outcome.SKIPPED in outcomes:
        return [_reason(ReasonCode.BASELINE_SKIPPED, str(test), "it is skipped, or expected to fail")]
    return [
        _reason(ReasonCode.BASELINE_MISSING, str(test), "no report has it; it was not collected or left no result")
    ]


def _placebos(evidence: Evidence, test: TestId) -> Iterator[Reason]:
    for name, arm in evidence.arms.items():
        if not arm.kind.behaves_like_baseline or arm.kind is VariantKind.BASELINE or name.endswith(AGAIN):
            continue
        if _outcome(evidence, name, test) is Outcome.PASSED:
            continue
        if _outcome(evidence, f"{name}{AGAIN}", test) is Outcome.PASSED:
            words = "it failed once under a placebo and passed when that was run again"
            yield _reason(ReasonCode.FLAKY, str(test), words)
        else:
            words = f"it fails under {name}, a change of the code that leaves its behaviour as it was"
            yield _reason(ReasonCode.PLACEBO_SENSITIVE, str(test), words)


def _outcome(evidence: Evidence, arm: str, test: TestId) -> Outcome:
    item = evidence.result(arm, test)
    return item.outcome if item else Outcome.MISSING


def _removals(evidence: Evidence, test: TestId) -> Iterator[Reason]:
    for name, arm in evidence.arms.items():
        if arm.kind not in (VariantKind.REMOVAL, VariantKind.REMOVAL_PRISTINE_SOURCE):
            continue
        item = evidence.result(name, test)
        if item is None or not item.killed:
            yield _survival(name, test, item)


def _survival(name: str, test: TestId, item: TestResult | None) -> Reason:
    if item and item.quality is Quality.COLLECTION:
        words = f"under {name} its file can't even be loaded, which shows nothing about what it asserts"
        return _reason(ReasonCode.KILLED_BY_COLLECTION, str(test), words)
    how = "does not fail"
    if item and item.quality is Quality.TEARDOWN:
        how = "fails only while it cleans up"
    elif item and item.outcome is Outcome.SKIPPED:
        how = "is skipped"
    elif item is None or item.outcome is Outcome.MISSING:
        how = "leaves no result"
    return _reason(ReasonCode.SURVIVED_REMOVAL, str(test), f"it {how} under {name}, where the behaviour is gone")


def _existing_broken(evidence: Evidence) -> Iterator[Reason]:
    if not evidence.existing:
        return
    before = _passed(evidence.existing[EXISTING_BEFORE])
    after = _passed(evidence.existing[EXISTING_AFTER])
    again = evidence.existing.get(EXISTING_AGAIN)
    for test in sorted(before - after - (_passed(again) if again else set())):
        words = "it was there before and passed; with the patch it does not"
        yield _reason(ReasonCode.EXISTING_TEST_BROKEN, str(test), words)


def _reason(code: ReasonCode, subject: str, words: str) -> Reason:
    return Reason(code=code, stage=Stage.MUTATION, subject=subject, words=words)
