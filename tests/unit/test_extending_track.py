"""The track of docs/extending.md, as the page shows it: registered, loaded, graded and told of in a table."""

import asyncio
import io
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.console import Console

from harness.authoring.task_check.context import TrackChecks, checks_of
from harness.judging.languages.registry import LANGUAGES
from harness.judging.submission.extraction import Submission
from harness.judging.verify.arms import ARM_TRIES, ArmContext
from harness.judging.verify.verdict import VerdictRecord
from harness.judging.verify.verification import Judging
from harness.results.report.trial_report import trial_table
from harness.results.rows import TrialRow, TrialState
from harness.sandbox.git_tree import GitTree
from harness.sandbox.protocol import SandboxOptions
from harness.specs.catalog import Catalog
from harness.specs.errors import SandboxLost, UserError
from harness.specs.grading import GradingRules
from harness.specs.reasons import ReasonCode, Verdict
from harness.specs.task import Task
from harness.tracks.grading import grade_by
from harness.tracks.registry import TRACKS, check_rules, track_of
from tests.support import scripted_language
from tests.support.docs import examples
from tests.support.fake_engine import Event, FakeEngine, Fate, Script
from tests.support.patches import new_test_file
from tests.support.small_task import small_task
from tests.support.sound_catalog import changed

[EXAMPLE] = examples("extending.md", "A track")
[REGISTRATION] = examples("extending.md", "A track", "toml")
NAME = "reproduce-a-bug"
BROKEN = "def add(left, right):\n    return left - right\n"
FIXED = "def add(left, right):\n    return left + right\n"
SUITE = new_test_file(
    "tests/test_add.py", "from sums import add\n\n\ndef test_adds():\n    assert add(1, 2) == 3\n", "test_adds"
)


@pytest.fixture(scope="module")
def module() -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "bug_track"}
    exec(EXAMPLE, names)
    return names


@pytest.fixture
def registered(module: dict[str, Any]) -> Iterator[None]:
    [(group, points)] = tomllib.loads(REGISTRATION)["project"]["entry-points"].items()
    assert (group, dict(points)) == (TRACKS.group, {NAME: "bug_track:TRACK"})
    TRACKS.register(NAME, module["TRACK"])
    LANGUAGES.register(scripted_language.NAME, scripted_language.SCRIPTED)
    yield
    TRACKS.unregister(NAME)
    LANGUAGES.unregister(scripted_language.NAME)


def catalog(directory: Path) -> Catalog:
    """One repository and one task of the track."""
    repo = small_task(directory / "unused").repo.model_copy(update={"language": scripted_language.NAME})
    (directory / "repos" / "sums").mkdir(parents=True)
    written = repo.model_dump(mode="json", exclude={"directory"})
    (directory / "repos" / "sums" / "repo.yaml").write_text(yaml.safe_dump(written))
    task = directory / "tasks" / "sums-bug"
    task.mkdir(parents=True)
    (task / "task.yaml").write_text(
        f"schema_version: 1\nid: sums-bug\nrepo: sums\ntrack: {NAME}\nkind: unit\ntitle: It subtracts\n"
    )
    (task / "prompt.md").write_text("add(1, 2) gives -1. I need a test that shows it.\n")
    (task / "fix.patch").write_text(
        changed("sums.py", BROKEN, "    return left - right\n", "    return left + right\n")
    )
    return Catalog(directory)


async def graded(task: Task, directory: Path, engine: FakeEngine, submission: Submission = SUITE) -> VerdictRecord:
    (directory / "tree").mkdir()
    (directory / "tree" / "sums.py").write_text(BROKEN)
    engine.tree = (await GitTree.create(directory / "tree.git", directory / "tree")).directory
    toolchain = track_of(task).toolchain(task)
    image = await engine.image(task)
    context = ArmContext(engine, image, {}, slots=asyncio.Semaphore(2), toolchain=toolchain, options=SandboxOptions())
    return (await grade_by(GradingRules.TESTWRIGHT, Judging(task, context), submission)).first.record


def doing(on_fixed: str, on_broken: str) -> Script:
    return lambda run, _test: on_fixed if run.variant == "baseline" else on_broken


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize(
    ("on_fixed", "on_broken", "code"),
    [
        ("passes", "fails", None),
        ("passes", "passes", ReasonCode.SURVIVED_REMOVAL),
        ("passes", "skips", ReasonCode.SURVIVED_REMOVAL),
        ("fails", "fails", ReasonCode.BASELINE_RED),
        ("absent", "fails", ReasonCode.BASELINE_MISSING),
        ("passes", "crashes", None),
    ],
)
async def test_a_test_must_fail_on_the_broken_tree_and_pass_on_the_mended_one(tmp_path, on_fixed, on_broken, code):
    task = catalog(tmp_path / "catalog").task("sums-bug")
    engine = FakeEngine(doing(on_fixed, on_broken))
    record = await graded(task, tmp_path, engine)
    assert record.verdict is (Verdict.FAILED if code else Verdict.RESOLVED)
    assert {reason.code for reason in record.reasons} == ({code} if code else set())
    assert record.track == NAME
    assert {run.variant for run in engine.finished} == {"baseline", "broken"}


@pytest.mark.usefixtures("registered")
async def test_arms_get_the_tree_as_it_is_and_as_the_fix_leaves_it(tmp_path, module):
    task = catalog(tmp_path / "catalog").task("sums-bug")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "sums.py").write_text(BROKEN)
    tree = await GitTree.create(tmp_path / "tree.git", tmp_path / "tree")
    fixed, broken = await module["variants"](task, tree)
    assert (fixed.disk, broken.disk) == ({"sums.py": FIXED.encode()}, {"sums.py": BROKEN.encode()})


@pytest.mark.usefixtures("registered")
async def test_a_lost_arm_is_nobodys_failure_in_any_track(tmp_path):
    task = catalog(tmp_path / "catalog").task("sums-bug")
    for name, events in (
        ("lost", [Event(fate=Fate.LOST)] * ARM_TRIES * 3),
        ("other", [Event(), Event(), Event(fate=Fate.OTHER_VARIANT)]),
    ):
        (tmp_path / name).mkdir()
        with pytest.raises(SandboxLost):
            await graded(task, tmp_path / name, FakeEngine(doing("passes", "passes"), events))


@pytest.mark.usefixtures("registered")
async def test_what_is_refused_runs_nowhere(tmp_path):
    task = catalog(tmp_path / "catalog").task("sums-bug")
    engine = FakeEngine(doing("passes", "fails"))
    record = await graded(task, tmp_path, engine, Submission(SUITE.patch, b""))
    assert [reason.code for reason in record.reasons] == [ReasonCode.MANIFEST_MISSING]
    assert engine.containers == 0


@pytest.mark.usefixtures("registered")
async def test_its_column_stands_in_the_table_of_trials(tmp_path):
    task = catalog(tmp_path / "catalog").task("sums-bug")
    record = await graded(task, tmp_path, FakeEngine(doing("passes", "fails")))
    facts = {"scaffold": "nop", "model": "", "attempt": 1, "state": TrialState.JUDGED, "verdict": record.verdict}
    rows = [
        TrialRow(trial="a", task="sums-bug", record=record, **facts),
        TrialRow(trial="b", task="other", record=record.model_copy(update={"track": "behaviour"}), **facts),
        TrialRow(trial="c", task="away", record=record.model_copy(update={"track": "gone"}), **facts),
    ]
    out = Console(file=io.StringIO(), width=160)
    out.print(trial_table(rows))
    lines = [line.split() for line in out.file.getvalue().splitlines() if line.strip()]
    assert (lines[0][-1], lines[2][-1], lines[3][-1], lines[4][-1]) == ("tests", "1", "-", "-")


@pytest.mark.usefixtures("registered")
def test_rules_that_a_track_does_not_offer_are_refused(tmp_path):
    task = catalog(tmp_path / "catalog").task("sums-bug")
    with pytest.raises(UserError, match="task sums-bug: --protocol published is for published tasks"):
        check_rules(task, GradingRules.PUBLISHED)
    assert checks_of(task) == TrackChecks()


def test_a_track_that_nobody_registered_is_named_with_file_and_line(tmp_path):
    LANGUAGES.register(scripted_language.NAME, scripted_language.SCRIPTED)
    try:
        with pytest.raises(UserError, match=r"task\.yaml:4: .*unknown track 'reproduce-a-bug'; known: behaviour"):
            catalog(tmp_path).task("sums-bug")
    finally:
        LANGUAGES.unregister(scripted_language.NAME)


def test_tasks_of_the_catalogs_own_track_lie_nowhere_else(tmp_path):
    (tmp_path / "tasks").mkdir()
    with pytest.raises(UserError, match="tasks of this track lie in a catalog; name it with --catalog"):
        Catalog(tmp_path).select([f"behaviour:{tmp_path}"])
