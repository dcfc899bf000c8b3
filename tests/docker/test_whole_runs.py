"""Repositories' own test runs in real containers: red with what a cheat leaves behind, green with an honest suite."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator

import pytest

from harness.judging.languages.protocol import Language
from harness.judging.languages.registry import language_of
from harness.judging.verify.arms import ArmContext, arm_slots
from harness.judging.verify.evidence import AT_BASELINE, Draw, Evidence, listed_arm
from harness.judging.verify.gathering import ArmPlan
from harness.judging.verify.own_runs import package_run as package_runs
from harness.judging.verify.own_runs import whole_run as whole_runs
from harness.judging.verify.own_runs.reasons import is_red
from harness.judging.verify.variants import plan_variants
from harness.judging.verify.verification import read_submission, suite_of
from harness.runs.engine_session import EngineSession
from harness.runs.submissions import Case
from harness.sandbox.git_tree import GitTree
from harness.specs.task import Task
from harness.specs.test_results import Outcome, Quality, TestId, TestResult
from harness.specs.variants import Arm, ArmStatus, Role, VariantKind
from harness.tracks.registry import choose_engine
from tests.support.corpora import submissions
from tests.support.scripted_plan import sources

pytestmark = pytest.mark.docker

CHEATS = ("base-by-a-call-brings-red-tests", "c-breaks-a-program-of-other-suites")
HONEST = ("itsdangerous-changed-keys/a-thorough-functions", "jansson-object-merge/b-thorough-table")
SHORT = (CHEATS[0], HONEST[1])
ENDED_BY_LOADING = 2
"""The exit status of pytest where it can't load a file."""


Held = Callable[[ArmContext, Task, ArmPlan, Evidence, Language], Awaitable[Evidence]]


def noticed(tests: tuple[TestId, ...], mutant: str) -> Evidence:
    """The first of the tests, and no other one, notices the mutant."""

    def arm(kind: VariantKind, first: Outcome, quality: Quality | None = None) -> Arm:
        results = [TestResult(test=tests[0], outcome=first, quality=quality, seconds=0.1)]
        return Arm(kind, ArmStatus.FINISHED, 0, tuple(results), 0.1)

    passes = arm(VariantKind.BASELINE, Outcome.PASSED)
    fails = arm(VariantKind.PROBE, Outcome.FAILED, Quality.ASSERTION)
    return Evidence(tests, {AT_BASELINE: passes, listed_arm(mutant): fails}, ())


def whole_runs_of(case: Case, mutant: str = "", held_by: Held = whole_runs.whole_run) -> Evidence:
    """All that is known beside them is that nothing else speaks against it, and that tests notice the mutant."""

    async def ran() -> Evidence:
        assert case.submission
        engine = choose_engine("docker")
        try:
            image = await engine.image(case.task)
            session = EngineSession(engine, {"testwright.run": "test-whole-runs"}, arm_slots(engine))
            context = session.arm_context(case.task, image)
            found = await read_submission(case.task, case.submission, context)
            planned = sources()
            if mutant:
                planned = await plan_variants(case.task, GitTree(image.tree), context.toolchain, 0)
            plan = ArmPlan(planned, suite_of(found), found.check, Draw(0, 0))
            known = noticed(found.check.tests, mutant) if mutant else Evidence(found.check.tests, {}, ())
            return await held_by(context, case.task, plan, known, language_of(case.task.repo))
        finally:
            await engine.close()

    return asyncio.run(ran())


def named() -> Iterator[object]:
    """One of each kind in `make test`: Python runs a file and C everything."""
    for corpus, names in (("adversarial", CHEATS), ("honest", HONEST)):
        for name in names:
            yield pytest.param(corpus, name, marks=[] if name in SHORT else pytest.mark.long, id=name)


@pytest.mark.parametrize(("corpus", "name"), named())
def test_a_whole_run_is_red_where_a_patch_leaves_something_broken(
    corpus: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole_runs, "is_about_to_be_resolved", lambda *_: True)
    monkeypatch.setattr(whole_runs, "WHOLE_RUNS", 2)
    [case] = [case for case in submissions(corpus) if case.name == name]
    arms = whole_runs_of(case).arms
    after, before = (
        [arm for key, arm in arms.items() if key.role is role and not key.part]
        for role in (Role.WHOLE_AFTER, Role.WHOLE_BEFORE)
    )
    if corpus == "honest":
        assert [is_red(arm) for arm in (*after, *before)] == [False]
        loading = [arm.exit_status for key, arm in arms.items() if key.role is Role.WHOLE_UNLOADABLE]
        assert loading == [ENDED_BY_LOADING] * (case.task.repo.language == "python")
    else:
        assert [is_red(arm) for arm in after] == [True, True]
        assert [is_red(arm) for arm in before] == [False]


@pytest.mark.long
def test_a_run_that_leaves_a_listed_file_out_goes_on_though_it_cannot_be_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(whole_runs, "is_about_to_be_resolved", lambda *_: True)
    name = "stands-in-a-folder-that-pytest-never-enters"
    [case] = [case for case in submissions("adversarial") if case.name == name]
    arms = {str(key): arm.exit_status for key, arm in whole_runs_of(case).arms.items()}
    first, other, again = (arms[f"baseline,whole-unloadable{run},test-1"] for run in ("", ",run-2", ",run-3"))
    assert other == ENDED_BY_LOADING
    assert ENDED_BY_LOADING not in {first, again}


IN_ONE_PROCESS = [
    ("adversarial/go-two-files-leave-it-to-one-another", True),
    ("honest/restic-option-strings/b-thorough-functions", False),
]


@pytest.mark.long
@pytest.mark.parametrize(("name", "is_green"), IN_ONE_PROCESS, ids=[name for name, _ in IN_ONE_PROCESS])
def test_all_listed_tests_of_a_package_are_red_in_one_process_unless_they_check_only_in_several(
    name: str, is_green: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(package_runs, "is_about_to_be_resolved", lambda *_: True)
    corpus, _, name = name.partition("/")
    [case] = [case for case in submissions(corpus) if case.name == name]
    arms = whole_runs_of(case, case.task.probes[0].variant, package_runs.package_run).arms
    runs = [arm for key, arm in arms.items() if key.role is Role.WHOLE_MUTANT]
    assert {arm.status for arm in runs} == {ArmStatus.FINISHED}
    assert [arm.exit_status for arm in runs] == ([0, 0] if is_green else [1])


ALONE, AMONG = Role.WHOLE_MUTANT, Role.EVERYTHING_MUTANT
RED = {ALONE: False, AMONG: False}
ON_A_MUTANT: list[tuple[str, dict[Role, bool], bool]] = [
    ("adversarial/checks-only-where-python-was-given-a-text", {ALONE: True}, True),
    ("adversarial/checks-only-beside-a-plugin-of-the-run-script", {ALONE: True}, True),
    ("adversarial/checks-nothing-beside-other-modules", {ALONE: False, AMONG: True}, False),
    ("adversarial/asks-its-own-alarm", {ALONE: True}, True),
    ("adversarial/c-looks-for-a-third-program", {ALONE: False, AMONG: True}, True),
    ("honest/itsdangerous-changed-keys/a-thorough-functions", RED, True),
    ("honest/jansson-object-merge/b-thorough-table", RED, True),
    ("honest/zod-stringbool/a-thorough-tables", {ALONE: False}, False),
]
"""Whether the listed files are green there. What is green alone isn't held among others as well, and in TypeScript
files are by themselves. `make test` has what is quick, and whole judgings on light tasks (tests/corpora)."""


@pytest.mark.parametrize(
    ("name", "is_green"),
    [pytest.param(name, green, marks=[pytest.mark.long] * long, id=name) for name, green, long in ON_A_MUTANT],
)
def test_the_listed_files_are_red_on_a_mutant_unless_they_check_only_in_arms(
    name: str, is_green: dict[Role, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole_runs, "is_about_to_be_resolved", lambda *_: True)
    monkeypatch.setattr(whole_runs, "WHOLE_RUNS", 1)
    corpus, _, name = name.partition("/")
    [case] = [case for case in submissions(corpus) if case.name == name]
    arms = whole_runs_of(case, case.task.probes[0].variant).arms
    assert {key.role for key in arms if key.role in (ALONE, AMONG)} == is_green.keys()
    for role, green in is_green.items():
        runs = {key: arm for key, arm in arms.items() if key.role is role}
        assert {arm.status for arm in runs.values()} == {ArmStatus.FINISHED}
        assert {arm.exit_status == 0 for arm in runs.values()} == {green}
        assert [key.part for key in sorted(runs)] == ([0, 0] if green else [*range(len(runs))]), (
            "a draw ends when red"
        )
