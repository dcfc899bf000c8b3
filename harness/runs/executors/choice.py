"""Executors by name. A name may carry an argument after a colon: `ray:10.0.0.1:6379`."""

from collections.abc import Callable
from inspect import signature

from harness.runs.executors.protocol import Executor
from harness.specs.errors import UserError
from harness.specs.registry import Registry

EXECUTORS: Registry[Callable[..., Executor]] = Registry(
    "executor",
    "testwright.executors",
    {
        "asyncio": "harness.runs.executors.asyncio_executor:AsyncioExecutor",
        "ray": "harness.runs.executors.cluster.executor:RayExecutor",
    },
)
"""Each makes an executor: called with what followed the name's colon, or with nothing where nothing did."""


def make_executor(named: str) -> Executor:
    """The executor that `--executor NAME[:ARGUMENT]` names; nothing is reached yet. Raises UserError."""
    name, _, argument = named.partition(":")
    factory = EXECUTORS.get(name)
    given = (argument,) if argument else ()
    try:
        signature(factory).bind(*given)
    except TypeError:
        raise UserError(f"executor {name!r} takes nothing behind a colon; say --executor {name}") from None
    return factory(*given)
