"""What `verify --times` says of several judgings of one submission."""

import json
from dataclasses import replace

import pytest

from harness import PROTOCOL_VERSION
from harness.judging.verify.evidence import new_draw, renew_code_seeds
from harness.judging.verify.verdict import VerdictRecord
from harness.results.report.batch_report import report_times
from harness.runs.submissions import Case, Judged
from harness.specs.catalog import Catalog
from harness.specs.reasons import Verdict


@pytest.fixture(scope="module")
def resolved() -> Judged:
    task = Catalog().task("aiosmtpd-proxy-tlv")
    record = VerdictRecord(
        task=task.id, track=task.file.track, task_digest="1", repo_digest="2", image_digest="3",
        protocol_version=PROTOCOL_VERSION, isolation="container", verdict=Verdict.RESOLVED,
    )  # fmt: skip
    return Judged(Case("tests.patch", task, None), record, 1.0)


def otherwise(judged: Judged, verdict: Verdict) -> Judged:
    return replace(judged, record=judged.record.model_copy(update={"verdict": verdict}))


def test_verdicts_that_are_the_same_are_said_to_be(resolved, capsys):
    assert report_times([resolved] * 3, as_json=False) == 0
    assert "judged 3 times: the same verdict.json each time" in capsys.readouterr().out


def test_one_that_differs_is_named_and_is_status_1(resolved, capsys):
    several = [resolved, resolved, otherwise(resolved, Verdict.FAILED)]
    assert report_times(several, as_json=False) == 1
    assert "it came out otherwise the times 3" in capsys.readouterr().out
    assert report_times(several, as_json=True) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["same"], [record["verdict"] for record in told["verdicts"]]) == (
        False,
        ["resolved", "resolved", "failed"],
    )


def test_what_can_not_be_scored_is_status_1_however_often(resolved):
    assert report_times([otherwise(resolved, Verdict.UNSCORED)] * 2, as_json=True) == 1


def test_each_time_the_variants_are_drawn_anew():
    first = new_draw("a task").code_seed
    assert new_draw("a task").code_seed == first, "judgings of one process share what was compiled"
    renew_code_seeds()
    assert new_draw("a task").code_seed != first
