"""The track of applications from a brief: its files, what is run of a submission, and what the outcomes come to."""

import asyncio
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import count
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest
import yaml

from harness.authoring.task_check.subject import Subject
from harness.judging.submission.extraction import Submission
from harness.judging.verify.arms import ArmContext
from harness.judging.verify.evidence import ArmLog, Draw, Evidence, UnkeptArms
from harness.judging.verify.intake import ingest
from harness.judging.verify.mutation import judge_mutation
from harness.judging.verify.verdict import VerdictRecord, decide
from harness.judging.verify.verification import Judging
from harness.plugins.browser.stage import CONTROL, CRASH_FILE
from harness.plugins.build import grading
from harness.plugins.build.check import (
    STATIC,
    broken_application,
    broken_application_problems,
    first_reference_problems,
    null_problems,
    points_of,
)
from harness.plugins.build.grading import Plan, grade_build, plan_of
from harness.plugins.build.hygiene import keys_in_files
from harness.plugins.build.own_tests import MUTANTS
from harness.plugins.build.reasons import ACCEPTANCE_FAILED, NOT_INSTALLED, NOT_PERSISTENT, NOT_STARTED, NOT_USABLE
from harness.plugins.build.steps import INSTALLED, KEPT, PLACE, STATE, Files
from harness.plugins.build.task import (
    HIDDEN,
    HOME_FILE,
    OPENS,
    OWN_TESTS,
    BuildTask,
    build_task,
    load_task,
    patch_of,
    task_directories,
)
from harness.runs.judges import is_controlled, is_final
from harness.runs.submissions import read_batch
from harness.sandbox.git_tree import GitTree
from harness.sandbox.protocol import Capabilities, CompanionEnd, Image, Job, JobResult, SandboxOptions
from harness.specs.catalog import Catalog
from harness.specs.errors import SandboxLost, UserError
from harness.specs.grading import ControlRound
from harness.specs.reasons import NoteCode, ReasonCode, Verdict
from harness.specs.task_facts import StepId
from harness.specs.test_results import TestId
from tests.support.judges import RuleJudge, judge_with
from tests.support.plugin_reasons import reasons_of
from tests.support.small_task import small_task

BRIEF, WITH_PAGES, SETTINGS = "link-shortener", "lending-desk", f"{PLACE}/settings.json"
BRIEFS = tuple(directory.name for directory in task_directories("*"))


@cache
def task_of(name: str = BRIEF) -> BuildTask:
    return build_task(Catalog().task(f"build:{name}"))


@cache
def handed_in(name: str, brief: str = BRIEF) -> Submission:
    directory = task_of(brief).path(f"references/{name}")
    return Submission(patch_of(directory), (directory / "manifest.yaml").read_bytes())


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> GitTree:
    place = tmp_path_factory.mktemp("tree")
    return asyncio.run(GitTree.create(place / "tree.git", task_of().path("tree")))


@pytest.mark.parametrize("brief", BRIEFS)
@pytest.mark.parametrize("part", STATIC)
async def test_the_files_of_a_brief_are_in_order(part: str, brief: str) -> None:
    assert await STATIC[part](Subject(Catalog(), task_of(brief))) == []


def test_each_reason_of_the_track_has_an_application_that_must_get_it_and_one_that_must_not() -> None:
    cases = read_batch(Catalog(), Path(__file__).parents[1] / "fixtures" / "build", None)
    expected = [case.expected for case in cases if case.expected]
    assert {code for each in expected for code in each.codes} >= set(reasons_of("build"))
    assert Verdict.RESOLVED in {each.verdict for each in expected}


def test_a_name_a_glob_and_a_directory_lead_to_briefs(tmp_path: Path) -> None:
    [own] = task_directories(BRIEF)
    mine = tmp_path / BRIEF
    shutil.copytree(own, mine)
    assert task_directories(str(tmp_path)) == task_directories(str(mine)) == [mine]
    assert load_task(mine).digest == load_task(own).digest
    with pytest.raises(UserError, match=r"no task directory there; those of this package: .*link-shortener"):
        task_directories("lender")


def test_a_task_of_another_track_has_no_brief(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="it has no brief"):
        build_task(small_task(tmp_path))
    with pytest.raises(UserError, match="a task of build has no removal"):
        task_of().patch("removal.patch")


@pytest.mark.parametrize("brief", BRIEFS)
def test_an_agent_is_told_the_brief_and_nothing_hidden(brief: str) -> None:
    task = task_of(brief)
    assert task.patch("tree/brief.md").decode() in task.prompt
    assert {path.name for path in task.path("tree").iterdir()} == {"brief.md", "contract.yaml", ".gitignore"}


@pytest.mark.parametrize(
    ("file", "change", "words"),
    [
        (
            "rubric.yaml",
            lambda told: told["criteria"].pop(0),
            r"criterion 1\.1: each one has a test in hidden/covers",
        ),
        ("rubric.yaml", lambda told: told["criteria"].pop(), r"criterion 5\.1 is missing"),
        ("rubric.yaml", lambda told: told["criteria"][-1].update(id="5.2"), r"criterion 5\.2 is the track's own"),
        ("rubric.yaml", lambda told: told.update(task="other"), "it is the rubric of other"),
        ("hidden/covers.yaml", lambda told: told.update({"test_x.py": 1}), "expected FILE: {TEST: "),
        ("tree/contract.yaml", lambda told: told.update(home="index.html"), "`home`, if it is there, is a path"),
    ],
)
def test_a_brief_whose_files_do_not_fit_is_refused(
    tmp_path: Path, file: str, change: Callable[[dict[str, object]], object], words: str
) -> None:
    mine = tmp_path / BRIEF
    shutil.copytree(task_directories(BRIEF)[0], mine)
    told = yaml.safe_load((mine / file).read_text())
    change(told)
    (mine / file).write_text(yaml.safe_dump(told))
    with pytest.raises(UserError, match=words):
        load_task(mine)


async def planned(name: str, tree: GitTree) -> Plan:
    task, submission = task_of(), handed_in(name)
    return await plan_of(task, await ingest(tree, task.repo, submission.patch), submission.manifest)


@pytest.mark.parametrize(
    ("name", "modules"),
    [("flask", {"__main__", "app", "rules", "store"}), ("node-express", {"app", "rules", "store"})],
)
async def test_each_module_with_a_function_is_stubbed_and_mutants_are_drawn(
    tree: GitTree, name: str, modules: set[str]
) -> None:
    plan = await planned(name, tree)
    assert {Path(changed.path).stem for changed in plan.stubs} == modules
    assert len(plan.mutants) == MUTANTS
    assert not [changed for changed in (*plan.stubs, *plan.mutants) if changed.path in plan.tests]
    assert plan.files.executable == {"run", "test"}
    assert await planned(name, tree) == plan


@dataclass
class ScriptedEngine:
    """See `Engine`. `red` are hidden tests that fail, `status` says with what a job without a companion ends.

    `silent` are hidden files that leave no report, the first `silences` times; `left` is what the first step in a
    browser leaves beside its own, and `browser_works` says what comes of a container without tests.
    """

    tree: Path
    red: frozenset[str] = frozenset()
    status: Callable[[Job], int] = lambda job: 0
    silent: frozenset[str] = frozenset()
    silences: int = 1000
    red_when_slow: bool = False
    left: Mapping[str, bytes] = field(default_factory=dict)
    browser_works: bool = True
    jobs: list[Job] = field(default_factory=list)
    options: list[SandboxOptions] = field(default_factory=list)

    name = "scripted"
    isolation = "scripted"
    capabilities = Capabilities(
        network_isolation=True, memory=True, pids=True, disk=True, separate_user=True, companions=True
    )

    async def run_job(self, image: Image, job: Job, options: SandboxOptions, labels: Mapping[str, str]) -> JobResult:
        self.jobs.append(job)
        self.options.append(options)
        if job is CONTROL:
            return ended(0 if self.browser_works else 1, {})
        if job.companion is None:
            outputs = {INSTALLED: b"tar"} if is_install(job) else {}
            return ended(int(self.red_when_slow and options.limits.cpus < 1) or self.status(job), outputs)
        [file] = {test.partition("::")[0] for test in job.argv if "::" in test}
        names = [test.partition("::")[2] for test in job.argv if "::" in test]
        red = self.red & set(names)
        is_silent = file in self.silent and self.silences > 0
        self.silences -= is_silent
        report = {} if is_silent else {"1.xml": junit(file, names, red)}
        left = CompanionEnd(b"", {"data/links.db": file.encode(), "1.xml": junit(file, names, frozenset())})
        beside = self.left if file == HOME_FILE else {}
        return replace(ended(int(bool(red)), {**report, **beside, STATE: b"[1]"}), companion=left)


def is_install(job: Job) -> bool:
    return "own" not in job.argv


def ended(status: int, outputs: Mapping[str, bytes]) -> JobResult:
    return JobResult(status, False, False, b"", outputs, True, 1.0)


def junit(file: str, names: list[str], red: frozenset[str]) -> bytes:
    module = file.removesuffix(".py").replace("/", ".")
    failure = '<failure message="assert 0"/>'
    cases = "".join(
        f"<testcase classname={quoteattr(module)} file={quoteattr(file)} name={quoteattr(name)} time='0'>"
        f"{failure if name in red else ''}</testcase>"
        for name in names
    )
    return (
        f"<testsuites><testsuite failures='{len(red)}' tests='{len(names)}'>{cases}</testsuite></testsuites>".encode()
    )


def judging(engine: ScriptedEngine, brief: str = BRIEF) -> Judging:
    image = Image("fake", "digest", "/app", engine.tree)
    context = ArmContext(
        engine,
        image,
        {},
        slots=asyncio.Semaphore(2),
        toolchain=None,
        options=SandboxOptions(),  # type: ignore[arg-type]
    )
    return Judging(task_of(brief), context)


async def judged(engine: ScriptedEngine, submission: Submission | None = None, brief: str = BRIEF) -> VerdictRecord:
    return (await grade_build(judging(engine, brief), submission or handed_in("flask", brief))).record


def is_changed(job: Job) -> bool:
    """Whether the application's own tests run on code that isn't what was handed in."""
    plain = {line.removeprefix("+") for line in handed_in("flask").patch.decode().splitlines()}
    placed = [file for file in job.files if file.path.endswith(".py") and "/shortener/" in file.path]
    return any(not set(file.data.decode().splitlines()) <= plain for file in placed)


def own(status: int, changed: int) -> Callable[[Job], int]:
    return lambda job: 0 if is_install(job) else changed if is_changed(job) else status


def unmet(record: VerdictRecord) -> set[str]:
    return {item.id for item in record.stages.rubric.criteria if not item.met}


async def test_an_application_that_does_everything_is_resolved_with_all_points(tree: GitTree) -> None:
    record = await judged(ScriptedEngine(tree.directory, status=own(0, changed=1)))
    assert (record.verdict, record.reasons, unmet(record)) == (Verdict.RESOLVED, (), set())
    assert is_controlled(record, ControlRound.DRAWN), "a run that goes on has nothing to judge again"
    assert points_of(record) == 100


@pytest.mark.parametrize("submission", [handed_in("flask"), Submission(b"", b""), Submission(b"", b"", "too large")])
async def test_a_verdict_is_final_for_the_judge_that_is_named_and_never_asked(
    tree: GitTree, submission: Submission
) -> None:
    judge = judge_with(RuleJudge(lambda heard: AssertionError(heard.statement)))
    here = replace(judging(ScriptedEngine(tree.directory)), judge=judge)
    assert is_final((await grade_build(here, submission)).record, judge)
    assert is_final((await grade_build(replace(here, judge=None), submission)).record, None)


@pytest.mark.parametrize(
    ("red", "code", "subject", "points"),
    [
        ("test_it_starts_in_time", NOT_STARTED, "", 10),
        ("test_a_code_of_the_wrong_form_is_refused", ACCEPTANCE_FAILED, "1.4", 96.36),
        ("test_links_visits_and_limits_are_there_after_a_restart", NOT_PERSISTENT, "5.1", 70),
        ("test_links_are_made_and_visited_and_the_service_stops", NOT_PERSISTENT, "5.1", 70),
    ],
)
async def test_what_an_application_must_do_decides(
    tree: GitTree, red: str, code: ReasonCode, subject: str, points: float
) -> None:
    engine = ScriptedEngine(tree.directory, frozenset({red}), own(0, changed=1))
    record = await judged(engine)
    assert record.verdict is Verdict.FAILED
    assert [(reason.code, reason.subject) for reason in record.reasons] == [(code, subject)]
    assert points_of(record) == points
    assert len(engine.jobs) == 2 or code is not NOT_STARTED


async def test_an_application_with_pages_opens_its_home_page_before_anything_else_is_asked(tree: GitTree) -> None:
    engine = ScriptedEngine(tree.directory, frozenset({"test_the_home_page_opens_without_a_script_error"}))
    record = await judged(engine, brief=WITH_PAGES)
    assert [(reason.code, reason.subject) for reason in record.reasons] == [(NOT_USABLE, OPENS)]
    assert [job.env["HOME_PAGE"] for job in engine.jobs if job.companion] == ["/", "/"]
    assert points_of(record) == 15
    fine = await judged(ScriptedEngine(tree.directory), brief=WITH_PAGES)
    assert (fine.verdict, unmet(fine)) == (Verdict.RESOLVED, {"3.2", "3.3", "3.4"})


async def test_a_browser_that_crashes_without_tests_too_shows_nothing_of_the_application(tree: GitTree) -> None:
    engine = ScriptedEngine(tree.directory, left={CRASH_FILE: b"139"}, browser_works=False)
    with pytest.raises(SandboxLost, match="home: the browser crashed"):
        await judged(engine, brief=WITH_PAGES)


@pytest.mark.parametrize(
    ("red", "verdict"),
    [
        (frozenset(), Verdict.RESOLVED),
        (frozenset({"test_the_home_page_opens_without_a_script_error"}), Verdict.FAILED),
    ],
)
async def test_what_the_tests_say_counts_where_the_browser_crashes_with_this_application_alone(
    tree: GitTree, red: frozenset[str], verdict: Verdict
) -> None:
    engine = ScriptedEngine(tree.directory, left={CRASH_FILE: b"139"}, red=red)
    assert (await judged(engine, brief=WITH_PAGES)).verdict is verdict
    assert engine.jobs.count(CONTROL) == 1


async def test_an_application_that_is_not_installed_is_not_started(tree: GitTree) -> None:
    engine = ScriptedEngine(tree.directory, status=lambda job: 1)
    record = await judged(engine)
    assert [reason.code for reason in record.reasons] == [NOT_INSTALLED]
    assert len(engine.jobs) == 1
    assert points_of(record) == 0


@pytest.mark.parametrize(
    ("red", "status", "lost", "points"),
    [
        ("test_one_code_asked_for_by_many_at_once_is_given_once", own(0, changed=1), {"4.2"}, 97),
        ("test_a_request_to_stop_ends_it_and_leaves_nothing", own(0, changed=1), {"2.2"}, 95),
        ("", own(1, changed=1), {"3.1", "3.2", "3.3", "3.4", "3.5"}, 80),
        ("", own(0, changed=0), {"3.2", "3.3", "3.4"}, 88),
    ],
)
async def test_points_beside_the_verdict_do_not_change_it(
    tree: GitTree, red: str, status: Callable[[Job], int], lost: set[str], points: float
) -> None:
    record = await judged(ScriptedEngine(tree.directory, frozenset({red}), status))
    assert (record.verdict, unmet(record), points_of(record)) == (Verdict.RESOLVED, lost, points)


@pytest.mark.parametrize(("lost", "points"), [("2.4", 75), ("5.3", 77.5), ("5.4", 77.5)])
async def test_hygiene_costs_points_and_never_the_verdict(tree: GitTree, lost: str, points: float) -> None:
    submission = await broken_application(task_of(), task_of().path(f"broken/{lost}.patch"))
    engine = ScriptedEngine(tree.directory, status=lambda job: int("requirements.txt" in " ".join(job.argv)))
    record = await judged(engine, submission)
    assert (record.verdict, unmet(record) - set(OWN_TESTS), points_of(record)) == (Verdict.RESOLVED, {lost}, points)


async def test_files_that_are_too_much_to_read_cost_the_points_of_keys_alone(
    tree: GitTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def found(look: Callable[[Files], tuple[str, ...]], files: Files) -> tuple[str, ...] | None:
        return None if look is keys_in_files else look(files)

    monkeypatch.setattr(grading, "_found", found)
    record = await judged(ScriptedEngine(tree.directory, status=own(0, changed=1)))
    [criterion] = [item for item in record.stages.rubric.criteria if not item.met]
    assert (record.verdict, criterion.id) == (Verdict.RESOLVED, "5.4")
    assert criterion.words == "keys: its files are too much to read"


@pytest.mark.parametrize("manifest", [b"", b"- file: tests/test_more.py\n  tests: [test_x]\n", b"\xff: ["])
async def test_a_manifest_that_names_no_file_costs_the_points_of_the_tests_alone(
    tree: GitTree, manifest: bytes
) -> None:
    engine = ScriptedEngine(tree.directory, status=own(0, changed=1))
    record = await judged(engine, replace(handed_in("flask"), manifest=manifest))
    assert (record.verdict, points_of(record)) == (Verdict.RESOLVED, 80)
    assert not [job for job in engine.jobs if job.companion is None and not is_install(job)]


async def test_own_tests_that_fail_with_little_of_a_core_lose_their_points_alone(tree: GitTree) -> None:
    engine = ScriptedEngine(tree.directory, status=own(0, changed=1), red_when_slow=True)
    record = await judged(engine)
    assert (record.verdict, unmet(record), points_of(record)) == (Verdict.RESOLVED, {"3.5"}, 96)
    slow = [job for job, options in zip(engine.jobs, engine.options, strict=True) if options.limits.cpus == 0.25]
    assert len(slow) == 1
    assert not is_changed(slow[0])


async def test_all_that_is_handed_in_runs_on_a_root_that_is_read_only(tree: GitTree) -> None:
    engine = ScriptedEngine(tree.directory, status=own(0, changed=1))
    await judged(engine)
    runs = zip(engine.jobs, engine.options, strict=True)
    assert {job.companion.options.writable if job.companion else options.writable for job, options in runs} == {
        (),
        ("/app",),
    }


async def test_own_tests_that_pass_once_and_fail_once_lose_two_points_more(tree: GitTree) -> None:
    runs = count()
    engine = ScriptedEngine(tree.directory, status=lambda job: 0 if is_install(job) else next(runs) % 2)
    record = await judged(engine)
    assert [note.code for note in record.notes] == [NoteCode.FLAKY_ONCE]
    assert (record.verdict, unmet(record), points_of(record)) == (Verdict.RESOLVED, set(OWN_TESTS), 78)


async def test_own_tests_that_are_red_run_on_no_mutant(tree: GitTree) -> None:
    engine = ScriptedEngine(tree.directory, status=own(1, changed=1))
    await judged(engine)
    assert sum("own" in job.argv for job in engine.jobs) == 2


async def test_nothing_handed_in_is_failed_without_a_container(tree: GitTree) -> None:
    engine = ScriptedEngine(tree.directory)
    record = await judged(engine, Submission(b"", b""))
    assert (record.verdict, engine.jobs, points_of(record)) == (Verdict.FAILED, [], 0)


@pytest.mark.parametrize("file", ["boot", "acceptance", "kept", "revived"])
async def test_a_report_that_the_application_writes_takes_the_place_of_none(tree: GitTree, file: str) -> None:
    """The engine's companion leaves one in which all is green."""
    with pytest.raises(SandboxLost, match=r"the hidden tests (ended without its result|left no whole report)"):
        await judged(ScriptedEngine(tree.directory, silent=frozenset({f"{HIDDEN}/test_{file}.py"})))


@pytest.mark.parametrize("red", ["", "test_one_code_asked_for_by_many_at_once_is_given_once"])
async def test_hidden_tests_that_left_no_report_run_again(tree: GitTree, red: str) -> None:
    """With the status of tests that failed as well: where the report is gone it says nothing of which."""
    silent = frozenset({f"{HIDDEN}/test_robustness.py"})
    engine = ScriptedEngine(tree.directory, frozenset({red}), own(0, changed=1), silent=silent, silences=2)
    record = await judged(engine)
    assert (record.verdict, unmet(record)) == (Verdict.RESOLVED, {"4.2"} if red else set())
    assert sum(any("test_robustness" in word for word in job.argv) for job in engine.jobs) == 3


async def test_the_check_tells_a_reference_null_and_broken_applications_that_come_to_something_else(
    tree: GitTree, tmp_path: Path
) -> None:
    mine = tmp_path / BRIEF
    shutil.copytree(task_directories(BRIEF)[0], mine)
    for patch in mine.glob("broken/*.patch"):
        if patch.name not in ("1.4.patch", "1.9.patch"):
            patch.unlink()
    red = frozenset({"test_a_code_of_the_wrong_form_is_refused"})
    good, bad = ScriptedEngine(tree.directory, status=own(0, changed=1)), ScriptedEngine(tree.directory, red)
    right, wrong = (
        Subject(Catalog(), load_task(mine), arm_context=judging(engine).context) for engine in (good, bad)
    )
    assert await first_reference_problems(right) == []
    assert right.remarks == ["flask: resolved, 100 points"]
    [problem] = await first_reference_problems(wrong)
    assert problem.message.startswith("failed, 84.36 points: acceptance-failed 1.4")
    assert [problem.message for problem in await null_problems(right)] == ["null is resolved, 75 points"]
    assert [
        (problem.where.rpartition("/")[2], problem.message) for problem in await broken_application_problems(wrong)
    ] == [("1.9.patch", "it loses 1.4; expected: 1.9")]


class Kept:
    """See `EvidenceCache`: keeps what a file would keep."""

    evidence: Evidence | None = None

    def read(self) -> Evidence | None:
        return self.evidence

    def draw(self) -> Draw | None:
        return None

    def begin(self, tests: tuple[TestId, ...], draw: Draw) -> ArmLog:
        return UnkeptArms()

    def keep(self, evidence: Evidence) -> None:
        assert decide(judge_mutation(evidence)) is not Verdict.UNSCORED
        self.evidence = evidence


async def test_what_the_steps_showed_is_kept_and_graded_again_without_a_container(tree: GitTree) -> None:
    red = frozenset({"test_a_code_of_the_wrong_form_is_refused"})
    engine, cache = ScriptedEngine(tree.directory, red, own(0, changed=1)), Kept()
    first = await grade_build(replace(judging(engine), cache=cache), handed_in("flask"))
    count = len(engine.jobs)
    again = await grade_build(replace(judging(engine), cache=cache), handed_in("flask"))
    assert (again.record, len(engine.jobs)) == (first.record, count)


async def test_application_and_hidden_tests_share_no_file_and_data_alone_goes_on(tree: GitTree) -> None:
    engine = ScriptedEngine(tree.directory, status=own(0, changed=1))
    await judged(engine)
    hidden = [job for job in engine.jobs if job.companion]
    for job in hidden:
        assert job.companion
        theirs = {file.path for file in job.companion.job.files}
        assert all(file.path.startswith(f"/app/{HIDDEN}/") for file in job.files)
        assert not [path for path in theirs if HIDDEN in path]
        assert {"/app/run", f"{PLACE}/supervise.py"} <= theirs
        assert [(tar.path, tar.data) for tar in job.companion.job.unpacked] == [("/app", b"tar")]
        assert job.companion.options.writable == ()
    kept = [job for job in hidden if job.companion and f"{PLACE}/{KEPT}" in {f.path for f in job.companion.job.files}]
    assert [any("test_kept" in word or "test_revived" in word for word in job.argv) for job in kept] == [True, True]
    assert all(f"/app/{HIDDEN}/{STATE}" in {file.path for file in job.files} for job in kept)
    told = [file.data for job in hidden if job.companion for file in job.companion.job.files if file.path == SETTINGS]
    assert len({json.loads(data)["port"] for data in told}) > 1


async def test_a_statement_of_a_brief_that_anybody_may_read_differently_is_told(tmp_path: Path) -> None:
    mine = tmp_path / BRIEF
    shutil.copytree(task_of().directory, mine)
    text = (mine / "rubric.yaml").read_text()
    statement = next(item.statement for item in task_of().rubric.criteria if item.id == "1.2")
    assert text.count(statement) == 1
    (mine / "rubric.yaml").write_text(text.replace(statement, "Codes of one's own are handled properly; others too."))
    problems = await STATIC[StepId.RUBRIC](Subject(Catalog(), load_task(mine)))
    assert [problem.message.partition(",")[0] for problem in problems] == ["criterion 1.2 says 'properly'"]
