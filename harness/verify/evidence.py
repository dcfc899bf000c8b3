"""What the arms of one judging showed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from harness.specs.ids import TestId
from harness.specs.results import Outcome, TestResult
from harness.specs.variants import Arm, VariantKind

BASELINES = ("baseline-1", "baseline-2")
REQUIRED = (
    *BASELINES, "placebo-text", "placebo-code", "placebo-source", "removal", "removal-pristine-source",
)  # fmt: skip
"""Without every one of these arms there is no evidence to speak of."""
REQUIRED_ON_DISK = (*BASELINES, "placebo-text", "placebo-code", "removal")
"""The same where the text on disk is what runs."""
THIRD_BASELINE = "baseline-3"
EXISTING_BEFORE, EXISTING_AFTER, EXISTING_AGAIN = "existing-before", "existing-after", "existing-after-again"
AGAIN = "-again"
OLD = "-old"


@dataclass(frozen=True)
class Evidence:
    """Every arm of one judging by name. `old` are arms of changed tests as they were before the patch.

    `required` are the arms that must be there for the evidence to show anything of a test.
    """

    tests: tuple[TestId, ...]
    arms: Mapping[str, Arm]
    existing: Mapping[str, Arm] = field(default_factory=dict)
    old: Mapping[str, Arm] = field(default_factory=dict)
    required: tuple[str, ...] = REQUIRED

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


class EvidenceShelf(Protocol):
    """Where the evidence of one submission is kept, so that its arms needn't run again."""

    def read(self) -> Evidence | None:
        """None where there is none, or where it was gathered under other conditions."""
        ...

    def keep(self, evidence: Evidence) -> None: ...


def passed(arm: Arm) -> set[TestId]:
    return {item.test for item in arm.results if item.outcome is Outcome.PASSED}
