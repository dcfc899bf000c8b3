"""What became of each listed test in the arms, as the verdict tells it."""

from harness.specs.ids import TestId
from harness.specs.results import Outcome, Quality, TestResult
from harness.verify.evidence import AT_BASELINE, Evidence
from harness.verify.second_looks import excused_arms
from harness.verify.verdict import TestRecord, outcome_words

LIKE_BASELINE = "same-behaviour"
"""All other arms under whose variants a test must pass as it does at baseline: how many there are is drawn."""


def records_of(evidence: Evidence) -> tuple[TestRecord, ...]:
    """The arms that every judging has, by name; those whose number and place were drawn as one."""
    return tuple(TestRecord(test=str(test), arms=_outcomes(evidence, test)) for test in evidence.tests)


def _outcomes(evidence: Evidence, test: TestId) -> dict[str, str]:
    first = {key: arm for key, arm in sorted(evidence.listed.items()) if key.repetition == 1}
    alike = [key for key, arm in first.items() if arm.kind.behaves_like_baseline and key != AT_BASELINE]
    excused = excused_arms(evidence)
    like_baseline = [item for key in alike if key not in excused and (item := evidence.result(key, test))]
    found = {str(key): item for key in first if key not in alike and (item := evidence.result(key, test))}
    if like_baseline:
        found[LIKE_BASELINE] = min(like_baseline, key=_standing)
    return {name: outcome_words(item.outcome, item.quality) for name, item in sorted(found.items())}


def _standing(item: TestResult) -> tuple[bool, list[int]]:
    """Failures before passes, and of two failures always the same one."""
    qualities, outcomes = list(Quality), list(Outcome)
    quality = qualities.index(item.quality) if item.quality else len(qualities)
    return item.outcome is Outcome.PASSED, [outcomes.index(item.outcome), quality]
