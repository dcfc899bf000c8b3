"""A fuzz file that disagrees with itself is told as such, before anything that it would have blamed is run."""

import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from harness.authoring.task_check import fuzzing
from harness.authoring.task_check.context import arm_context_of
from harness.authoring.task_check.fuzzing import fuzz_problems
from harness.authoring.task_check.subject import Subject
from harness.authoring.task_new.skeletons import fuzz_file
from harness.judging.languages.registry import language_of
from harness.judging.submission.manifest import parse_manifest
from harness.runs.engine_session import engine_session
from harness.specs.catalog import Catalog
from harness.specs.catalog_places import default_directory

pytestmark = pytest.mark.docker
TASK = "cachetools-expiring-entries"
FUZZ = """\
import os
import pathlib
import random

{imported}


def test_calls():
    draw = random.Random(int(os.environ["TESTWRIGHT_FUZZ_SEED"]))
    lines = [f"{{draw.random()}} => {{{result}}}\\n" for _ in range(3)]
    (pathlib.Path(os.environ["TESTWRIGHT_REPORT_DIR"]) / "fuzz.txt").write_text("".join(lines))
"""


@asynccontextmanager
async def copied(folder: Path, name: str) -> AsyncIterator[Subject]:
    """A copy of a shipped task, its twins and drawn inputs left out."""
    built_in, copy = default_directory(), folder / "catalog"
    repo = Catalog().task(name).repo.name
    for part in (f"repos/{repo}", f"tasks/{name}", "scaffolds"):
        shutil.copytree(built_in / part, copy / part)
    (copy / "rubrics").mkdir()
    shutil.copy(built_in / "rubrics" / f"{name}.yaml", copy / "rubrics")
    for path in [*(copy / "tasks" / name / "fuzz").iterdir(), *(copy / "tasks" / name / "twins").iterdir()]:
        path.unlink()
    catalog = Catalog(copy)
    task = catalog.task(name)
    async with engine_session("docker", uuid4().hex) as session:
        yield Subject(catalog, task, arm_context=await arm_context_of(session, task))


@pytest.fixture
async def subject(tmp_path: Path) -> AsyncIterator[Subject]:
    async with copied(tmp_path, TASK) as made:
        yield made


def with_fuzz(subject: Subject, result: str, imported: str = "import cachetools") -> None:
    text = FUZZ.format(imported=imported, result=result)
    (subject.task.directory / "fuzz" / "test_fuzz_drawn.py").write_text(text)


@pytest.mark.dear("containers for pristine code, twice with one seed, in two checks")
async def test_what_disagrees_with_itself_is_said_with_both_outputs_and_no_variant_is_run(subject: Subject) -> None:
    with_fuzz(subject, "int.from_bytes(os.urandom(8))")
    [wrong] = await fuzz_problems(subject)
    assert wrong.where == f"tasks/{TASK}/fuzz/test_fuzz_drawn.py"
    assert wrong.message.startswith("disagrees with itself on pristine code, run twice with one seed: '0.")
    found = re.search(r"'(0\.\d+) => (\d+)', then '(0\.\d+) => (\d+)'.* \(seed (\d+)\)$", wrong.message)
    assert found
    assert found[1] == found[3]
    assert found[2] != found[4]
    assert subject.remarks == []  # which say how many variants were called
    [again] = await fuzz_problems(subject)
    assert again.message.endswith(f"(seed {found[5]})")


@pytest.mark.long
@pytest.mark.parametrize(
    ("task", "unfilled", "filled"),
    [
        (
            "properties-structs",
            "// TODO: one line for each function, such as ",
            ("parse(number)", "-number"),
        ),
        (
            "jansson-object-merge",
            "/* TODO: one line for each function, such as ",
            ("number, parse(number)); */", "number, -(int)number);"),
        ),
        (
            "zod-stringbool",
            "// TODO: one line for each function, such as ",
            ("shown(parse(number))", "shown(-number)"),
        ),
    ],
)
async def test_a_skeleton_that_is_filled_in_is_run_on_all_variants(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: str, unfilled: str, filled: tuple[str, str]
) -> None:
    monkeypatch.setattr(fuzzing, "SEEDS", 1)  # its calls are of no code, so all variants are alike with any seed
    async with copied(tmp_path, task) as subject:
        neighbour = parse_manifest(subject.task.patch("reference/manifest.yaml"), language_of(subject.task.repo).ids)
        text = "package properties\n"
        [(name, laid_out)] = fuzz_file(language_of(subject.task.repo), task, neighbour.files[0], text).items()
        fuzz = laid_out.replace(unfilled, "").replace(*filled)
        assert fuzz != laid_out
        (subject.task.directory / "fuzz" / name).write_text(fuzz)
        found = await fuzz_problems(subject)
        assert {problem.where for problem in found} == {f"tasks/{task}/garbage.patch"}  # it has no call of the code
        [remark] = subject.remarks
        assert ": 400 calls of " in remark
