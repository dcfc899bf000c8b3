"""A verdict that nothing had to run for names the judge of its run, so that the next start doesn't judge again."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.judging.languages.registry import language_of
from harness.judging.submission.extraction import Submission
from harness.judging.verify.verification import Judging
from harness.plugins.bug.grading import grade
from harness.runs.judges import is_final
from harness.sandbox.git_tree import GitTree
from harness.specs.catalog import Catalog
from harness.specs.reasons import ReasonCode
from harness.specs.task import Task
from tests.support.bug_catalog import BASE, BUG
from tests.support.fake_engine import FakeEngine
from tests.support.judges import RuleJudge, judge_with
from tests.support.stages import context

NO_PATCH, TOO_LARGE = Submission(b"It is repaired.\n", b""), Submission(b"", b"", "the tree is too large")


async def judging(task: Task, place: Path) -> Judging:
    (place / "work").mkdir()
    tree = await GitTree.create(place / "tree.git", place / "work")
    engine = FakeEngine(lambda *_: {}, tree=tree.directory)
    judge = judge_with(RuleJudge(lambda heard: AssertionError(heard.statement)))
    return Judging(task, context(engine, language_of(task.repo).toolchain), judge)


@pytest.mark.parametrize(
    ("submission", "code"),
    [(NO_PATCH, ReasonCode.PATCH_DOES_NOT_APPLY), (TOO_LARGE, ReasonCode.PATCH_TOO_LARGE)],
)
async def test_a_bugs_hand_in_that_is_refused_is_judged_once(
    tmp_path: Path, submission: Submission, code: ReasonCode
) -> None:
    named = await judging(Catalog().task(BUG), tmp_path)
    record = (await grade(named, submission)).record
    assert [reason.code for reason in record.reasons] == [code]
    assert is_final(record, named.judge)
    assert is_final((await grade(replace(named, judge=None), submission)).record, None)


async def test_work_on_the_public_half_of_a_task_is_judged_once(tmp_path: Path) -> None:
    task = Catalog().task(BASE)
    half = task.model_copy(update={"file": task.file.model_copy(update={"private_digest": "0" * 64})})
    named = await judging(half, tmp_path)
    assert is_final((await named.run(NO_PATCH)).record, named.judge)
