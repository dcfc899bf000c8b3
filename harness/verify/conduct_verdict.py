"""What a mark of a suite's conduct leads to: questions for a named judge, and reasons. Pure."""

from collections.abc import Sequence

from harness.specs.reasons import Note, NoteCode, Reason, ReasonCode, Stage
from harness.verify.judge.judge import Judging
from harness.verify.judge.questions import Answer, Question
from harness.verify.judge.voting import Opinion

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
    """One question for each kind of mark."""
    return tuple(Question(str(code), _STATEMENTS[code], votes) for code in _kinds(notes))


def opinions_on_conduct(notes: Sequence[Note], judging: Judging | None) -> dict[str, Opinion]:
    """What a judge said of each kind of mark, by the note's code."""
    opinions = judging.opinions if judging else {}
    return {str(code): opinions[code] for code in _kinds(notes) if code in opinions}


def judge_conduct(notes: Sequence[Note], judging: Judging | None, refused: bool) -> tuple[Reason, ...]:
    """Why a suite's conduct keeps it from being resolved.

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
