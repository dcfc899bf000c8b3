"""Stored submissions judged again: another judge, another rubric, another run of the arms; the agent's work stays."""

import shlex
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from harness.judging.verify.arms import ArmContext, ArmObserver
from harness.judging.verify.evidence import Draw, Evidence, UnkeptArms
from harness.judging.verify.judge.judge import Judge
from harness.judging.verify.verdict import StageStatus, VerdictRecord
from harness.judging.verify.verification import Judging
from harness.models.allowance import Spending
from harness.models.build import Models
from harness.runs.concurrency import run_to_end, side_by_side
from harness.runs.engine_session import EngineSession, engine_session
from harness.runs.evidence_file import ArmQuota, Conditions, EvidenceFileCache
from harness.runs.judges import build_judge, judge_silence, old_stays, self_judging
from harness.runs.looks import with_kept_notes
from harness.runs.outcome import ends_run, keep_error, message_of, reason_code
from harness.runs.plan import RunFile, chosen_tasks, read_run_file
from harness.runs.store import RunStore, find_trials
from harness.runs.trial_store import TrialFile, TrialStore
from harness.sandbox.protocol import JobResult
from harness.specs.catalog import Catalog
from harness.specs.errors import SandboxLost, UserError
from harness.specs.grading import ControlRound, GradingRules
from harness.specs.reasons import ReasonCode, Stage, Verdict
from harness.specs.task import Task
from harness.specs.test_results import TestId
from harness.specs.tracks import address_of
from harness.specs.usage import NO_USAGE, Usage
from harness.specs.variants import ArmKey
from harness.tracks.grading import grade_by


class ArmsFrom(StrEnum):
    """Sources of arms' results in a regrading."""

    KEPT = "kept"
    KEPT_OR_NEW = "kept or new"
    NEW = "new"


_ARMS = {Stage.RUBRIC: ArmsFrom.KEPT, Stage.MANIFEST: ArmsFrom.KEPT_OR_NEW, Stage.MUTATION: ArmsFrom.NEW}


@dataclass(frozen=True)
class Regraded:
    """A trial's old verdict and its new one; without a new one, `complaint` says why. `usage` is the judge's."""

    trial: str
    old: VerdictRecord | None
    new: VerdictRecord | None
    complaint: str = ""
    usage: Usage = NO_USAGE
    is_without_judge: bool = False
    """The judge that was asked for couldn't be had, so the old verdict stays."""

    @property
    def changed(self) -> bool:
        """Return whether the verdict is another one now."""
        return self.new is not None and (self.old is None or self.old.verdict is not self.new.verdict)

    @property
    def changed_criteria(self) -> tuple[str, ...]:
        """Criteria that are met now and weren't, or the other way round."""
        old, new = ({item.id: item.met for item in record.stages.rubric.criteria} if record else {}
                    for record in (self.old, self.new))  # fmt: skip
        return tuple(name for name in new if old.get(name) is not new[name])


@dataclass(frozen=True)
class Regrading:
    """A regrading: from `stage` on, by `judge`, with the engine that the run had."""

    run: RunStore
    catalog: Catalog
    session: EngineSession
    stage: Stage
    judge: Judge | None
    spending: Spending
    protocol: GradingRules
    tasks: Mapping[str, Task]
    arm_quota: ArmQuota
    same_draw: bool
    control: ControlRound

    async def regrade(self, store: TrialStore) -> Regraded:
        place, old, trial = self._place(store), store.verdict(), store.trial()
        if trial is None and store.agent():
            return Regraded(place, old, None, "its trial.json is damaged; give the run another start")
        if trial is None or store.agent() is None:
            return Regraded(place, old, None, "its agent has not finished; give the run another start")
        if self.stage is Stage.RUBRIC and old and old.stages.mutation.status is StageStatus.NOT_JUDGED:
            return Regraded(place, old, old)
        return await self._again(place, store, trial, old)

    def failed(self, store: TrialStore, error: Exception) -> Regraded:
        """Return a trial that an error has ended; its traceback is kept.

        Raises `error` itself where it is that the run's directory can't be written.
        """
        if ends_run(error, self.run.directory):
            raise error
        words = f"{reason_code(error)}: {message_of(error)}"
        with suppress(OSError):  # the error may be that nothing can be written just there
            words += f" (traceback in {keep_error(store.directory, error).name})"
        self.run.event("fault", trial=self._place(store), error=message_of(error))
        return Regraded(self._place(store), store.verdict(), None, words)

    def _place(self, store: TrialStore) -> str:
        return store.directory.relative_to(self.run.directory / "trials").as_posix()

    async def _again(self, place: str, store: TrialStore, trial: TrialFile, old: VerdictRecord | None) -> Regraded:
        task, submission = self.tasks.get(trial.task) or self.catalog.task(trial.task), store.submission()
        kept = _KeptAgain(store, self.arm_quota)
        arm_context = await self._arm_context(task, place, kept)
        cache = store.evidence_cache(Conditions.of(task, arm_context, submission))
        arms = _ARMS[self.stage]
        if arms is ArmsFrom.KEPT and (missing := cache.missing()):
            again = shlex.join(["testwright", "regrade", str(self.run.directory), "--stage", "mutation"])
            return Regraded(place, old, None, f"{missing}; its arms must run again: {again}")
        spent = Spending(within=self.spending)
        try:
            chosen = _Emptied(cache, self.same_draw) if arms is ArmsFrom.NEW else cache
            control = ControlRound.NONE if arms is ArmsFrom.KEPT else self.control
            judging = Judging(task, arm_context, self.judge, spent, chosen, control=control)
            judged = await grade_by(self.protocol, judging, submission)
        except SandboxLost as error:
            return Regraded(place, old, None, f"{ReasonCode.SANDBOX_LOST}: {error}", spent.usage)
        finally:
            store.add_judge_usage(spent.usage)
        judged = with_kept_notes(store, submission, judged)
        judgement = judged.first
        if arms is ArmsFrom.NEW:
            store.drop_arms(kept.ran, self.arm_quota)
        if old and (silence := judge_silence(judgement)):
            return Regraded(place, old, None, old_stays(silence), spent.usage, is_without_judge=True)
        store.keep_judgements(judged)
        self.run.event("regraded", trial=place, stage=self.stage, verdict=judgement.record.verdict)
        return Regraded(place, old, judgement.record, usage=spent.usage)

    async def _arm_context(self, task: Task, place: str, observer: ArmObserver) -> ArmContext:
        image = await self.session.engine.image(task)
        return self.session.arm_context(task, image, observer, {"testwright.trial": place})


class _KeptAgain(ArmObserver):
    """An observer that keeps what arms print in a trial's directory, and notes which of them ran."""

    def __init__(self, store: TrialStore, quota: ArmQuota) -> None:
        self._store, self._quota = store, quota
        self.ran: set[ArmKey] = set()

    def printed(self, key: ArmKey, result: JobResult) -> None:
        self.ran.add(key)
        self._store.keep_arm(key, result, self._quota)


@dataclass(frozen=True)
class _Emptied:
    """A cache that knows no result and takes everything. Chance decides anew, or as it did where asked."""

    cache: EvidenceFileCache
    same_draw: bool

    def read(self) -> Evidence | None:
        return None

    def draw(self) -> Draw | None:
        return self.cache.last_draw() if self.same_draw else None

    def begin(self, _tests: tuple[TestId, ...], _draw: Draw) -> UnkeptArms:
        return UnkeptArms()

    def keep(self, evidence: Evidence) -> None:
        self.cache.keep(evidence)


def regrade(
    catalog: Catalog,
    directory: Path,
    stage: str,
    judge: str | None,
    cached: bool,
    warn: Callable[[str], None],
    same_draw: bool = False,
    control: ControlRound | None = None,
) -> list[Regraded]:
    """Judge every finished trial of a run again.

    Args:
        catalog: Where the tasks lie.
        directory: The run's.
        stage: From which on: `manifest` and `rubric` use the arms that were kept, `mutation` runs all of them anew.
        judge: The judge's model; None: the run's own.
        cached: Whether a judge's earlier answers may be used.
        warn: Told what is no error.
        same_draw: Whether arms that run again are drawn as before.
        control: Which kills are run again alone; None: as the run says.

    Raises:
        UserError: The run or a task can't be read, the judge can't be asked, or an option doesn't fit the stage.
    """
    stores = list(find_trials(directory))
    if stage not in _ARMS:
        raise UserError(f"--stage {stage}: choose {', '.join(_ARMS)}")
    if same_draw and _ARMS[Stage(stage)] is not ArmsFrom.NEW:
        raise UserError("--same-draw is for arms that run again: give it with --stage mutation")
    if control and _ARMS[Stage(stage)] is ArmsFrom.KEPT:
        raise UserError("--control is for arms that run: give it with --stage mutation")
    run = read_run_file(directory)
    name = judge or run.config.judge
    models = Models(catalog)
    named = build_judge(catalog, models, name, run.config.judge_votes, cached) if name else None
    if warning := self_judging(models, name, [trial.model for store in stores if (trial := store.trial())]):
        warn(warning)
    chosen = control or run.config.control
    return run_to_end(_regrade(catalog, directory, run, Stage(stage), named, stores, same_draw, chosen))


async def _regrade(
    catalog: Catalog,
    directory: Path,
    run: RunFile,
    stage: Stage,
    judge: Judge | None,
    stores: list[TrialStore],
    same_draw: bool,
    control: ControlRound,
) -> list[Regraded]:
    outside = [config for config in run.configs if any(map(address_of, config.tasks))]
    tasks = {task.id: task for config in outside for task in chosen_tasks(catalog, config)}
    lock = RunStore(directory)
    try:
        spending = Spending(run.config.max_cost_usd, usage=lock.spent() if run.config.max_cost_usd else NO_USAGE)
        async with engine_session(run.config.sandbox, run.id, alone=True) as session:
            quota = ArmQuota(directory, run.config.arm_output_mb * 1_000_000)
            work = Regrading(
                lock, catalog, session, stage, judge, spending, run.config.protocol, tasks, quota, same_draw, control
            )
            return await side_by_side(stores, work.regrade, work.failed, run.config.jobs)
    finally:
        lock.close()


def still_open(regraded: Regraded) -> bool:
    """Return whether a trial has no verdict, or one that isn't scored."""
    return regraded.new is None or regraded.new.verdict is Verdict.UNSCORED
