"""What a judge can and can't do to a verdict."""

import asyncio
from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.judging.verify.evidence import Evidence
from harness.judging.verify.examination import Examination, ask_judge
from harness.judging.verify.intake import FileChange, Intake
from harness.judging.verify.judge.questions import MANIFEST
from harness.judging.verify.judgement import judgement_of
from harness.judging.verify.manifest_check import ManifestCheck
from harness.judging.verify.verdict import StageStatus, VerdictRecord
from harness.models.protocol import StopReason
from harness.specs.errors import ProviderError
from harness.specs.reasons import Note, NoteCode, ReasonCode, Verdict
from harness.specs.rubric import Rubric
from harness.specs.test_results import Outcome, Quality, TestId, TestResult
from harness.specs.variants import Arm, ArmKey, ArmStatus
from tests.support.judges import FooledJudge, RuleJudge, completion, judge_with, reply
from tests.support.patches import new_test_file
from tests.support.scripted_plan import KINDS
from tests.support.small_task import small_task

TEST = TestId("tests/test_sums.py", "test_adds_numbers")
QUOTE = "assert add(1, 2) == 3"
TEXT = f"from sums import add\n\n\ndef test_adds_numbers():\n    {QUOTE}\n"
MET, UNMET = reply("met", QUOTE), reply("unmet")
NOT_A_TEST = reply("unmet", "def test_adds_numbers():")
BENCH = SimpleNamespace(image=SimpleNamespace(digest="0"), engine=SimpleNamespace(isolation="docker"))
RUBRIC = {
    "task": "sums-add",
    "criteria": [
        {"id": "1.1", "axis": 1, "importance": "must", "statement": "Adds numbers.", "graded_by": ["probe", "judge"]},
        {"id": "1.2", "axis": 1, "importance": "must", "statement": "Has an assertion.", "graded_by": ["judge"]},
        {"id": "5.1", "axis": 5, "importance": "nice", "statement": "Is parametrised.", "graded_by": ["judge"]},
    ],
}


def arm(name: str, killed: bool) -> Arm:
    outcome, quality = (Outcome.FAILED, Quality.ASSERTION) if killed else (Outcome.PASSED, None)
    result = TestResult(test=TEST, outcome=outcome, quality=quality, cases=1)
    return Arm(KINDS[name], ArmStatus.FINISHED, 0, (result,), 1.0)


def examination(survives: str | tuple[str, ...] = ()) -> Examination:
    arms = {
        ArmKey.parse(name): arm(name, not kind.behaves_like_baseline and not name.startswith(survives or "none"))
        for name, kind in KINDS.items()
    }
    patch = new_test_file(TEST.file, TEXT, TEST.name).patch
    intake = Intake((FileChange(TEST.file, None, TEXT.encode()),), patch)
    return Examination(intake, ManifestCheck((TEST,)), Evidence((TEST,), arms))


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    place = tmp_path_factory.mktemp("catalog")
    (place / "rubrics").mkdir()
    (place / "rubrics" / "sums-add.yaml").write_text("")
    made = small_task(place / "tasks" / "sums-add").model_copy(update={"rubric": Rubric.model_validate(RUBRIC)})
    (made.directory / "probes").mkdir()
    (made.directory / "probes" / "1.1.patch").write_text("")
    return made


def judged(task, model: RuleJudge | None, found: Examination | None = None) -> VerdictRecord:
    found = found or examination()
    judge = judge_with(model) if model else None
    judging = asyncio.run(ask_judge(judge, task, found, None)) if judge else None
    return judgement_of(task, BENCH, found, judge.identity if judge else None, judging).record


def codes(record: VerdictRecord) -> list[tuple[str, str]]:
    return [(reason.code.value, reason.subject) for reason in record.reasons]


def to(statement: str, said: object, otherwise: object = MET) -> RuleJudge:
    return RuleJudge(lambda heard: said if statement in heard.statement else otherwise)


def test_without_a_judge_what_only_a_judge_decides_stays_open(task):
    record = judged(task, None)
    assert codes(record) == [("judge-unavailable", "1.2")]
    assert record.verdict is Verdict.UNSCORED
    assert record.judge is None
    assert [item.met for item in record.stages.rubric.criteria] == [True, None, None]


def test_a_judge_that_finds_all_well_makes_it_resolved(task):
    record = judged(task, to("Nothing", MET))
    assert record.verdict is Verdict.RESOLVED
    assert [item.met for item in record.stages.rubric.criteria] == [True, True, True]
    assert [item.agrees for item in record.stages.rubric.criteria] == [True, None, None]


def test_a_must_have_that_the_judge_finds_unmet_fails(task):
    record = judged(task, to("assertion", UNMET))
    assert codes(record) == [("criterion-unmet", "1.2")]
    assert record.verdict is Verdict.FAILED


def test_a_nice_to_have_never_gates(task):
    for said in (UNMET, "?", ProviderError("down"), reply("cannot tell")):
        assert judged(task, to("parametrised", said)).verdict is Verdict.RESOLVED


def test_where_judge_and_probe_differ_the_probe_decides_and_a_note_says_so(task):
    for model, found, verdict in (
        (to("Adds", UNMET), examination(), Verdict.RESOLVED),
        (to("Nothing", MET), examination(survives="probe-1.1"), Verdict.FAILED),
    ):
        record = judged(task, model, found)
        assert record.verdict is verdict
        assert [(note.code, note.subject) for note in record.notes] == [(NoteCode.JUDGE_PROBE_DISAGREE, "1.1")]
        assert record.stages.rubric.criteria[0].agrees is False


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (ProviderError("down"), ReasonCode.JUDGE_UNAVAILABLE),
        ("no JSON", ReasonCode.JUDGE_UNPARSEABLE),
        (reply("cannot tell"), ReasonCode.JUDGE_UNPARSEABLE),
        (reply("met", "assert add(1, 2) == 4"), ReasonCode.JUDGE_UNPARSEABLE),
        (completion(MET, StopReason.LENGTH), ReasonCode.JUDGE_UNPARSEABLE),
        (completion(MET, StopReason.REFUSAL), ReasonCode.JUDGE_UNPARSEABLE),
    ],
)
def test_an_answer_that_is_missing_leaves_a_verdict_open_and_says_why(task, said, code):
    for statement, subject, stage in (("assertion", "1.2", "rubric"), ("listed tests", MANIFEST, "manifest")):
        record = judged(task, to(statement, said))
        assert codes(record) == [(code.value, subject)]
        assert record.verdict is Verdict.UNSCORED
        nobody = code is ReasonCode.JUDGE_UNAVAILABLE
        assert getattr(record.stages, stage).status is (StageStatus.NOT_JUDGED if nobody else StageStatus.FAILED)


@pytest.fixture(scope="module")
def decided_task(task):
    """One whose must-haves are all left to probes."""
    criteria = [item for item in RUBRIC["criteria"] if item["id"] != "1.2"]
    return task.model_copy(update={"rubric": Rubric.model_validate({**RUBRIC, "criteria": criteria})})


@pytest.mark.parametrize(
    "model",
    [
        FooledJudge(lambda heard: reply("cannot tell")),
        FooledJudge(lambda heard: "no JSON"),
        to("listed tests", reply("met", "assert add(1, 2) == 4")),
    ],
)
def test_a_judge_that_says_nothing_of_use_takes_nothing_from_what_execution_decided(decided_task, model):
    record = judged(decided_task, model)
    assert record.verdict is Verdict.RESOLVED
    assert record.judge.manifest.missing is ReasonCode.JUDGE_UNPARSEABLE
    assert judged(decided_task, model, examination(survives="probe-1.1")).verdict is Verdict.FAILED
    assert judged(decided_task, model, examination(survives=("removal", "garbage"))).verdict is Verdict.FAILED


def test_a_judge_that_cannot_be_reached_or_was_misled_or_finds_a_setup_still_counts_where_execution_decided(
    decided_task,
):
    for model in (to("", ProviderError("down")), FooledJudge(lambda heard: MET), FooledJudge(lambda heard: UNMET)):
        assert judged(decided_task, model).verdict is Verdict.UNSCORED
    assert codes(judged(decided_task, to("listed tests", NOT_A_TEST))) == [("manifest-not-a-test", str(TEST))]


def test_what_execution_decides_is_asked_once(task):
    model = to("Nothing", MET)
    judged(task, model)
    asked = [heard.statement for heard in model.heard]
    assert (asked.count("Adds numbers."), asked.count("Has an assertion."), len(asked)) == (1, 3, 10)


def test_a_listed_test_that_is_only_setup_fails_by_name(task):
    record = judged(task, to("listed tests", NOT_A_TEST))
    assert codes(record) == [("manifest-not-a-test", str(TEST))]
    assert record.verdict is Verdict.FAILED


def marked() -> Examination:
    found = examination()
    note = Note(code=NoteCode.INSPECTS_CODE, subject=TEST.file, words="line 1 imports dis: import dis")
    return replace(found, check=replace(found.check, conduct=(note,)))


def test_inspected_code_is_left_to_a_person_or_put_to_the_judge(decided_task):
    record = judged(decided_task, None, marked())
    assert codes(record) == [("needs-review", "")]
    assert record.verdict is Verdict.UNSCORED
    assert [note.code for note in record.notes] == [NoteCode.INSPECTS_CODE]
    assert record.stages.manifest.status is StageStatus.FAILED
    harmless = judged(decided_task, to("written, compiled", UNMET), marked())
    assert harmless.verdict is Verdict.RESOLVED
    assert harmless.judge.conduct["inspects-code"].votes == {"unmet": 3}
    assert codes(judged(decided_task, to("Nothing", MET), marked())) == [("conduct-refused", "inspects-code")]


def test_what_is_not_marked_costs_no_question_about_conduct(decided_task):
    model = to("Nothing", MET)
    record = judged(decided_task, model)
    assert record.judge.conduct == {}
    assert not any("written, compiled" in heard.statement for heard in model.heard)


def test_a_judge_that_a_patch_has_talked_over_decides_nothing(task):
    record = judged(task, FooledJudge(lambda heard: MET))
    assert record.verdict is Verdict.UNSCORED
    assert {reason.code for reason in record.reasons} == {ReasonCode.JUDGE_UNPARSEABLE}
    assert record.judge.void


def test_an_outage_doesnt_undo_a_failure_that_was_seen(task):
    record = judged(task, to("", ProviderError("down")), examination(survives="probe-1.1"))
    assert record.verdict is Verdict.FAILED
    assert ("criterion-unmet", "1.1") in codes(record)


def test_what_the_arms_have_ended_costs_no_judge(task):
    red = {ArmKey.parse(name): arm(name, killed=True) for name in KINDS if name != "probe-1.1"}
    model = to("Nothing", MET)
    record = judged(task, model, Examination(examination().intake, ManifestCheck((TEST,)), Evidence((TEST,), red)))
    assert record.verdict is Verdict.FAILED
    assert not model.heard
    assert record.judge.asked is False


def test_the_same_answers_give_the_same_bytes_and_no_nonce_is_among_them(task):
    first, second = (judged(task, to("Adds", UNMET)).to_json() for _ in range(2))
    assert first == second


def test_a_submission_of_which_nothing_is_known_is_never_resolved(task):
    assert judgement_of(task, BENCH, Examination(Intake())).record.verdict is Verdict.UNSCORED


ANSWERS = st.sampled_from(["met", "unmet", "cannot tell", "yes", "MET", "", None, 1])
QUOTES = st.sampled_from([QUOTE, "def test_adds_numbers():", "", "assert", "assert add(1, 2) == 4", None, ["x"]])
REPLIES = st.one_of(
    st.builds(reply, ANSWERS, QUOTES),
    st.builds(lambda text, end: text[:end], st.just(MET), st.integers(0, len(MET) - 1)),
    st.builds(lambda text: completion(MET, text), st.sampled_from([StopReason.LENGTH, StopReason.REFUSAL])),
    st.builds(lambda left, right: left + right, st.just(MET), st.sampled_from(["{}", "x", MET])),
    st.text(max_size=50),
    st.builds(ProviderError, st.just("down")),
    st.just(MET),
)


@pytest.mark.long
@given(st.lists(REPLIES, min_size=1, max_size=12))
@settings(max_examples=150, deadline=None)
def test_no_malformed_or_absent_answer_ever_turns_a_verdict_into_resolved(task, replies):
    """A judge without a majority of whole, backed answers for a must-have and the manifest resolves nothing."""
    said = {"assertion": 0, "listed tests": 0}

    def rule(heard):
        key = next((name for name in said if name in heard.statement), None)
        if key is None:
            return MET
        said[key] += 1
        return replies[(said[key] - 1) % len(replies)]

    record = judged(task, RuleJudge(rule))
    if not any(item == MET or item == reply("met", "def test_adds_numbers():") for item in replies):
        assert record.verdict is not Verdict.RESOLVED
    if record.verdict is Verdict.RESOLVED:
        by_id = {item.id: item for item in record.stages.rubric.criteria}
        assert by_id["1.2"].judge.votes["met"] >= 2


@given(REPLIES)
@settings(max_examples=100, deadline=None)
def test_a_judge_that_always_says_the_same_thing_never_resolves(task, said):
    class Parrot(FooledJudge):
        async def complete(self, messages, tools):
            if isinstance(said, Exception):
                raise said
            return completion(said) if isinstance(said, str) else said

    assert judged(task, Parrot(lambda heard: "")).verdict is not Verdict.RESOLVED
