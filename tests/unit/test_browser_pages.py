"""Arms with other markup are walked through, and each page is compared as a screen reader would tell it."""

import asyncio
import json
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from harness.authoring.task_check.subject import Subject
from harness.judging.verify.arms import ArmContext
from harness.plugins.browser.application import data_directory
from harness.plugins.browser.reasons import MARKUP_DEPENDENT
from harness.plugins.browser.same_pages import WALK, Walk, differences, page_problems, read_walk
from harness.plugins.browser.stage import SETTINGS, StageToolchain
from harness.plugins.browser.task import E2E, PAGES, TECHNIQUE, load_task, staged_task, task_directories, walk_of
from harness.sandbox.git_tree import GitTree
from harness.sandbox.protocol import Image, Job, JobResult, SandboxOptions
from harness.specs.catalog import Catalog
from harness.specs.problem import Severity
from tests.support.fake_engine import FakeEngine

STAGED = [f"{track}:{path.name}" for track in (TECHNIQUE, E2E) for path in task_directories("*", track)]
NOT_THE_SAME = "isn't the same to a screen reader"
PLAIN = Walk([("first", "- heading"), ("second", "- table:\n  - row")])


def ended(pages: object, status: int = 0, log: str = "") -> JobResult:
    outputs = {} if pages is None else {"pages.json": json.dumps(pages).encode()}
    return JobResult(status, False, False, log.encode(), outputs, True, 1.0, own_seconds=1.0)


@pytest.mark.parametrize(
    ("plain", "other", "words"),
    [
        (PLAIN, PLAIN, []),
        (
            PLAIN,
            Walk([PLAIN.pages[0], ("second", "- group:\n  - row")]),
            [f"in the arm x the page 'second' {NOT_THE_SAME}: it lacks '- table:' and has '- group:'"],
        ),
        (
            PLAIN,
            Walk([PLAIN.pages[0], ("second", "- table:")]),
            [f"in the arm x the page 'second' {NOT_THE_SAME}: it lacks '- row'"],
        ),
        (PLAIN, Walk(PLAIN.pages[:1]), ["in the arm x the walk looks at 1 pages in place of 2"]),
        (
            PLAIN,
            Walk([PLAIN.pages[1], PLAIN.pages[0]]),
            ["in the arm x the walk comes to the page 'second' in place of 'first'"],
        ),
        (PLAIN, Walk(failure="pages.py fails: no"), ["in the arm x: pages.py fails: no"]),
        (Walk(failure="pages.py fails: no"), PLAIN, ["on the application as it is: pages.py fails: no"]),
        (Walk(), Walk(), ["on the application as it is: no page is looked at"]),
    ],
)
def test_what_a_screen_reader_would_tell_is_named(plain: Walk, other: Walk, words: list[str]) -> None:
    assert list(differences(plain, {"x": other})) == words


def test_a_walk_that_fails_says_what_its_test_said() -> None:
    assert read_walk(ended([["first", "- heading"]])) == Walk([("first", "- heading")])
    log = "tests/test_pages.py F\nE       Locator expected to be visible\nE       more"
    assert read_walk(ended([], 1, log)) == Walk(failure=f"{PAGES} fails: Locator expected to be visible")
    assert read_walk(ended(None, 0)) == Walk(failure=f"{PAGES} fails: status 0")


@pytest.mark.parametrize("address", STAGED)
def test_a_task_of_this_package_with_other_markup_has_a_walk(address: str) -> None:
    task = staged_task(Catalog().task(address))
    has_other_markup = any(arm.code == MARKUP_DEPENDENT for arm in task.arms.same)
    assert walk_of(task).is_file() == has_other_markup


@dataclass
class Told(FakeEngine):
    """An engine whose jobs see the table's caption as the application beside them has it in its source."""

    walks: list[tuple[bool, bytes]] = field(default_factory=list)

    async def run_job(self, _image: Image, job: Job, *_: object) -> JobResult:  # type: ignore[override]
        assert job.companion
        beside = {file.path: file.data for file in job.companion.job.files}
        source = beside.get("/app/deskapp/pages.py", b"<caption>Hours of {year}</caption>")
        settings = json.loads(beside[SETTINGS])
        self.walks.append(
            (settings["proxy"]["markup"], {file.path: file.data for file in job.files}[f"/app/{WALK.file}"])
        )
        return ended([["clients", "- table Hours" if b"<caption>Hours of" in source else "- table"]])


async def told(place: Path, arms: str, *, walk: bool = True) -> tuple[list[tuple[Severity, str]], Told]:
    """What the part says of `client-hours` with these arms beside its own."""
    [own] = task_directories("client-hours", TECHNIQUE)
    mine = place / own.name
    shutil.copytree(own, mine)
    text = (mine / "arms.yaml").read_text()
    (mine / "arms.yaml").write_text(text.replace("must_fail:\n", f"{arms}must_fail:\n", 1))
    if walk:
        (mine / PAGES).write_text("walk")
    shutil.copytree(data_directory() / "deskapp" / "app", place / "app", ignore=shutil.ignore_patterns("__pycache__"))
    tree = await GitTree.create(place / "tree.git", place / "app")
    task, engine = load_task(mine, TECHNIQUE), Told(lambda *_: "passes")
    context = ArmContext(
        engine,
        Image("fake", "digest", "/app", tree.directory),
        {},
        slots=asyncio.Semaphore(2),
        toolchain=StageToolchain(task.repo),
        options=SandboxOptions(),
    )
    problems = await page_problems(replace(Subject(Catalog(), task), arm_context=context))
    return [(problem.severity, problem.message) for problem in problems], engine


TWIN = """\
  - name: {name}
    reason: markup-dependent
    edits:
      - {{file: deskapp/pages.py, old: '{old}', new: '{new}'}}
"""


async def test_a_twin_that_a_screen_reader_tells_from_the_page_is_refused(tmp_path: Path) -> None:
    twin = TWIN.format(name="no-caption", old="<caption>Hours of {year}</caption>", new="<p>Hours of {year}</p>")
    problems, engine = await told(tmp_path, twin)
    words = f"{NOT_THE_SAME}: it lacks '- table Hours' and has '- table'"
    assert problems == [(Severity.ERROR, f"in the arm no-caption the page 'clients' {words}")]
    assert sorted(engine.walks) == [(False, b"walk"), (False, b"walk"), (True, b"walk")]


async def test_a_twin_of_other_elements_is_not_refused(tmp_path: Path) -> None:
    twin = TWIN.format(name="other-class", old="<table>", new='<table class="hours">')
    problems, engine = await told(tmp_path, twin)
    assert (problems, len(engine.walks)) == ([], 3)


async def test_other_markup_without_a_walk_is_warned_of(tmp_path: Path) -> None:
    [(severity, words)], engine = await told(tmp_path, "", walk=False)
    assert (severity, engine.walks) == (Severity.WARNING, [])
    assert words == f"no {PAGES}: nothing says that arms with other markup are the same to a screen reader"
