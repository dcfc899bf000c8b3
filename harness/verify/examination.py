"""The examination of a submission: all facts that need no model."""

from dataclasses import dataclass, field

from harness.languages.protocol import Discovery
from harness.specs.reasons import Reason, Verdict
from harness.verify.evidence import Evidence
from harness.verify.intake import Intake
from harness.verify.manifest_check import ManifestCheck
from harness.verify.mutation import judge_mutation, some_test_stands
from harness.verify.verdict import decide


@dataclass(frozen=True)
class Examination:
    """`evidence` is None where no arm ran: intake or manifest ended it. `discovery` is what found the tests."""

    intake: Intake
    check: ManifestCheck = field(default_factory=ManifestCheck)
    evidence: Evidence | None = None
    discovery: Discovery | None = None

    @property
    def is_refused(self) -> bool:
        """Whether nothing of it is to be run."""
        return bool(self.intake.reasons or self.check.reasons)

    @property
    def mutation(self) -> tuple[Reason, ...]:
        return judge_mutation(self.evidence) if self.evidence else ()

    @property
    def reaches_rubric(self) -> bool:
        """Whether a rubric can be graded: some test stands, and no arm is missing."""
        if self.evidence is None:
            return False
        return decide(self.mutation) is not Verdict.UNSCORED and some_test_stands(self.evidence)
