"""The examination of a submission: all facts that need no model, and the questions that they leave to a judge."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from harness.judging.languages.protocol import Discovery
from harness.judging.languages.registry import language_of
from harness.judging.verify.control import kills_not_repeated
from harness.judging.verify.evidence import Evidence
from harness.judging.verify.intake import FileChange, Intake, by_path
from harness.judging.verify.judge.judge import Judge, JudgeReport
from harness.judging.verify.judge.questions import MANIFEST, Answer, Brief, Question, questions_for
from harness.judging.verify.judge.replies import Opinion
from harness.judging.verify.manifest_check import ManifestCheck
from harness.judging.verify.mutation import is_over, judge_mutation, judge_unlisted, some_test_stands
from harness.judging.verify.suite_reader import AGAIN, read_apart
from harness.judging.verify.verdict import decide
from harness.models.allowance import Spending
from harness.specs.reasons import Note, NoteCode, Reason, ReasonCode, Stage, Verdict
from harness.specs.task import Task
from harness.specs.test_results import TestId


@dataclass(frozen=True)
class Examination:
    """All that is found of a submission. `evidence` is None where no arm ran: intake or manifest ended it.

    `discovery` is what found the tests.
    """

    intake: Intake
    check: ManifestCheck = field(default_factory=ManifestCheck)
    evidence: Evidence | None = None
    discovery: Discovery | None = None

    @property
    def is_refused(self) -> bool:
        """Return whether nothing of it is to be run."""
        return bool(self.intake.reasons or self.check.reasons)

    @property
    def mutation(self) -> tuple[Reason, ...]:
        """Return why the arms don't show that every test notices what it must, and nothing but behaviour."""
        if self.evidence is None:
            return ()
        reasons = judge_mutation(self.evidence)
        over, check = is_over(self.evidence), self.check
        unlisted = () if over else judge_unlisted(self.evidence, check)
        return (*reasons, *unlisted, *kills_not_repeated(self.evidence))

    @property
    def reaches_rubric(self) -> bool:
        """Return whether a rubric can be graded: some test stands, and no arm is missing."""
        if self.evidence is None:
            return False
        return decide(self.mutation) is not Verdict.UNSCORED and some_test_stands(self.evidence)


_STATEMENTS = {
    NoteCode.INSPECTS_CODE: (
        "At least one of the listed tests can pass or fail because of how the code under test is written, compiled or"
        " stored: it looks at source text, code objects, machine code, addresses, a second build, or at what the"
        " machine says about the process."
    ),
    NoteCode.COPIED_ORACLE: (
        "At least one of the listed tests takes its expected results from a copy of the code under test that"
        " the patch brings along."
    ),
    NoteCode.RECORDED_ORACLE: (
        "At least one of the listed tests compares results with recorded hashes, or with masses of recorded output,"
        " that don't follow from the request."
    ),
}
"""True where the mark is right, so that a judge has to quote what shows it. They hold nothing of the patch."""
_WORDS = {
    NoteCode.INSPECTS_CODE: "the judge finds that a listed test looks at the code itself, not only at what it does",
    NoteCode.COPIED_ORACLE: "the judge finds that a listed test compares with a copy of the code under test",
    NoteCode.RECORDED_ORACLE: "the judge finds that a listed test compares with recorded results",
}
_REVIEW = "the suite uses means that behaviour doesn't need; the notes say where. Name a judge, or look at the lines"


def conduct_questions(notes: Sequence[Note], votes: int) -> tuple[Question, ...]:
    """Return one question for each kind of mark."""
    return tuple(Question(str(code), _STATEMENTS[code], votes) for code in _kinds(notes))


def opinions_on_conduct(notes: Sequence[Note], judging: JudgeReport | None) -> dict[str, Opinion]:
    """Return what a judge said of each kind of mark, by the note's code."""
    opinions = judging.opinions if judging else {}
    return {str(code): opinions[code] for code in _kinds(notes) if code in opinions}


def judge_conduct(notes: Sequence[Note], judging: JudgeReport | None, refused: bool) -> tuple[Reason, ...]:
    """Return why a suite's conduct keeps it from being resolved.

    A judge's majority decides. Without one, only `inspects-code` matters: it leaves open what would be resolved.
    `refused` says that there are other reasons.
    """
    opinions = opinions_on_conduct(notes, judging)
    found = tuple(_found(NoteCode(code), said) for code, said in opinions.items() if said.answer is Answer.MET)
    said = opinions.get(NoteCode.INSPECTS_CODE)
    open_still = NoteCode.INSPECTS_CODE in _kinds(notes) and (said is None or said.answer is not Answer.UNMET)
    if found or refused or not open_still:
        return found
    if said is not None and said.missing is ReasonCode.JUDGE_UNAVAILABLE:
        return (_reason(ReasonCode.JUDGE_UNAVAILABLE, said.words),)
    return (_reason(ReasonCode.NEEDS_REVIEW, _REVIEW),)


def _found(code: NoteCode, said: Opinion) -> Reason:
    return _reason(ReasonCode.CONDUCT_REFUSED, f"{_WORDS[code]}; {said.words}", code)


def _reason(code: ReasonCode, words: str, subject: str = "") -> Reason:
    return Reason(code=code, stage=Stage.MANIFEST, subject=subject, words=words)


def _kinds(notes: Sequence[Note]) -> list[NoteCode]:
    return [code for code in _STATEMENTS if any(note.code is code for note in notes)]


async def ask_judge(judge: Judge, task: Task, found: Examination, spending: Spending | None) -> JudgeReport | None:
    """Ask a judge about a submission that the arms haven't decided already.

    Args:
        judge: Whom.
        task: Its statements.
        found: The submission, and what its arms showed.
        spending: Where the judge's money counts.

    Returns:
        The answers; None where nothing had to be asked, since judges cost money.
    """
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
    """Return whether every listed test noticed the removal, and probes or static checks decide every must-have."""
    return not found.mutation and all(criterion.decided_without_judge for criterion in task.rubric.must_haves)


def judge_manifest(judging: JudgeReport, decided: bool = False) -> tuple[Reason, ...]:
    """Return why a judge doesn't take every listed test for one.

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
    """Return the plain names of the functions that texts call."""
    return frozenset(name for text in texts for name in discovery.calls(text.encode()) if name.isidentifier())


def listed_texts(discovery: Discovery, changes: tuple[FileChange, ...], tests: Iterable[TestId]) -> dict[str, str]:
    """Return the text of each listed test, by id."""
    changed, listed = by_path(changes), list(tests)
    files = {file: discovery.discover(changed[file].new or b"", file) for file in {test.file for test in listed}}
    found = ((test, files[test.file].find(test.name)) for test in listed)
    return {str(test): item.text.decode(errors="replace") for test, item in found if item}
