"""What marks on a suite's conduct lead to, with a judge and without one."""

import pytest

from harness.judging.verify.examination import conduct_questions, judge_conduct, opinions_on_conduct
from harness.judging.verify.judge.judge import JudgeReport
from harness.judging.verify.judge.questions import Answer
from harness.judging.verify.judge.replies import Opinion
from harness.judging.verify.verdict import decide
from harness.specs.reasons import Note, NoteCode, ReasonCode, Verdict

INSPECTS = Note(code=NoteCode.INSPECTS_CODE, subject="tests/test_x.py", words="line 1 imports dis: import dis")
ELSEWHERE = INSPECTS.model_copy(update={"subject": "tests/test_y.py"})
COPIED = Note(code=NoteCode.COPIED_ORACLE, words="a copy")
RECORDED = Note(code=NoteCode.RECORDED_ORACLE, words="many hashes")


def judging(**said: Opinion) -> JudgeReport:
    return JudgeReport({name.replace("_", "-"): opinion for name, opinion in said.items()})


def codes(notes: list[Note], told: JudgeReport | None, refused: bool = False) -> list[ReasonCode]:
    return [reason.code for reason in judge_conduct(notes, told, refused)]


def test_without_a_judge_only_inspected_code_leaves_a_verdict_open():
    assert codes([INSPECTS, ELSEWHERE], None) == [ReasonCode.NEEDS_REVIEW]
    assert decide(judge_conduct([INSPECTS], None, refused=False)) is Verdict.UNSCORED
    assert codes([COPIED, RECORDED], None) == []
    assert codes([], None) == []


def test_what_is_refused_anyway_stays_refused_for_its_own_reasons():
    assert codes([INSPECTS, COPIED], None, refused=True) == []
    assert codes([INSPECTS], judging(inspects_code=Opinion()), refused=True) == []


@pytest.mark.parametrize("code", [NoteCode.INSPECTS_CODE, NoteCode.COPIED_ORACLE, NoteCode.RECORDED_ORACLE])
def test_a_judges_majority_decides(code):
    note = Note(code=code, words="")
    met, unmet = (JudgeReport({str(code): Opinion(answer=answer)}) for answer in (Answer.MET, Answer.UNMET))
    assert [(reason.code, reason.subject) for reason in judge_conduct([note], met, refused=False)] == [
        (ReasonCode.CONDUCT_REFUSED, code)
    ]
    assert decide(judge_conduct([note], met, refused=False)) is Verdict.FAILED
    assert codes([note], unmet) == []


def test_a_judge_that_leaves_it_open_is_as_none():
    unclear = Opinion(answer=Answer.CANNOT_TELL, missing=ReasonCode.JUDGE_UNPARSEABLE)
    assert codes([INSPECTS], judging(inspects_code=unclear)) == [ReasonCode.NEEDS_REVIEW]
    assert codes([COPIED, RECORDED], judging(copied_oracle=unclear, recorded_oracle=unclear)) == []


def test_a_judge_that_is_down_is_asked_again_where_that_can_change_something():
    down = Opinion(missing=ReasonCode.JUDGE_UNAVAILABLE, words="down")
    assert codes([INSPECTS], judging(inspects_code=down)) == [ReasonCode.JUDGE_UNAVAILABLE]
    assert codes([COPIED], judging(copied_oracle=down)) == []


def test_each_kind_of_mark_is_one_question_that_holds_nothing_of_the_patch():
    questions = conduct_questions([INSPECTS, ELSEWHERE, RECORDED], 3)
    assert [(question.id, question.votes) for question in questions] == [("inspects-code", 3), ("recorded-oracle", 3)]
    assert all(question.statement.count(".") == 1 and question.known is None for question in questions)
    assert not any("test_x.py" in question.statement for question in questions)
    assert conduct_questions([], 3) == ()


def test_only_answers_to_what_was_asked_are_recorded():
    told = judging(manifest=Opinion(answer=Answer.MET), inspects_code=Opinion(answer=Answer.UNMET))
    assert [*opinions_on_conduct([INSPECTS, COPIED], told)] == ["inspects-code"]
    assert opinions_on_conduct([INSPECTS], None) == {}
