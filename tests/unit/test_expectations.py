"""How a verdict is compared with what an `expect.yaml` leaves to chance."""

from harness import PROTOCOL_VERSION
from harness.judging.verify.verdict import VerdictRecord
from harness.plugins.browser.reasons import TECHNIQUE_NOT_SHOWN
from harness.runs.submissions import Case, Expectation, Judged
from harness.specs.catalog import Catalog
from harness.specs.reasons import Reason, ReasonCode, Stage, Verdict
from scripts.validity import row_of

TEST = "tests/test_a.py::test_a"


SENSITIVE = Reason(code=ReasonCode.PLACEBO_SENSITIVE, stage=Stage.MUTATION, subject=TEST, words="it fails")


def judged(*reasons: Reason, **expected: object) -> Judged:
    """A submission that was refused for these reasons; for none: one test is sensitive to what is no behaviour."""
    task = Catalog().task("aiosmtpd-proxy-tlv")
    record = VerdictRecord(
        task=task.id, track=task.file.track, task_digest="1", repo_digest="2", image_digest="3",
        protocol_version=PROTOCOL_VERSION, isolation="container", verdict=Verdict.FAILED,
        reasons=reasons or (SENSITIVE,),
    )  # fmt: skip
    expectation = Expectation.model_validate({"task": task.id, "verdict": "failed", **expected})
    return Judged(Case("a", task, None, expectation), record, 1.0)


def difference(*reasons: Reason, **expected: object) -> str:
    return judged(*reasons, **expected).difference


def test_one_of_several_reasons_is_enough_and_none_is_a_difference():
    assert difference(any_of=["survived-removal", "placebo-sensitive"]) == ""
    assert difference(any_of=["survived-removal", "flaky"]) == "none of survived-removal, flaky"


def test_a_row_of_the_page_tells_all_reasons_of_which_one_is_enough_whichever_it_was():
    flaky = SENSITIVE.model_copy(update={"code": ReasonCode.FLAKY})
    several = {"any_of": ["flaky", "placebo-sensitive"]}
    row = "| a | aiosmtpd-proxy-tlv | failed | one of: flaky / placebo-sensitive |"
    assert row_of(judged(SENSITIVE, **several)) == row_of(judged(flaky, **several)) == row
    assert row_of(judged(SENSITIVE, any_of=["flaky"])).endswith("| failed | - |"), "none of them came"
    both = judged(SENSITIVE, reasons=["placebo-sensitive", "flaky"])
    assert row_of(both).endswith("| failed | placebo-sensitive |"), "what came of what must come"


def test_a_test_that_must_be_refused_may_be_for_any_reason():
    assert difference(refused=[TEST]) == ""
    assert difference(refused=["tests/test_a.py::test_b"]) == "tests/test_a.py::test_b not refused"


def test_a_criterion_is_unmet_by_whatever_name_its_track_has_for_that():
    unmet = [
        Reason(code=code, stage=Stage.RUBRIC, subject=name, words="no probe is noticed")
        for name, code in (("1.1", ReasonCode.CRITERION_UNMET), ("1.2", TECHNIQUE_NOT_SHOWN))
    ]
    undecided = Reason(code=ReasonCode.PROBE_UNAVAILABLE, stage=Stage.RUBRIC, subject="1.3", words="it was lost")
    elsewhere = Reason(code=TECHNIQUE_NOT_SHOWN, stage=Stage.MUTATION, subject="1.4", words="it fails")
    assert difference(*unmet, undecided, elsewhere, criteria=["1.1", "1.2"]) == ""
    assert difference(*unmet, undecided, criteria=["1.3"]) == "criterion 1.3 is not named"
    assert difference(*unmet, elsewhere, criteria=["1.4"]) == "criterion 1.4 is not named"
