"""What a native agent's sandbox gets beside the task's own options: its toolbox, and the way to the gateway."""

from dataclasses import replace

from harness.agents.protocol import AgentContext
from harness.sandbox.protocol import Engine, Gateway, Network, SandboxOptions, ToolboxEngine
from harness.sandbox.toolboxes.recipe import PYTHON
from harness.specs.errors import UserError


async def equipped(options: SandboxOptions, engine: Engine, context: AgentContext) -> SandboxOptions:
    """`options` as they are for an agent that isn't native. Raises UserError, ImageUnavailable."""
    if context.gateway is None:
        return options
    if not isinstance(engine, ToolboxEngine) or not engine.capabilities.gateway:
        name = context.scaffold.name
        raise UserError(f"scaffold {name!r} is a native one, which sandbox {engine.name!r} can't run; use docker")
    toolbox = await engine.toolbox(context.scaffold)
    gateway = Gateway(context.gateway.socket, python=PYTHON)
    return replace(options, network=Network.GATEWAY, gateways=(gateway,), mounts=(*options.mounts, toolbox))
