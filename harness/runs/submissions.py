"""Judging submissions that lie in files: one, or a directory of them with what each is expected to come to."""

import asyncio
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from harness.agents.build import build_agent
from harness.agents.ending import Ending
from harness.agents.trajectory import read_trajectory
from harness.llm.recording import MessageRecord
from harness.llm.scripted import ScriptedModel
from harness.runs.store import keep_arm
from harness.runs.trial import let_work
from harness.sandbox.choice import choose_engine
from harness.sandbox.protocol import Engine, Image, JobResult
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
    `criteria` are those that must be named as unmet. Where an agent works, `ending` is how it must end, and
    its trajectory must hold every text of `shown` and none of `not_shown`.
    """

    task: str
    verdict: Verdict | None = None
    ending: Ending | None = None
    shown: tuple[str, ...] = ()
    not_shown: tuple[str, ...] = ()
    reasons: tuple[ReasonCode, ...] = ()
    notes: tuple[NoteCode, ...] = ()
    never: tuple[ReasonCode, ...] = ()
    criteria: tuple[str, ...] = ()
    about: str = ""


@dataclass(frozen=True)
class Case:
    """A submission to judge, or the script of an agent that is to make one.

    `expected` is None where nothing is expected of it.
    """

    name: str
    task: Task
    submission: Submission | None
    expected: Expectation | None = None
    script: Path | None = None


@dataclass(frozen=True)
class Judged:
    """`ending` and `told` (the trajectory's text) are of the agent, where one worked."""

    case: Case
    record: VerdictRecord
    seconds: float
    ending: Ending | None = None
    told: str = ""

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
        faults += [f"{text!r} is not shown" for text in expected.shown if text not in self.told]
        faults += [f"{text!r} is shown" for text in expected.not_shown if text in self.told]
        if expected.ending and expected.ending is not self.ending:
            faults.append(f"ended by {self.ending}, not {expected.ending}")
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
    """Every folder below `directory` that holds `patch.diff` or `script.yaml`, ordered by path.

    Its task is `task`, or what `expect.yaml` beside it says. A folder without a manifest has handed in none.
    A script is what the model of `mini` says (see ScriptedModel). Raises UserError.
    """
    found = {path.parent for name in ("patch.diff", "script.yaml") for path in directory.rglob(name)}
    cases = [_read_case(catalog, directory, folder, task) for folder in sorted(found)]
    if not cases:
        raise UserError(f"{directory}: no submission here (no folder with a patch.diff or a script.yaml)")
    return cases


def _read_case(catalog: Catalog, directory: Path, folder: Path, task: str | None) -> Case:
    expected = load_yaml(folder / "expect.yaml", Expectation) if (folder / "expect.yaml").exists() else None
    name = expected.task if expected else task
    if name is None:
        raise UserError(f"{folder}: whose task is this? write expect.yaml with 'task: ID', or name the task")
    place, script, manifest = (
        folder.relative_to(directory).as_posix(),
        folder / "script.yaml",
        folder / "manifest.yaml",
    )
    if script.exists():
        return Case(place, catalog.task(name), None, expected, script)
    data = _read(manifest) if manifest.exists() else b""
    return Case(place, catalog.task(name), Submission(_read(folder / "patch.diff"), data), expected)


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
    submission, ending, told = await _hand_in(engine, image, case, labels)
    judgement = await verify(case.task, submission, Bench(engine, image, slots, labels, keep_result))
    if keep:
        (keep / case.name).mkdir(parents=True, exist_ok=True)
        (keep / case.name / "verdict.json").write_text(judgement.record.to_json())
    return Judged(case, judgement.record, time.monotonic() - started, ending, told)


class _HandedIn(NamedTuple):
    submission: Submission
    ending: Ending | None
    told: str


async def _hand_in(engine: Engine, image: Image, case: Case, labels: dict[str, str]) -> _HandedIn:
    """The submission of a case: as it lies there, or what `mini` makes when its model follows the script."""
    if case.submission is not None or case.script is None:
        return _HandedIn(case.submission or Submission(b"", b""), None, "")
    with tempfile.TemporaryDirectory(prefix="testwright-") as scratch:
        trajectory = Path(scratch) / "trajectory.jsonl"
        agent = build_agent(Catalog().scaffold("mini"), case.task, ScriptedModel.from_file(case.script))
        result, submission = await let_work(engine, image, case.task, agent, labels, trajectory)
        observed = [
            record.message.content for record in read_trajectory(trajectory) if isinstance(record, MessageRecord)
        ]
    return _HandedIn(submission, result.ending, "\n".join(observed))


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_SUBMISSION_BYTES:
            raise UserError(f"{path}: larger than {MAX_SUBMISSION_BYTES} bytes")
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None
