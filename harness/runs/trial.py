"""One trial, top to bottom: image, sandbox, agent, submission, verdict; and who hears how far it is."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from harness.agents.egress import with_egress
from harness.agents.native.agent import equipped
from harness.agents.protocol import AgentContext, AgentResult
from harness.agents.registry import agent_context, build_agent
from harness.agents.supervision import supervise
from harness.agents.trajectory import Trajectory
from harness.judging.submission.extraction import MAX_PATCH_BYTES, Submission, extract
from harness.judging.submission.manifest import MAX_MANIFEST_BYTES
from harness.judging.verify.arms import ArmContext, ArmObserver
from harness.judging.verify.mutants.candidates import removed_code
from harness.judging.verify.mutants.records import MutantsFile
from harness.judging.verify.mutants.running import MutantOrder, run_mutants
from harness.judging.verify.verdict import VerdictRecord
from harness.judging.verify.verification import Judging
from harness.models.allowance import Allowance, Budget, Spending, StepObserver
from harness.models.replay import ReplayModel
from harness.runs.evidence_file import ArmQuota, Conditions
from harness.runs.judges import VerdictConditions, lost_to_silence, old_stays
from harness.runs.looks import take_looks, with_kept_notes
from harness.runs.outcome import Phase, Stand
from harness.runs.plan import Trial
from harness.runs.records import AgentFile, SubmissionUnread, read_record, write_whole
from harness.runs.run_context import RunContext, trial_labels
from harness.runs.trial_store import TrialFile, TrialStore
from harness.sandbox.abilities import StoringEngine
from harness.sandbox.git_tree import GitTree
from harness.sandbox.images.work_tree import image_record
from harness.sandbox.options import ContainerRole
from harness.sandbox.protocol import Engine, Image, JobResult, Sandbox
from harness.specs.errors import JudgeUnavailable, SandboxLost
from harness.specs.task import Task
from harness.specs.usage import NO_USAGE, Usage
from harness.specs.variants import ArmKey
from harness.tracks.grading import grade_by
from harness.tracks.registry import track_of

MUTANTS_FILE = "mutants.json"


async def mutants_beside(task: Task, submission: Submission, context: ArmContext, order: MutantOrder) -> MutantsFile:
    """Return what became of a suite's mutants, or why there are none: what goes wrong here never touches the
    verdict.
    """
    try:
        return await run_mutants(task, submission, context, order)
    except Exception as error:  # whatever it is: the verdict is kept, and stays
        why = str(error) or type(error).__name__
        return MutantsFile(task=task.id, seed=order.seed, asked=order.count, candidates=0, why_none=why)


async def mutated_sources(task: Task, context: ArmContext) -> Mapping[str, bytes]:
    """Return the files that mutants are made of, as they are before. Raises UserError."""
    return (await removed_code(task, GitTree(context.image.tree))).texts


def keep_mutants(folder: Path, mutants: MutantsFile) -> None:
    """Write `mutants.json` beside the verdict."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / MUTANTS_FILE, mutants.model_dump_json(indent=2) + "\n")


def read_mutants(folder: Path) -> MutantsFile | None:
    """Return None where no mutation score was asked for."""
    return read_record(folder / MUTANTS_FILE, MutantsFile)


Tell = Callable[[Stand], None]
"""Hears how far a trial is."""


class StepCount(StepObserver):
    """An observer that tells of each step of an agent, which may take `most`."""

    def __init__(self, most: int, tell: Tell) -> None:
        self._most, self._tell = most, tell
        self.stepped(0, NO_USAGE)

    def stepped(self, steps: int, usage: Usage) -> None:
        self._tell(Stand(phase=Phase.AGENT, done=steps, most=self._most, usd=usage.cost_usd))


class ArmCount(ArmObserver):
    """An observer that counts arms as they end, tells of it, and keeps what they print."""

    def __init__(self, store: TrialStore, quota: ArmQuota, tell: Tell) -> None:
        self._store, self._quota, self._tell = store, quota, tell
        self._done = self._most = 0
        tell(Stand(phase=Phase.ARMS))

    def planned(self, arms: int) -> None:
        self._most += arms

    def printed(self, key: ArmKey, result: JobResult) -> None:
        self._store.keep_arm(key, result, quota=self._quota)
        self._done += 1
        # Tests that a crash has hid run again alone, which nobody plans.
        self._tell(Stand(phase=Phase.ARMS, done=self._done, most=max(self._most, self._done) if self._most else 0))


class ToldBudget:
    """See `Budget`. Tells of each call that a judge is paid for."""

    def __init__(self, budget: Budget, tell: Tell) -> None:
        self._budget = budget
        self._tell = tell
        self._calls = 0
        self._usage = NO_USAGE

    async def check(self) -> None:
        await self._budget.check()

    async def charge(self, usage: Usage) -> None:
        await self._budget.charge(usage)
        self._calls += 1
        self._usage += usage
        self._tell(Stand(phase=Phase.JUDGE, done=self._calls, usd=self._usage.cost_usd))


_UNREAD = "the agent's work is kept, but can't be read ({}); the next start reads it without paying the agent again"


class TrialRun:
    """One trial in one process: its image, its agent's work, its submission, its verdict."""

    def __init__(self, run: RunContext, trial: Trial, store: TrialStore, tell: Tell) -> None:
        self._run, self._trial, self._store, self._tell = run, trial, store, tell
        self._session = run.session
        self._labels = trial_labels(trial)

    async def run(self) -> VerdictRecord:
        """Do what is missing of the trial and return its verdict.

        Raises:
            InfrastructureError: Another try can help.
            BudgetExhausted: The run's money is spent, which ends the trial where it is.
            JudgeUnavailable: The judge told nothing, and the verdict of an earlier start stays.
        """
        engine, store = self._session.engine, self._store
        self._tell(Stand(phase=Phase.IMAGE))
        image = await engine.image(self._trial.task)
        try:
            store.begin(describe(self._trial, image.digest, engine.isolation))
            if found := self._final_verdict(image):
                return found
            if record := image_record(image):
                store.note_image(record)
            if store.agent() is None and not await self._submit_unread(image):
                await self._work(image)
            return await self._judge(image)
        finally:
            if isinstance(engine, StoringEngine):
                engine.release(image)

    def _final_verdict(self, image: Image) -> VerdictRecord | None:
        """Return the verdict that an earlier start has reached under the same conditions."""
        isolation, run = self._session.engine.isolation, self._run
        now = VerdictConditions(self._trial.task, image.digest, isolation, run.judge, run.protocol, run.control)
        found = self._store.verdict()
        return found if found and now.is_done(self._store) else None

    async def _submit_unread(self, image: Image) -> bool:
        """Make a submission of what an earlier start had to leave unread; return whether there was anything."""
        work = self._store.unread_work(image.workdir)
        agent = work.agent()
        if agent is None:
            return False
        try:
            submission = await extract(work, image)
        except Exception as error:
            raise SubmissionUnread(_UNREAD.format(error)) from error
        self._store.keep_submission(submission, agent)
        work.remove()
        return True

    async def _work(self, image: Image) -> None:
        """Have the agent work, and keep its submission."""
        run, trial, store = self._run, self._trial, self._store
        limits = trial.task.file.limits
        allowance = Allowance(limits, run.budget, observer=StepCount(limits.steps if trial.model else 0, self._tell))
        if trial.model:
            await allowance.spending.check()
        model, seat = None, run.seat(trial)
        if trial.model and seat is None:
            model = run.models.build(trial.model, allowance.failed)
        egress = await asyncio.to_thread(run.egress, trial)  # asks this machine's package clients
        context = agent_context(trial.task, trial.scaffold, model, allowance, seat, egress)
        labels = {**self._session.labels, **self._labels}
        store.reserve(MAX_PATCH_BYTES, MAX_MANIFEST_BYTES + 1)
        started = time.monotonic()
        store.log("agent begins")
        try:
            async with worked(self._session.engine, image, context, labels, store.trajectory) as (sandbox, result):
                remarks = tuple(map(str, model.divergences)) if isinstance(model, ReplayModel) else ()
                identity = trial.identity(image.digest, self._session.engine.isolation)
                agent = _agent_file(identity, result, time.monotonic() - started, remarks)
                try:
                    await self._submit(sandbox, image, agent)
                finally:  # first the submission: on a full disk there is room for nothing else
                    store.log(f"agent ended: {result.ending} {result.message}".rstrip())
        finally:
            store.give_back()

    async def _submit(self, sandbox: Sandbox, image: Image, agent: AgentFile) -> None:
        """Read the submission out of a killed sandbox; what can't be read is kept whole for the next start."""
        try:
            submission = await extract(sandbox, image)
        except SandboxLost:
            raise
        except Exception as error:
            await self._store.unread_work(image.workdir).keep(sandbox, agent)
            raise SubmissionUnread(_UNREAD.format(error)) from error
        self._store.keep_submission(submission, agent)

    async def _judge(self, image: Image) -> VerdictRecord:
        """Judge the submission that lies in the store, and keep verdict and costs."""
        run, task, store = self._run, self._trial.task, self._store
        started = time.monotonic()
        context = self._session.arm_context(task, image, ArmCount(store, run.arm_quota, self._tell), self._labels)
        spending = Spending(within=ToldBudget(run.budget, self._tell))
        try:
            submission = store.submission()
            cache = store.evidence_cache(Conditions.of(task, context, submission))
            if known := cache.ended_arms():
                store.log(f"{known} arms have run before; the others are run now")
            judging = Judging(task, context, run.judge, spending, cache, control=run.control)
            judged = await grade_by(run.protocol, judging, submission)
        finally:
            store.add_judge_usage(spending.usage)
        await take_looks(run.run.config.looks, store, task, submission, context)
        judged = with_kept_notes(store, submission, judged)
        if silence := lost_to_silence(store.verdict(), judged.first):
            raise JudgeUnavailable(old_stays(silence))
        agent = store.agent()
        if agent is None:
            raise SandboxLost(f"{store.directory}: agent.json is gone")
        seconds = {
            "agent_seconds": agent.seconds,
            "verify_seconds": round(time.monotonic() - started, 3),
            "arm_seconds": round(judged.first.arm_seconds, 3),
            "test_seconds": round(judged.first.test_seconds, 3),
        }
        store.keep_usage(store.usage().model_copy(update=seconds))
        store.keep_judgements(judged)
        store.log(f"verdict: {judged.first.record.verdict}")
        if count := run.run.config.mutants:
            keep_mutants(store.directory, await mutants_beside(task, submission, context, MutantOrder(count)))
        return judged.first.record


@asynccontextmanager
async def worked(
    engine: Engine, image: Image, context: AgentContext, labels: Mapping[str, str], trajectory: Path
) -> AsyncIterator[tuple[Sandbox, AgentResult]]:
    """Let an agent work in a sandbox; inside, every process of it is dead and what lies there can be read.

    Raises:
        InfrastructureError: The sandbox or the agent's model was lost.
    """
    agent = build_agent(context)
    asked = track_of(context.task).options(context.task, ContainerRole.AGENT)
    options = await equipped(asked, engine, context)
    async with with_egress(agent, options, engine, context) as (agent, options):
        sandbox = engine.sandbox(image, options, labels)
        try:
            await sandbox.start()
            with Trajectory(trajectory) as records:
                result = await supervise(agent, context, sandbox, records)
            await sandbox.kill()
            yield sandbox, result
        finally:
            await asyncio.shield(sandbox.remove())


async def let_work(
    engine: Engine, image: Image, context: AgentContext, labels: Mapping[str, str], trajectory: Path
) -> tuple[AgentResult, Submission]:
    """Let an agent work in a sandbox.

    Args:
        engine: Makes the sandbox.
        image: Where it starts from.
        context: What the agent is made of.
        labels: Of the container.
        trajectory: The file to record in; it must not be there yet.

    Returns:
        How the agent ended, and the submission that it left there.
    """
    async with worked(engine, image, context, labels, trajectory) as (sandbox, result):
        return result, await extract(sandbox, image)


def describe(trial: Trial, image_digest: str, isolation: str) -> TrialFile:
    """Return `trial.json`'s content for an attempt on an image."""
    return TrialFile(
        identity=trial.identity(image_digest, isolation),
        task=trial.task.id,
        scaffold=trial.scaffold.name,
        model=trial.model,
        attempt=trial.attempt,
        isolation=isolation,
    )


def _agent_file(identity: str, result: AgentResult, seconds: float, remarks: tuple[str, ...]) -> AgentFile:
    return AgentFile(
        identity=identity,
        ending=result.ending,
        message=result.message,
        steps=result.steps,
        usage=result.usage,
        seconds=round(seconds, 3),
        remarks=remarks,
        counted_seconds=result.counted_seconds,
        model_seconds=result.model_seconds,
        waiting_seconds=result.waiting_seconds,
        failed_requests=result.failed_requests,
        format_errors=result.format_errors,
    )
