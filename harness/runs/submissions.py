"""Judging submissions that lie in files: one, or a directory of them with what each is expected to come to."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from harness.runs.store import keep_arm
from harness.sandbox.choice import choose_engine
from harness.sandbox.protocol import Engine, JobResult
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError, first_error
from harness.specs.loading import FileModel, load_yaml
from harness.specs.reasons import NoteCode, ReasonCode, Verdict
from harness.specs.task import Task
from harness.submission.extraction import Submission
from harness.submission.manifest import TOO_LARGE, too_large
from harness.verify.arms import Bench, arm_slots
from harness.verify.verdict import VerdictRecord
from harness.verify.verification import verify

MAX_SUBMISSION_BYTES = 100_000_000


class Expectation(FileModel):
    """`expect.yaml` beside a submission: its task, and what it must come to.

    Every code in `reasons` and `notes` must be among the verdict's, every one in `never` must not be.
    `criteria` are those that must be named as unmet.
    """

    task: str
    verdict: Verdict | None = None
    reasons: tuple[ReasonCode, ...] = ()
    notes: tuple[NoteCode, ...] = ()
    never: tuple[ReasonCode, ...] = ()
    criteria: tuple[str, ...] = ()
    about: str = ""


@dataclass(frozen=True)
class Case:
    """A submission to judge. `expected` is None where nothing is expected of it."""

    name: str
    task: Task
    submission: Submission
    expected: Expectation | None = None


@dataclass(frozen=True)
class Judged:
    case: Case
    record: VerdictRecord
    seconds: float

    @property
    def difference(self) -> str:
        """How the verdict differs from what was expected; empty where it doesn't."""
        expected = self.case.expected
        if expected is None:
            return ""
        codes = {reason.code for reason in self.record.reasons}
        notes = {note.code for note in self.record.notes}
        unmet = {reason.subject for reason in self.record.reasons if reason.code is ReasonCode.CRITERION_UNMET}
        faults = [f"not {code}" for code in expected.reasons if code not in codes]
        faults += [f"no note {code}" for code in expected.notes if code not in notes]
        faults += [f"also {code}" for code in expected.never if code in codes]
        faults += [f"criterion {name} is not named" for name in expected.criteria if name not in unmet]
        if expected.verdict and expected.verdict is not self.record.verdict:
            faults.insert(0, f"not {expected.verdict}")
        return ", ".join(faults)


def read_case(task: Task, patch: Path, manifest: Path, name: str = "", expected: Expectation | None = None) -> Case:
    """A submission from two files that a person names. Raises UserError where one isn't what it should be."""
    submission = Submission(_read(patch), _read(manifest))
    if submission.patch.strip() and not any(mark in submission.patch for mark in (b"\n+++ ", b"diff --git ")):
        raise UserError(f"{patch}: not a patch; give the output of git diff")
    if too_large(submission.manifest):
        raise UserError(f"{manifest}: {TOO_LARGE}; is this the manifest?")
    return Case(name or task.id, task, submission, expected)


def read_batch(catalog: Catalog, directory: Path, task: str | None) -> list[Case]:
    """Every folder below `directory` that holds `patch.diff`, ordered by path. Raises UserError.

    Its task is `task`, or what `expect.yaml` beside it says. A folder without a manifest has handed in none.
    """
    cases = []
    for patch in sorted(directory.rglob("patch.diff")):
        folder = patch.parent
        expected = load_yaml(folder / "expect.yaml", Expectation) if (folder / "expect.yaml").exists() else None
        name = expected.task if expected else task
        if name is None:
            raise UserError(f"{folder}: whose task is this? write expect.yaml with 'task: ID', or name the task")
        manifest = folder / "manifest.yaml"
        data = _read(manifest) if manifest.exists() else b""
        submission = Submission(_read(patch), data)
        cases.append(Case(folder.relative_to(directory).as_posix(), catalog.task(name), submission, expected))
    if not cases:
        raise UserError(f"{directory}: no submission here (no folder with a patch.diff)")
    return cases


def judge_cases(
    cases: list[Case], sandbox: str, keep: Path | None, jobs: int, done: Callable[[Judged], None]
) -> list[Judged]:
    """Judge all, `jobs` at a time; `done` is told of each as it ends. Raises UserError, InfrastructureError."""
    return asyncio.run(_judge_cases(cases, sandbox, keep, jobs, done))


async def _judge_cases(
    cases: list[Case], sandbox: str, keep: Path | None, jobs: int, done: Callable[[Judged], None]
) -> list[Judged]:
    engine = choose_engine(sandbox)
    labels = {"testwright.run": uuid4().hex}
    slots, turns = arm_slots(engine), asyncio.Semaphore(jobs)

    async def judge(case: Case) -> Judged:
        async with turns:
            judged = await _judge(engine, case, slots, labels, keep)
        done(judged)
        return judged

    try:
        with first_error():
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(judge(case)) for case in cases]
        return [task.result() for task in tasks]
    finally:
        await asyncio.shield(engine.reap(labels))
        await engine.close()


async def _judge(
    engine: Engine, case: Case, slots: asyncio.Semaphore, labels: dict[str, str], keep: Path | None
) -> Judged:
    def keep_result(name: str, result: JobResult) -> None:
        if keep:
            keep_arm(keep / case.name / "arms", name, result)

    image = await engine.image(case.task)
    started = time.monotonic()
    judgement = await verify(case.task, case.submission, Bench(engine, image, slots, labels, keep_result))
    if keep:
        (keep / case.name).mkdir(parents=True, exist_ok=True)
        (keep / case.name / "verdict.json").write_text(judgement.record.to_json())
    return Judged(case, judgement.record, time.monotonic() - started)


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_SUBMISSION_BYTES:
            raise UserError(f"{path}: larger than {MAX_SUBMISSION_BYTES} bytes")
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None
