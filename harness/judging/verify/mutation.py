"""Stage 2: do the tests notice when the code is gone, and nothing else? Pure functions of the evidence.

No reason names an arm whose place, text or rewriting was drawn: the same submission gets the same words each time.
"""

from collections.abc import Collection, Iterable, Iterator

from harness.judging.languages.nfkc import is_dotted_name
from harness.judging.verify.chance_failures import Explanation, baseline_is_open, certain, failures, flaky_tests
from harness.judging.verify.evidence import (
    AT_BASELINE,
    EXISTING_AFTER,
    EXISTING_BEFORE,
    REWRITTEN_AFTER,
    Evidence,
    elsewhere,
    in_place,
    lost,
    passed,
)
from harness.judging.verify.manifest_check import ManifestCheck
from harness.judging.verify.own_runs.reasons import judge_own_runs, repeated
from harness.specs.first_few import first_few
from harness.specs.reasons import Reason, ReasonCode, Stage
from harness.specs.test_results import Outcome, Quality, TestId, TestResult
from harness.specs.variants import Arm, ArmKey, ArmStatus, Role, VariantKind

_OF_UPSTREAM = (Role.EXISTING_BEFORE, Role.CHANGED_BEFORE)
_WHOLE = (
    Role.WHOLE_AFTER,
    Role.WHOLE_BEFORE,
    Role.WHOLE_UNLOADABLE,
    Role.WHOLE_MUTANT,
    Role.EVERYTHING_MUTANT,
)


def judge_mutation(evidence: Evidence) -> tuple[Reason, ...]:
    """Return why the evidence doesn't show that every test notices the removal and nothing but behaviour. Pure."""
    if wrong := tuple(_wrong_variants(evidence)):
        return wrong
    if is_over(evidence):
        return tuple(dict.fromkeys([*_out_of_time(evidence), *_untrustworthy(evidence)]))
    if lost := tuple(_lost(evidence)):
        return lost
    reasons = [*_untrustworthy(evidence)]
    for test in evidence.tests:
        reasons += faults(evidence, test)
    reasons += [*_existing_broken(evidence), *judge_own_runs(evidence)]
    return tuple(dict.fromkeys(reasons))


def faults(evidence: Evidence, test: TestId) -> list[Reason]:
    """Return what is wrong with one test, probes aside.

    A test that isn't green at baseline, or that notices what isn't behaviour, shows nothing by failing elsewhere.
    """
    if baseline := _baseline(evidence, test):
        return baseline
    found = failures(evidence, test)
    if arms := [key for key, what in found.items() if what in (Explanation.OPEN, Explanation.SENSITIVE)]:
        names = sorted({key.variant for key in arms})
        where = first_few(names, 3)
        fails = all(evidence.outcome(key, test) is not Outcome.PASSED for key in arms)
        what = "fails" if fails else "fails, or skips other cases than at the baseline,"
        words = f"it {what} in {where}: a change of the code or of its text that leaves its behaviour as it was"
        return [_reason(ReasonCode.PLACEBO_SENSITIVE, str(test), words)]
    return [*([_flaky(test)] if test in flaky_tests(evidence) else []), *_removals(evidence, test)]


def some_test_stands(evidence: Evidence) -> bool:
    """Return whether probes can say anything: nothing has ended the judging, and some test has no fault."""
    return not is_over(evidence) and any(not faults(evidence, test) for test in evidence.tests)


def is_over(evidence: Evidence) -> bool:
    """Return whether the verdict can't depend on any further arm, whatever tests do there."""
    baseline = evidence.arms.get(AT_BASELINE)
    ended = (ArmStatus.TIMED_OUT, ArmStatus.OVER_LIMIT)
    return (
        evidence.out_of_time
        or (baseline is not None and baseline.status is ArmStatus.DISAGREES)
        or any(arm.status in ended for arm in _of_submission(evidence).values())
    )


def is_green_at_baseline(evidence: Evidence) -> bool:
    """Return whether any test is, or may turn out to be; True as long as the baseline hasn't run."""
    return AT_BASELINE not in evidence.arms or any(
        evidence.passes_baseline(test) or baseline_is_open(evidence, test) for test in evidence.tests
    )


def is_certainly_faulty(evidence: Evidence, test: TestId) -> bool:
    """Return whether a test has a fault that no further arm can take away."""
    if AT_BASELINE in evidence.arms and not evidence.passes_baseline(test):
        return not baseline_is_open(evidence, test)
    removals = [kind for kind in VariantKind if kind.removes and evidence.planned(kind)]
    survived = bool(removals) and all(_survived(evidence, kind, test) for kind in removals)
    return survived or certain(evidence, test)


def _survived(evidence: Evidence, kind: VariantKind, test: TestId) -> bool:
    """Return whether a test was seen not to fail in an arm of this kind; a fixture's failure may count later."""
    results = [item for key in evidence.planned(kind) if (item := evidence.result(key, test))]
    return any(not item.killed for item in results)


def _of_submission(evidence: Evidence) -> dict[ArmKey, Arm]:
    """Return the arms of the submission's files: how upstream's own tests end is not its fault."""
    return {key: arm for key, arm in evidence.arms.items() if key.role not in (*_OF_UPSTREAM, *_WHOLE)}


def _wrong_variants(evidence: Evidence) -> Iterator[Reason]:
    for key, arm in evidence.arms.items():
        if arm.status is ArmStatus.WRONG_VARIANT:
            words = "an arm could not show that its variant is what runs"
            yield _reason(ReasonCode.SANDBOX_LOST, key.variant, words)


def _lost(evidence: Evidence) -> Iterator[Reason]:
    """Yield a reason for lost arms without which nothing can be said of anybody's tests."""
    green = AT_BASELINE in evidence.arms and is_green_at_baseline(evidence)
    for key in evidence.required if green else [AT_BASELINE]:
        if key not in evidence.arms:
            yield _reason(ReasonCode.SANDBOX_LOST, str(key), "this arm is missing")
    for key, arm in evidence.arms.items():
        if key.role in _OF_UPSTREAM and arm.status is not ArmStatus.FINISHED and _is_needed(evidence, key, arm):
            words = "tests as they were before the patch did not run to their end, so what they show isn't known"
            yield _reason(ReasonCode.SANDBOX_LOST, str(key), words)


def _is_needed(evidence: Evidence, key: ArmKey, arm: Arm) -> bool:
    """Return whether an arm without the patch, cut short, could have shown something against the submission."""
    if key.role is Role.CHANGED_BEFORE:
        return arm.status is ArmStatus.OVER_LIMIT
    after = repeated(evidence.arms, EXISTING_AFTER)
    return any(item.test not in in_place(other) for other in after for item in arm.results)


def _out_of_time(evidence: Evidence) -> Iterator[Reason]:
    if evidence.out_of_time:
        words = "the tests take longer in all, by their own time, than the task allows for a whole verification"
        yield _reason(ReasonCode.ARM_TIMEOUT, "", words)


def _untrustworthy(evidence: Evidence) -> Iterator[Reason]:
    """Yield a reason for each arm that ended as none should."""
    for _, arm in sorted(_of_submission(evidence).items()):
        match arm.status:
            case ArmStatus.DISAGREES:
                yield _reason(ReasonCode.FORGED_REPORT, "", arm.disagreement)
            case ArmStatus.TIMED_OUT:
                yield _reason(ReasonCode.ARM_TIMEOUT, "", "the tests did not end within the task's limit")
            case ArmStatus.OVER_LIMIT:
                words = "the tests use more disk, memory or processes than the repository allows"
                yield _reason(ReasonCode.ARM_LIMIT, "", words)
            case ArmStatus.FINISHED | ArmStatus.WRONG_VARIANT:
                pass


def _baseline(evidence: Evidence, test: TestId) -> list[Reason]:
    if evidence.passes_baseline(test):
        return []
    outcome = evidence.outcome(AT_BASELINE, test)
    if outcome is Outcome.SKIPPED:
        return [_reason(ReasonCode.BASELINE_SKIPPED, str(test), "it is skipped, or expected to fail")]
    alike = [key for key, arm in evidence.listed.items() if arm.kind in (VariantKind.BASELINE, VariantKind.REWRITTEN)]
    if any(evidence.outcome(key, test) is Outcome.PASSED for key in alike):
        return [_flaky(test)]
    if outcome is Outcome.FAILED:
        item = evidence.result(AT_BASELINE, test)
        retried = item is not None and item.quality is Quality.RETRIED
        words = (
            "it ran more than once in one run: take its retries away" if retried else "it fails on the code as it is"
        )
        return [_reason(ReasonCode.BASELINE_RED, str(test), words)]
    return [
        _reason(ReasonCode.BASELINE_MISSING, str(test), "no report has it; it was not collected or left no result")
    ]


def _flaky(test: TestId) -> Reason:
    words = "it passed in one run and not in another, on code of the same behaviour; the outputs are kept"
    return _reason(ReasonCode.FLAKY, str(test), words)


def _removals(evidence: Evidence, test: TestId) -> list[Reason]:
    """Return a reason where a listed test neither fails wherever the code refuses, nor wherever it gives garbage."""
    survived: dict[VariantKind, list[ArmKey]] = {}
    for key, arm in sorted(evidence.listed.items()):
        if arm.kind.removes:
            alive = survived.setdefault(arm.kind, [])
            alive += [] if evidence.notices(key, test) else [key]
    if not survived or any(not alive for alive in survived.values()):
        return []
    kind = VariantKind.REMOVAL if VariantKind.REMOVAL in survived else VariantKind.GARBAGE
    items = [evidence.result(key, test) for key in survived[kind]]
    hidden = [item for item in items if item and item.quality is Quality.COLLECTION]
    return [_survival(test, hidden[0] if hidden else items[0])]


def _survival(test: TestId, item: TestResult | None) -> Reason:
    if item and item.quality is Quality.COLLECTION:
        words = "without the behaviour its file can't even be loaded, which shows nothing about what it asserts"
        return _reason(ReasonCode.KILLED_BY_COLLECTION, str(test), words)
    how = "does not fail"
    if item and item.quality is Quality.TEARDOWN:
        how = "fails only while it cleans up"
    elif item and item.quality is Quality.SETUP:
        how = "checks nothing of the repository by its text, and fails only in what runs before it,"
    elif item and item.outcome is Outcome.SKIPPED:
        how = "is skipped"
    elif item is None or item.outcome is Outcome.MISSING:
        how = "leaves no result"
    return _reason(ReasonCode.SURVIVED_REMOVAL, str(test), f"it {how} where the behaviour is gone")


def _existing_broken(evidence: Evidence) -> Iterator[Reason]:
    if not {EXISTING_BEFORE, EXISTING_AFTER} <= evidence.arms.keys():
        return
    after = repeated(evidence.arms, EXISTING_AFTER)
    before = evidence.arms[EXISTING_BEFORE]
    for test in sorted(passed(before).intersection(*(lost(before, arm) for arm in after))):
        words = "it was there before and passed; with the patch it does not"
        if all(test in passed(arm) for arm in after):
            words = "it was there before and passed; with the patch fewer of its cases run"
        if test not in elsewhere(before) and all(test in elsewhere(arm) for arm in after):
            words = "it was there before and passed; with the patch something else runs under its name"
        yield _reason(ReasonCode.EXISTING_TEST_BROKEN, str(test), words)


def unlisted_red(evidence: Evidence, tests: Iterable[TestId], key: ArmKey) -> list[TestId]:
    """Return tests that fail in an arm and in all its repetitions."""
    arms = repeated(evidence.arms, key)
    return [test for test in tests if arms and all(_fails(arm, test) for arm in arms)]


def unknown_red(evidence: Evidence, known: Iterable[TestId]) -> list[TestId]:
    """Return tests that no text shows and no list has, which fail with the patch each time, and didn't before."""
    found = {item.test for arm in repeated(evidence.arms, EXISTING_AFTER) for item in arm.results}
    red = unlisted_red(evidence, sorted(found.difference(evidence.tests, known)), EXISTING_AFTER)
    before = evidence.arms.get(EXISTING_BEFORE)
    return [test for test in red if before is None or not _fails(before, test)]


def _never_collected(evidence: Evidence, known: Iterable[TestId], files: Collection[str]) -> list[TestId]:
    """Return the tests of these files that run with the patch, and that neither were collected nor are known."""
    ran = {
        item.test
        for arm in repeated(evidence.arms, EXISTING_AFTER)
        for item in arm.results
        if item.outcome is not Outcome.MISSING and item.test.file in files
    }
    return sorted(test for test in ran.difference(evidence.tests, known) if is_dotted_name(test.name))


def _fails(arm: Arm, test: TestId) -> bool:
    return any(item.test == test and item.outcome is Outcome.FAILED for item in arm.results)


def judge_unlisted(evidence: Evidence, check: ManifestCheck) -> Iterator[Reason]:
    """Yield the tests that a patch adds without listing them, and that fail all the same.

    Any test that a touched file runs beside the listed and the existing ones, and those that needn't be listed, is
    one that its text hides. Where the runner had been asked for all tests, it is a reason also if it passes.
    """
    tests, known = check.unlisted, (*check.unlisted, *check.existing)
    red = unlisted_red(evidence, tests, EXISTING_AFTER) + unknown_red(evidence, known)
    for test in _never_collected(evidence, known, check.collected):
        words = "the test runner didn't collect this test when it was asked for all, and runs it with the others"
        yield _reason(ReasonCode.MANIFEST_UNLISTED_TEST, str(test), words)
    for test in red:
        yield _reason(ReasonCode.BASELINE_RED, str(test), "it isn't listed, and fails on the code as it is")
    for test in unlisted_red(evidence, tests, REWRITTEN_AFTER):
        if test not in red:
            words = "it isn't listed, and fails where the code is written in another way and does the same"
            yield _reason(ReasonCode.PLACEBO_SENSITIVE, str(test), words)


def _reason(code: ReasonCode, subject: str, words: str) -> Reason:
    return Reason(code=code, stage=Stage.MUTATION, subject=subject, words=words)
