"""The track of technique: its tasks as files, and what the outcomes of their arms come to."""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from harness.authoring.task_check.controls import check_record_problems, read_check_record
from harness.authoring.task_check.subject import Subject
from harness.judging.submission.extraction import Submission
from harness.judging.testing.junit import read_junit
from harness.judging.verify.verdict import VerdictRecord
from harness.judging.verify.verification import Judging
from harness.plugins.browser import reasons
from harness.plugins.browser.arms_file import ArmsFile
from harness.plugins.browser.check import STATIC
from harness.plugins.browser.grading import NOT_SHOWN, SHOWN, UNMEASURED, grade_staged, technique_of
from harness.plugins.browser.reasons import APP_DEAD, RETRIES, TECHNIQUE_NOT_SHOWN
from harness.plugins.browser.scripts import Script
from harness.plugins.browser.stage import (
    APP_ENDED,
    CONTROL,
    CRASH_FILE,
    OTHER_CLOCK,
    PLACE,
    SETTINGS,
    BrowserStage,
    StageToolchain,
    plan_stages,
)
from harness.plugins.browser.task import E2E, TECHNIQUE, StagedTask, load_task, staged_task, task_directories
from harness.plugins.browser.task_files import arm_problems
from harness.runs.submissions import read_batch
from harness.sandbox.images.work_tree import task_tree
from harness.sandbox.machine_speed import slowness
from harness.sandbox.protocol import Job, JobResult
from harness.specs.catalog import Catalog
from harness.specs.errors import SandboxLost, UserError
from harness.specs.problem import Severity
from harness.specs.reasons import ReasonCode, Verdict
from harness.specs.test_results import CaseResult, Outcome, Quality, TestId, TestResult, combine
from harness.specs.yaml_files import load_yaml
from tests.support.fake_engine import FakeEngine, Run
from tests.support.small_task import small_task
from tests.support.stages import COMPANION, PLAIN, ScriptedStages, Staged, app_tree, context, ended

SUITES = Path(__file__).parents[1] / "fixtures" / "browser"
RECORDS = Path(__file__).parents[2] / "docs" / "check-records"
TASKS = [path.name for path in task_directories("*", TECHNIQUE)]
APPLICATIONS = [path.name for path in task_directories("*", E2E)]
NAMED = [
    "'rows-and-columns' isn't named in prompt.md",
    "the arm other-elements changes 'rows-and-columns'",
]
STAGED = [f"{track}:{path.name}" for track in (TECHNIQUE, E2E) for path in task_directories("*", track)]
FIRST, SECOND = TestId("tests/test_outage.py", "test_one"), TestId("tests/test_outage.py", "test_two")


def task_of(name: str) -> StagedTask:
    return staged_task(Catalog().task(f"technique:{name}"))


@pytest.mark.parametrize("address", STAGED)
async def test_a_task_of_this_package_has_edits_that_fit_its_application(address: str) -> None:
    subject = Subject(Catalog(), Catalog().task(address))
    found = [problem for part in STATIC.values() for problem in await part(subject)]
    assert [problem for problem in found if problem.severity is Severity.ERROR] == []


@pytest.mark.parametrize("name", TASKS)
def test_a_task_of_this_package_has_honest_suites_of_two_styles_and_others(name: str) -> None:
    cases = read_batch(Catalog(), SUITES / name, None)
    verdicts = [case.expected.verdict for case in cases if case.expected]
    assert verdicts.count(Verdict.RESOLVED) >= 2
    assert verdicts.count(Verdict.FAILED) >= 2
    assert all(case.task.id == name for case in cases)


@pytest.mark.parametrize("name", APPLICATIONS)
def test_an_end_to_end_task_has_must_haves_enough_and_suites_of_each_kind(name: str) -> None:
    task = staged_task(Catalog().task(f"{E2E}:{name}"))
    assert 6 <= len(task.rubric.must_haves) <= 12
    cases = read_batch(Catalog(), SUITES / name, None)
    verdicts = {case.name.partition("-")[0]: case.expected.verdict for case in cases if case.expected}
    assert verdicts == {"honest": Verdict.RESOLVED, "hasty": Verdict.FAILED, "cheat": Verdict.FAILED}
    assert all(case.task.id == name for case in cases)


def changed(place: Path, name: str, file: str, old: str, new: str) -> StagedTask:
    """An end-to-end task of this package with a change of one file."""
    [own] = task_directories(name, E2E)
    mine = place / name
    shutil.copytree(own, mine)
    text = (mine / file).read_text()
    assert old in text
    (mine / file).write_text(text.replace(old, new))
    return load_task(mine, E2E)


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("stable.yaml", "Next page", "Older rows", ["'Older rows' isn't named in prompt.md"]),
        ("prompt.md", "download file", "save it", ["'download file' isn't named in prompt.md"]),
        ("stable.yaml", "routes: [", "routes: [rows-and-columns, ", NAMED),
        (
            "arms.yaml",
            "SEED, FIRST, TREES = 7, 1, 260",
            "SEED = 7",
            ["arm other-trees: serve_app.py has 'SEED = 7' 0 times; it must be there once"],
        ),
    ],
)
async def test_what_tests_may_rely_on_is_named_and_stays(
    tmp_path: Path, file: str, old: str, new: str, words: list[str]
) -> None:
    subject = Subject(Catalog(), changed(tmp_path, "datasette-trees", file, old, new))
    assert [problem.message for problem in await arm_problems(subject)] == words


def test_an_application_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no application 'dataset'; there are datasette, deskapp, "):
        changed(tmp_path, "datasette-trees", "task.yaml", "repo: datasette", "repo: dataset")


def test_each_reason_of_the_track_has_a_suite_that_is_refused_for_it() -> None:
    names = vars(reasons).values()
    registered = {str(code) for code in names if isinstance(code, ReasonCode)}
    cases = read_batch(Catalog(), SUITES, None)
    expected = {code for case in cases if case.expected for code in (*case.expected.codes, *case.expected.any_of)}
    assert {str(code) for code in expected} >= registered


@pytest.mark.parametrize("address", STAGED)
def test_each_task_of_this_package_has_a_check_record_of_its_files(address: str) -> None:
    task = Catalog().task(address)
    assert read_check_record(RECORDS, task.id) is not None
    assert check_record_problems(RECORDS, task) == []


def test_a_name_a_glob_and_a_directory_lead_to_tasks(tmp_path: Path) -> None:
    [own] = task_directories("api-todos", TECHNIQUE)
    mine = tmp_path / "api-todos"
    shutil.copytree(own, mine)
    assert task_directories(str(tmp_path), TECHNIQUE) == task_directories(str(mine), TECHNIQUE) == [mine]
    assert load_task(mine, TECHNIQUE).digest == load_task(own, TECHNIQUE).digest
    with pytest.raises(UserError, match=r"no task directory there; those of this package: api-todos, "):
        task_directories("outage", TECHNIQUE)
    with pytest.raises(UserError, match=r"task\.yaml:\d+: it is a task of the track technique, not e2e"):
        load_task(mine, E2E)


def test_what_needs_a_removal_says_that_there_is_none() -> None:
    with pytest.raises(UserError, match=r"a task on a stage has no removal; its arms are in arms\.yaml"):
        task_of("api-todos").patch("removal.patch")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda arms: arms["technique"].append("1.9"), "technique: no arm of must_fail has the criterion '1.9'"),
        (lambda arms: arms["same"].append({"name": "slow", "own_seconds": 8}), "arm 'same-slow' is there twice"),
        (lambda arms: arms["must_fail"].pop(), r"criterion 1\.5: each one graded by probe has an arm in arms\.yaml"),
        (lambda arms: arms["same"][0].update(reason="flaky"), "same.0.reason"),
    ],
)
def test_a_file_of_arms_that_is_wrong_is_refused(
    tmp_path: Path, change: Callable[[dict[str, list[dict[str, str]]]], object], words: str
) -> None:
    [own] = task_directories("network-outage", TECHNIQUE)
    mine = tmp_path / own.name
    shutil.copytree(own, mine)
    arms = yaml.safe_load((own / "arms.yaml").read_text())
    change(arms)
    (mine / "arms.yaml").write_text(yaml.safe_dump(arms))
    with pytest.raises(UserError, match=words):
        load_task(mine, TECHNIQUE)


async def test_agents_see_the_applications_own_tree_since_nothing_is_withheld(tmp_path: Path) -> None:
    upstream = await app_tree(tmp_path)
    made = await task_tree(upstream, task_of("api-todos"), tmp_path / "task.git")
    assert await made.entries() == await upstream.entries()
    other = small_task(tmp_path / "other")
    (other.directory / "withheld.patch").write_bytes(b"")
    with pytest.raises(UserError, match=r"withheld\.patch: it doesn't apply"):
        await task_tree(upstream, other, tmp_path / "other.git")


async def test_arms_differ_in_what_is_drawn_and_in_their_own_edits_alone(tmp_path: Path) -> None:
    task, tree = task_of("polling-report"), await app_tree(tmp_path)
    sources = {source.name: source for source in await plan_stages(task, tree, None, 1)}
    again = {source.name: source for source in await plan_stages(task, tree, None, 2)}
    told = {name: json.loads(source.code[SETTINGS]) for name, source in sources.items()}
    script = "deskapp/static/reports.js"
    assert set(sources["baseline"].code) == {script, SETTINGS}
    assert len({source.code[script] for source in sources.values()}) == len(sources)
    assert told["same-six-seconds"]["program"][-2:] == ["--report-seconds", "6"]
    assert told["same-at-once"]["own_seconds"] == 8
    assert set(sources["probe-1.4"].code) == {"deskapp/store.py", script, SETTINGS}
    assert b"year >= ?" in sources["probe-1.4"].code["deskapp/store.py"]
    assert told["baseline"]["port"] != json.loads(again["baseline"].code[SETTINGS])["port"]


async def test_an_edit_of_text_that_is_not_there_once_names_the_file(tmp_path: Path) -> None:
    task = task_of("api-todos")
    edit = task.arms.must_fail[0].edits[0].model_copy(update={"old": "self"})
    probe = task.arms.must_fail[0].model_copy(update={"edits": (edit,)})
    broken = task.model_copy(update={"arms": task.arms.model_copy(update={"must_fail": (probe,)})})
    with pytest.raises(UserError, match=r"arms\.yaml: deskapp/server\.py has 'self' \d+ times; it must be"):
        await plan_stages(broken, await app_tree(tmp_path), None, 1)


async def test_the_application_is_in_the_companion_and_nothing_of_it_in_the_arm(tmp_path: Path) -> None:
    task = task_of("api-todos")
    [_, *_, source] = await plan_stages(task, await app_tree(tmp_path), None, 1)
    [compiled] = await StageToolchain(task.repo).compile(
        context(FakeEngine(lambda *_: "passes"), ScriptedStages()), [source]
    )
    assert compiled.stage
    placed = {file.path for file in compiled.stage.companion.job.files}
    assert placed == {
        "/app/deskapp/store.py",
        f"{PLACE}/serve.py",
        f"{PLACE}/guarded.py",
        f"{PLACE}/guarded.cjs",
        f"{PLACE}/proxy.py",
        f"{PLACE}/markup.py",
        SETTINGS,
    }
    assert compiled.variant.source == compiled.variant.code == {}
    assert list(compiled.env) == ["BASE_URL"]
    assert task.repo.arms.hidden == ("/app/deskapp", "/app/serve_app.py")


async def test_what_an_arm_adds_to_the_environment_the_tests_have_and_the_application_has_not(tmp_path: Path) -> None:
    task = task_of("appointments")
    sources = await plan_stages(task, await app_tree(tmp_path), None, 1)
    made = await StageToolchain(task.repo).compile(
        context(FakeEngine(lambda *_: "passes"), ScriptedStages()), sources
    )
    told = {item.variant.name: item for item in made}
    assert told["same-tokyo"].env["TZ"] == "Asia/Tokyo"
    assert list(told["baseline"].env) == ["BASE_URL"]
    stage = told["same-tokyo"].stage
    assert stage
    assert stage.companion.job.env == {}


def passed(test: TestId, seconds: float) -> TestResult:
    return TestResult(test=test, outcome=Outcome.PASSED, quality=None, seconds=seconds, message="")


@pytest.mark.parametrize("outputs", [{CRASH_FILE: b"139\n"}, {"1.xml": b"<e>Page.goto: Page crashed</e>"}])
def test_a_browser_that_crashed_loses_the_arm(outputs: dict[str, bytes]) -> None:
    with pytest.raises(SandboxLost, match="the browser crashed"):
        BrowserStage(COMPANION).check(ended(outputs=outputs))
    BrowserStage(COMPANION).check(ended(outputs={"1.xml": b"<e>AssertionError</e>"}))


class Crashing(FakeEngine):
    """One in which the browser crashes in so many arms, and the control's end has this status."""

    def __init__(self, crashes: int, status: int) -> None:
        super().__init__(lambda *_: "passes")
        self.crashes, self.status, self.jobs = crashes, status, list[Job]()

    async def run_job(self, _image: object, job: Job, *_: object) -> JobResult:  # type: ignore[override]
        self.jobs.append(job)
        if job is CONTROL:
            return replace(ended(), exit_status=self.status)
        self.crashes -= 1
        return ended(outputs={CRASH_FILE: b"139\n"} if self.crashes >= 0 else {})


ARM = Job(("true",), (), seconds=1)


@pytest.mark.parametrize(("crashes", "status", "controls"), [(0, 1, 0), (2, 1, 0), (3, 0, 1)])
async def test_a_crash_at_each_try_counts_as_it_is_where_the_browser_works_without_tests(
    crashes: int, status: int, controls: int
) -> None:
    engine = Crashing(crashes, status)
    result = await context(engine, ScriptedStages()).run_arm(ARM, PLAIN)
    assert bool(result.outputs) is (crashes == 3)
    assert engine.jobs == [ARM] * min(crashes + 1, 3) + [CONTROL] * controls


async def test_a_crash_at_each_try_shows_nothing_where_the_browser_works_never() -> None:
    with pytest.raises(SandboxLost, match="the browser crashed"):
        await context(Crashing(3, status=1), ScriptedStages()).run_arm(ARM, PLAIN)


def test_a_test_that_waits_where_nobody_need_fails_and_the_others_do_not() -> None:
    results = (passed(FIRST, 1.0), passed(SECOND, 8_000.0))
    stage = BrowserStage(COMPANION, own_seconds=8)
    first, second = stage.settle(ended(8_001.0), results)
    assert (first.outcome, second.outcome, second.quality) == (Outcome.PASSED, Outcome.FAILED, Quality.TIMEOUT)
    assert BrowserStage(COMPANION).settle(ended(8_001.0), results) == results


@pytest.mark.parametrize(("seconds", "holds"), [(4.0, True), (8_000.0, False)])
def test_a_run_that_takes_far_longer_than_its_tests_say_has_another_clock_than_ours(
    seconds: float, holds: bool
) -> None:
    stage = BrowserStage(COMPANION, own_seconds=8)
    found = stage.settle(ended(seconds), (passed(FIRST, 0.0), passed(SECOND, 0.0)))
    assert [item.message for item in found] == ([""] * 2 if holds else [OTHER_CLOCK] * 2)
    assert [item.outcome for item in found] == [Outcome.PASSED if holds else Outcome.FAILED] * 2


@pytest.mark.parametrize(("seconds", "cases", "holds"), [(11.0, 1, True), (13.0, 1, False), (13.0, 2, True)])
def test_a_test_that_runs_alone_has_taken_what_its_run_has(seconds: float, cases: int, holds: bool) -> None:
    result = passed(FIRST, 0.0).model_copy(update={"cases": cases})
    [found] = BrowserStage(COMPANION, own_seconds=8).settle(ended(seconds * slowness()), (result,))
    assert found.outcome is (Outcome.PASSED if holds else Outcome.FAILED)


@pytest.mark.parametrize(("longest", "holds"), [(7.0, True), (8_000.0, False)])
def test_each_case_of_a_test_may_take_as_long_as_a_test(longest: float, holds: bool) -> None:
    cases = "".join(f'<testcase classname="test_x" name="test_first[{n}]" time="{n or longest}"/>' for n in range(6))
    report = f'<testsuite name="pytest">{cases}</testsuite>'.encode()
    case = TestId(file="test_x.py", name="test_first")
    result = passed(case, 15.0 + longest).model_copy(update={"cases": 6})
    told = ended(16.0 + longest)
    read = read_junit(report, "test_x.py").cases
    found, _ = BrowserStage(COMPANION, own_seconds=8).settle(told, (result, passed(SECOND, 1.0)), read)
    assert found.outcome is (Outcome.PASSED if holds else Outcome.FAILED)


@pytest.mark.parametrize(
    ("second", "quality"),
    [
        ('<error message="failed on teardown with &quot;x&quot;"/>', Quality.ASSERTION),
        ('<failure message="assert 1 == 2"/>', Quality.RETRIED),
        ("", Quality.RETRIED),
    ],
)
def test_a_test_whose_teardown_fails_too_has_run_once(second: str, quality: Quality) -> None:
    """pytest's report has two cases of it."""
    entry = '<testcase classname="test_x" name="test_first" time="1">{}</testcase>'
    both = entry.format('<failure message="assert 0 == 2"/>') + entry.format(second)
    read = read_junit(f'<testsuite name="pytest">{both}</testsuite>'.encode(), "test_x.py").cases
    result = combine(TestId(file="test_x.py", name="test_first"), read)
    [found] = BrowserStage(COMPANION).settle(ended(), (result,), read)
    assert (found.outcome, found.quality) == (Outcome.FAILED, quality)


def test_nothing_holds_once_the_application_has_ended() -> None:
    log = b'{"method": "POST", "path": "/api/quit", "status": 202}\n{"ended": 0}\n{"meth'
    [result] = BrowserStage(COMPANION).settle(ended(log=log), (passed(FIRST, 1.0),))
    assert (result.outcome, result.quality, result.message) == (Outcome.FAILED, Quality.APP_ENDED, APP_ENDED)


SUITE = Submission(
    (SUITES / "network-outage" / "hasty-abort-only" / "patch.diff").read_bytes(),
    (SUITES / "network-outage" / "hasty-abort-only" / "manifest.yaml").read_bytes(),
)
WELL = "test_without_outage"
NOTICES = {WELL: ("1.3", "1.5"), "test_outage_and_back": ("1.1", "1.1-b", "1.2", "1.4")}


class RetriedStage(BrowserStage):
    """One where each test has had a second run."""

    def settle(
        self, _: JobResult, results: tuple[TestResult, ...], _cases: Sequence[CaseResult] = (), /
    ) -> tuple[TestResult, ...]:
        twice = {"outcome": Outcome.FAILED, "quality": Quality.RETRIED}
        return tuple(item.model_copy(update=twice) for item in results)


async def graded(
    place: Path,
    red: Mapping[str, str],
    dead: tuple[str, ...] = (),
    unnoticed: str = "",
    stage: BrowserStage = PLAIN,
) -> VerdictRecord:
    """Each test notices its probes but for `unnoticed`; in the arms of `red` the first one does as it says there.

    No script is written anew: nothing here runs one, and it takes a second.
    """

    def does(run: Run, test: TestId) -> str:
        if run.variant in red and test.name == WELL:
            return red[run.variant]
        probe = run.variant.removeprefix("probe-")
        return "fails" if probe in NOTICES[test.name] and probe.partition("-")[0] != unnoticed else "passes"

    tree = await app_tree(place)
    engine = Staged(does, tree=tree.directory)
    engine.dead = frozenset(dead)
    judging = Judging(task_of("network-outage"), context(engine, ScriptedStages(stage)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Script, "written", lambda _script, own, _seed: own)
        return (await grade_staged(judging, SUITE)).record


@pytest.mark.parametrize(
    ("red", "unnoticed", "codes", "technique"),
    [
        ({}, "", set(), SHOWN),
        ({"same-slow": "fails"}, "", {"timing-dependent"}, SHOWN),
        ({"same-service-gone": "fails"}, "", {"technique-not-shown"}, NOT_SHOWN),
        ({"same-service-gone": "skips"}, "", {"technique-not-shown"}, NOT_SHOWN),
        ({"same-slow": "fails", "same-service-gone": "fails"}, "", {"technique-not-shown"}, NOT_SHOWN),
        ({}, "1.2", {"technique-not-shown"}, NOT_SHOWN),
        ({}, "1.4", {"criterion-unmet"}, SHOWN),
        ({"baseline": "fails"}, "", {"baseline-red"}, UNMEASURED),
    ],
)
async def test_what_fails_where_the_application_does_what_it_should_has_the_arms_reason(
    tmp_path: Path, red: dict[str, str], unnoticed: str, codes: set[str], technique: str
) -> None:
    record = await graded(tmp_path, red, unnoticed=unnoticed)
    found = {reason.code for reason in record.reasons}
    assert found >= {ReasonCode(code) for code in codes}
    assert found - {ReasonCode(code) for code in codes} <= {
        ReasonCode.CRITERION_UNMET,
        TECHNIQUE_NOT_SHOWN,
    }
    assert record.verdict is (Verdict.FAILED if codes else Verdict.RESOLVED)
    assert technique_of(record) == technique


async def test_tests_that_end_the_application_are_told_so(tmp_path: Path) -> None:
    record = await graded(tmp_path, {}, dead=("baseline", "same-slow"))
    assert record.reasons[0].code is APP_DEAD
    assert record.verdict is Verdict.FAILED


async def test_tests_that_ran_twice_in_one_run_are_told_so(tmp_path: Path) -> None:
    record = await graded(tmp_path, {}, stage=RetriedStage(COMPANION))
    assert {reason.code for reason in record.reasons} == {RETRIES}
    assert all("it ran more than once in one run" in reason.words for reason in record.reasons)


def test_every_arm_that_behaves_as_it_should_can_fail_a_suite_by_its_own_reason() -> None:
    found = {arm.reason for name in TASKS for arm in load_yaml(task_of(name).directory / "arms.yaml", ArmsFile).same}
    assert found == {
        "timing-dependent",
        "technique-not-shown",
        "markup-dependent",
        "data-dependent",
        "placebo-sensitive",
    }
