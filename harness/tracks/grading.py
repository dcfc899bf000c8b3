"""Grading by the rules of the task's track, by the published verifier's, or by both."""

from dataclasses import dataclass

from harness.judging.submission.extraction import Submission
from harness.judging.verify.arms import ArmContext
from harness.judging.verify.evidence import EvidenceCache
from harness.judging.verify.judge.judge import Judge
from harness.judging.verify.judgement import Judgement
from harness.models.allowance import Spending
from harness.specs.task import Task
from harness.specs.tracks import GradingRules
from harness.tracks.registry import check_rules, track_of


@dataclass(frozen=True)
class Judgements:
    """`first` is the one that counts; `beside` is the published one where both were asked for."""

    first: Judgement
    beside: Judgement | None = None

    @property
    def all(self) -> tuple[Judgement, ...]:
        return (self.first, self.beside) if self.beside else (self.first,)


async def grade_by(
    rules: GradingRules,
    task: Task,
    submission: Submission,
    context: ArmContext,
    judge: Judge | None = None,
    spending: Spending | None = None,
    cache: EvidenceCache | None = None,
) -> Judgements:
    """See `Grader`. Raises UserError where the task's track doesn't offer the rules."""
    check_rules(task, rules)
    graders = track_of(task).graders
    chosen = [one for one in (GradingRules.TESTWRIGHT, GradingRules.PUBLISHED) if rules in (one, GradingRules.BOTH)]
    return Judgements(*[await graders[one](task, submission, context, judge, spending, cache) for one in chosen])
