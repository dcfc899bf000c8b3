"""A real Ray cluster on this machine: a head that does no trials, and nodes that do and share one engine."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_QUICK_DEATH = {
    "health_check_failure_threshold": 4, "health_check_period_ms": 1000, "health_check_timeout_ms": 2000,
    "health_check_initial_delay_ms": 0,
}  # fmt: skip


@contextmanager
def cluster_here() -> Iterator[Any]:
    """Only the head; add nodes with `add_node`."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from ray.cluster_utils import Cluster

    options = {"include_dashboard": False, "_system_config": _QUICK_DEATH, "include_log_monitor": False}
    cluster = Cluster(initialize_head=True, head_node_args={**small(), **options})
    try:
        yield cluster
    finally:
        cluster.shutdown()


def add_node(cluster: Any, trials: int = 1, **options: Any) -> Any:
    """A node that takes so many trials at once."""
    return cluster.add_node(**small(), resources={"testwright": trials}, include_log_monitor=False, **options)


def kill_node(cluster: Any, node: Any) -> None:
    """As a machine's end does."""
    cluster.remove_node(node, allow_graceful=False)


def small() -> dict[str, Any]:
    # Ray takes 127.0.0.1 for whatever address the machine has beside it.
    return {"num_cpus": 0, "object_store_memory": 80_000_000, "node_ip_address": "127.0.0.2"}
