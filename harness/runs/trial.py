"""One trial, top to bottom: image, sandbox, agent, submission, verdict.

A mutation score beside a verdict, on request, in a file of its own: no verdict reads it.

Tells how far a trial at work is: steps of its agent, arms, calls of its judge.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from harness.agents.egress import with_egress
from harness.agents.native.agent import equipped
from harness.agents.protocol import AgentContext, AgentResult
from harness.agents.registry import agent_context, build_agent
from harness.agents.supervision import supervise
from harness.agents.trajectory import Trajectory
from harness.judging.submission.extraction import Submission, extract
from harness.judging.verify.arms import ArmContext
from harness.judging.verify.mutants.candidates import removed_code
from harness.judging.verify.mutants.records import MutantsFile
from harness.judging.verify.mutants.running import MutantOrder, run_mutants
from harness.judging.verify.verdict import VerdictRecord
from harness.models.allowance import Allowance, Budget, Spending
from harness.models.replay import ReplayModel
from harness.runs.evidence_file import Conditions
from harness.runs.judges import VerdictConditions
from harness.runs.outcome import Phase, Stand
from harness.runs.plan import Trial
from harness.runs.records import AgentFile, SubmissionUnread, read_record, write_whole
from harness.runs.run_context import RunContext, trial_labels
from harness.runs.trial_store import TrialFile, TrialStore
from harness.sandbox.git_tree import GitTree
from harness.sandbox.images.work_tree import image_record
from harness.sandbox.options import repo_options
from harness.sandbox.protocol import Engine, Image, JobResult, Sandbox, StoringEngine
from harness.specs.errors import SandboxLost
from harness.specs.task import Task
from harness.specs.usage import NO_USAGE, Usage
from harness.specs.variants import ArmKey
from harness.tracks.grading import grade_by

MUTANTS_FILE = "mutants.json"


async def mutants_beside(task: Task, submission: Submission, context: ArmContext, order: MutantOrder) -> MutantsFile:
    """What became of a suite's mutants, or why there are none: what goes wrong here never touches the verdict."""
    try:
        return await run_mutants(task, submission, context, order)
    except Exception as error:  # whatever it is: the verdict is kept, and stays
        why = str(error) or type(error).__name__
        return MutantsFile(task=task.id, seed=order.seed, asked=order.count, candidates=0, why_none=why)


async def mutated_sources(task: Task, context: ArmContext) -> Mapping[str, bytes]:
    """The files that mutants are made of, as they are before. Raises UserError."""
    return (await removed_code(task, GitTree(context.image.tree))).texts


def keep_mutants(folder: Path, mutants: MutantsFile) -> None:
    """`mutants.json`, beside the verdict."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / MUTANTS_FILE, mutants.model_dump_json(indent=2) + "\n")


def read_mutants(folder: Path) -> MutantsFile | None:
    """None where no mutation score was asked for."""
    return read_record(folder / MUTANTS_FILE, MutantsFile)


Tell = Callable[[Stand], None]


def tell_steps(allowance: Allowance, most: int, tell: Tell) -> None:
    """Tell of each step of an agent, which may take `most`."""

    def stepped() -> None:
        tell(Stand(phase=Phase.AGENT, done=allowance.steps, most=most, usd=allowance.spending.usage.cost_usd))

    allowance.stepped = stepped
    stepped()


class ArmCount:
    """Counts arms as they end. `plan` may be told of more as they turn out to be needed."""

    def __init__(self, keep: Callable[[ArmKey, JobResult], None], tell: Tell) -> None:
        self._keep = keep
        self._tell = tell
        self._done = self._most = 0
        tell(Stand(phase=Phase.ARMS))

    def plan(self, arms: int) -> None:
        self._most += arms

    def keep(self, key: ArmKey, result: JobResult) -> None:
        self._keep(key, result)
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


T = TypeVar("T")


async def run_trial(run: RunContext, trial: Trial, store: TrialStore, tell: Tell) -> VerdictRecord:
    """Do what is missing of a trial and return its verdict. `tell` hears how far it is.

    Raises InfrastructureError: try it again; BudgetExhausted: the run's money is spent, which ends it where it is.
    """
    engine = run.session.engine
    tell(Stand(phase=Phase.IMAGE))
    image = await engine.image(trial.task)
    try:
        return await _on_image(run, trial, image, store, tell)
    finally:
        if isinstance(engine, StoringEngine):
            engine.release(image)


async def _on_image(run: RunContext, trial: Trial, image: Image, store: TrialStore, tell: Tell) -> VerdictRecord:
    engine = run.session.engine
    store.begin(describe(trial, image.digest, engine.isolation))
    now = VerdictConditions(trial.task, image.digest, engine.isolation, run.judge, run.protocol)
    if (found := store.verdict()) and now.is_done(store):
        return found
    if record := image_record(image):
        store.note_image(record)
    if store.agent() is None and store.unread_work(image.workdir).agent():
        await _read_again(image, store)
    elif store.agent() is None:
        await _work(run, trial, image, store, tell)
    return await _judge(run, trial, image, store, tell)


async def _work(run: RunContext, trial: Trial, image: Image, store: TrialStore, tell: Tell) -> None:
    """Have the agent work, and keep its submission."""
    limits = trial.task.file.limits
    allowance = Allowance(limits, run.budget)
    tell_steps(allowance, limits.steps if trial.model else 0, tell)
    if trial.model:
        await allowance.spending.check()
    model, seat = None, run.seat(trial)
    if trial.model and seat is None:
        model = run.models.build(trial.model, allowance.failed)
    egress = await asyncio.to_thread(run.egress, trial)  # asks this machine's package clients
    context = agent_context(trial.task, trial.scaffold, model, allowance, seat, egress)
    started = time.monotonic()
    store.log("agent begins")

    async def hand_in(sandbox: Sandbox, result: AgentResult) -> None:
        store.log(f"agent ended: {result.ending} {result.message}".rstrip())
        remarks = tuple(map(str, model.divergences)) if isinstance(model, ReplayModel) else ()
        identity = trial.identity(image.digest, run.session.engine.isolation)
        agent = _agent_file(identity, result, time.monotonic() - started, remarks)
        try:
            submission = await extract(sandbox, image)
        except SandboxLost:
            raise
        except Exception as error:
            await store.unread_work(image.workdir).keep(sandbox, agent)
            raise SubmissionUnread(_UNREAD.format(error)) from error
        store.keep_submission(submission, agent)

    labels = {**run.session.labels, **trial_labels(trial)}
    await work_in_sandbox(run.session.engine, image, context, labels, store.trajectory, hand_in)


async def _read_again(image: Image, store: TrialStore) -> None:
    """Make a submission of what an earlier start had to leave unread."""
    work = store.unread_work(image.workdir)
    agent = work.agent()
    assert agent is not None  # that is why we are here
    try:
        submission = await extract(work, image)
    except Exception as error:
        raise SubmissionUnread(_UNREAD.format(error)) from error
    store.keep_submission(submission, agent)
    work.remove()


_UNREAD = "the agent's work is kept, but can't be read ({}); the next start reads it without paying the agent again"


async def work_in_sandbox(
    engine: Engine,
    image: Image,
    context: AgentContext,
    labels: Mapping[str, str],
    trajectory: Path,
    hand_in: Callable[[Sandbox, AgentResult], Awaitable[T]],
) -> T:
    """Let an agent work in a sandbox; `hand_in` reads what lies there once every process is dead."""
    agent = build_agent(context)
    options = await equipped(repo_options(context.task.repo), engine, context)
    async with with_egress(agent, options, engine, context) as (agent, options):
        sandbox = engine.sandbox(image, options, labels)
        try:
            await sandbox.start()
            with Trajectory(trajectory) as records:
                result = await supervise(agent, context, sandbox, records)
            await sandbox.kill()
            return await hand_in(sandbox, result)
        finally:
            await asyncio.shield(sandbox.remove())


async def let_work(
    engine: Engine, image: Image, context: AgentContext, labels: Mapping[str, str], trajectory: Path
) -> tuple[AgentResult, Submission]:
    """How an agent ended in a sandbox, and the submission that it left there."""

    async def hand_in(sandbox: Sandbox, result: AgentResult) -> tuple[AgentResult, Submission]:
        return result, await extract(sandbox, image)

    return await work_in_sandbox(engine, image, context, labels, trajectory, hand_in)


async def _judge(run: RunContext, trial: Trial, image: Image, store: TrialStore, tell: Tell) -> VerdictRecord:
    started = time.monotonic()
    arms = ArmCount(partial(store.keep_arm, quota=run.arm_quota), tell)
    arm_context = run.session.arm_context(trial.task, image, arms.keep, trial_labels(trial))
    arm_context = replace(arm_context, planned=arms.plan)
    spending = Spending(within=ToldBudget(run.budget, tell))
    try:
        submission = store.submission()
        cache = store.evidence_cache(Conditions.of(trial.task, arm_context, submission))
        if known := cache.ended_arms():
            store.log(f"{known} arms have run before; the others are run now")
        judged = await grade_by(run.protocol, trial.task, submission, arm_context, run.judge, spending, cache)
    finally:
        store.add_judge_usage(spending.usage)
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
        keep_mutants(store.directory, await mutants_beside(trial.task, submission, arm_context, MutantOrder(count)))
    return judged.first.record


def describe(trial: Trial, image_digest: str, isolation: str) -> TrialFile:
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
