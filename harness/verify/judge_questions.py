"""What a judge is asked about a submission, and what its answer about the manifest means."""

from collections import Counter
from collections.abc import Iterable

from harness.languages.protocol import Discovery
from harness.languages.registry import language_of
from harness.llm.spending import Spending
from harness.specs.ids import TestId
from harness.specs.reasons import Reason, ReasonCode, Stage
from harness.specs.task import Task
from harness.verify.conduct_verdict import conduct_questions
from harness.verify.examination import Examination
from harness.verify.intake import FileChange, by_path
from harness.verify.judge.judge import Judge, Judging
from harness.verify.judge.questions import MANIFEST, Answer, Brief, questions_for
from harness.verify.reading import AGAIN, read_apart


async def ask_judge(judge: Judge, task: Task, found: Examination, spending: Spending | None) -> Judging | None:
    """Ask about a submission that the arms haven't ended already; None for any other: judges cost money."""
    if not found.reaches_rubric:
        return None
    discovery = found.discovery or language_of(task.repo).discovery
    texts = await read_apart(lambda: listed_texts(discovery, found.intake.changes, found.check.tests), AGAIN)
    called = await read_apart(lambda: called_by(discovery, texts.values()), AGAIN)
    votes = judge.identity.votes
    brief = Brief(
        prompt=task.objective,
        patch=found.intake.patch,
        tests=texts,
        questions=(*questions_for(task, votes), *conduct_questions(found.check.conduct, votes.must)),
        calls=called,
    )
    return await judge.ask(brief, spending)


def decided_by_execution(task: Task, found: Examination) -> bool:
    """Whether every listed test noticed the removal, and every must-have was left to a probe or a static check."""
    return not found.mutation and all(criterion.decided_without_judge for criterion in task.rubric.must_haves)


def judge_manifest(judging: Judging, decided: bool = False) -> tuple[Reason, ...]:
    """Why a judge doesn't take every listed test for one.

    A judge that was asked and can't tell keeps a verdict open, but for one that execution has `decided`. One that
    couldn't be reached always does, since asking again may tell more; so does one that was misled, since the patch
    may have done that.
    """
    opinion = judging.opinions[MANIFEST]
    if opinion.answer is Answer.MET:
        return ()
    if opinion.answer is not Answer.UNMET:
        missing = opinion.missing or ReasonCode.JUDGE_UNPARSEABLE
        if decided and missing is not ReasonCode.JUDGE_UNAVAILABLE and not judging.misled:
            return ()
        return (Reason(code=missing, stage=Stage.MANIFEST, subject=MANIFEST, words=opinion.words),)
    named = Counter(vote.test for vote in judging.votes if vote.question == MANIFEST and vote.counted is Answer.UNMET)
    test = min(named, key=lambda name: (-named[name], name))
    words = f"the judge finds that this is only setup, a helper or a placeholder; {opinion.words}"
    return (Reason(code=ReasonCode.MANIFEST_NOT_A_TEST, stage=Stage.MANIFEST, subject=test, words=words),)


def called_by(discovery: Discovery, texts: Iterable[str]) -> frozenset[str]:
    """Plain names of the functions that texts call."""
    return frozenset(name for text in texts for name in discovery.calls(text.encode()) if name.isidentifier())


def listed_texts(discovery: Discovery, changes: tuple[FileChange, ...], tests: Iterable[TestId]) -> dict[str, str]:
    """The text of each listed test, by id."""
    changed, listed = by_path(changes), list(tests)
    files = {file: discovery.discover(changed[file].new or b"", file) for file in {test.file for test in listed}}
    found = ((test, files[test.file].find(test.name)) for test in listed)
    return {str(test): item.text.decode(errors="replace") for test, item in found if item}
