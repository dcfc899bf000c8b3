"""How much a container has written to its own layer."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from harness.sandbox.disk_watch import tree_bytes
from harness.sandbox.docker.client import Docker


def layer_meter(docker: Docker, facts: Mapping[str, Any], limit_mb: int) -> Callable[[], Awaitable[int]]:
    """Measures a container's layer on this machine where we may read it (root, on Linux), else asks the engine.

    `facts` are what the engine tells of the container. It counts a sparse file at its full length and empty files not
    at all.
    """
    container = facts["Id"]
    upper = ((facts.get("GraphDriver") or {}).get("Data") or {}).get("UpperDir") or ""

    async def look() -> int:
        return await asyncio.to_thread(tree_bytes, upper, limit_mb << 20)

    async def ask() -> int:
        found = await docker.call(docker.api.containers, all=True, size=True, filters={"id": container})
        return int(found[0].get("SizeRw") or 0) if found else 0

    return look if upper and os.access(upper, os.R_OK | os.X_OK) else ask
