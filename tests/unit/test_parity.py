"""Where two verifiers differ, a sentence says why, whatever the reason."""

import pytest

from harness.judging.verify.verdict import MutationStage, Stages, TestRecord, VerdictRecord
from harness.results.parity import disagreement
from harness.specs.grading import GradingRules
from harness.specs.reasons import Reason, ReasonCode, Stage, Verdict


def record(protocol: GradingRules, *codes: ReasonCode, arms: dict[str, str] | None = None) -> VerdictRecord:
    return VerdictRecord(
        task="t",
        task_digest="0",
        image_digest="0",
        protocol_version=1,
        protocol=protocol,
        isolation="docker",
        verdict=codes[0].verdict if codes else Verdict.RESOLVED,
        reasons=tuple(Reason(code=code, stage=Stage.MUTATION, subject="test_a", words="because") for code in codes),
        stages=Stages(mutation=MutationStage(tests=(TestRecord(test="X.test_a", arms=arms),) if arms else ())),
    )


@pytest.mark.parametrize("code", ReasonCode)
def test_every_reason_of_ours_has_a_sentence_of_why_the_published_verifier_has_none(code):
    found = disagreement(record(GradingRules.TESTWRIGHT, code), record(GradingRules.PUBLISHED))
    assert found is not None
    [why] = found.why
    assert why.startswith(f"ours: {code} (test_a); the published verifier doesn't mind: ")
    assert len(why.partition("mind: ")[2].split()) >= 3


@pytest.mark.parametrize("code", [code for code in ReasonCode if code.verdict is not Verdict.UNSCORED])
def test_every_reason_of_the_published_verifier_has_a_sentence_of_why_ours_has_none(code):
    found = disagreement(record(GradingRules.TESTWRIGHT), record(GradingRules.PUBLISHED, code))
    assert found is not None
    [why] = found.why
    assert why.startswith(f"published: {code} (test_a); ours doesn't mind: ")


def test_where_both_come_to_the_same_there_is_nothing_to_explain():
    both = ReasonCode.SURVIVED_REMOVAL, ReasonCode.BASELINE_RED
    ours, theirs = (record(protocol, code) for protocol, code in zip(GradingRules, both, strict=False))
    assert disagreement(ours, theirs) is None


@pytest.mark.parametrize(
    ("code", "before", "after", "words"),
    [
        (ReasonCode.BASELINE_RED, "passed", "failed", "its two runs saw passed with the code and failed without it"),
        (ReasonCode.BASELINE_RED, "failed", "failed", "it ignores listed tests that are failed on the code as it is"),
        (ReasonCode.SURVIVED_REMOVAL, "no result", "no result", "it ignores listed tests that leave no result"),
        (ReasonCode.SURVIVED_REMOVAL, "passed", "error", "passed with the code and error without it"),
        (ReasonCode.PLACEBO_SENSITIVE, "skipped", "failed", "it ignores listed tests that are skipped"),
    ],
)
def test_a_test_is_explained_by_what_the_published_runs_showed_of_it(code, before, after, words):
    published = record(GradingRules.PUBLISHED, arms={"baseline": before, "removal": after})
    found = disagreement(record(GradingRules.TESTWRIGHT, code), published)
    assert found is not None
    assert words in found.why[0]


def test_a_survival_that_ours_saw_fail_is_explained_by_it():
    ours = record(GradingRules.TESTWRIGHT, arms={"baseline": "passed", "removal-1": "failed: raised"})
    found = disagreement(ours, record(GradingRules.PUBLISHED, ReasonCode.SURVIVED_REMOVAL))
    assert found is not None
    assert "ours saw X.test_a fail without the code" in found.why[0]
