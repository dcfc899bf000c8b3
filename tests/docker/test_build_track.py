"""Applications in containers: the references, the one that is healthy alone, honest ones, cheats, and broken ones."""

import asyncio
from pathlib import Path

import pytest

from harness.judging.submission.extraction import Submission
from harness.judging.verify.verdict import VerdictRecord
from harness.plugins.build.check import LEAST_OF_A_REFERENCE, MOST_OF_NULL, broken_application, lost_by, points_of
from harness.plugins.build.task import BROKEN, OWN_TESTS, BuildTask, build_task, patch_of
from harness.runs.submissions import Case, judge_cases, read_batch
from harness.specs.catalog import Catalog
from harness.specs.reasons import Verdict

pytestmark = pytest.mark.docker

CASES = Path(__file__).parents[1] / "fixtures" / "build"
QUICK = "link-shortener/cheat-says-that-it-is-ready"
TASK = build_task(Catalog().task("build:link-shortener"))
BROKEN_ONES = sorted(TASK.path(BROKEN).glob("*.patch"))
LONG = [case for case in read_batch(Catalog(), CASES, None) if case.name != QUICK]


def judged(case: Case) -> VerdictRecord:
    [found] = judge_cases([case], "docker", None, 1, lambda item: None)
    assert found.difference == "", found.record
    return found.record


def application(task: BuildTask, folder: str) -> Case:
    directory = task.path(folder)
    return Case(folder, task, Submission(patch_of(directory), (directory / "manifest.yaml").read_bytes()))


def unmet(record: VerdictRecord) -> set[str]:
    return {item.id for item in record.stages.rubric.criteria if not item.met}


def test_what_an_application_prints_and_writes_is_no_result() -> None:
    judged(next(case for case in read_batch(Catalog(), CASES, None) if case.name == QUICK))


@pytest.mark.long
@pytest.mark.parametrize("case", LONG, ids=[case.name for case in LONG])
def test_an_application_comes_to_what_it_must(case: Case) -> None:
    judged(case)


@pytest.mark.long
@pytest.mark.parametrize("name", TASK.references)
def test_a_reference_is_resolved_with_nearly_all_points(name: str) -> None:
    record = judged(application(TASK, f"references/{name}"))
    assert (record.verdict, record.reasons) == (Verdict.RESOLVED, ())
    assert points_of(record) >= LEAST_OF_A_REFERENCE, unmet(record)


@pytest.mark.long
def test_an_application_that_is_healthy_and_nothing_else_is_failed() -> None:
    record = judged(application(TASK, "null"))
    assert record.verdict is Verdict.FAILED
    assert points_of(record) <= MOST_OF_NULL, unmet(record)


@pytest.mark.long
@pytest.mark.parametrize("path", BROKEN_ONES, ids=[path.stem for path in BROKEN_ONES])
def test_a_broken_application_loses_what_its_name_says_and_no_more(path: Path) -> None:
    record = judged(Case(path.stem, TASK, asyncio.run(broken_application(TASK, path))))
    assert unmet(record) - set(OWN_TESTS) == set(lost_by(path))
