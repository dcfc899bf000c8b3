"""The evidence of one judging: the arms' results."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from harness.specs.ids import TestId
from harness.specs.results import Outcome, TestResult
from harness.specs.variants import Arm, ArmKey, ArmName, Role, VariantKind

BASELINE = "baseline"
"""The name of the variant without any change."""


def listed(variant: str) -> ArmKey:
    """The first arm of the listed tests on a variant."""
    return ArmKey(Role.LISTED, variant)


BASELINES = (listed(BASELINE), listed(BASELINE).again)
THIRD_BASELINE = BASELINES[1].again
REQUIRED = (
    *BASELINES,
    *map(listed, ("placebo-text", "placebo-code", "placebo-source", "removal", "removal-pristine-source")),
)
"""Without every one of these arms there is no evidence to speak of."""
REQUIRED_ON_DISK = (*BASELINES, *map(listed, ("placebo-text", "placebo-code", "removal")))
"""The same where the text on disk is what runs."""
EXISTING_BEFORE = ArmKey(Role.EXISTING_BEFORE, BASELINE)
EXISTING_AFTER = ArmKey(Role.EXISTING_AFTER, BASELINE)


@dataclass(frozen=True)
class Evidence:
    """Every arm of one judging. `required` are the arms that must be there for it to show anything of a test."""

    tests: tuple[TestId, ...]
    arms: Mapping[ArmName, Arm]
    required: tuple[ArmName, ...] = REQUIRED

    @property
    def listed(self) -> dict[ArmKey, Arm]:
        """The arms of the listed tests."""
        return {key: arm for key, arm in self.arms.items() if key.role is Role.LISTED}

    @property
    def probed(self) -> bool:
        return any(arm.kind is VariantKind.PROBE for arm in self.listed.values())

    def result(self, key: ArmKey, test: TestId) -> TestResult | None:
        found = self.arms.get(key)
        return next((item for item in found.results if item.test == test), None) if found else None

    def outcome(self, key: ArmKey, test: TestId) -> Outcome:
        """`MISSING` also where there is no such arm."""
        item = self.result(key, test)
        return item.outcome if item else Outcome.MISSING

    def passes_baseline(self, test: TestId) -> bool:
        keys = [key for key, arm in self.listed.items() if arm.kind is VariantKind.BASELINE]
        return bool(keys) and all(self.outcome(key, test) is Outcome.PASSED for key in keys)

    def kills(self, key: ArmKey, test: TestId) -> bool:
        """Whether a test that is green at baseline fails here, and failed not already before it was changed."""
        item = self.result(key, test)
        return bool(item and item.killed and self.passes_baseline(test) and not self._killed_before(key, test))

    def _killed_before(self, key: ArmKey, test: TestId) -> bool:
        item = self.result(ArmKey(Role.CHANGED_BEFORE, key.variant), test)
        return bool(item and item.killed)


class EvidenceCache(Protocol):
    """Where the evidence of one submission is kept, so that its arms needn't run again."""

    def read(self) -> Evidence | None:
        """None where there is none, or where it was gathered under other conditions."""
        ...

    def keep(self, evidence: Evidence) -> None: ...


def passed(arm: Arm) -> set[TestId]:
    return {item.test for item in arm.results if item.outcome is Outcome.PASSED}
