"""Joining a Ray cluster, or starting one on this machine: errors are one line.

Keys of this machine's environment go to the nodes in memory, as a call's argument.
"""

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple

from harness.models.build import Models
from harness.models.keys import is_key
from harness.runs.plan import RunConfig
from harness.sandbox.host import host_environment
from harness.specs.errors import UserError

RESOURCE = "testwright"
"""The resource of a node that does trials: as much of it as it takes trials at once."""
_ANSWER_SECONDS = 20.0
_ASK = """
import sys
from ray._private.services import canonicalize_bootstrap_address
from ray._raylet import GcsClient
client = GcsClient(address=canonicalize_bootstrap_address(sys.argv[1]))
client.internal_kv_get(b"testwright", namespace=None, timeout=10)
"""
_STORE_BYTES = 200_000_000


class ClusterNode(NamedTuple):
    """A node that does trials. `name` is for people."""

    id: str
    name: str
    slots: int


def check_address(address: str) -> None:
    """Check an address.

    Raises:
        UserError: It names no Ray cluster.
    """
    host, _, port = address.rpartition(":")
    if address and address != "auto" and not (host and port.isdigit() and "/" not in host):
        raise UserError(
            f"executor ray: {address!r} is no address of a cluster; say ray:HOST:PORT, with the port of "
            "'ray start --head', or ray:auto for the cluster that this machine is in"
        )


async def connect(address: str, slots: int) -> ModuleType:
    """Return Ray, connected to a cluster.

    Args:
        address: Of a cluster; empty: `RAY_ADDRESS`, and without that a cluster is started on this machine.
        slots: How many trials at once such a new cluster does.

    Raises:
        UserError: Ray isn't installed, or the cluster doesn't answer.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    ray = _imported()
    address = address or os.environ.get("RAY_ADDRESS", "")
    check_address(address)
    if ":" in address:
        await _check_answers(address)
    options: dict[str, Any] = {"address": address}
    if not address:
        own = {"num_cpus": 0, "resources": {RESOURCE: slots}, "object_store_memory": _STORE_BYTES}
        options = {"address": "local", "include_dashboard": False, **own}
    with _own_signals():
        try:
            ray.init(log_to_driver=False, logging_level=logging.CRITICAL, namespace="testwright", **options)
        except (OSError, RuntimeError, ValueError) as error:
            raise UserError(f"executor ray: {_line(error)}") from None
    return ray


def disconnect() -> None:
    """Leave the cluster, and end it if `connect` started it."""
    with _own_signals():
        _imported().shutdown()


def nodes_here(ray: ModuleType) -> list[ClusterNode]:
    """Return the living nodes that offer to do trials."""
    found = []
    for node in ray.nodes():
        slots = int(node["Resources"].get(RESOURCE, 0))
        if node["Alive"] and slots:
            found.append(ClusterNode(node["NodeID"], f"{node['NodeName']} ({node['NodeID'][:6]})", slots))
    return found


def start_actors(ray: ModuleType, actor: type, nodes: Sequence[ClusterNode]) -> list[Any]:
    """Start an actor on each of these nodes, which takes all that the node offers."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    remote = ray.remote(actor)
    return [
        remote.options(
            num_cpus=0,
            resources={RESOURCE: node.slots},
            max_restarts=0,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node.id, soft=False),
        ).remote()
        for node in nodes
    ]


def _imported() -> ModuleType:
    import ray
    from ray._private import worker

    # It prints what becomes of nodes to stdout, where our JSON goes. We say ourselves which node is lost.
    worker.print_to_stdstream = lambda *_args, **_kwargs: None
    return ray


async def _check_answers(address: str) -> None:
    """Ask for an answer in a process with a deadline: Ray itself waits for minutes where something else listens."""
    host, _, port = address.rpartition(":")
    refused = UserError(f"executor ray: no Ray cluster answers at {address}; start one with 'ray start --head'")
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            _, writer = await asyncio.open_connection(host.strip("[]"), int(port))
            writer.close()
    except (OSError, TimeoutError):
        raise refused from None
    check = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _ASK, address,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        env={**host_environment("RAY_*"), "RAY_USAGE_STATS_ENABLED": "0"},
    )  # fmt: skip
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            if await check.wait():
                raise refused
    except TimeoutError:
        raise refused from None
    finally:
        if check.returncode is None:
            check.kill()
            await check.wait()


@contextlib.contextmanager
def _own_signals() -> Iterator[None]:
    """Keep our signal handlers, which clean up: Ray's end the process at once."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            with contextlib.suppress(ValueError, TypeError):  # not in the main thread, or not set by Python
                signal.signal(number, handler)


def _line(error: Exception) -> str:
    """Return Ray's message in one line; the versions of a mismatch are in its many."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:4])[:300] or type(error).__name__


NODE_KEYS = "TESTWRIGHT_NODE_KEYS"
"""More variables, separated by commas."""
_SANDBOX_KEY = "SWEREX_AUTH_TOKEN"


def usual_keys(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return name -> value of variables with a key's usual name, and of those that are asked for.

    Raises:
        UserError: One that is asked for isn't set.
    """
    asked = [name.strip() for name in environment.get(NODE_KEYS, "").split(",") if name.strip()]
    if missing := [name for name in asked if not environment.get(name)]:
        raise UserError(f"{NODE_KEYS} names {missing[0]}, which is not set; export it or put it into .env")
    names = (*(name for name in environment if is_key(name) or name == _SANDBOX_KEY), *asked)
    return {name: environment[name] for name in names if environment[name]}


def model_keys(config: RunConfig, models: Models, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the keys that the model files of a run name.

    Raises:
        UserError: A model file is wrong.
    """
    named = (*config.models, *((config.judge,) if config.judge else ()))
    own = [file.api_key_env for name in named if (file := models.file(name)) and file.api_key_env]
    return {name: environment[name] for name in own if environment.get(name)}
