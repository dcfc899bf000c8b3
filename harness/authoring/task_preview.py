"""`testwright task preview`: what an agent is told, and its sandbox, command by command."""

import asyncio
from collections.abc import Callable
from uuid import uuid4

from harness.agents.mini import Mini
from harness.agents.registry import agent_context
from harness.models.replay import ScriptedModel
from harness.runs.concurrency import run_to_end
from harness.runs.engine_session import engine_session
from harness.sandbox.options import repo_options
from harness.specs.catalog import Catalog
from harness.specs.task import Task

_SECONDS = 600


def preview(catalog: Catalog, name: str, ask: Callable[[], str | None], show: Callable[[str], None]) -> None:
    """Show what `mini` is told; then run commands as an agent's.

    Args:
        catalog: Where the task lies.
        name: The task's.
        ask: Gives a command; None: there is none left.
        show: Prints.

    Raises:
        UserError: The task can't be read.
        ImageUnavailable: Its image can't be made.
        SandboxLost: The container is gone.
    """
    run_to_end(_preview(catalog, catalog.task(name), ask, show))


async def _preview(catalog: Catalog, task: Task, ask: Callable[[], str | None], show: Callable[[str], None]) -> None:
    agent = Mini(agent_context(task, catalog.scaffold("mini"), ScriptedModel([])))
    for message in agent.prompts():
        show(message.content)
    async with engine_session("docker", uuid4().hex) as session:
        image = await session.engine.image(task)
        sandbox = session.engine.sandbox(image, repo_options(task.repo), session.labels)
        try:
            await sandbox.start()
            while (command := await asyncio.to_thread(ask)) is not None:
                done = await sandbox.run(command, _SECONDS)
                show(done.output.decode(errors="replace").rstrip("\n"))
                if done.exit_status:
                    show(f"[status {done.exit_status}]")
        finally:
            await asyncio.shield(sandbox.remove())
