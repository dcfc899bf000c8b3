"""Tasks as samples of Inspect, with the limits that Inspect is to enforce."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from inspect_ai.dataset import Sample
from inspect_ai.util import SandboxEnvironmentSpec

from harness.plugins.frameworks.inspect_sandbox import SANDBOX, SandboxConfig
from harness.plugins.frameworks.instructions import instruction
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.task import TaskLimits

COMMON = "mini"
"""The scaffold whose limit of one command holds for an agent of Inspect, too."""


@dataclass(frozen=True)
class Samples:
    """Samples, and what each of their agents may use: answers of its model, seconds, and seconds of one command."""

    samples: list[Sample]
    steps: int
    seconds: int
    command_seconds: int


def chosen(patterns: Sequence[str], track: str, catalog: str | None, engine: str) -> Samples:
    """Return the tasks of a track that patterns name. All have the highest limits that any of them has.

    Raises:
        UserError: No such task, or one whose agents may reach package registries, to which there is no way here.
    """
    places = Catalog(Path(catalog).absolute() if catalog else None)
    tasks = [task for task in places.select(patterns) if task.track == track]
    if not tasks:
        raise UserError(f"{', '.join(patterns)}: no task of the track {track!r}")
    if unfit := [task.id for task in tasks if task.registries]:
        raise UserError(f"{unfit[0]}: its agents may reach package registries, to which Inspect has no way here")
    scaffold = places.scaffold(COMMON)
    limits = TaskLimits(
        steps=max(task.file.limits.steps for task in tasks),
        wall_seconds=max(task.file.limits.wall_seconds for task in tasks),
    )
    samples = [
        Sample(
            id=task.id,
            input=instruction(task, scaffold, limits, counts_answers=True),
            metadata={"task": task.id, "digest": task.digest, "catalog": catalog, "engine": engine},
            sandbox=SandboxEnvironmentSpec(SANDBOX, SandboxConfig(task=task.id, catalog=catalog, engine=engine)),
        )
        for task in tasks
    ]
    return Samples(samples, limits.steps, limits.wall_seconds, scaffold.limits.command_seconds)
