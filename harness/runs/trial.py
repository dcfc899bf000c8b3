"""One trial, top to bottom: image, sandbox, agent, submission, verdict."""

import asyncio
import time

from harness.agents.registry import agent_context
from harness.judging.submission.extraction import MAX_PATCH_BYTES, extract
from harness.judging.submission.manifest import MAX_MANIFEST_BYTES
from harness.judging.verify.mutants.running import MutantOrder
from harness.judging.verify.verdict import VerdictRecord
from harness.judging.verify.verification import Judging
from harness.models.allowance import Allowance, Spending
from harness.models.replay import ReplayModel
from harness.runs.agent_work import agent_file, worked
from harness.runs.evidence_file import Conditions
from harness.runs.finished_work import AgentFile, SubmissionUnread
from harness.runs.judges import VerdictConditions, lost_to_silence, old_stays
from harness.runs.looks import take_looks, with_kept_notes
from harness.runs.mutants_file import keep_mutants, mutants_beside
from harness.runs.outcome import Phase, Stand
from harness.runs.plan import Trial
from harness.runs.run_context import RunContext, trial_labels
from harness.runs.trial_progress import ArmCount, StepCount, Tell, ToldBudget
from harness.runs.trial_store import TrialFile, TrialStore
from harness.sandbox.abilities import StoringEngine
from harness.sandbox.images.work_tree import image_record
from harness.sandbox.protocol import Image, Sandbox
from harness.specs.errors import JudgeUnavailable, SandboxLost
from harness.tracks.grading import grade_by

_UNREAD = "the agent's work is kept, but can't be read ({}); the next start reads it without paying the agent again"


class TrialRun:
    """One trial in one process: its image, its agent's work, its submission, its verdict."""

    def __init__(self, shared: RunContext, trial: Trial, store: TrialStore, tell: Tell) -> None:
        self._shared, self._trial, self._store, self._tell = shared, trial, store, tell
        self._session = shared.session
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
        isolation, shared = self._session.engine.isolation, self._shared
        now = VerdictConditions(
            self._trial.task, image.digest, isolation, shared.judge, shared.protocol, shared.control
        )
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
        shared, trial, store = self._shared, self._trial, self._store
        limits = trial.task.file.limits
        allowance = Allowance(
            limits, shared.budget, observer=StepCount(limits.steps if trial.model else 0, self._tell)
        )
        if trial.model:
            await allowance.spending.check()
        model, seat = None, shared.seat(trial)
        if trial.model and seat is None:
            model = shared.models.build(trial.model, allowance.failed)
        egress = await asyncio.to_thread(shared.egress, trial)  # asks this machine's package clients
        context = agent_context(trial.task, trial.scaffold, model, allowance, seat, egress)
        labels = {**self._session.labels, **self._labels}
        store.reserve(MAX_PATCH_BYTES, MAX_MANIFEST_BYTES + 1)
        started = time.monotonic()
        store.log("agent begins")
        try:
            async with worked(self._session.engine, image, context, labels, store.trajectory) as (sandbox, result):
                remarks = tuple(map(str, model.divergences)) if isinstance(model, ReplayModel) else ()
                identity = trial.identity(image.digest, self._session.engine.isolation)
                agent = agent_file(identity, result, time.monotonic() - started, remarks)
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
        shared, task, store = self._shared, self._trial.task, self._store
        started = time.monotonic()
        context = self._session.arm_context(task, image, ArmCount(store, shared.arm_quota, self._tell), self._labels)
        spending = Spending(within=ToldBudget(shared.budget, self._tell))
        try:
            submission = store.submission()
            cache = store.evidence_cache(Conditions.of(task, context, submission))
            if known := cache.ended_arms():
                store.log(f"{known} arms have run before; the others are run now")
            judging = Judging(task, context, shared.judge, spending, cache, control=shared.control)
            judged = await grade_by(shared.protocol, judging, submission)
        finally:
            store.add_judge_usage(spending.usage)
        await take_looks(shared.run.config.looks, store, task, submission, context)
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
        if count := shared.run.config.mutants:
            keep_mutants(store.directory, await mutants_beside(task, submission, context, MutantOrder(count)))
        return judged.first.record


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
