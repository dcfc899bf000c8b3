"""The repository's own test runs: what is run at the baseline and on mutants, and what of it is a reason."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from harness.judging.languages.python.module_names import clash
from harness.judging.languages.registry import LANGUAGES
from harness.judging.verify.arms import ArmContext, Suite
from harness.judging.verify.evidence import WHOLE_AFTER, ArmLog, Draw, Evidence, UnkeptArms
from harness.judging.verify.examination import Examination
from harness.judging.verify.gathering import ArmPlan, gather_evidence
from harness.judging.verify.intake import Intake
from harness.judging.verify.judgement import judgement_of
from harness.judging.verify.manifest_check import ManifestCheck
from harness.judging.verify.own_runs.noticed_mutants import ENOUGH_FILES
from harness.judging.verify.own_runs.whole_run import whole_run
from harness.sandbox.git_tree import GitTree
from harness.sandbox.protocol import Image, Job, JobResult, LimitReached, SandboxOptions
from harness.specs.reasons import ReasonCode, Verdict
from harness.specs.task import Task
from harness.specs.test_results import TestId
from harness.specs.variants import Arm, ArmKey, Role, VariantKind
from tests.support.fake_engine import MARKER, UNLOADABLE, FakeEngine, Run
from tests.support.guessing import FEW, TEST
from tests.support.scripted_language import ScriptedToolchain
from tests.support.scripted_plan import sources
from tests.support.small_task import small_task

Status = Callable[[bool, int], int]
USUAL = SandboxOptions()
ON_A_STAGE = {name: kind for name, kind in FEW.items() if kind is not VariantKind.REWRITTEN}


def honest(run: Run, _test: TestId) -> str:
    return "passes" if FEW[run.variant].behaves_like_baseline else "fails"


def blind(_run: Run, _test: TestId) -> str:
    return "passes"


def never(_patched: bool, _number: int) -> int:
    return 0


def with_the_patch(patched: bool, _number: int) -> int:
    return 1 if patched else 0


def always(_patched: bool, _number: int) -> int:
    return 1


def once(patched: bool, number: int) -> int:
    return 1 if patched and number == 1 else 0


def twice(patched: bool, number: int) -> int:
    return 1 if patched and number < 3 else 0


def once_without_it_too(patched: bool, number: int) -> int:
    return 1 if patched or number == 2 else 0


class Ends(FakeEngine):
    """Runs of all tests end in another way: `how` raises, or changes a result."""

    how: Callable[[JobResult], JobResult]

    def _end_whole(self, job: Job) -> JobResult:
        return self.how(super()._end_whole(job))


class Sees(FakeEngine):
    """`placed` are the files that the last run of all tests had placed, without the folder they lie in; `env` its
    variables."""

    placed: Mapping[str, bytes]
    env: Mapping[str, str]

    def _end_whole(self, job: Job) -> JobResult:
        self.placed = {file.path.removeprefix("/app/"): file.data for file in job.files}
        self.env = job.env
        return super()._end_whole(job)


@pytest.fixture
def task(tmp_path: Path) -> Task:
    (tmp_path / "rubrics").mkdir()
    (tmp_path / "rubrics" / "sums-add.yaml").write_text("")
    directory = tmp_path / "tasks" / "sums-add"
    (directory / "probes").mkdir(parents=True)
    (directory / "probes" / "1.1.patch").write_text("")
    return small_task(directory)


def context_of(engine: FakeEngine, tree: Path, options: SandboxOptions = USUAL) -> ArmContext:
    return ArmContext(
        engine, Image("fake", "0", "/app", tree), {},
        slots=asyncio.Semaphore(1), toolchain=ScriptedToolchain(), options=options,
    )  # fmt: skip


def grow(task: Task, *files: str, texts: Mapping[str, str] | None = None) -> None:
    tree = task.directory / "tree"
    for file, text in {**dict.fromkeys(files, ""), **(texts or {})}.items():
        (tree / file).parent.mkdir(parents=True, exist_ok=True)
        (tree / file).write_text(text)
    asyncio.run(GitTree.create(task.directory / "tree.git", tree))


def judged(
    task: Task,
    engine: FakeEngine,
    kinds: Mapping[str, VariantKind] = FEW,
    language: str = "python",
    log: ArmLog | None = None,
    suite: Suite | None = None,
    code: Mapping[str, bytes] | None = None,
    mutants: tuple[str, ...] = (),
    options: SandboxOptions = USUAL,
) -> Evidence:
    if not (task.directory / "tree.git").exists():
        grow(task, "tests/test_there.py")
    context = context_of(engine, task.directory / "tree.git", options)
    suite = suite or Suite((TEST,), {TEST.file: b"...", "tests/sums.json": b""})
    baseline, *others = sources(dict(kinds))
    others = [replace(other, code={"sums.py": b"a mutant"} if other.name in mutants else {}) for other in others]
    variants = [replace(baseline, code=code or {}), *others]
    plan = ArmPlan(variants, suite, ManifestCheck(suite.tests), Draw(0, 0))

    async def both() -> Evidence:
        evidence = await gather_evidence(context, task, plan)
        return await whole_run(context, task, plan, evidence, LANGUAGES.get(language), log)

    return asyncio.run(both())


def reasons(task: Task, evidence: Evidence) -> list[ReasonCode]:
    found = Examination(Intake((), b""), ManifestCheck(evidence.tests), evidence)
    record = judgement_of(task, context_of(FakeEngine(honest), task.directory), found).record
    assert (record.verdict is Verdict.RESOLVED) == (not record.reasons)
    return [reason.code for reason in record.reasons]


def test_of_a_green_run_there_is_one_and_nothing_is_said(task: Task) -> None:
    engine = FakeEngine(honest, whole=never)
    evidence = judged(task, engine)
    assert engine.whole_runs == [(True, ())], "with the patch, all tests"
    assert evidence.arms[WHOLE_AFTER].kind is VariantKind.BASELINE
    assert reasons(task, evidence) == []


def test_red_with_the_patch_each_time_and_green_without_it_each_time_is_a_reason(task: Task) -> None:
    engine = FakeEngine(honest, whole=with_the_patch)
    evidence = judged(task, engine)
    assert [patched for patched, _ in engine.whole_runs] == [True, True, False, True, False]
    assert reasons(task, evidence) == [ReasonCode.BASELINE_RED]


@pytest.mark.parametrize(
    ("whole", "runs"),
    [(always, [True, True, False]), (once, [True, True]), (twice, [True, True, False, True]),
     (once_without_it_too, [True, True, False, True, False])],
)  # fmt: skip
def test_what_is_red_anyway_or_by_chance_is_none(task: Task, whole: Status, runs: list[bool]) -> None:
    engine = FakeEngine(honest, whole=whole)
    evidence = judged(task, engine)
    assert [patched for patched, _ in engine.whole_runs] == runs
    assert reasons(task, evidence) == []


class Asked(FakeEngine):
    """`options` are those of the last run of all tests and of the last arm."""

    options: dict[bool, SandboxOptions]

    async def run_job(self, image: Image, job: Job, options: SandboxOptions, labels: Mapping[str, str]) -> JobResult:
        self.options[not any(file.path == MARKER for file in job.files)] = options
        return await super().run_job(image, job, options, labels)


def test_what_arms_hide_is_there_in_own_runs_which_have_the_images_user(task: Task) -> None:
    """Tests could check only where a tool that people have can't be found."""
    engine, hidden = Asked(honest), SandboxOptions(hidden=("/usr/bin/nm",), own_user=True)
    engine.options = {}
    judged(task, engine, options=hidden)
    assert engine.options == {False: hidden, True: replace(hidden, hidden=(), own_user=False)}


def test_where_the_tree_has_a_bug_the_run_is_of_the_mended_code(task: Task) -> None:
    grow(task, THERE, "mended.py", "as_it_was.py")
    engine = Sees(honest, loads=lambda _: True)
    suite = Suite((TEST,), {TEST.file: b"...", "mended.py": b"by the submission"})
    judged(task, engine, suite=suite, code={"mended.py": b"...", "as_it_was.py": b"", "new.py": b""})
    assert engine.placed.keys() == {TEST.file, "mended.py", "new.py"}
    assert engine.placed["mended.py"] == b"..."


def test_only_what_would_be_resolved_has_such_a_run_and_a_stage_has_none(task: Task) -> None:
    engine = FakeEngine(blind, whole=with_the_patch)
    judged(task, engine)
    assert engine.whole_runs == []
    engine = FakeEngine(honest, whole=with_the_patch)
    judged(task, engine, ON_A_STAGE)
    assert engine.whole_runs == []


def too_large(_result: JobResult) -> JobResult:
    raise LimitReached("memory", "the container used more memory than it may")


def cut_off(result: JobResult) -> JobResult:
    return JobResult(124, True, False, b"", {}, True, result.seconds)


def ended_from_outside(result: JobResult) -> JobResult:
    return replace(result, exit_status=143)


def kept_waiting(result: JobResult) -> JobResult:
    return replace(result, exit_status=1, seconds=1_000.0, own_seconds=10.0)


@pytest.mark.parametrize("how", [too_large, ended_from_outside])
def test_a_run_that_goes_over_a_limit_or_is_ended_again_and_again_is_red(
    task: Task, how: Callable[[JobResult], JobResult]
) -> None:
    """Tests may do so where they see that no report is asked for; without the patch nothing does."""
    engine = Ends(honest, whole=with_the_patch)
    engine.how = lambda result: how(result) if result.exit_status else result
    assert reasons(task, judged(task, engine)) == [ReasonCode.BASELINE_RED]
    engine.how = how
    assert reasons(task, judged(task, engine)) == [], "it does so without the patch as well"


def test_a_run_that_is_ended_from_outside_once_is_repeated(task: Task) -> None:
    engine = Ends(honest, whole=never)
    engine.how = lambda result: ended_from_outside(result) if len(engine.whole_runs) == 1 else result
    evidence = judged(task, engine)
    assert engine.whole_runs == [(True, ())] * 2
    assert evidence.arms[WHOLE_AFTER].exit_status == 0


@pytest.mark.parametrize("how", [cut_off, kept_waiting])
def test_a_run_that_does_not_come_to_its_end_shows_nothing(task: Task, how: Callable[[JobResult], JobResult]) -> None:
    engine = Ends(honest, whole=with_the_patch)
    engine.how = how
    evidence = judged(task, engine)
    assert len(engine.whole_runs) == 1
    assert reasons(task, evidence) == []


class Log(UnkeptArms):
    def add(self, key: ArmKey, arm: Arm, seconds: float) -> None:
        self.known[key] = arm  # type: ignore[index]


def test_a_start_that_goes_on_repeats_no_run_that_is_kept(task: Task) -> None:
    log = Log({}, 0.0)
    judged(task, FakeEngine(honest, whole=with_the_patch), log=log)
    again = FakeEngine(honest, whole=with_the_patch)
    assert reasons(task, judged(task, again, log=log)) == [ReasonCode.BASELINE_RED]
    assert again.whole_runs == []


TREES = {
    "python": ("test_sums.py", "test_add.py", "deep/test_add.py", b"def test_b(): pass\n"),
    "typescript": ("sums.test.ts", "add.test.ts", "deep/add.test.ts", b'test("b", () => {});\n'),
}


@pytest.mark.parametrize("language", TREES)
@pytest.mark.parametrize("changed", [False, True])
def test_of_a_patch_of_test_files_only_those_with_tests_run(task: Task, language: str, changed: bool) -> None:
    listed, beside, deep, text = TREES[language]
    grow(task, beside, deep)
    engine = FakeEngine(honest, whole=with_the_patch)
    helper = deep.replace("add", "helper")
    files = {listed: b"", helper: b"", **({deep: text} if changed else {})}
    judged(task, engine, language=language, suite=Suite((TestId(listed, TEST.name),), files))
    with_patch, without = ({words for patched, words in engine.whole_runs if patched is one} for one in (True, False))
    assert with_patch == {tuple(sorted([listed, deep] if changed else [listed]))}, "the helper has no test"
    assert without == {(deep,) if changed else (beside,)}, "where all is new, another shows that a file can be run"


@pytest.mark.parametrize(
    ("language", "words"), [("python", [()]), ("c", [()]), ("typescript", [(TEST.file,)]), ("go", [])]
)
def test_a_helper_may_reach_all_tests_unless_files_are_by_themselves(
    task: Task, language: str, words: list[tuple[str, ...]]
) -> None:
    grow(task, "x")
    engine = FakeEngine(honest)
    judged(task, engine, language=language)
    assert engine.whole_runs == [(True, each) for each in words]


def test_where_no_test_file_was_there_before_nothing_is_shown(task: Task) -> None:
    grow(task, "x")
    engine = FakeEngine(honest, whole=with_the_patch)
    assert reasons(task, judged(task, engine, suite=Suite((TEST,), {TEST.file: b"..."}))) == []
    assert engine.whole_runs == [(True, (TEST.file,))], "no other file shows that the run script runs one by itself"


THERE = "tests/test_there.py"


@pytest.mark.parametrize("status", [0, 1, 124])
def test_a_listed_file_that_the_run_never_loads_is_a_reason(task: Task, status: int) -> None:
    engine = FakeEngine(honest, loads=lambda file: file == THERE, goes_on=status)
    assert reasons(task, judged(task, engine)) == [ReasonCode.BASELINE_MISSING]
    assert engine.unloadable == [TEST.file, THERE, TEST.file]


@pytest.mark.parametrize(("how", "is_reason"), [(too_large, True), (ended_from_outside, True), (kept_waiting, False)])
def test_a_run_that_others_kept_waiting_shows_nothing_and_one_over_a_limit_has_not_ended_by_loading(
    task: Task, how: Callable[[JobResult], JobResult], is_reason: bool
) -> None:
    engine = Ends(honest, loads=lambda file: file == THERE)
    engine.how = lambda result: result if result.exit_status == 2 or not engine.unloadable else how(result)
    assert reasons(task, judged(task, engine)) == [ReasonCode.BASELINE_MISSING] * is_reason
    assert dict.fromkeys(engine.unloadable) == {TEST.file: None, THERE: None}


@pytest.mark.parametrize("listed", ["tests/test_new.py", "build/test_new.py"])
def test_the_file_that_it_is_held_against_is_of_its_folder_else_of_the_one_with_most(task: Task, listed: str) -> None:
    """A folder that the run leaves out with all that was in it may be used: somebody runs it by its name."""
    grow(task, "tests/test_left_out_too.py", "a/test_a.py", "usual/test_a.py", "usual/test_b.py")
    engine = FakeEngine(honest, loads=lambda file: file.startswith("usual/"))
    found = reasons(task, judged(task, engine, suite=Suite((TestId(listed, TEST.name),), {listed: b""})))
    missing = [ReasonCode.BASELINE_MISSING]
    others = {"tests": ("tests/test_left_out_too.py", []), "build": ("usual/test_a.py", missing)}
    assert (engine.unloadable[1], found) == others[listed.partition("/")[0]]


def test_a_run_that_is_green_whatever_can_be_loaded_shows_nothing(task: Task) -> None:
    engine = FakeEngine(honest, loads=lambda _: False)
    assert reasons(task, judged(task, engine)) == []
    assert engine.unloadable == [TEST.file, THERE]


def test_a_file_that_is_loaded_needs_one_run_and_no_other_shows_anything(task: Task) -> None:
    engine = FakeEngine(honest)
    assert reasons(task, judged(task, engine)) == []
    assert engine.unloadable == [TEST.file]
    engine = FakeEngine(honest, whole=with_the_patch, loads=lambda _: False)
    assert reasons(task, judged(task, engine)) == [ReasonCode.BASELINE_RED]
    assert engine.unloadable == [], "it is refused already"
    engine = FakeEngine(honest, whole=always, loads=lambda file: file == THERE)
    assert reasons(task, judged(task, engine)) == [ReasonCode.BASELINE_MISSING], "others may be red all the same"


def test_beside_new_files_one_that_was_there_is_asked_for_too(task: Task) -> None:
    """Else its tests might check only where no others are: one honest test in a new file would do for all of them."""
    grow(task, TEST.file, THERE)
    new = TestId("tests/test_newer.py", TEST.name)
    engine = FakeEngine(honest)
    judged(task, engine, suite=Suite((TEST, new), {TEST.file: b"...", new.file: b"..."}))
    assert engine.unloadable == [new.file, TEST.file]


def test_a_file_that_was_there_is_asked_for_where_none_is_new(task: Task) -> None:
    grow(task, TEST.file, THERE)
    engine = FakeEngine(honest)
    judged(task, engine, suite=Suite((TEST,), {TEST.file: b"..."}), mutants=("probe-1.1",))
    assert engine.unloadable == [TEST.file]
    assert engine.mutant_runs == [(TEST.file,), ()]


def test_only_so_many_files_are_asked_for_unless_what_they_notice_is_less_than_what_all_do(task: Task) -> None:
    """Whoever writes them names the files, too: the one that matters may be the last."""
    tests = tuple(TestId(f"tests/test_{number}.py", TEST.name) for number in range(ENOUGH_FILES + 3))
    suite = Suite(tests, {test.file: b"..." for test in tests})
    engine = FakeEngine(honest)
    judged(task, engine, suite=suite)
    assert engine.unloadable == sorted(test.file for test in tests)[:ENOUGH_FILES]

    def notices(run: Run, test: TestId) -> str:
        mutant = not FEW[run.variant].behaves_like_baseline
        return "fails" if mutant and (test == tests[-1] or FEW[run.variant].removes) else "passes"

    engine = FakeEngine(notices, loads=lambda file: file != tests[-1].file)
    assert reasons(task, judged(task, engine, suite=suite)) == [ReasonCode.BASELINE_MISSING]
    assert tests[-1].file in engine.unloadable


def test_a_file_that_cannot_be_loaded_is_the_listed_one_with_an_error_at_its_end(task: Task) -> None:
    """A conftest.py may leave files out by what they say."""
    engine = Sees(honest, whole=never)
    judged(task, engine, suite=Suite((TEST,), {TEST.file: b"import sums"}))
    assert engine.placed[TEST.file] == b"import sums\n" + UNLOADABLE.text


@pytest.mark.parametrize(("green", "runs"), [((1,), 1), ((0, 1), 2), ((0, 0), 2)])
@pytest.mark.parametrize("mutants", [("probe-1.1",), ("removal-1",), ("removal-1", "garbage-1")])
def test_files_that_are_green_on_two_mutants_that_their_tests_notice_are_a_reason(
    task: Task, mutants: tuple[str, ...], green: tuple[int, ...], runs: int
) -> None:
    engine = FakeEngine(honest, on_a_mutant=lambda number: [*green, 1][number - 1])
    suite = Suite((TEST,), {TEST.file: b"..."})
    evidence = judged(task, engine, suite=suite, mutants=mutants)
    assert engine.mutant_runs == [(TEST.file,)] * runs + [()] * (green != (0, 0)), "one is enough to be refused by"
    assert {key.variant for key in evidence.arms if key.role is Role.WHOLE_MUTANT} <= {*mutants}
    assert reasons(task, evidence) == [ReasonCode.KILL_NOT_REPEATED] * (len(mutants) if green == (0, 0) else 0)


@pytest.mark.parametrize(
    ("green", "all_runs", "is_reason"),
    [((1, 1), 1, False), ((1, 0, 1), 2, False), ((1, 0, 0), 2, True), ((0, 0), 0, True)],
)
def test_listed_tests_must_fail_on_a_mutant_among_all_others_as_well(
    task: Task, green: tuple[int, ...], all_runs: int, is_reason: bool
) -> None:
    """Tests may check nothing, and hooks drop them, where others are loaded: these alone don't show it."""
    engine = FakeEngine(honest, on_a_mutant=lambda number: green[number - 1])
    evidence = judged(task, engine, mutants=("probe-1.1",))
    assert engine.mutant_runs == [(TEST.file,)] * (len(green) - all_runs) + [()] * all_runs
    assert reasons(task, evidence) == [ReasonCode.KILL_NOT_REPEATED] * is_reason


def test_what_a_run_of_all_tests_leaves_out_needs_not_fail_in_one(task: Task) -> None:
    """Its files may stand in a folder that the run leaves out with all that was there before."""
    engine = FakeEngine(honest, loads=lambda _: False, on_a_mutant=lambda number: number == 1)
    assert reasons(task, judged(task, engine, mutants=("probe-1.1",))) == []
    assert engine.mutant_runs == [(TEST.file,)]


def test_where_hooks_may_choose_what_runs_the_others_run_too_unless_they_are_red_each_time(task: Task) -> None:
    engine = Sees(honest)
    judged(task, engine, mutants=("probe-1.1",))
    assert "PYTEST_ADDOPTS" not in engine.env
    assert engine.mutant_runs == [(TEST.file,), ()]
    engine = FakeEngine(honest, whole=always)
    judged(task, engine, mutants=("probe-1.1",))
    assert engine.mutant_runs == [(TEST.file,)]
    engine = FakeEngine(honest, whole=once)
    judged(task, engine, mutants=("probe-1.1",))
    assert engine.mutant_runs == [(TEST.file,), ()], "red once is chance"


def test_among_all_others_pytest_loads_every_file_and_runs_the_listed_ones(task: Task) -> None:
    grow(task, "tests/test_b c.py", THERE)
    engine = Sees(honest)
    judged(task, engine, mutants=("probe-1.1",), suite=Suite((TEST,), {TEST.file: b"..."}))
    assert engine.env["PYTEST_ADDOPTS"] == f"'--deselect=tests/test_b c.py' --deselect={THERE}"


def test_in_a_second_draw_small_files_that_were_there_run_before_the_listed_ones(task: Task) -> None:
    """Tests may look at what others have left in their process, and check nothing then."""
    test = "def test_it(): pass\n"
    texts = {"tests/test_a.py": test, "tests/test_b.py": test * 999, "tests/test_c.py": "", "tests/test_t.py": test}
    grow(task, "deep/test_d.py", texts=texts)
    engine = Sees(honest)
    judged(task, engine, mutants=("probe-1.1",), suite=Suite((TEST,), {TEST.file: b"..."}))
    assert engine.whole_runs == [(True, (TEST.file,)), (True, ())], "it is green at the baseline"
    assert engine.mutant_runs == [(TEST.file,), (), ()]
    assert engine.env["PYTEST_ADDOPTS"].split() == [
        f"--deselect={file}" for file in ("deep/test_d.py", "tests/test_b.py", "tests/test_t.py")
    ], "the large one, the one after the listed file, and that of another folder are left out"


def anew_from_the_second(patched: bool, number: int) -> int:
    return int(patched and number > 1)


def until_all_run(patched: bool, number: int) -> int:
    """Three runs beside others are red."""
    return int(patched and 1 < number < 5)


def anyway_from_the_second(patched: bool, number: int) -> int:
    return int(not patched or number > 1)


@pytest.mark.parametrize(
    ("whole", "is_reason"), [(anew_from_the_second, True), (until_all_run, False), (anyway_from_the_second, False)]
)
def test_what_is_red_beside_others_at_the_baseline_is_a_reason_where_all_tests_are_too(
    task: Task, whole: Status, is_reason: bool
) -> None:
    """Else it would be red on a mutant whatever it checks; what shows nothing is left out of the runs on mutants."""
    grow(task, texts={"tests/test_a.py": "def test_it(): pass\n", THERE: ""})
    engine = FakeEngine(honest, whole=whole)
    evidence = judged(task, engine, mutants=("probe-1.1",), suite=Suite((TEST,), {TEST.file: b"..."}))
    assert reasons(task, evidence) == [ReasonCode.BASELINE_RED] * is_reason
    assert engine.mutant_runs == ([] if is_reason else [(TEST.file,), ()]), "beside all others that don't run"


def test_a_file_of_a_folder_that_the_run_leaves_out_may_be_added_to(task: Task) -> None:
    """Another file in the same folder may be one that it takes."""
    grow(task, TEST.file, THERE)
    new = TestId("tests/test_newer.py", TEST.name)
    engine = FakeEngine(honest, loads=lambda file: file != TEST.file)
    found = judged(task, engine, suite=Suite((TEST, new), {TEST.file: b"...", new.file: b"..."}))
    assert reasons(task, found) == []
    assert engine.unloadable == [new.file, TEST.file, TEST.file]


def test_a_probe_is_taken_before_a_removal(task: Task) -> None:
    evidence = judged(task, FakeEngine(honest), mutants=("removal-1", "probe-1.1"))
    assert [key.variant for key in evidence.arms if key.role is Role.WHOLE_MUTANT] == ["probe-1.1"]


def test_a_mutant_that_no_test_notices_is_not_run(task: Task) -> None:
    def blind_there(run: Run, test: TestId) -> str:
        return "passes" if run.variant == "garbage-1" else honest(run, test)

    engine = FakeEngine(blind_there, on_a_mutant=lambda _: 0)
    assert reasons(task, judged(task, engine, mutants=("garbage-1",))) == []
    assert engine.mutant_runs == []


def by_name(run: Run, _test: TestId) -> str:
    return "fails" if run.variant.startswith(("removal", "garbage", "probe")) else "passes"


@pytest.mark.parametrize(
    ("red", "runs", "is_reason"), [((), 1, False), ((1,), 2, False), ((1, 2), 3, False), ((1, 2, 3), 3, True)]
)
@pytest.mark.parametrize("twin", ["twin-1.1", "placebo-authored"])
def test_what_is_red_for_the_text_of_the_code_alone_is_a_reason(
    task: Task, twin: str, red: tuple[int, ...], runs: int, is_reason: bool
) -> None:
    """Tests that check nothing where nobody asks for a report may still look at what lies on disk."""
    engine = FakeEngine(by_name, on_a_mutant=lambda number: number in red)
    evidence = judged(task, engine, {**FEW, "placebo-authored": VariantKind.PLACEBO_AUTHORED}, mutants=(twin,))
    assert len(engine.mutant_runs) == runs
    assert {key.variant for key in evidence.arms if key.role is Role.WHOLE_AFTER} == {"baseline", twin}
    assert engine.whole_runs == [(True, ())] + [(True, (TEST.file,))] * is_reason
    assert reasons(task, evidence) == [ReasonCode.PLACEBO_SENSITIVE] * is_reason


def test_files_that_are_red_without_all_others_may_be_so_on_a_twin_as_well(task: Task) -> None:
    engine = FakeEngine(honest, on_a_mutant=lambda _: 1, whole=lambda _, number: number > 1)
    evidence = judged(task, engine, mutants=("twin-1.1",))
    assert engine.whole_runs == [(True, ()), (True, (TEST.file,))]
    assert reasons(task, evidence) == []


@pytest.mark.parametrize("is_red_before", [False, True])
def test_a_listed_file_that_was_there_must_have_been_green_on_the_twin(task: Task, is_red_before: bool) -> None:
    grow(task, TEST.file)
    engine = FakeEngine(honest, on_a_mutant=lambda number: number < 4 or is_red_before)
    evidence = judged(task, engine, mutants=("twin-1.1",))
    assert len(engine.mutant_runs) == 4
    assert reasons(task, evidence) == [ReasonCode.PLACEBO_SENSITIVE] * (not is_red_before)


def test_such_a_run_is_on_the_twin_of_a_mutant_on_which_own_runs_were_red(task: Task) -> None:
    kinds = {**FEW, "twin-1.1_2": VariantKind.TWIN, "twin-2.1": VariantKind.TWIN, "probe-2.1": VariantKind.PROBE}
    twins = ("twin-1.1", "twin-1.1_2", "twin-2.1")
    engine = FakeEngine(by_name, on_a_mutant=lambda number: number < 3)
    evidence = judged(task, engine, kinds, mutants=("probe-2.1", *twins))
    assert {key.variant for key in evidence.arms if key.role is Role.WHOLE_AFTER} == {"baseline", "twin-2.1"}
    assert engine.mutant_runs == [(TEST.file,), (), (TEST.file,)]
    assert reasons(task, evidence) == []


def test_all_tests_run_where_a_new_file_has_the_name_of_another_one(task: Task) -> None:
    grow(task, f"deep/{TEST.file.rpartition('/')[2]}", "deep/test_there.py")
    engine = FakeEngine(honest)
    judged(task, engine, suite=Suite((TEST,), {TEST.file: b"..."}))
    assert engine.whole_runs == [(True, ())]


@pytest.mark.parametrize(
    ("new", "there", "clashes"),
    [
        ("a/test_x.py", ("b/test_x.py",), True),
        ("a/test_x.py", ("test_x.py",), True),
        ("a/test_x.py", ("b/test_x.py", "b/__init__.py"), False),
        ("a/test_x.py", ("b/test_x.py", "a/__init__.py", "b/__init__.py"), False),
        ("c/a/test_x.py", ("d/a/test_x.py", "c/a/__init__.py", "d/a/__init__.py"), True),
        ("c/a/test_x.py", ("d/a/test_x.py", "c/__init__.py", "c/a/__init__.py", "d/a/__init__.py"), False),
        ("a/test_x.py", ("b/test_y.py", "c/test_z.py", "d/test_z.py"), False),
    ],
)
def test_files_clash_by_the_names_under_which_pytest_imports_them(
    new: str, there: tuple[str, ...], clashes: bool
) -> None:
    assert clash({new}, {new, *there}) == clashes
