"""A fuzz file that disagrees with itself is told as such, before anything that it would have blamed is run."""

import re
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest

from harness.authoring.task_check.context import arm_context_of
from harness.authoring.task_check.fuzzing import fuzz_problems
from harness.authoring.task_check.subject import Subject
from harness.runs.engine_session import engine_session
from harness.specs.catalog import Catalog, default_directory

pytestmark = pytest.mark.docker
TASK, REPO = "cachetools-expiring-entries", "cachetools"
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


@pytest.fixture
async def subject(tmp_path: Path) -> AsyncIterator[Subject]:
    """A copy of a shipped task, its twins and drawn inputs left out."""
    built_in, copy = default_directory(), tmp_path / "catalog"
    for name in (f"repos/{REPO}", f"tasks/{TASK}", "scaffolds"):
        shutil.copytree(built_in / name, copy / name)
    (copy / "rubrics").mkdir()
    shutil.copy(built_in / "rubrics" / f"{TASK}.yaml", copy / "rubrics")
    for path in [*(copy / "tasks" / TASK / "fuzz").iterdir(), *(copy / "tasks" / TASK / "twins").iterdir()]:
        path.unlink()
    catalog = Catalog(copy)
    task = catalog.task(TASK)
    async with engine_session("docker", uuid4().hex) as session:
        yield Subject(catalog, task, arm_context=await arm_context_of(session, task))


def with_fuzz(subject: Subject, result: str, imported: str = "import cachetools") -> None:
    text = FUZZ.format(imported=imported, result=result)
    (subject.task.directory / "fuzz" / "test_fuzz_drawn.py").write_text(text)


@pytest.mark.dear("containers for pristine code, twice with one seed, in two checks")
async def test_what_disagrees_with_itself_is_said_with_both_outputs_and_no_variant_is_run(subject: Subject) -> None:
    with_fuzz(subject, "os.times().elapsed")
    [wrong] = await fuzz_problems(subject)
    assert wrong.where == f"tasks/{TASK}/fuzz/test_fuzz_drawn.py"
    assert wrong.message.startswith("disagrees with itself on pristine code, run twice with one seed: '0.")
    found = re.search(r"'(0\.\d+) => ([\d.]+)', then '(0\.\d+) => ([\d.]+)'.* \(seed (\d+)\)$", wrong.message)
    assert found
    assert found[1] == found[3]
    assert found[2] != found[4]
    assert subject.remarks == []  # which say how many variants were called
    [again] = await fuzz_problems(subject)
    assert again.message.endswith(f"(seed {found[5]})")
