"""One trial, top to bottom: image, sandbox, agent, submission, verdict."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from harness.agents.egress import with_egress
from harness.agents.native.equipment import equipped
from harness.agents.protocol import AgentContext, AgentResult
from harness.agents.registry import agent_context, build_agent
from harness.agents.supervision import supervise
from harness.agents.trajectory import Trajectory
from harness.llm.allowance import Allowance
from harness.llm.replay import ReplayModel
from harness.llm.spending import Spending
from harness.runs.agent_file import AgentFile
from harness.runs.evidence_file import Conditions
from harness.runs.judges import Judging
from harness.runs.mutants import keep_mutants, mutants_beside
from harness.runs.outcome import Phase, Stand
from harness.runs.plan import Trial
from harness.runs.run_context import RunContext, trial_labels
from harness.runs.standing import ArmCount, Tell, ToldBudget, tell_steps
from harness.runs.trial_store import TrialFile, TrialStore
from harness.runs.unread_work import SubmissionUnread
from harness.sandbox.images.record import image_record
from harness.sandbox.options import repo_options
from harness.sandbox.protocol import Engine, Image, Sandbox, StoringEngine
from harness.specs.errors import SandboxLost
from harness.submission.extraction import Submission, extract
from harness.tracks.grading import grade_by
from harness.verify.mutants.running import MutantOrder
from harness.verify.verdict import VerdictRecord

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
    now = Judging(trial.task, image.digest, engine.isolation, run.judge, run.protocol)
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
