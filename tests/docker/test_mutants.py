"""Mutants and stubs on the images of real repositories: few of each, the whole samples are `make stubs`'s."""

import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest

from harness.authoring import suite_scores
from harness.authoring.task_stub import sample_stubs, stub_task, take_mutant
from harness.judging.submission.extraction import Submission
from harness.judging.testing.reaching.measuring import has_branches
from harness.judging.verify.mutants.candidates import removed_code, removed_coverage
from harness.judging.verify.mutants.records import MutantsFile, MutantStatus, stryker_report
from harness.judging.verify.mutants.running import MutantOrder, run_mutants
from harness.judging.verify.verification import read_submission, suite_of
from harness.runs.engine_session import EngineSession, engine_session
from harness.sandbox.git_tree import GitTree
from harness.specs.catalog import Catalog
from harness.specs.catalog_places import default_directory
from harness.specs.errors import UserError
from harness.specs.task import Task
from scripts import mutation_scores

pytestmark = [pytest.mark.docker, pytest.mark.long]
TASK = "aiosmtpd-proxy-tlv"
LAZY = Path(__file__).parents[1] / "honest" / TASK / "a-lazy-main-path"
MUTANT = "223c5f8f6b"
"""Of the line that compares a record's length with what is left."""
LENIENT = "18da932a68"
"""Truncated records are let through: the lazy suite has none of them."""


@pytest.fixture
async def session() -> AsyncIterator[EngineSession]:
    async with engine_session("docker", uuid4().hex) as found:
        yield found


async def mutants(session: EngineSession, task: Task, folder: Path, order: MutantOrder) -> MutantsFile:
    image = await session.engine.image(task)
    context = session.arm_context(task, image)
    patch = next(path for path in (folder / "tests.patch", folder / "patch.diff") if path.exists())
    submission = Submission(patch.read_bytes(), (folder / "manifest.yaml").read_bytes())
    return await run_mutants(task, submission, context, order)


async def test_a_thorough_suite_kills_a_mutant_that_a_lazy_one_lets_live(session):
    task = Catalog().task(TASK)
    order = MutantOrder(1)  # the first of those that the seed draws
    thorough = await mutants(session, task, task.directory / "reference", order)
    lazy = await mutants(session, task, LAZY, order)
    assert [each.id for each in thorough.mutants] == [each.id for each in lazy.mutants]
    states = {
        each.id: (each.status, lived.status) for each, lived in zip(thorough.mutants, lazy.mutants, strict=True)
    }
    assert states[LENIENT] == (MutantStatus.KILLED, MutantStatus.SURVIVED)
    assert {bool(each.killed_by) == (each.status is MutantStatus.KILLED) for each in thorough.mutants} == {True}
    assert thorough.score is not None
    assert lazy.score is not None
    assert thorough.score > lazy.score
    image = await session.engine.image(task)
    sources = (await removed_code(task, GitTree(image.tree))).texts
    report = json.loads(stryker_report(thorough, sources, "python"))
    lines = report["files"]["aiosmtpd/proxy_protocol.py"]["source"].splitlines()
    for each in thorough.mutants:
        assert each.original.splitlines()[0] in lines[each.place.line - 1]


@pytest.mark.parametrize(
    ("name", "suite", "missed", "reached"),
    [
        (TASK, "a-lazy-main-path", "raise UnknownTypeTLV(typ_name)", "rslt[typ_name] = val"),
        ("jansson-object-merge", "a-lazy-flat", "res = -1;", "json_object_set_nocheck(object, key, value)"),
        ("zod-stringbool", "a-lazy-decoding", "return truthyArray[0]", "return true;"),
        ("restic-duration", "a-lazy-units", "negative = true", "d.Years = num"),
    ],
)
async def test_what_a_lazy_suite_reaches_of_the_removed_lines_is_counted(session, name, suite, missed, reached):
    task = Catalog().task(name)
    folder = Path(__file__).parents[1] / "honest" / name / suite
    submission = Submission((folder / "patch.diff").read_bytes(), (folder / "manifest.yaml").read_bytes())
    context = session.arm_context(task, await session.engine.image(task))
    code = await removed_code(task, GitTree(context.image.tree))
    found = await removed_coverage(task, context, suite_of(await read_submission(task, submission, context)), code)
    assert found.why_none == ""
    summary = found.summary
    assert summary is not None
    assert 0 < summary.reached < summary.lines == summary.reached + len(summary.missed)
    assert has_branches(task.repo.language) is (summary.branches is not None)
    if summary.branches is not None:
        assert summary.taken is not None
        assert 0 < summary.taken < summary.branches
    texts = {path: text.decode().splitlines() for path, text in code.texts.items()}
    never = [texts[path][int(line) - 1] for path, _, line in (each.rpartition(":") for each in summary.missed)]
    ran = [texts[path][line - 1] for path, each in found.files.items() for line in each.ran & code.removed[path]]
    assert missed in "\n".join(never)
    assert missed not in "\n".join(ran)
    assert reached in "\n".join(ran)


async def test_recorded_scores_are_of_the_mutants_that_are_drawn_now(session):
    """Of one task in each language: what the operators make has not changed since."""
    for name in (TASK, "jansson-object-merge", "zod-stringbool", "properties-references"):
        task = Catalog().task(name)
        image = await session.engine.image(task)
        drawn = (await removed_code(task, GitTree(image.tree))).drawn(suite_scores.MUTANTS, suite_scores.SEED)
        recorded = mutation_scores.scores_of(name).mutants
        assert [each.id for each in drawn] == [each.id for each in recorded], f'run make scores only="{name}"'


async def test_mutants_that_no_time_is_left_for_are_pending_and_in_no_score(session):
    task = Catalog().task(TASK)
    file = await mutants(session, task, task.directory / "reference", MutantOrder(3, seconds=0.001))
    assert {each.status for each in file.mutants} == {MutantStatus.PENDING}
    assert file.score is None


@pytest.mark.parametrize(("repo", "count"), [("borgmatic", 4), ("jansson", 1), ("restic", 1), ("zod", 4)])
async def test_stubs_of_functions_that_are_drawn_compile_in_their_repositorys_image(session, repo, count):
    sample = await sample_stubs(session, Catalog().repo(repo), count, seed=3)
    assert sample.functions == count
    assert sample.broken == ()
    assert sample.stubs + 2 * len(sample.refused) == 2 * count


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    """A copy of one shipped task without its removals, in a catalog of its own."""
    for name in ("repos/aiosmtpd", f"tasks/{TASK}", "scaffolds"):
        shutil.copytree(default_directory() / name, tmp_path / name)
    (tmp_path / "rubrics").mkdir()
    shutil.copy(default_directory() / "rubrics" / f"{TASK}.yaml", tmp_path / "rubrics")
    for name in ("removal.patch", "garbage.patch"):
        (tmp_path / "tasks" / TASK / name).unlink()
    return Catalog(tmp_path)


def test_both_removals_and_a_probe_are_written_of_names_alone(catalog):
    task = catalog.task(TASK)
    made = stub_task(task, ["aiosmtpd.proxy_protocol:ProxyTLV.parse", "aiosmtpd/proxy_protocol.py:ProxyTLV.from_raw"],
                     anew=False, write=True)  # fmt: skip
    assert [(patch.path.name, patch.compiles, patch.is_written) for patch in made] == [
        ("removal.patch", True, True),
        ("garbage.patch", True, True),
    ]
    with pytest.raises(UserError, match=r"removal\.patch: is there already"):
        stub_task(task, ["aiosmtpd.proxy_protocol:ProxyTLV.parse"], anew=False, write=True)
    with pytest.raises(UserError, match=r"no mutant 0000000000"):
        take_mutant(task, "2.1", "0000000000", anew=False)
    with pytest.raises(UserError, match=r"probes/1\.1\.patch: is there already"):
        take_mutant(task, "1.1", "0000000000", anew=False)
    with pytest.raises(UserError, match=r"no criterion 9\.9"):
        take_mutant(task, "9.9", "0000000000", anew=False)
    path = take_mutant(task, "1.1", MUTANT, anew=True)
    assert "\n+                if not (len(val) < len_):\n" in path.read_text()
