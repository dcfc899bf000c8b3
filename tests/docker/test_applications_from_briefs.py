"""Applications in containers: the references, the one that is healthy alone, honest ones, cheats, and broken ones."""

import asyncio
import io
import tarfile
from pathlib import Path

import pytest

from harness.judging.submission.extraction import Submission
from harness.judging.verify.arms import ArmContext
from harness.judging.verify.verdict import VerdictRecord
from harness.plugins.build.check import LEAST_OF_A_REFERENCE, MOST_OF_NULL, broken_application, lost_by, points_of
from harness.plugins.build.grading import passes
from harness.plugins.build.steps import BOOT_STEP, Files, Steps
from harness.plugins.build.task import BROKEN, OWN_TESTS, BuildTask, build_task, patch_of
from harness.runs.submissions import Case, judge_cases, read_batch
from harness.sandbox.images.task_images import repo_image
from harness.sandbox.protocol import SandboxOptions
from harness.specs.catalog import Catalog
from harness.specs.reasons import Verdict
from harness.specs.test_results import Outcome
from harness.specs.variants import Arm
from harness.tracks.registry import choose_engine, track_of

pytestmark = pytest.mark.docker

CASES = read_batch(Catalog(), Path(__file__).parents[1] / "fixtures" / "build", None)
TASK = build_task(Catalog().task("build:link-shortener"))
BROKEN_ONES = sorted(TASK.path(BROKEN).glob("*.patch"))
OTHER_IMAGE = "itsdangerous"
"""It has a Python with pytest, which is all that an application without packages needs."""


def judged(case: Case) -> VerdictRecord:
    [found] = judge_cases([case], "docker", None, 1, lambda item: None)
    assert found.difference == "", found.record
    return found.record


def application(task: BuildTask, folder: str) -> Case:
    directory = task.path(folder)
    return Case(folder, task, Submission(patch_of(directory), (directory / "manifest.yaml").read_bytes()))


def unmet(record: VerdictRecord) -> set[str]:
    return {item.id for item in record.stages.rubric.criteria if not item.met}


def nothing_installed() -> bytes:
    whole = io.BytesIO()
    tarfile.open(fileobj=whole, mode="w").close()
    return whole.getvalue()


LOOKS = b"""
import contextlib
for name in ("environ", "maps", "mem"):
    with contextlib.suppress(PermissionError), open(f"/proc/{os.getppid()}/{name}", "rb"):
        os._exit(1)
"""


async def booted(run: bytes) -> Arm:
    """What the hidden tests of start and end show of an application of one file."""
    engine = choose_engine("docker")
    try:
        image, options = await repo_image(Catalog().repo(OTHER_IMAGE)), SandboxOptions()
        toolchain = track_of(TASK).toolchain(TASK)
        context = ArmContext(engine, image, {}, slots=asyncio.Semaphore(1), toolchain=toolchain, options=options)
        steps = Steps(context, TASK, Files({"run": run}, frozenset({"run"})), seed=1, installed=nothing_installed())
        return await steps.hidden(BOOT_STEP)
    finally:
        await engine.close()


async def test_an_application_is_started_asked_and_stopped_and_its_own_report_is_none() -> None:
    healthy = (TASK.path("null") / "run").read_bytes().replace(b"import os\n", b"import os\n" + LOOKS, 1)
    assert passes(await booted(healthy)), "it could look into its supervisor, or wasn't started, asked and stopped"
    forged = next(case for case in CASES if case.name.endswith("/cheat-says-that-it-is-ready"))
    assert forged.submission
    script = b"\n".join(line[1:] for line in forged.submission.patch.splitlines() if line[:1] == b"+")
    arm = await booted(script.partition(b"\n")[2])
    assert {item.outcome for item in arm.results} == {Outcome.FAILED}


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_an_application_comes_to_what_it_must(case: Case) -> None:
    judged(case)


@pytest.mark.long
@pytest.mark.parametrize("name", TASK.references)
def test_a_reference_is_resolved_with_nearly_all_points(name: str) -> None:
    record = judged(application(TASK, f"references/{name}"))
    assert (record.verdict, record.reasons) == (Verdict.RESOLVED, ())
    assert points_of(record) >= LEAST_OF_A_REFERENCE, unmet(record)


@pytest.mark.long
def test_an_application_that_is_healthy_and_nothing_else_is_failed() -> None:
    record = judged(application(TASK, "null"))
    assert record.verdict is Verdict.FAILED
    assert points_of(record) <= MOST_OF_NULL, unmet(record)


@pytest.mark.long
@pytest.mark.parametrize("path", BROKEN_ONES, ids=[path.stem for path in BROKEN_ONES])
def test_a_broken_application_loses_what_its_name_says_and_no_more(path: Path) -> None:
    record = judged(Case(path.stem, TASK, asyncio.run(broken_application(TASK, path))))
    assert unmet(record) - set(OWN_TESTS) == set(lost_by(path))
