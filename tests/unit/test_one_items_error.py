"""What goes wrong with one submission, one kept trial or one task is its own row; the others are done."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from harness.authoring.task_check.check import check_tasks
from harness.judging.submission.extraction import Submission
from harness.judging.verify.judge.questions import JudgeIdentity
from harness.judging.verify.verdict import JudgeRecord
from harness.results.report.batch_report import report_batch, report_regrading
from harness.runs.regrade import regrade
from harness.runs.submissions import Case, judge_cases
from harness.sandbox.protocol import Image
from harness.specs.catalog import Catalog
from harness.specs.reasons import ReasonCode, Verdict
from harness.specs.task import Task
from harness.specs.task_facts import Level, StepOutcome
from tests.support.fake_engine import FakeEngine
from tests.support.runs_here import TASK, RunsHere, runs_here


class OnceBroken(FakeEngine):
    """Has an error that nobody foresaw when it is first asked for an image."""

    asked = 0

    async def image(self, task: Task) -> Image:
        self.asked += 1
        if self.asked == 1:
            raise ZeroDivisionError("nobody foresaw this")
        return await super().image(task)


@pytest.fixture
def here(tmp_path: Path) -> Iterator[RunsHere]:
    with runs_here(tmp_path) as runs:
        yield runs


def broken(here: RunsHere) -> FakeEngine:
    return OnceBroken(here.engine.script, tree=here.engine.tree, make_sandbox=here.engine.make_sandbox)


def test_a_submission_of_a_batch_that_ends_with_an_error_is_its_row(here, tmp_path, capsys):
    here.engine = broken(here)
    task = here.catalog.task(TASK)
    cases = [Case(name, task, Submission(b"", b"")) for name in ("one", "two", "three")]
    told: list[str] = []
    judged = judge_cases(cases, "here", tmp_path / "kept", 1, lambda item: told.append(item.case.name))
    assert [item.record.verdict for item in judged] == [Verdict.UNSCORED, Verdict.FAILED, Verdict.FAILED]
    assert [reason.code for reason in judged[0].record.reasons] == [ReasonCode.HARNESS_ERROR]
    assert told == ["one", "two", "three"]
    assert "nobody foresaw this" in (tmp_path / "kept" / "one" / "error-1.txt").read_text()
    assert report_batch(judged, as_json=False) == 1
    assert "harness-error" in capsys.readouterr().out


def test_an_error_of_a_batch_that_keeps_nothing_is_logged_with_its_traceback(here, caplog):
    here.engine = broken(here)
    judge_cases([Case("one", here.catalog.task(TASK), Submission(b"", b""))], "here", None, 1, lambda _: None)
    [record] = caplog.records
    assert record.exc_info
    assert record.getMessage() == "one: ZeroDivisionError: nobody foresaw this"


def test_a_trial_that_cannot_be_regraded_for_an_error_is_its_row(here, capsys):
    here.run(attempts=3)
    here.engine = broken(here)
    done = regrade(here.catalog, here.output, "mutation", None, True, lambda _: None)
    assert [item.new is None for item in done] == [True, False, False]
    assert done[0].complaint == "harness-error: ZeroDivisionError: nobody foresaw this (traceback in error-1.txt)"
    assert done[0].old is not None, "the old verdict stays"
    assert (here.store().directory / "error-1.txt").exists()
    assert report_regrading(done, as_json=False) == 1
    assert "nobody foresaw this" in " ".join(capsys.readouterr().out.split())


def test_a_regrading_says_how_often_none_of_its_judges_answers_counts(here, capsys):
    here.run(attempts=2)
    one, two = regrade(here.catalog, here.output, "mutation", None, True, lambda _: None)
    assert report_regrading([one, two], as_json=False) == 0
    capsys.readouterr()
    words = "the judge gets a question wrong whose answer is known; none of its answers counts"
    told = JudgeRecord(
        identity=JudgeIdentity(model="openai/one", model_digest="0", prompts="0"), asked=True, void=words
    )
    assert one.new
    misled = replace(one, new=one.new.model_copy(update={"judge": told}))
    assert report_regrading([misled, two], as_json=False) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "0 verdicts changed, 1 without their judge, none of whose answers counts" in said
    assert "gets a question wrong" in said
    assert report_regrading([misled, two], as_json=True) == 1
    assert [item["judge_void"] for item in json.loads(capsys.readouterr().out)] == [words, None]


class HalfBroken(Catalog):
    """Has an error that nobody foresaw in one of its tasks."""

    def _task(self, name: str) -> Task:
        if name == "broken":
            raise ZeroDivisionError("nobody foresaw this")
        return super()._task(name)


def test_a_task_whose_check_ends_with_an_error_is_its_row(here):
    levels: Mapping[str, Level] = {"broken": Level.QUICK, TASK: Level.QUICK}
    catalog = HalfBroken(here.catalog.directory)
    finished: list[str] = []
    bad, good = check_tasks(catalog, levels, 2, lambda _task, _part: None, lambda done: finished.append(done.task))
    assert not bad.passed
    [step] = bad.steps
    assert step.problems[0].message == "harness-error: ZeroDivisionError: nobody foresaw this"
    assert good.task == TASK
    assert len(good.steps) > 1
    assert any(item.outcome is not StepOutcome.NOT_REACHED for item in good.steps)
    assert sorted(finished) == ["broken", TASK]
