"""One trial, top to bottom: image, sandbox, agent, submission, verdict."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.agents.protocol import AgentContext, AgentResult
from harness.agents.registry import agent_context, build_agent
from harness.agents.supervision import supervise
from harness.agents.trajectory import Trajectory
from harness.llm.allowance import Allowance
from harness.llm.build import Models
from harness.llm.replay import ReplayModel
from harness.llm.spending import Spending
from harness.runs.evidence_file import Conditions
from harness.runs.judges import is_judged
from harness.runs.plan import Trial
from harness.runs.trial_store import AgentFile, TrialFile, TrialStore
from harness.sandbox.images.record import image_record
from harness.sandbox.options import repo_options
from harness.sandbox.protocol import Engine, Image
from harness.specs.errors import ImageUnavailable, InfrastructureError, ProviderError, SandboxLost
from harness.specs.protocol import JudgingProtocol
from harness.specs.reasons import ReasonCode
from harness.submission.extraction import Submission, extract
from harness.verify.arms import Bench
from harness.verify.judge.judge import Judge
from harness.verify.protocols import verify_by
from harness.verify.verdict import VerdictRecord


@dataclass(frozen=True)
class Workshop:
    """What trials share: the engine, the slots for verification arms, the label of the run's containers, the models
    with their rate limits, and the run's money."""

    engine: Engine
    arm_slots: asyncio.Semaphore
    run_id: str
    models: Models
    spending: Spending
    judge: Judge | None = None
    protocol: JudgingProtocol = JudgingProtocol.TESTWRIGHT

    def labels(self, trial: Trial) -> dict[str, str]:
        return {"testwright.run": self.run_id, "testwright.trial": str(trial.place)}


async def run_trial(workshop: Workshop, trial: Trial, store: TrialStore) -> VerdictRecord:
    """Do what is missing of a trial and return its verdict.

    Raises InfrastructureError: try it again; BudgetExhausted: the run's money is spent, which ends it where it is.
    """
    image = await workshop.engine.image(trial.task)
    store.begin(describe(trial, image.digest, workshop.engine.isolation))
    if (found := store.verdict()) and is_judged(store, workshop.judge, workshop.protocol):
        return found
    if record := image_record(image):
        store.note_image(record)
    if store.agent() is None:
        submission, agent = await _work(workshop, trial, image, store)
        store.keep_submission(submission, agent)
    return await _judge(workshop, trial, image, store)


async def _work(workshop: Workshop, trial: Trial, image: Image, store: TrialStore) -> tuple[Submission, AgentFile]:
    allowance = Allowance(trial.task.file.limits, workshop.spending)
    model = workshop.models.build(trial.model, allowance.failed) if trial.model else None
    if model:
        allowance.spending.check()
    context = agent_context(trial.task, trial.scaffold, model, allowance)
    started = time.monotonic()
    store.log("agent begins")
    labels = workshop.labels(trial)
    result, submission = await let_work(workshop.engine, image, context, labels, store.trajectory)
    store.log(f"agent ended: {result.ending}")
    remarks = tuple(map(str, model.divergences)) if isinstance(model, ReplayModel) else ()
    return submission, _agent_file(result, submission, time.monotonic() - started, remarks)


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


async def _judge(workshop: Workshop, trial: Trial, image: Image, store: TrialStore) -> VerdictRecord:
    started = time.monotonic()
    bench = Bench(workshop.engine, image, workshop.arm_slots, workshop.labels(trial), store.keep_arm)
    earlier, judge = store.spent(), Spending(within=workshop.spending)
    try:
        submission = store.submission()
        shelf = store.shelf(Conditions.of(trial.task, bench, submission))
        judged = await verify_by(workshop.protocol, trial.task, submission, bench, workshop.judge, judge, shelf)
    finally:
        store.keep_usage(earlier.model_copy(update={"judge": earlier.judge + judge.usage}))
    agent = store.agent()
    if agent is None:
        raise SandboxLost(f"{store.directory}: agent.json is gone")
    seconds = {
        "agent_seconds": agent.seconds,
        "verify_seconds": round(time.monotonic() - started, 3),
        "arm_seconds": round(judged.first.arm_seconds, 3),
        "test_seconds": round(judged.first.test_seconds, 3),
    }
    store.keep_usage(store.spent().model_copy(update=seconds))
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


def _agent_file(result: AgentResult, submission: Submission, seconds: float, remarks: tuple[str, ...]) -> AgentFile:
    return AgentFile(
        ending=result.ending,
        message=result.message,
        steps=result.steps,
        usage=result.usage,
        seconds=round(seconds, 3),
        refusal=submission.refusal,
        remarks=remarks,
        agent_seconds=result.agent_seconds,
        model_seconds=result.model_seconds,
        waiting_seconds=result.waiting_seconds,
        failed_requests=result.failed_requests,
    )


def reason_code(error: InfrastructureError) -> ReasonCode:
    """What an infrastructure fault makes of a trial that can't be tried again."""
    codes: Mapping[type[InfrastructureError], ReasonCode] = {
        ImageUnavailable: ReasonCode.IMAGE_UNAVAILABLE,
        ProviderError: ReasonCode.PROVIDER_ERROR,
    }
    return next((code for kind, code in codes.items() if isinstance(error, kind)), ReasonCode.SANDBOX_LOST)
