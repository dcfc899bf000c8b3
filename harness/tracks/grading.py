"""Grading by the rules of the task's track, by the published verifier's, or by both."""

from dataclasses import dataclass

from harness.judging.submission.extraction import Submission
from harness.judging.verify.judgement import Judgement
from harness.judging.verify.verification import Judging
from harness.specs.grading import GradingRules
from harness.tracks.registry import check_rules, track_of


@dataclass(frozen=True)
class Judgements:
    """The judgements of a submission: `first` counts, `beside` is the published one where both were asked for."""

    first: Judgement
    beside: Judgement | None = None

    @property
    def all(self) -> tuple[Judgement, ...]:
        """The judgements of all rules that were asked for, the first one first."""
        return (self.first, self.beside) if self.beside else (self.first,)


async def grade_by(rules: GradingRules, judging: Judging, submission: Submission) -> Judgements:
    """Grade a submission by the rules of its task's track, by the published verifier's, or by both.

    Raises:
        UserError: The task's track doesn't offer the rules, or the task itself is wrong.
        SandboxLost: An arm was lost again and again.
    """
    check_rules(judging.task, rules)
    graders = track_of(judging.task).graders
    chosen = [one for one in (GradingRules.TESTWRIGHT, GradingRules.PUBLISHED) if rules in (one, GradingRules.BOTH)]
    judgements = []
    for one in chosen:
        judgements.append(await graders[one](judging, submission))
    return Judgements(*judgements)
