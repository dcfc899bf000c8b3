"""Room on the disks for one more trial."""

import shutil
from pathlib import Path

from harness.runs.run_context import RunContext
from harness.sandbox.cache import cache_directory
from harness.sandbox.protocol import Engine, StoringEngine
from harness.specs.errors import ToolFailed

_GB = 1_000_000_000


async def make_room(context: RunContext) -> None:
    """Remove images beyond the run's disk budget. Raises ToolFailed where a disk has less free than it must have."""
    config, engine = context.run.config, context.session.engine
    if config.image_disk_gb is not None and isinstance(engine, StoringEngine):
        await engine.shrink(int(config.image_disk_gb * _GB))
    check_free_disk(_disks(engine), config.min_free_disk_gb)


def check_free_disk(directories: list[Path], least_gb: float) -> None:
    """Raises ToolFailed."""
    for directory in directories if least_gb else ():
        there = next(parent for parent in (directory, *directory.parents) if parent.exists())
        free = shutil.disk_usage(there).free / _GB
        if free < least_gb:
            remedy = f"a trial needs {least_gb:g} GB (--min-free-disk)"
            raise ToolFailed(f"{directory}: {free:.1f} GB are free, and {remedy}; make room or name another disk")


def _disks(engine: Engine) -> list[Path]:
    """Where images, containers and trees lie."""
    storage = engine.storage if isinstance(engine, StoringEngine) else None
    return [cache_directory(), *([storage] if storage else [])]
