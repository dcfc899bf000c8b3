"""Executors by name."""

from collections.abc import Callable

from harness.runs.executors.protocol import Executor
from harness.specs.registry import Registry

EXECUTORS: Registry[Callable[[], Executor]] = Registry(
    "executor",
    "testwright.executors",
    {"asyncio": "harness.runs.executors.asyncio_executor:AsyncioExecutor"},
)
