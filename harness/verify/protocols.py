"""Judging by our rules, by the published verifier's, or by both."""

from dataclasses import dataclass

from harness.llm.spending import Spending
from harness.specs.protocol import JudgingProtocol
from harness.specs.task import Task
from harness.submission.extraction import Submission
from harness.verify.arms import Bench
from harness.verify.evidence import EvidenceShelf
from harness.verify.judge.judge import Judge
from harness.verify.published.verification import published_task, verify_published
from harness.verify.verification import verify
from harness.verify.weighing import Judgement


@dataclass(frozen=True)
class Judgements:
    """`first` is the one that counts; `beside` is the published one where both were asked for."""

    first: Judgement
    beside: Judgement | None = None

    @property
    def all(self) -> tuple[Judgement, ...]:
        return (self.first, self.beside) if self.beside else (self.first,)


async def verify_by(
    protocol: JudgingProtocol,
    task: Task,
    submission: Submission,
    bench: Bench,
    judge: Judge | None = None,
    spending: Spending | None = None,
    shelf: EvidenceShelf | None = None,
) -> Judgements:
    """See `verify` and `verify_published`. Raises UserError where a task hasn't the published layout."""
    if protocol is JudgingProtocol.PUBLISHED:
        return Judgements(await verify_published(published_task(task), submission, bench, judge, spending))
    ours = await verify(task, submission, bench, judge, spending, shelf)
    if protocol is JudgingProtocol.TESTWRIGHT:
        return Judgements(ours)
    return Judgements(ours, await verify_published(published_task(task), submission, bench, judge, spending))
