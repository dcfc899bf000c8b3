"""A real Ray cluster on this machine: a head that does no trials, and nodes that do and share one engine."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
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


def until(
    condition: Callable[[], bool], process: "subprocess.Popen[str] | None" = None, seconds: float = 240
) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < end, "the condition has not come"
        threading.Event().wait(0.2)  # what works meanwhile needs the processor


def kill_the_node_of(owner: str, cluster: Any) -> None:
    """Kill the node's own process, as a machine's end does; the one that does trials is told by the lock it holds."""
    [working] = [
        path.parts[2] for path in Path("/proc").glob("[0-9]*/fd/*") if f"/owners/{owner}." in points_to(path)
    ]
    status = (Path("/proc") / working / "status").read_text()
    parent = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("PPid:"))
    [node] = [
        node for node in cluster.worker_nodes
        if parent in (info.process.pid for info in node.all_processes["raylet"])
    ]  # fmt: skip
    kill_node(cluster, node)


def kill_the_guard_of(owner: str) -> None:
    """The process that removes what a node's own process leaves: nothing of a machine that ends is there to do it."""
    [guard] = [
        path.parent.name for path in Path("/proc").glob("[0-9]*/cmdline")
        if {b"harness.plugins.ray.guard", owner.encode()} <= set(bytes_of(path).split(b"\0"))
    ]  # fmt: skip
    os.kill(int(guard), signal.SIGKILL)


def bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def points_to(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:
        return ""


def small() -> dict[str, Any]:
    # Ray takes 127.0.0.1 for whatever address the machine has beside it.
    return {"num_cpus": 0, "object_store_memory": 80_000_000, "node_ip_address": "127.0.0.2"}
