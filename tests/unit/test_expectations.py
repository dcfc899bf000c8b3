"""How a verdict is compared with what an `expect.yaml` leaves to chance."""

from harness import PROTOCOL_VERSION
from harness.judging.verify.verdict import VerdictRecord
from harness.runs.submissions import Case, Expectation, Judged
from harness.specs.catalog import Catalog
from harness.specs.reasons import Reason, ReasonCode, Stage, Verdict

TEST = "tests/test_a.py::test_a"


def difference(**expected: object) -> str:
    """Of a submission whose one test was refused as sensitive to what is no behaviour."""
    task = Catalog().task("aiosmtpd-proxy-tlv")
    reason = Reason(code=ReasonCode.PLACEBO_SENSITIVE, stage=Stage.MUTATION, subject=TEST, words="it fails")
    record = VerdictRecord(
        task=task.id, track=task.file.track, task_digest="1", repo_digest="2", image_digest="3",
        protocol_version=PROTOCOL_VERSION, isolation="container", verdict=Verdict.FAILED, reasons=(reason,),
    )  # fmt: skip
    expectation = Expectation.model_validate({"task": task.id, "verdict": "failed", **expected})
    return Judged(Case("a", task, None, expectation), record, 1.0).difference


def test_one_of_several_reasons_is_enough_and_none_is_a_difference():
    assert difference(any_of=["survived-removal", "placebo-sensitive"]) == ""
    assert difference(any_of=["survived-removal", "flaky"]) == "none of survived-removal, flaky"


def test_a_test_that_must_be_refused_may_be_for_any_reason():
    assert difference(refused=[TEST]) == ""
    assert difference(refused=["tests/test_a.py::test_b"]) == "tests/test_a.py::test_b not refused"
