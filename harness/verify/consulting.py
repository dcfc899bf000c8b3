"""What a judge is asked about a submission, and what its answer about the manifest means."""

from collections import Counter
from collections.abc import Iterable

from harness.languages.registry import language_of
from harness.llm.spending import Spending
from harness.specs.ids import TestId
from harness.specs.reasons import Reason, ReasonCode, Stage
from harness.specs.task import Task
from harness.verify.examination import Examination
from harness.verify.intake import FileChange, by_path
from harness.verify.judge.judge import Judge, Judging
from harness.verify.judge.questions import MANIFEST, Answer, Brief, questions_for


async def consult(judge: Judge, task: Task, found: Examination, spending: Spending | None) -> Judging | None:
    """Ask about a submission that the arms haven't ended already; None for any other: judges cost money."""
    if not found.reaches_rubric:
        return None
    brief = Brief(
        prompt=task.objective,
        patch=found.intake.patch,
        tests=listed_texts(task, found.intake.changes, found.check.tests),
        questions=questions_for(task, judge.identity.votes),
    )
    return await judge.ask(brief, spending)


def judge_manifest(judging: Judging) -> tuple[Reason, ...]:
    """Why a judge doesn't take every listed test for one. An answer that is missing keeps a verdict open."""
    opinion = judging.opinions[MANIFEST]
    if opinion.answer is Answer.MET:
        return ()
    if opinion.answer is not Answer.UNMET:
        missing = opinion.missing or ReasonCode.JUDGE_UNPARSEABLE
        return (Reason(code=missing, stage=Stage.MANIFEST, subject=MANIFEST, words=opinion.words),)
    named = Counter(vote.test for vote in judging.votes if vote.question == MANIFEST and vote.counted is Answer.UNMET)
    test = min(named, key=lambda name: (-named[name], name))
    words = f"the judge finds that this is only setup, a helper or a placeholder; {opinion.words}"
    return (Reason(code=ReasonCode.MANIFEST_NOT_A_TEST, stage=Stage.MANIFEST, subject=test, words=words),)


def listed_texts(task: Task, changes: tuple[FileChange, ...], tests: Iterable[TestId]) -> dict[str, str]:
    """The text of each listed test, by id."""
    discovery = language_of(task.repo).discovery
    files = {path: discovery.discover(change.new or b"", path) for path, change in by_path(changes).items()}
    found = ((test, files[test.file].find(test.name)) for test in tests)
    return {str(test): item.text.decode(errors="replace") for test, item in found if item}
