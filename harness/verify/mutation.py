"""Stage 2: do the tests notice when the code is gone, and nothing else? Pure functions of the evidence."""

from collections.abc import Iterator

from harness.specs.ids import TestId
from harness.specs.reasons import Reason, ReasonCode, Stage
from harness.specs.results import Outcome, Quality, TestResult
from harness.specs.variants import ArmKey, ArmStatus, Role, VariantKind
from harness.verify.evidence import BASELINES, EXISTING_AFTER, EXISTING_BEFORE, Evidence, passed


def judge_mutation(evidence: Evidence) -> tuple[Reason, ...]:
    """Why the evidence doesn't show that every test notices the removal and nothing but behaviour. Pure."""
    if lost := tuple(_lost(evidence)):
        return lost
    reasons = [*_untrustworthy(evidence)]
    for test in evidence.tests:
        reasons += faults(evidence, test)
    reasons += _existing_broken(evidence)
    return tuple(dict.fromkeys(reasons))


def faults(evidence: Evidence, test: TestId) -> list[Reason]:
    """What is wrong with one test, probes aside: it must stand before they can say anything."""
    return _baseline(evidence, test) or [*_placebos(evidence, test), *_removals(evidence, test)]


def stands_at_baseline(evidence: Evidence) -> bool:
    """Whether any test is green on the code as it is, in runs that can be believed."""
    return not any(_untrustworthy(evidence)) and any(not _baseline(evidence, test) for test in evidence.tests)


def _lost(evidence: Evidence) -> Iterator[Reason]:
    """Arms without which nothing can be said of anybody's tests."""
    for key in evidence.required if stands_at_baseline(evidence) else BASELINES:
        if key not in evidence.arms:
            yield _reason(ReasonCode.SANDBOX_LOST, str(key), "this arm is missing")
    for key, arm in evidence.arms.items():
        if arm.status is ArmStatus.WRONG_VARIANT:
            words = "an arm could not show that its variant is what runs"
            yield _reason(ReasonCode.SANDBOX_LOST, key.variant, words)


def _untrustworthy(evidence: Evidence) -> Iterator[Reason]:
    """Arms of the submission's files that ended as none should; what upstream's own tests do is not its fault."""
    for key, arm in evidence.arms.items():
        if key.role in (Role.EXISTING_BEFORE, Role.CHANGED_BEFORE):
            continue
        match arm.status:
            case ArmStatus.DISAGREES:
                yield _reason(ReasonCode.FORGED_REPORT, key.variant, arm.disagreement)
            case ArmStatus.TIMED_OUT:
                yield _reason(ReasonCode.ARM_TIMEOUT, key.variant, "the tests did not end within the task's limit")
            case ArmStatus.OVER_LIMIT:
                words = "the tests use more disk, memory or processes than the repository allows"
                yield _reason(ReasonCode.ARM_LIMIT, key.variant, words)
            case ArmStatus.FINISHED | ArmStatus.WRONG_VARIANT:
                pass


def _baseline(evidence: Evidence, test: TestId) -> list[Reason]:
    results = [evidence.result(key, test) for key in BASELINES]
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
    for key, arm in evidence.listed.items():
        if not arm.kind.behaves_like_baseline or arm.kind is VariantKind.BASELINE or key.repetition > 1:
            continue
        if evidence.outcome(key, test) is Outcome.PASSED:
            continue
        if evidence.outcome(key.again, test) is Outcome.PASSED:
            words = "it failed once under a placebo and passed when that was run again"
            yield _reason(ReasonCode.FLAKY, str(test), words)
        else:
            words = f"it fails under {key}, a change of the code that leaves its behaviour as it was"
            yield _reason(ReasonCode.PLACEBO_SENSITIVE, str(test), words)


def _removals(evidence: Evidence, test: TestId) -> Iterator[Reason]:
    for key, arm in evidence.listed.items():
        if arm.kind not in (VariantKind.REMOVAL, VariantKind.REMOVAL_PRISTINE_SOURCE):
            continue
        item = evidence.result(key, test)
        if item is None or not item.killed:
            yield _survival(key, test, item)


def _survival(key: ArmKey, test: TestId, item: TestResult | None) -> Reason:
    if item and item.quality is Quality.COLLECTION:
        words = f"under {key} its file can't even be loaded, which shows nothing about what it asserts"
        return _reason(ReasonCode.KILLED_BY_COLLECTION, str(test), words)
    how = "does not fail"
    if item and item.quality is Quality.TEARDOWN:
        how = "fails only while it cleans up"
    elif item and item.outcome is Outcome.SKIPPED:
        how = "is skipped"
    elif item is None or item.outcome is Outcome.MISSING:
        how = "leaves no result"
    return _reason(ReasonCode.SURVIVED_REMOVAL, str(test), f"it {how} under {key}, where the behaviour is gone")


def _existing_broken(evidence: Evidence) -> Iterator[Reason]:
    if not {EXISTING_BEFORE, EXISTING_AFTER} <= evidence.arms.keys():
        return
    after = [arm for key, arm in evidence.arms.items() if key.role is Role.EXISTING_AFTER]
    for test in sorted(passed(evidence.arms[EXISTING_BEFORE]).difference(*map(passed, after))):
        words = "it was there before and passed; with the patch it does not"
        yield _reason(ReasonCode.EXISTING_TEST_BROKEN, str(test), words)


def _reason(code: ReasonCode, subject: str, words: str) -> Reason:
    return Reason(code=code, stage=Stage.MUTATION, subject=subject, words=words)
