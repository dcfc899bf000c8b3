"""How much a container has written to its own layer."""

import asyncio
import os
from collections.abc import Awaitable, Callable

from harness.sandbox.disk_watch import tree_bytes
from harness.sandbox.docker.client import Docker


async def layer_meter(docker: Docker, container: str, limit_mb: int) -> Callable[[], Awaitable[int]]:
    """Measures the layer on this machine where we may read it (root, on Linux), else asks the engine.

    The engine counts a sparse file at its full length and empty files not at all.
    """
    facts = await docker.call(docker.api.inspect_container, container)
    upper = ((facts.get("GraphDriver") or {}).get("Data") or {}).get("UpperDir") or ""

    async def look() -> int:
        return await asyncio.to_thread(tree_bytes, upper, limit_mb << 20)

    async def ask() -> int:
        found = await docker.call(docker.api.containers, all=True, size=True, filters={"id": container})
        return int(found[0].get("SizeRw") or 0) if found else 0

    return look if upper and os.access(upper, os.R_OK | os.X_OK) else ask
