"""One trial, top to bottom: image, sandbox, agent, submission, verdict."""

import asyncio
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from harness.agents.protocol import AgentContext, AgentResult
from harness.agents.registry import agent_context, build_agent
from harness.agents.supervision import supervise
from harness.agents.trajectory import Trajectory
from harness.llm.allowance import Allowance
from harness.llm.replay import ReplayModel
from harness.llm.spending import Spending
from harness.runs.evidence_file import Conditions
from harness.runs.judges import Judging
from harness.runs.plan import Trial
from harness.runs.run_context import RunContext, trial_labels
from harness.runs.trial_store import AgentFile, TrialFile, TrialStore
from harness.sandbox.images.record import image_record
from harness.sandbox.options import repo_options
from harness.sandbox.protocol import Engine, Image
from harness.specs.errors import SandboxLost
from harness.submission.extraction import Submission, extract
from harness.tracks.grading import grade_by
from harness.verify.verdict import VerdictRecord


async def run_trial(run: RunContext, trial: Trial, store: TrialStore) -> VerdictRecord:
    """Do what is missing of a trial and return its verdict.

    Raises InfrastructureError: try it again; BudgetExhausted: the run's money is spent, which ends it where it is.
    """
    engine = run.session.engine
    image = await engine.image(trial.task)
    store.begin(describe(trial, image.digest, engine.isolation))
    now = Judging(trial.task, image.digest, engine.isolation, run.judge, run.protocol)
    if (found := store.verdict()) and now.is_done(store):
        return found
    if record := image_record(image):
        store.note_image(record)
    if store.agent() is None:
        submission, agent = await _work(run, trial, image, store)
        store.keep_submission(submission, agent)
    return await _judge(run, trial, image, store)


async def _work(run: RunContext, trial: Trial, image: Image, store: TrialStore) -> tuple[Submission, AgentFile]:
    allowance = Allowance(trial.task.file.limits, run.budget)
    model = run.models.build(trial.model, allowance.failed) if trial.model else None
    if model:
        await allowance.spending.check()
    context = agent_context(trial.task, trial.scaffold, model, allowance)
    started = time.monotonic()
    store.log("agent begins")
    labels = {**run.session.labels, **trial_labels(trial)}
    result, submission = await let_work(run.session.engine, image, context, labels, store.trajectory)
    store.log(f"agent ended: {result.ending} {result.message}".rstrip())
    remarks = tuple(map(str, model.divergences)) if isinstance(model, ReplayModel) else ()
    identity = trial.identity(image.digest, run.session.engine.isolation)
    return submission, _agent_file(identity, result, submission, time.monotonic() - started, remarks)


async def let_work(
    engine: Engine, image: Image, context: AgentContext, labels: Mapping[str, str], trajectory: Path
) -> tuple[AgentResult, Submission]:
    """Let an agent work in a sandbox; what counts is what lies there once every process is dead."""
    agent = build_agent(context)
    sandbox = engine.sandbox(image, repo_options(context.task.repo), labels)
    try:
        await sandbox.start()
        with Trajectory(trajectory) as records:
            result = await supervise(agent, context, sandbox, records)
        await sandbox.kill()
        return result, await extract(sandbox, image)
    finally:
        await asyncio.shield(sandbox.remove())


async def _judge(run: RunContext, trial: Trial, image: Image, store: TrialStore) -> VerdictRecord:
    started = time.monotonic()
    keep = partial(store.keep_arm, quota=run.arm_quota)
    arm_context = run.session.arm_context(trial.task, image, keep, trial_labels(trial))
    spending = Spending(within=run.budget)
    try:
        submission = store.submission()
        cache = store.evidence_cache(Conditions.of(trial.task, arm_context, submission))
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


def _agent_file(
    identity: str, result: AgentResult, submission: Submission, seconds: float, remarks: tuple[str, ...]
) -> AgentFile:
    return AgentFile(
        identity=identity,
        ending=result.ending,
        message=result.message,
        steps=result.steps,
        usage=result.usage,
        seconds=round(seconds, 3),
        refusal=submission.refusal,
        remarks=remarks,
        counted_seconds=result.counted_seconds,
        model_seconds=result.model_seconds,
        waiting_seconds=result.waiting_seconds,
        failed_requests=result.failed_requests,
    )
