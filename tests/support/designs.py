"""Designs judged in this process: an engine that plays an arm's cases with the adapter and the subject of its files.

The adapter, the variants and what reads the reports are those of containers; only the container isn't there.
"""

import asyncio
import hashlib
import os
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType

from harness.authoring.task_check.subject import Subject
from harness.judging.submission.extraction import Submission
from harness.judging.submission.new_files import new_text_patch
from harness.judging.verify.arms import ArmContext
from harness.judging.verify.verdict import VerdictRecord
from harness.judging.verify.verification import Judging
from harness.plugins.design.grading import design_task, grade_design
from harness.plugins.design.images import agent_files
from harness.plugins.design.played import read_design
from harness.plugins.design.task import DesignTask, load_design, manifest_of
from harness.plugins.design.track import TRACK
from harness.sandbox.git_tree import GitTree
from harness.sandbox.options import ContainerRole
from harness.sandbox.protocol import Capabilities, Image, Job, JobResult, Sandbox, SandboxOptions
from harness.specs.catalog import Catalog
from harness.specs.task import Task
from harness.specs.tracks import TaskOptions
from tests.support.corpora import CATALOG
from tests.support.docs import examples

FIXTURES = Path(__file__).parents[1] / "fixtures" / "design"


@cache
def shipped(name: str) -> DesignTask:
    return design_task(CATALOG.task(name))


class PlayedHere:
    """See `Engine`. It has jobs of Python's adapter alone. `jobs` counts them."""

    name = isolation = "here"
    capabilities = Capabilities(network_isolation=False, memory=False, pids=False, disk=False, separate_user=False)

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.jobs = 0

    async def image(self, task: Task) -> Image:
        tree = self._directory / task.id
        if not tree.exists():
            for name, data in agent_files(design_task(task)).items():
                path = self._directory / f"{task.id}.files" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            await GitTree.create(tree, self._directory / f"{task.id}.files")
        return Image("here", "digest", task.repo.workdir, tree)

    def sandbox(self, image: Image, options: SandboxOptions, labels: Mapping[str, str]) -> Sandbox:
        raise AssertionError("nobody works here")

    async def run_job(self, image: Image, job: Job, options: SandboxOptions, labels: Mapping[str, str]) -> JobResult:
        self.jobs += 1
        files = {Path(file.path).relative_to(image.workdir).as_posix(): file.data for file in job.files}
        with tempfile.TemporaryDirectory(dir=self._directory) as folder:
            for name, data in files.items():
                (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
                (Path(folder) / name).write_bytes(data)
            status = _main(Path(folder), [word for word in job.argv if "::" in word])
            report = (Path(folder) / "1.xml").read_bytes()
        laid = job.argv[job.argv.index("--") + 1 :]
        proof = "".join(f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in laid if name in files)
        return JobResult(status, False, False, proof.encode(), {"1.xml": report}, True, 0.01)

    async def reap(self, labels: Mapping[str, str]) -> int:
        return 0

    async def close(self) -> None:
        pass


def _main(folder: Path, ids: list[str]) -> int:
    """Run the adapter's main function on the cases that lie in a folder."""
    place = folder / "testwright_design"
    kept = sys.modules.pop("subject", None)
    subject, adapter = ModuleType("subject"), ModuleType("adapter")
    adapter.__file__ = str(place / "adapter.py")
    os.environ["TESTWRIGHT_REPORT_DIR"] = str(folder)
    try:
        sys.modules["subject"] = subject
        exec((place / "subject.py").read_text(), vars(subject))
        exec((place / "adapter.py").read_text(), vars(adapter))
        return int(adapter.main(ids))
    finally:
        del os.environ["TESTWRIGHT_REPORT_DIR"], sys.modules["subject"]
        if kept:
            sys.modules["subject"] = kept


async def context_of(task: DesignTask, directory: Path) -> ArmContext:
    engine = PlayedHere(directory)
    return ArmContext(
        engine,
        await engine.image(task),
        {},
        slots=asyncio.Semaphore(1),
        toolchain=TRACK.toolchain(task),
        options=TRACK.options(task, ContainerRole.ARM),
    )


async def subject_of(task: DesignTask, directory: Path) -> Subject:
    return Subject(Catalog(task.directory.parents[1]), task, arm_context=await context_of(task, directory))


def handed_in(task: DesignTask, data: bytes, name: str = "design/cases.yaml") -> Submission:
    """Return a file of cases as it is handed in, with a manifest of all cases that can be read."""
    cases, _ = read_design(data, name, task.vocabulary)
    return Submission(new_text_patch(name, data), manifest_of(name, cases))


async def judged(task: DesignTask, submission: Submission, directory: Path) -> VerdictRecord:
    return (await grade_design(Judging(task, await context_of(task, directory)), submission)).record


def page_task(directory: Path) -> DesignTask:
    """Return the task that docs/design.md makes from start to end, with its files in a directory."""
    blocks = dict(zip(_FILES, _page_blocks(), strict=True))
    for name, text in blocks.items():
        path = directory / "tasks" / "parcel" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (directory / "tasks" / "parcel" / "task.yaml").write_text(_DESCRIPTION)
    return load_design(directory / "tasks" / "parcel", CATALOG, TaskOptions())


_FILES = (
    "requirement.md",
    "vocabulary.yaml",
    "adapter/subject.py",
    "design.yaml",
    "neighbours.yaml",
    "reference/cases.yaml",
    "handed-in.yaml",
)
_DESCRIPTION = """\
schema_version: 1
id: parcel
repo: itsdangerous
track: design
kind: acceptance
title: What a parcel costs
"""


def _page_blocks() -> list[str]:
    section = "One from start to end"
    [requirement] = examples("design.md", section, "markdown")
    [code] = examples("design.md", section, "python")
    vocabulary, *rest = examples("design.md", section, "yaml")
    return [requirement, vocabulary, code, *rest]
