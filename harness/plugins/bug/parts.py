"""The three parts of a bug's task, each judged by itself from what the arms show. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.judging.verify.chance_failures import Explanation, failures
from harness.judging.verify.evidence import Evidence, listed_arm, passed
from harness.judging.verify.mutation import is_over
from harness.judging.verify.rubric_check import CriterionResult
from harness.judging.verify.task_texts import Files
from harness.plugins.bug.handed_in import HandedIn
from harness.plugins.bug.hidden import DRAWN, ELSEWHERE, LOCATED, REPAIRED, UPSTREAM, hidden_arm
from harness.plugins.bug.reasons import (
    ACCEPTS_PARTIAL_FIX,
    ACCEPTS_WRONG_FIX,
    BUG_STAYS,
    FIX_REJECTED,
    LOCATED_TOO_WIDELY,
    NOT_LOCATED,
    NOT_REPRODUCED,
    REPAIR_ASKS_FOR_TESTS,
    REPAIR_BREAKS,
    REPAIR_OVERFITS,
    TEXT_DEPENDENT,
)
from harness.plugins.bug.spans import widest, width
from harness.plugins.bug.task import WRONG_FIX, Part
from harness.specs.reasons import Reason, ReasonCode, Stage, Verdict
from harness.specs.rubric import GradedBy, Importance
from harness.specs.test_results import Outcome, Quality, TestId, TestResult
from harness.specs.variants import Arm, ArmKey, ArmStatus, Role, VariantKind

AXIS = 1
SHOWING = frozenset({Quality.ASSERTION, Quality.RAISED, Quality.CRASH})
"""Failures of tests that have reproduced a fault: an exception of a language without them is a crash."""
_REPLACED = {
    ReasonCode.EMPTY_SUBMISSION: NOT_REPRODUCED,
    ReasonCode.BASELINE_RED: FIX_REJECTED,
    ReasonCode.BASELINE_SKIPPED: FIX_REJECTED,
    ReasonCode.PLACEBO_SENSITIVE: FIX_REJECTED,
}
_JUDGED_HERE = frozenset({ReasonCode.SURVIVED_REMOVAL, ReasonCode.KILLED_BY_COLLECTION, ReasonCode.PLACEBO_SENSITIVE})
_WORDS = {
    ReasonCode.EMPTY_SUBMISSION: "no test is handed in",
    ReasonCode.BASELINE_RED: "it fails where the fault is mended",
    ReasonCode.BASELINE_SKIPPED: "it is skipped, or expected to fail, where the fault is mended",
}


def reproduction_reasons(
    reasons: Iterable[Reason], evidence: Evidence | None, partial: Sequence[str]
) -> tuple[Reason, ...]:
    """Return why the tests don't reproduce the fault.

    Args:
        reasons: Those of the same evidence by the rules for tests of behaviour.
        evidence: What the listed tests did; None where none ran.
        partial: Variants with partial fixes.
    """
    found = [_renamed(reason) for reason in reasons if reason.code not in _JUDGED_HERE or not reason.subject]
    if evidence is not None and not is_over(evidence):
        of_tests = {test: list(_of_test(evidence, test)) for test in evidence.tests}
        found += [reason for told in of_tests.values() for reason in told]
        stand = [test for test, told in of_tests.items() if not told and evidence.passes_baseline(test)]
        found += _partial(evidence, stand, partial)
        found += _wrong(evidence, stand)
    worse = [reason for reason in found if reason.code is not ReasonCode.NEEDS_REVIEW]
    return tuple(dict.fromkeys(worse or found))


def _renamed(reason: Reason) -> Reason:
    code = _REPLACED.get(reason.code)
    if code is None:
        return reason
    is_of_own_runs = not reason.subject and reason.code is not ReasonCode.EMPTY_SUBMISSION
    words = reason.words if is_of_own_runs else _WORDS[reason.code]
    return Reason(code=code, stage=reason.stage, subject=reason.subject, words=words)


def _of_test(evidence: Evidence, test: TestId) -> Iterator[Reason]:
    """Yield what is wrong with a test that passes on the fixed code."""
    if not evidence.passes_baseline(test):
        return
    found = failures(evidence, test)
    kinds = {
        evidence.arms[key].kind for key, what in found.items() if what in (Explanation.OPEN, Explanation.SENSITIVE)
    }
    if VariantKind.TWIN in kinds:
        yield _reason(FIX_REJECTED, str(test), "it fails where the fault is mended in another way")
    if kinds - {VariantKind.TWIN}:
        words = "it fails where the fault is mended and the code, or its text, is written in another way"
        yield _reason(TEXT_DEPENDENT, str(test), words)
    buggy = [item for item in _results(evidence, VariantKind.REMOVAL, test) if not shows_a_fault(item)]
    if buggy:
        yield _reason(NOT_REPRODUCED, str(test), f"on the code with the fault it {_how(buggy[0])}")
    elif any(not shows_a_fault(item) for item in _results(evidence, VariantKind.GARBAGE, test)):
        words = "it doesn't fail where the same fault stands in code that is written in another way"
        yield _reason(TEXT_DEPENDENT, str(test), words)


def _results(evidence: Evidence, kind: VariantKind, test: TestId) -> list[TestResult | None]:
    keys = [key for key, arm in sorted(evidence.listed.items()) if arm.kind is kind and key.repetition == 1]
    return [evidence.result(key, test) for key in keys]


def shows_a_fault(item: TestResult | None) -> bool:
    """Return whether a test failed by an assertion, an exception or a crash."""
    return item is not None and item.outcome is Outcome.FAILED and item.quality in SHOWING


def _how(item: TestResult | None) -> str:
    if item is None or item.outcome is Outcome.MISSING:
        return "leaves no result"
    if item.outcome is Outcome.FAILED:
        return f"fails by {item.quality}, neither by an assertion nor by an exception of its own"
    return "is skipped" if item.outcome is Outcome.SKIPPED else "passes"


def _partial(evidence: Evidence, tests: Sequence[TestId], partial: Sequence[str]) -> Iterator[Reason]:
    """Yield a reason for each fix of the reported input alone that no good test notices."""
    for name in partial if tests else ():
        if not any(shows_a_fault(evidence.result(listed_arm(name), test)) for test in tests):
            words = "all tests pass where no more than what was reported is mended"
            yield _reason(ACCEPTS_PARTIAL_FIX, name.removeprefix("probe-"), words)


def _wrong(evidence: Evidence, tests: Sequence[TestId]) -> Iterator[Reason]:
    """Yield a reason for each good test that takes another fault for right, or is skipped there."""
    for test in tests:
        item = evidence.result(listed_arm(WRONG_FIX.variant), test)
        if item is not None and item.outcome in (Outcome.PASSED, Outcome.SKIPPED):
            words = (
                f"it {_how(item)} where something else is wrong in the place of the fault: it tests what mustn't come"
            )
            yield _reason(ACCEPTS_WRONG_FIX, str(test), f"{words}, not what must")


Arms = Mapping[ArmKey, Arm]


@dataclass(frozen=True)
class Hidden:
    """The evidence of the hidden arms on a hand-in.

    `buggy` are the texts of the files in question, `fixes` those of the fixed code and of every other known fix, and
    `showing` the hidden tests that show the fault, that of the reported input among them.
    """

    showing: frozenset[TestId]
    handed: HandedIn
    arms: Arms
    buggy: Files
    fixes: Sequence[Files]

    @property
    def wrong_variants(self) -> bool:
        """Return whether the arm without code of the hand-in couldn't show what ran in it: nothing is known then."""
        return any(arm.status is ArmStatus.WRONG_VARIANT for arm in self._runs(LOCATED))

    def is_unproved(self, name: str) -> bool:
        """Return whether no run of an arm could show what ran in it."""
        runs = self._runs(name)
        return bool(runs) and all(arm.status is ArmStatus.WRONG_VARIANT for arm in runs)

    def failed(self, name: str) -> frozenset[TestId]:
        """Return the tests of an arm that pass in none of its runs."""
        runs = self._runs(name)
        tests = frozenset(item.test for arm in runs for item in arm.results)
        return tests.difference(*map(passed, runs))

    def is_unbuilt(self, name: str) -> bool:
        """Return whether the code of an arm can't be built, or a file of its tests can't be loaded with it."""
        return any(item.quality is Quality.COLLECTION for item in self.arms[hidden_arm(name)].results)

    def ran(self, name: str) -> bool:
        return hidden_arm(name) in self.arms

    def _runs(self, name: str) -> list[Arm]:
        return [arm for key, arm in self.arms.items() if key.variant == name]


def repair_reasons(hidden: Hidden) -> tuple[Reason, ...]:
    """Return why the repair doesn't mend the fault, or does more than that."""
    if not hidden.handed.product:
        return (_part_reason(BUG_STAYS, Part.REPAIR, "nothing of the code is changed"),)
    forged = [arm.disagreement for arm in hidden.arms.values() if arm.status is ArmStatus.DISAGREES]
    if forged:
        return tuple(_part_reason(ReasonCode.FORGED_REPORT, Part.REPAIR, words) for words in dict.fromkeys(forged))
    if hidden.is_unbuilt(REPAIRED):
        return (_part_reason(REPAIR_BREAKS, Part.REPAIR, "the repaired code can't be built or loaded"),)
    if any(map(hidden.is_unproved, (REPAIRED, UPSTREAM, *DRAWN))):
        words = "the repaired code, as it was built, can't be shown to be what runs, a second time neither"
        return (_part_reason(REPAIR_BREAKS, Part.REPAIR, words),)
    failed = hidden.failed(REPAIRED)
    stays, breaks = failed & hidden.showing, failed - hidden.showing
    if not stays:  # else upstream's tests may fail for the fault itself
        breaks |= hidden.failed(UPSTREAM)
    found = []
    if stays:
        found.append(_part_reason(BUG_STAYS, Part.REPAIR, f"{_tests(stays)} that show the fault fail on the repair"))
    if breaks:
        words = f"{_tests(breaks)} of what was right before fail on the repair"
        found.append(_part_reason(REPAIR_BREAKS, Part.REPAIR, words))
    if hidden.handed.asks:
        words = f"{hidden.handed.asks}: what it does where no test runs isn't shown"
        found.append(_part_reason(REPAIR_ASKS_FOR_TESTS, Part.REPAIR, words))
    if not found and any(hidden.failed(name) for name in DRAWN):
        words = "hidden tests pass, and drawn inputs are answered in another way than by the fixed code"
        found.append(_part_reason(REPAIR_OVERFITS, Part.REPAIR, words))
    return tuple(found)


def place_reasons(hidden: Hidden, is_repaired: bool) -> tuple[Reason, ...]:
    """Return why the named spans aren't the place of the fault."""
    handed = hidden.handed
    if handed.fault:
        return (_part_reason(NOT_LOCATED, Part.LOCALISE, handed.fault),)
    most, named = widest(hidden.buggy, hidden.fixes[0]), width(handed.spans)
    if named > most:
        return (_part_reason(LOCATED_TOO_WIDELY, Part.LOCALISE, f"{named} lines are named, more than {most}"),)
    if hidden.ran(LOCATED) and not hidden.failed(LOCATED):
        return ()
    words = "with the named lines as the fixed code has them, the fault is still there"
    if hidden.ran(LOCATED) and hidden.is_unbuilt(LOCATED):
        words = "with the named lines alone as the fixed code has them, the code can't be built or loaded"
    if is_repaired and handed.is_within:
        if not handed.is_known:
            words = f"{words}; the repair is in the named lines, and far from where any known fix is"
        elif hidden.ran(ELSEWHERE) and not hidden.failed(ELSEWHERE):
            words = f"{words}; the repair holds without what it changes where a known fix is"
        else:
            return ()
    return (_part_reason(NOT_LOCATED, Part.LOCALISE, words),)


def _tests(tests: frozenset[TestId]) -> str:
    return f"{len(tests)} hidden test{'' if len(tests) == 1 else 's'}"


def part_result(part: Part, reasons: Sequence[Reason]) -> CriterionResult:
    """Return a part as a verdict tells it: met, unmet, or undecided where only a review could decide it."""
    open_still = bool(reasons) and all(reason.code.verdict is Verdict.UNSCORED for reason in reasons)
    codes = ", ".join(dict.fromkeys(reason.code for reason in reasons))
    return CriterionResult(
        id=part,
        axis=AXIS,
        importance=Importance.MUST,
        met=None if open_still else not reasons,
        decided_by=None if open_still else GradedBy.PROBE,
        words=codes or "shown by execution",
    )


def without_hidden(evidence: Evidence) -> tuple[Evidence, dict[ArmKey, Arm]]:
    """Return the evidence on the listed tests, and the hidden arms beside it."""
    hidden = {key: arm for key, arm in evidence.arms.items() if key.role is Role.HIDDEN}
    rest = {key: arm for key, arm in evidence.arms.items() if key.role is not Role.HIDDEN}
    return Evidence(
        evidence.tests, rest, evidence.required, evidence.draw, evidence.out_of_time, evidence.control
    ), hidden


def _reason(code: ReasonCode, subject: str, words: str) -> Reason:
    return Reason(code=code, stage=Stage.MUTATION, subject=subject, words=words)


def _part_reason(code: ReasonCode, part: Part, words: str) -> Reason:
    return Reason(code=code, stage=Stage.RUBRIC, subject=part, words=words)
