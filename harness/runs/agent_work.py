"""An agent at work in a sandbox."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from harness.agents.egress import with_egress
from harness.agents.native.agent import equipped
from harness.agents.protocol import AgentContext, AgentResult
from harness.agents.registry import build_agent
from harness.agents.supervision import supervise
from harness.agents.trajectory import Trajectory
from harness.judging.submission.extraction import Submission, extract
from harness.runs.finished_work import AgentFile
from harness.sandbox.options import ContainerRole
from harness.sandbox.protocol import Engine, Image, Sandbox
from harness.tracks.registry import track_of


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
    async with (
        equipped(asked, engine, context) as equipment,
        with_egress(agent, equipment, engine, context) as (agent, options),
    ):
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


def agent_file(identity: str, result: AgentResult, seconds: float, remarks: tuple[str, ...]) -> AgentFile:
    """Return `agent.json` for the end of an agent's work, which took so many seconds of wall time."""
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
