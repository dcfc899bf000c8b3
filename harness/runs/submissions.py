"""Judges submissions in files: one, or a directory of them.

Submissions in files, and the verdict that each is expected to get.
"""

import logging
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from pydantic import Field

from harness import PROTOCOL_VERSION
from harness.agents.registry import agent_context
from harness.agents.trajectory import Ending, read_trajectory
from harness.judging.submission.extraction import Submission
from harness.judging.submission.manifest import TOO_LARGE, too_large
from harness.judging.verify.arms import ArmObserver
from harness.judging.verify.evidence import renew_code_seeds
from harness.judging.verify.judge.judge import Judge, JudgeReport
from harness.judging.verify.mutants.records import MutantsFile
from harness.judging.verify.mutants.running import MutantOrder
from harness.judging.verify.verdict import VerdictRecord
from harness.judging.verify.verification import Judging
from harness.models.replay import MessageRecord, ScriptedModel
from harness.runs.agent_work import let_work
from harness.runs.concurrency import run_to_end, side_by_side
from harness.runs.engine_session import EngineSession, engine_session
from harness.runs.evidence_file import ArmQuota, keep_arm
from harness.runs.judges import scenario_judge
from harness.runs.mutants_file import keep_mutants, mutants_beside, mutated_sources
from harness.runs.outcome import is_below, keep_error, message_of, reason_of
from harness.runs.plan import RunConfig
from harness.runs.trial_store import keep_judgements
from harness.sandbox.protocol import MANIFEST_NAMES, Image, JobResult
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.grading import ControlRound, GradingRules
from harness.specs.reasons import NoteCode, ReasonCode, Stage, Verdict
from harness.specs.task import Task
from harness.specs.tracks import address_of
from harness.specs.variants import ArmKey
from harness.specs.yaml_files import FileModel, load_yaml
from harness.tracks.grading import grade_by

MAX_SUBMISSION_BYTES = 100_000_000


class Expectation(FileModel):
    """`expect.yaml` beside a submission: its task, and what it must come to.

    Every code in `reasons` and `notes` must be among the verdict's, one at least of `any_of`, none in `never`.
    `criteria` are those that must be named as unmet, whatever code their track has for that. `tests` are several
    attempts in one submission: each listed test with the reasons for which it must be refused; those in `refused`
    must be for some reason, and chance decides which. Where an agent works, `ending` is how it must end, and its
    trajectory must hold every text of `shown` and none of `not_shown`.
    """

    task: str
    verdict: Verdict | None = None
    ending: Ending | None = None
    shown: tuple[str, ...] = ()
    not_shown: tuple[str, ...] = ()
    reasons: tuple[ReasonCode, ...] = ()
    any_of: tuple[ReasonCode, ...] = ()
    notes: tuple[NoteCode, ...] = ()
    never: tuple[ReasonCode, ...] = ()
    criteria: tuple[str, ...] = ()
    tests: dict[str, tuple[ReasonCode, ...]] = Field(default_factory=dict)
    refused: tuple[str, ...] = ()
    about: str = ""

    @property
    def codes(self) -> tuple[ReasonCode, ...]:
        """All reasons that this expects, of the whole or of one test, each once."""
        of_tests = [code for codes in self.tests.values() for code in codes]
        return tuple(dict.fromkeys([*self.reasons, *of_tests]))


@dataclass(frozen=True)
class Case:
    """A submission to judge, or the script of an agent that is to make one.

    `expected` is None where nothing is expected of it. `judge` is a scenario of what a judge says to it.
    """

    name: str
    task: Task
    submission: Submission | None
    expected: Expectation | None = None
    script: Path | None = None
    judge: Path | None = None


def read_case(task: Task, patch: Path, manifest: Path, name: str = "", expected: Expectation | None = None) -> Case:
    """Return a submission from two files that a person names.

    Raises:
        UserError: A file can't be read or is too large, or the patch is none.
    """
    submission = Submission(_read(patch), _read(manifest))
    if submission.patch.strip() and not any(mark in submission.patch for mark in (b"\n+++ ", b"diff --git ")):
        raise UserError(f"{patch}: not a patch; give the output of git diff")
    if too_large(submission.manifest):
        raise UserError(f"{manifest}: {TOO_LARGE}; is this the manifest?")
    return Case(name or task.id, task, submission, expected)


def read_batch(catalog: Catalog, directory: Path, task: str | None) -> list[Case]:
    """Return every folder below a directory that holds `patch.diff` or `script.yaml`, ordered by path.

    A folder without a manifest has handed in none. A script is what the model of `mini` says (`ScriptedModel`);
    `judge.yaml` is what a judge says, whoever is named (`Scenario`).

    Args:
        catalog: Where the tasks lie.
        directory: The folders'.
        task: The task of all of them; None: each folder's `expect.yaml` names it.

    Raises:
        UserError: A file is wrong, or a folder names no task.
    """
    found = {path.parent for name in ("patch.diff", "script.yaml") for path in directory.rglob(name)}
    cases = [_read_case(catalog, directory, folder, task) for folder in sorted(found)]
    if not cases:
        raise UserError(f"{directory}: no submission here (no folder with a patch.diff or a script.yaml)")
    return cases


def _read_case(catalog: Catalog, directory: Path, folder: Path, task: str | None) -> Case:
    expected = load_yaml(folder / "expect.yaml", Expectation) if (folder / "expect.yaml").exists() else None
    name = expected.task if expected and not _is_short_for(expected.task, task) else task
    if name is None:
        raise UserError(f"{folder}: whose task is this? write expect.yaml with 'task: ID', or name the task")
    place, script = folder.relative_to(directory).as_posix(), folder / "script.yaml"
    if script.exists():
        return Case(place, catalog.task(name), None, expected, script)
    manifest = next((folder / each for each in MANIFEST_NAMES if (folder / each).exists()), None)
    data = _read(manifest) if manifest else b""
    submission = Submission(_read(folder / "patch.diff"), data)
    judge = folder / "judge.yaml"
    return Case(place, catalog.task(name), submission, expected, judge=judge if judge.exists() else None)


def _is_short_for(name: str, task: str | None) -> bool:
    """Return whether a name is that of a task by its directory's own name: `e2e:NAME` for `e2e:PATH/NAME`."""
    address = address_of(task) if task else None
    return address is not None and name == f"{address.track}:{Path(address.place).name}"


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_SUBMISSION_BYTES:
            raise UserError(f"{path}: larger than {MAX_SUBMISSION_BYTES} bytes")
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None


_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Judged:
    """A judged submission.

    `judging` is a named judge's; `ending` and `told` (the trajectory's text) an agent's, if any.

    `beside` is the published verifier's verdict where both were asked for, `mutants` what a mutation score rests on
    where one was asked for, `sources` the files that those mutants are made of. `error` is what ended the judging,
    where one did; the verdict is `unscored` then.
    """

    case: Case
    record: VerdictRecord
    seconds: float
    ending: Ending | None = None
    told: str = ""
    judging: JudgeReport | None = None
    beside: VerdictRecord | None = None
    error: Exception | None = None
    mutants: MutantsFile | None = None
    sources: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def difference(self) -> str:
        """Return how the verdict differs from what was expected; empty where it doesn't."""
        expected = self.case.expected
        if expected is None:
            return ""
        codes = {reason.code for reason in self.record.reasons}
        notes = {note.code for note in self.record.notes}
        of_criteria = (reason for reason in self.record.reasons if reason.stage is Stage.RUBRIC)
        unmet = {reason.subject for reason in of_criteria if reason.code.verdict is Verdict.FAILED}
        faults = [f"not {code}" for code in expected.reasons if code not in codes]
        if expected.any_of and codes.isdisjoint(expected.any_of):
            faults.append(f"none of {', '.join(expected.any_of)}")
        faults += [f"no note {code}" for code in expected.notes if code not in notes]
        faults += [f"also {code}" for code in expected.never if code in codes]
        faults += self._tests_that_differ(expected)
        faults += [f"criterion {name} is not named" for name in expected.criteria if name not in unmet]
        faults += [f"{text!r} is not shown" for text in expected.shown if text not in self.told]
        faults += [f"{text!r} is shown" for text in expected.not_shown if text in self.told]
        if expected.ending and expected.ending is not self.ending:
            faults.append(f"ended by {self.ending}, not {expected.ending}")
        if expected.verdict and expected.verdict is not self.record.verdict:
            faults.insert(0, f"not {expected.verdict}")
        return ", ".join(faults)

    def _tests_that_differ(self, expected: Expectation) -> list[str]:
        """Return tests that differ from what is expected: without one of their reasons, or not expected at all."""
        came = {(reason.subject, reason.code) for reason in self.record.reasons}
        wanted = [(test, code) for test, codes in expected.tests.items() for code in codes]
        faults = [f"{test} not {code}" for test, code in wanted if (test, code) not in came]
        refused = {subject for subject, _ in came}
        faults += [f"{test} not refused" for test in expected.refused if test not in refused]
        if expected.tests:
            listed = set(self.record.stages.manifest.tests)
            known = {*expected.tests, *expected.refused}
            faults += [f"{test} is not expected" for test in sorted(listed - known)]
        return faults


@dataclass(frozen=True)
class JudgingOrder:
    """How submissions in files are judged.

    `judge` is asked what code can't decide. `mutants` are those of a mutation score beside the verdict. `control`
    says which kills are run again alone.
    """

    judge: Judge | None = None
    protocol: GradingRules = GradingRules.TESTWRIGHT
    mutants: MutantOrder | None = None
    control: ControlRound = ControlRound.DRAWN


def judge_cases(
    cases: list[Case],
    sandbox: str,
    keep: Path | None,
    jobs: int,
    done: Callable[[Judged], None],
    order: JudgingOrder | None = None,
) -> list[Judged]:
    """Judge submissions. What goes wrong in one costs that one only.

    Args:
        cases: The submissions.
        sandbox: Where arms run, as `--sandbox` names it.
        keep: Folder for verdicts and arms' output; None keeps nothing.
        jobs: How many are judged at a time.
        done: Told of each as it ends.
        order: How they are judged; None is by our rules, without a judge.

    Raises:
        UserError: The engine isn't there.
    """

    async def judged() -> list[Judged]:
        async with engine_session(sandbox, uuid4().hex) as session:
            bench = Bench(session, keep, order)
            return await side_by_side(cases, bench.judge, bench.failed, jobs, done)

    return run_to_end(judged())


def judge_again_and_again(
    case: Case, times: int, sandbox: str, keep: Path | None, order: JudgingOrder | None = None
) -> list[Judged]:
    """Judge one submission several times; nothing that chance decides is kept from one to the next.

    Args:
        case: The submission.
        times: How often.
        sandbox: The engine's name.
        keep: A folder for what arms print; None: it isn't kept.
        order: How it is judged.

    Raises:
        UserError: The engine isn't there.
    """
    found: list[Judged] = []
    for number in range(1, times + 1):
        renew_code_seeds()
        named = replace(case, name=f"{case.name}-{number}") if times > 1 else case
        found += judge_cases([named], sandbox, keep, 1, lambda _: None, order)
    return found


class _KeptArms(ArmObserver):
    """An observer that keeps what the arms of a case print, in a folder where one is named."""

    def __init__(self, case: str, keep: Path | None, quota: ArmQuota | None) -> None:
        self._case, self._keep, self._quota = case, keep, quota

    def printed(self, key: ArmKey, result: JobResult) -> None:
        if self._keep and not keep_arm(self._keep / self._case / "arms", key, result, self._quota):
            _log.warning("%s: %s keeps no more output of arms: its quota is used up", self._case, self._keep)


class Bench:
    """A place where cases are judged, one like the other."""

    def __init__(self, session: EngineSession, keep: Path | None = None, order: JudgingOrder | None = None) -> None:
        self._session, self._keep, self._order = session, keep, order or JudgingOrder()
        self._quota = ArmQuota(keep, RunConfig().arm_output_mb * 1_000_000, "**/arms/*/*") if keep else None

    async def judge(self, case: Case) -> Judged:
        """Judge one submission. Raises UserError for a task that is wrong, SandboxLost."""
        session, keep, order = self._session, self._keep, self._order
        image = await session.engine.image(case.task)
        started = time.monotonic()
        submission, ending, told = await _hand_in(session, image, case)
        judge = scenario_judge(case.judge) if case.judge else order.judge
        arm_context = session.arm_context(case.task, image, _KeptArms(case.name, keep, self._quota))
        judging = Judging(case.task, arm_context, judge, control=order.control)
        judged = await grade_by(order.protocol, judging, submission)
        if keep:
            keep_judgements(keep / case.name, judged)
        first, beside = judged.first, judged.beside.record if judged.beside else None
        seconds = time.monotonic() - started
        scored = await mutants_beside(case.task, submission, arm_context, order.mutants) if order.mutants else None
        if keep and scored:
            keep_mutants(keep / case.name, scored)
        sources = await mutated_sources(case.task, arm_context) if scored and not scored.why_none else {}
        return Judged(
            case, first.record, seconds, ending, told, first.judging, beside, mutants=scored, sources=sources
        )

    def failed(self, case: Case, error: Exception) -> Judged:
        """Return a case that ended with an error: its verdict is `unscored`.

        Raises `error` where nothing can be kept.
        """
        if isinstance(error, OSError) and self._keep and is_below(error.filename, self._keep):
            raise error
        if self._keep:
            keep_error(self._keep / case.name, error)
        elif reason_of(error).code is ReasonCode.HARNESS_ERROR and not isinstance(error, UserError):
            _log.error("%s: %s", case.name, message_of(error), exc_info=error)
        record = VerdictRecord(
            task=case.task.id,
            track=case.task.track,
            task_digest=case.task.digest,
            repo_digest=case.task.repo.digest,
            image_digest="",
            protocol_version=PROTOCOL_VERSION,
            protocol=self._order.protocol,
            isolation=self._session.engine.isolation,
            verdict=Verdict.UNSCORED,
            reasons=(reason_of(error),),
        )
        return Judged(case, record, 0.0, error=error)


class _HandedIn(NamedTuple):
    submission: Submission
    ending: Ending | None
    told: str


async def _hand_in(session: EngineSession, image: Image, case: Case) -> _HandedIn:
    """Return the submission of a case: as it lies there, or what `mini` makes when its model follows the script."""
    if case.submission is not None or case.script is None:
        return _HandedIn(case.submission or Submission(b"", b""), None, "")
    with tempfile.TemporaryDirectory(prefix="testwright-") as scratch:
        trajectory = Path(scratch) / "trajectory.jsonl"
        context = agent_context(case.task, Catalog().scaffold("mini"), ScriptedModel.from_file(case.script))
        result, submission = await let_work(session.engine, image, context, session.labels, trajectory)
        observed = [
            record.message.content for record in read_trajectory(trajectory) if isinstance(record, MessageRecord)
        ]
    return _HandedIn(submission, result.ending, "\n".join(observed))
