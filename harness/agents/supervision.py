"""Runs an agent under its allowance, from outside: its limits hold whatever the agent does."""

import asyncio
from collections.abc import Coroutine
from dataclasses import asdict, replace
from typing import Any

from harness.agents.protocol import Agent, AgentContext, AgentResult, Finish
from harness.agents.trajectory import Ending, EndRecord, FaultRecord, HeaderRecord, Trajectory
from harness.models.allowance import Allowance, AllowanceExhausted, Limit
from harness.sandbox.protocol import LimitReached, MadeUnusable, Sandbox
from harness.specs.errors import ProviderError, ProviderFault

GRACE_SECONDS = 10.0
"""An agent that asks what time is left ends by itself; one that is this much over its time is cancelled."""
_POLL_SECONDS = 1.0


async def supervise(
    agent: Agent, context: AgentContext, sandbox: Sandbox, trajectory: Trajectory, grace: float = GRACE_SECONDS
) -> AgentResult:
    """Let an agent work until it submits or a limit ends it; what lies in the sandbox then is the submission.

    Args:
        agent: Made by the scaffold's `AgentClass`.
        context: What it was made of; its allowance is checked every second.
        sandbox: Started.
        trajectory: Gets its first and last record here, and one for each request to a provider that failed.
        grace: Seconds for which the agent may go on after its time.

    Returns:
        How it ended. Where the disk takes no last record, its message says so.

    Raises:
        ProviderError: The provider failed for good; there is no submission, and no last record.
        SandboxLost: As above, for the sandbox.
        BudgetExhausted: As above, for the run's money.
    """
    allowance = context.allowance
    allowance.begin()
    trajectory.add(_header(context))
    with allowance.observed_by(lambda failed: trajectory.add(FaultRecord.of(allowance.steps, failed))):
        finish = await _finish(agent.work(sandbox, trajectory), allowance, grace)
    result = AgentResult(
        ending=finish.ending,
        steps=allowance.steps,
        usage=allowance.spending.usage,
        message=finish.message,
        counted_seconds=round(allowance.counted_seconds, 3),
        model_seconds=round(allowance.model_seconds, 3),
        waiting_seconds=round(allowance.waiting_seconds, 3),
        failed_requests=allowance.failed_requests,
        format_errors=trajectory.format_errors,
    )
    trajectory.conclude(EndRecord(counted_usd=allowance.spending.known_usd, **asdict(result)))
    if trajectory.cut:
        lacks = f"{trajectory.path.name} lacks its end: {trajectory.cut.strerror}"
        return replace(result, message="; ".join(filter(None, (result.message, lacks))))
    return result


async def _finish(work: Coroutine[Any, Any, Finish], allowance: Allowance, grace: float) -> Finish:
    """Return how the work ends, by the agent or by a limit."""
    try:
        return await _until_overdue(work, allowance, grace)
    except AllowanceExhausted as error:
        return Finish(Ending.by_limit(error.limit), str(error))
    except LimitReached as error:
        return Finish(Ending.by_limit(error.limit), str(error))
    except MadeUnusable as error:
        return Finish(Ending.SANDBOX_UNUSABLE, str(error))
    except ProviderError as error:
        # A conversation that has grown too long is the agent's own end; other faults are nobody's.
        if error.fault is not ProviderFault.CONTEXT:
            raise
        return Finish(Ending.CONTEXT_LIMIT, str(error))


async def _until_overdue(work: Coroutine[Any, Any, Finish], allowance: Allowance, grace: float) -> Finish:
    """Return the agent's end, raising AllowanceExhausted where it goes on for longer than its time and `grace`."""
    task = asyncio.ensure_future(work)
    try:
        while True:
            allowance.beat()
            left = allowance.limits.wall_seconds + grace - allowance.counted_seconds
            if left <= 0 and not allowance.is_waiting:
                raise AllowanceExhausted(Limit.WALL, f"cancelled after {allowance.limits.wall_seconds} seconds")
            await asyncio.wait({task}, timeout=_POLL_SECONDS)
            if task.done():
                return task.result()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _header(context: AgentContext) -> HeaderRecord:
    return HeaderRecord(
        scaffold=context.scaffold.name,
        scaffold_version=context.scaffold.version,
        model=context.model_name,
        task=context.task.id,
        limits=context.task.file.limits,
    )
