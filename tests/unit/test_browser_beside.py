"""Arms beside the others: tests in other orders and alone, and a label that changes. The engine runs nothing."""

import asyncio
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from harness.judging.languages.toolchain import CompiledVariant, JobContext
from harness.judging.languages.variant_source import VariantSource
from harness.judging.submission.extraction import Submission
from harness.judging.verify.arms import ArmContext
from harness.judging.verify.evidence import Evidence, listed_arm
from harness.judging.verify.examination import Examination
from harness.judging.verify.verdict import VerdictRecord
from harness.judging.verify.verification import Judging
from harness.plugins.browser.application import data_directory
from harness.plugins.browser.arms_file import Edit, FailArm, Proxy, Structure
from harness.plugins.browser.beside import MOST_PLACES
from harness.plugins.browser.grading import NOT_SHOWN, SHOWN, grade_staged, technique_of
from harness.plugins.browser.stage import SETTINGS, BrowserStage
from harness.sandbox.git_tree import GitTree
from harness.sandbox.machine_speed import slowness
from harness.sandbox.protocol import Companion, Image, Job, JobResult, SandboxOptions
from harness.specs.catalog import Catalog
from harness.specs.grading import ControlRound
from harness.specs.reasons import Verdict
from harness.specs.task import Task
from harness.specs.test_results import TestId
from harness.specs.variants import ArmStatus
from tests.support.fake_engine import FakeEngine, Run, scripted_variant

SUITES = Path(__file__).parents[1] / "fixtures" / "browser"
IMAGE = Image("fake", "digest", "/app", Path())
STAGE = BrowserStage(Companion(IMAGE, Job(("true",)), SandboxOptions()))


class Stages:
    """See `Toolchain`. An engine knows each variant by its marker."""

    separates = False
    replaced = ()
    suites = None

    async def compile(self, _context: JobContext, sources: list[VariantSource], /) -> list[CompiledVariant]:
        compiled = [(source, scripted_variant(source.name, source.kind)) for source in sources]
        return [
            replace(
                item,
                variant=replace(item.variant, criterion=source.criterion),
                stage=replace(STAGE, own_seconds=json.loads(source.code[SETTINGS])["own_seconds"]),
            )
            for source, item in compiled
        ]


class Seeing(FakeEngine):
    """One that has the text of the suite which a job brings along."""

    text: str = ""
    retried: str = ""
    seconds: Callable[[Run], float] = staticmethod(lambda _: 0.1)

    async def run_job(self, *arguments: object) -> JobResult:  # type: ignore[override]
        job = arguments[1]
        assert isinstance(job, Job)
        self.text = "".join(file.data.decode() for file in job.files if "/tests/" in file.path)
        result = await super().run_job(*arguments)  # type: ignore[arg-type]
        if self.retried and self.finished[-1].variant == self.retried:
            entries = {
                name: re.sub(rb"(<testcase.*?</testcase>)", rb"\1\1", data) for name, data in result.outputs.items()
            }
            result = replace(result, outputs=entries)
        seconds = self.seconds(self.finished[-1])
        companion = JobResult(0, False, False, b"", {}, True, 1.0)
        told = f'time="{seconds / 5}"'.encode()
        outputs = {name: data.replace(b'time="0.01"', told) for name, data in result.outputs.items()}
        return replace(result, outputs=outputs, seconds=seconds, own_seconds=seconds, companion=companion)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> GitTree:
    """The application that all suites are for; grading only adds objects to it."""
    place = tmp_path_factory.mktemp("tree")
    app = place / "app"
    shutil.copytree(data_directory() / "deskapp" / "app", app, ignore=shutil.ignore_patterns("__pycache__"))
    return asyncio.run(GitTree.create(place / "tree.git", app))


@cache
def task_of(name: str) -> Task:
    return Catalog().task(f"technique:{name}")


async def graded(
    tree: GitTree,
    suite: str,
    does: Callable[[str, Run, TestId], bool],
    retried: str = "",
    red: str = "fails",
    unnoticed: tuple[str, ...] = (),
    seconds: Callable[[Run], float] = lambda _: 0.1,
    votes: bool = False,
) -> tuple[VerdictRecord, list[Run]]:
    """Return the record of a suite whose tests notice all probes but `unnoticed`. `does` is for the rest.

    Where it `votes`, its tests notice a probe among other arms alone.
    """
    task, folder = task_of(suite.partition("/")[0]), SUITES / suite

    def script(run: Run, test: TestId) -> str:
        if run.variant.startswith("probe-") or run.variant == "renamed-and-wrong":
            return "passes" if run.variant in unnoticed or (votes and run.number > 1) else "fails"
        return "passes" if does(engine.text, run, test) else red

    engine = Seeing(script, tree=tree.directory)
    engine.retried, engine.seconds = retried, seconds
    image = replace(IMAGE, tree=tree.directory)
    context = ArmContext(engine, image, {}, slots=asyncio.Semaphore(2), toolchain=Stages(), options=SandboxOptions())
    submission = Submission((folder / "patch.diff").read_bytes(), (folder / "manifest.yaml").read_bytes())
    return (await grade_staged(Judging(task, context), submission)).record, engine.finished


NOTES, LABELS, PASTED = "own-notes/hasty-in-order", "sign-in/honest-page-object", "sign-in/hasty-pasted"


async def test_each_test_runs_in_reverse_and_some_alone_and_that_passes(tree: GitTree) -> None:
    record, runs = await graded(tree, NOTES, lambda *_: True)
    assert (record.verdict, record.reasons) == (Verdict.RESOLVED, ())
    [backward] = [run.tests for run in runs if run.variant == "reversed"]
    [forward] = [run.tests for run in runs if run.variant == "baseline"]
    assert backward == forward[::-1]
    assert [len(run.tests) for run in runs if run.variant == "alone"] == [1, 1]


@pytest.mark.parametrize("variant", ["reversed", "alone"])
async def test_a_test_that_fails_there_each_time_depends_on_the_order(tree: GitTree, variant: str) -> None:
    record, _ = await graded(tree, NOTES, lambda _text, run, _test: run.variant != variant)
    assert record.verdict is Verdict.FAILED
    assert {reason.code for reason in record.reasons} == {"order-dependent"}
    assert technique_of(record) == NOT_SHOWN


async def test_one_that_fails_there_once_has_failed_by_chance(tree: GitTree) -> None:
    record, _ = await graded(tree, NOTES, lambda _text, run, _test: run.variant != "reversed" or run.number > 1)
    assert record.verdict is Verdict.RESOLVED


async def test_a_case_that_is_in_a_report_twice_was_tried_again(tree: GitTree) -> None:
    record, _ = await graded(tree, NOTES, lambda *_: True, retried="same-slow")
    assert {reason.code for reason in record.reasons} == {"retries"}


REPORTS = "polling-report/honest-own-loop"


def timed(joint: float, alone: float) -> Callable[[Run], float]:
    """Return the seconds of runs where nobody is made to wait: of all three tests, and of the second alone."""

    def seconds(run: Run) -> float:
        if run.variant != "same-at-once":
            return 0.1
        return slowness() * (joint if len(run.tests) == 3 else alone if "another" in run.tests[0].name else 5)

    return seconds


@pytest.mark.parametrize("test", ["passes", "fails"])
async def test_each_test_runs_alone_where_it_is_open_which_of_them_took_the_time(tree: GitTree, test: str) -> None:
    def does(_text: str, run: Run, tested: TestId) -> bool:
        return test == "passes" or run.variant != "same-at-once" or len(run.tests) > 1 or "another" not in tested.name

    record, runs = await graded(tree, REPORTS, does, seconds=timed(12.5, 11.5))
    alone = [run for run in runs if run.variant == "same-at-once" and len(run.tests) == 1]
    assert len(alone) == (3 if test == "passes" else 4)
    found = [(reason.code, reason.subject.rpartition("::")[2]) for reason in record.reasons]
    assert found == ([] if test == "passes" else [("order-dependent", "test_rows_of_another_year")])


async def test_a_test_that_takes_too_long_alone_is_late_whatever_the_report_of_all_says(tree: GitTree) -> None:
    record, _ = await graded(tree, REPORTS, lambda *_: True, seconds=timed(12.5, 12.5))
    [reason] = record.reasons
    assert (reason.code, reason.subject.rpartition("::")[2]) == ("technique-not-shown", "test_rows_of_another_year")
    assert reason.words == "it takes more than 8 s where the application makes nobody wait"


async def test_an_arm_that_ends_the_judging_early_needs_no_arm_beside(
    tree: GitTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which arms haven't begun by then is a matter of the order that was drawn."""

    async def evidence(judging: Judging, found: Examination) -> Evidence:
        whole = await of_all(judging, found)
        late = replace(whole.arms[listed_arm("same-half-a-minute")], status=ArmStatus.TIMED_OUT)
        arms = {key: arm for key, arm in whole.arms.items() if key != listed_arm("same-at-once")}
        return replace(whole, arms={**arms, listed_arm("same-half-a-minute"): late})

    of_all = Judging.evidence
    monkeypatch.setattr(Judging, "evidence", evidence)
    record, _ = await graded(tree, REPORTS, lambda *_: True)
    assert record.verdict is Verdict.FAILED
    assert "arm-timeout" in {reason.code for reason in record.reasons}


async def test_no_test_runs_alone_where_all_together_take_no_longer_than_one_may(tree: GitTree) -> None:
    record, runs = await graded(tree, REPORTS, lambda *_: True, seconds=timed(11.5, 12.5))
    assert record.verdict is Verdict.RESOLVED
    assert all(len(run.tests) == 3 for run in runs if run.variant == "same-at-once")


def again(runs: list[Run]) -> dict[str, int]:
    """Return how often each variant of the file ran after its first time."""
    times = Counter(run.variant for run in runs if run.variant.startswith(("probe-", "same-")))
    return {name: number - 1 for name, number in times.items() if number > 1}


async def test_before_a_suite_is_resolved_two_kills_and_an_arm_that_must_pass_run_twice_more(tree: GitTree) -> None:
    record, runs = await graded(tree, LABELS, lambda *_: True)
    assert (record.verdict, record.control) == (Verdict.RESOLVED, ControlRound.DRAWN)
    assert sorted(name[:5] for name in again(runs)) == ["probe", "probe", "same-"]
    assert set(again(runs).values()) == {2}


async def test_a_kill_that_stands_only_among_other_arms_is_none(tree: GitTree) -> None:
    record, _ = await graded(tree, LABELS, lambda *_: True, votes=True)
    assert record.verdict is Verdict.FAILED
    assert {reason.code for reason in record.reasons} == {"kill-not-repeated"}


async def test_what_is_not_about_to_be_resolved_runs_nothing_again(tree: GitTree) -> None:
    record, runs = await graded(tree, LABELS, lambda *_: True, unnoticed=("probe-1.1",))
    assert (record.verdict, again(runs)) == (Verdict.FAILED, {})


def depends_on_shared(text: str, run: Run, _test: TestId) -> bool:
    return run.variant != "renamed" or 'name="Log in"' not in text


def depends_on_its_own(text: str, run: Run, test: TestId) -> bool:
    body = text.partition(f"def {test.name.rpartition('.')[2]}(")[2].partition("\ndef ")[0]
    return run.variant != "renamed" or 'name="Log in"' not in body


async def test_a_suite_that_one_literal_mends_has_one_place(tree: GitTree) -> None:
    record, runs = await graded(tree, LABELS, depends_on_shared)
    assert (record.verdict, technique_of(record)) == (Verdict.RESOLVED, SHOWN)
    assert [run.variant for run in runs].count("renamed") == 2


async def test_an_arm_whose_tests_wait_for_the_old_label_until_its_end_is_no_fault(tree: GitTree) -> None:
    record, _ = await graded(tree, LABELS, depends_on_shared, red="hangs")
    assert (record.verdict, technique_of(record)) == (Verdict.RESOLVED, SHOWN)


async def test_a_suite_that_no_label_breaks_has_nothing_to_mend(tree: GitTree) -> None:
    record, runs = await graded(tree, LABELS, lambda *_: True)
    assert record.verdict is Verdict.RESOLVED
    assert [run.variant for run in runs].count("renamed") == 1


async def test_tests_that_look_away_where_the_label_has_changed_show_no_structure(tree: GitTree) -> None:
    record, _ = await graded(tree, PASTED, lambda *_: True, unnoticed=("renamed-and-wrong",))
    assert technique_of(record) == NOT_SHOWN
    assert "passes and doesn't notice what it is for" in record.reasons[0].words


def test_what_is_renamed_and_wrong_has_all_of_the_mutant() -> None:
    edit = Edit(file="p.py", old="<b>Log in</b>", new="<b>{label}</b>")
    structure = Structure(label="Log in", becomes=("Enter", "Begin"), edit=edit, probe="1.2")
    mutant = FailArm(probe="1.2", options={"lock-after": "0"}, proxy=Proxy(once=2), env={"TZ": "UTC"})
    both = structure.with_mutant("Enter", mutant)
    assert [each.new for each in both.edits] == ["<b>Enter</b>"]
    assert (both.options, both.proxy, both.env) == (mutant.options, mutant.proxy, mutant.env)


async def test_a_suite_of_which_one_literal_mends_a_part_has_several_places(tree: GitTree) -> None:
    record, runs = await graded(tree, PASTED, depends_on_its_own)
    assert [(reason.code, reason.subject) for reason in record.reasons] == [("technique-not-shown", "structure")]
    assert "where the label 'Log in' changes, no single place of it mends" in record.reasons[0].words
    assert [run.variant for run in runs].count("renamed") == 3


async def test_few_literals_are_tried_where_none_mends_anything(tree: GitTree) -> None:
    record, runs = await graded(tree, PASTED, lambda _text, run, _test: run.variant != "renamed")
    assert technique_of(record) == NOT_SHOWN
    assert [run.variant for run in runs].count("renamed") <= 1 + MOST_PLACES


async def test_two_tests_show_no_structure(tree: GitTree) -> None:
    record, _ = await graded(tree, "sign-in/cheat-one-test", lambda *_: True)
    assert "it has fewer than 3 tests" in record.reasons[0].words


async def test_a_criterion_of_which_the_fault_that_shows_once_goes_unnoticed_is_unmet_for_retries(
    tree: GitTree,
) -> None:
    record, _ = await graded(tree, "sign-in/cheat-tries-again", lambda *_: True, unnoticed=("probe-1.2-once",))
    assert [(reason.code, reason.subject) for reason in record.reasons] == [("retries", "1.2")]
    other = ("probe-1.2-once", "probe-1.2")
    record, _ = await graded(tree, "sign-in/cheat-tries-again", lambda *_: True, unnoticed=other)
    assert [(reason.code, reason.subject) for reason in record.reasons] == [("criterion-unmet", "1.2")]


async def test_a_criterion_whose_mutant_is_noticed_only_by_what_ran_again_is_unmet_for_retries(
    tree: GitTree,
) -> None:
    record, _ = await graded(tree, LABELS, lambda *_: True, retried="probe-1.3")
    assert [(reason.code, reason.subject) for reason in record.reasons] == [("retries", "1.3")]
    assert "take its retries away" in record.reasons[0].words
