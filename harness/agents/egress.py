"""An agent whose commands reach package registries: the proxy beside it, its sandbox's settings, its record."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import NamedTuple

from harness.agents.protocol import Agent, AgentContext, Finish
from harness.agents.trajectory import EgressRecord, RefusedContact, Trajectory
from harness.sandbox.abilities import ToolboxEngine
from harness.sandbox.egress.clients import CERTIFICATES, EGRESS_PORT
from harness.sandbox.egress.proxy import EgressProxy, serve_egress
from harness.sandbox.protocol import Engine, Gateway, Network, Sandbox, SandboxOptions
from harness.sandbox.toolboxes.recipe import PYTHON, TOOLBOX
from harness.specs.errors import UserError
from harness.specs.task import Task


class Connected(NamedTuple):
    """An agent, and what its sandbox gets."""

    agent: Agent
    options: SandboxOptions


class ConnectedAgent:
    """An agent with a way to package registries. What it connected to is recorded however it ends."""

    def __init__(self, agent: Agent, proxy: EgressProxy) -> None:
        self._agent = agent
        self._proxy = proxy

    async def work(self, sandbox: Sandbox, trajectory: Trajectory) -> Finish:
        try:
            if self._proxy.egress.certificates:
                await sandbox.write(CERTIFICATES, self._proxy.egress.certificates)
            return await self._agent.work(sandbox, trajectory)
        finally:
            trajectory.conclude(egress_record(self._proxy))


@asynccontextmanager
async def with_egress(
    agent: Agent, options: SandboxOptions, engine: Engine, context: AgentContext
) -> AsyncIterator[Connected]:
    """Provide the agent and its sandbox's options with the way to package registries that the context allows.

    Both are as they were where it allows none.

    Raises:
        UserError: The engine has no way out.
        ImageUnavailable: The proxy's toolbox can't be made.
    """
    if context.egress is None:
        yield Connected(agent, options)
        return
    check_egress(engine, context.task)
    options, python = await _with_python(options, engine, context)
    async with serve_egress(context.egress) as proxy:
        gateways = (*options.gateways, Gateway(proxy.socket, EGRESS_PORT, python))
        environment = {**options.env, **context.egress.environment}
        options = replace(options, network=Network.GATEWAY, gateways=gateways, env=environment)
        yield Connected(ConnectedAgent(agent, proxy), options)


def check_egress(engine: Engine, task: Task) -> None:
    """Check that an engine has a way out, if the task's agents may reach package registries.

    Raises:
        UserError: It has none.
    """
    if task.registries and not engine.capabilities.gateway:
        raise UserError(
            f"task {task.id!r} lets agents reach package registries, and sandbox {engine.name!r} "
            f"({engine.isolation}) has no way there; use docker"
        )


def egress_record(proxy: EgressProxy) -> EgressRecord:
    """Return the record of what an agent's commands reached through the proxy."""

    def those(outcome: str) -> dict[str, int]:
        found = {f"{it.host}:{it.port}": count for it, count in proxy.contacts.items() if it.outcome == outcome}
        return dict(sorted(found.items()))

    refused = [
        RefusedContact(host=it.host, port=it.port, why=it.outcome, count=count)
        for it, count in sorted(proxy.contacts.items())
        if it.outcome not in ("open", "failed")
    ]
    return EgressRecord(
        allowed=tuple(sorted(f"{it.host}:{it.port}" for it in proxy.egress.endpoints)),
        opened=those("open"),
        failed=those("failed"),
        refused=tuple(refused),
    )


async def _with_python(options: SandboxOptions, engine: Engine, context: AgentContext) -> tuple[SandboxOptions, str]:
    """Return a toolbox's Python that runs the forwarder: an image may have none or an old one."""
    if not isinstance(engine, ToolboxEngine):
        return options, "python3"
    if not any(mount.target == TOOLBOX for mount in options.mounts):
        toolbox = await engine.toolbox(context.scaffold)
        options = replace(options, mounts=(*options.mounts, toolbox))
    return options, PYTHON
