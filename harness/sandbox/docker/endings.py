"""Why a container has ended, by the engine's own list of what has happened."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from harness.sandbox.docker.client import Docker

_KILL, _DIE = "kill", "die"


async def ended_by_itself(docker: Docker, container: str, state: Mapping[str, Any]) -> bool:
    """Return whether the engine saw a container end that nobody had asked it to end.

    An engine keeps its last 256 events. Where it has forgotten the container's end, was away then, or is one that
    tells it otherwise (Podman), the answer is no: anything may have ended it.

    Args:
        docker: The engine.
        container: Its id.
        state: Its state, as the engine tells it: ended.

    Raises:
        SandboxLost: The engine doesn't answer.
    """
    since, until = _second(state, "StartedAt"), _second(state, "FinishedAt") + 2
    seen = await docker.call(_events, docker, container, since, until)
    return _DIE in seen and _KILL not in seen


def _events(docker: Docker, container: str, since: int, until: int) -> set[str]:
    """Return what the engine remembers of a container, in so many seconds since 1970. Waits until these are over."""
    filters = {"container": container, "event": [_KILL, _DIE]}
    return {str(event["Action"]) for event in docker.api.events(since, until, filters, decode=True)}


def _second(state: Mapping[str, Any], name: str) -> int:
    return int(datetime.fromisoformat(str(state[name])).timestamp())
