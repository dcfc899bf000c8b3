"""Podman's differences from Docker.

Its answers in Docker's form say that it can limit all, also where it drops what is asked for.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import docker
import docker.errors
import requests

MEMORY, PIDS, CPU = "memory", "pids", "cpu"
_INFO = "/v4.0.0/libpod/info"


class Limiting(NamedTuple):
    """Limits that an engine can set for a container, and whether it sets those of processes.

    A user's own service of Podman has few control groups (with cgroup v1 none), and drops those limits.
    """

    groups: frozenset[str] = frozenset({MEMORY, PIDS, CPU})
    processes: bool = True

    @classmethod
    def of_docker(cls, facts: Mapping[str, Any]) -> "Limiting":
        """Return the limits of a Docker by its own facts: a kernel may have been built without some."""
        told = {MEMORY: "MemoryLimit", PIDS: "PidsLimit", CPU: "CpuCfsQuota"}
        return cls(frozenset(group for group, name in told.items() if facts.get(name, True)))


def limiting(api: docker.APIClient) -> Limiting:
    """Return the limits of a Podman; all where it doesn't tell. Raises requests.RequestException."""
    answer = api.get(api.base_url + _INFO, timeout=api.timeout)
    try:
        answer.raise_for_status()
        host = answer.json()["host"]
        groups, is_rootless = host["cgroupControllers"], bool(host["security"]["rootless"])
    except (requests.HTTPError, ValueError, KeyError, TypeError):
        return Limiting()
    return Limiting(Limiting().groups.intersection(groups or ()), not is_rootless)
