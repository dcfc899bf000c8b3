"""Reads and writes `run.yaml`."""

from collections.abc import Mapping
from pathlib import Path
from uuid import uuid4

from harness.llm.recording import now
from harness.runs.ablation import recorded
from harness.runs.additions import Asked
from harness.runs.plan import RunCommand, RunFile
from harness.runs.records import write_whole
from harness.specs.yaml_text import yaml_text

_OF_A_START = (
    *("jobs", "tries", "retry_seconds", "trial_seconds", "fail_on_error", "executor", "sandbox"),
    *("max_cost_usd", "arm_output_mb", "min_free_disk_gb", "image_disk_gb", "judge_cache", "mutants"),
)
"""Of a configuration, what each start may have otherwise."""


def begin_or_extend(path: Path, earlier: RunFile | None, asked: Asked, added: tuple[str, ...]) -> RunFile:
    """Write what a run has been asked for up to now; nothing is written where a start adds nothing to it.

    `added` is what differs from `earlier`. The run's id is kept.
    """
    if earlier and not added and not _is_old(earlier):
        config = earlier.config.model_copy(update={name: getattr(asked.config, name) for name in _OF_A_START})
        run = earlier.model_copy(update={"config": config})
    else:
        run = _written_anew(earlier or RunFile(id=uuid4().hex, config=asked.config), asked, added)
    if run != earlier:
        write_whole(path, yaml_text(run.model_dump(mode="json")))
    return run


def _is_old(run: RunFile) -> bool:
    """Whether it was written before commands were kept."""
    return not run.commands


def _written_anew(earlier: RunFile, asked: Asked, added: tuple[str, ...]) -> RunFile:
    scaffolds = {trial.scaffold.name: trial.scaffold for trial in asked.trials}
    ablations = {name: recorded(scaffold) for name, scaffold in scaffolds.items() if scaffold.ablation}
    return RunFile(
        id=earlier.id,
        config=asked.config,
        isolation=asked.isolation,
        tasks={**earlier.tasks, **{name: task.digest for name, task in asked.tasks.items()}},
        scaffolds={**earlier.scaffolds, **asked.scaffolds},
        ablations={**earlier.ablations, **ablations},
        models={**earlier.models, **asked.models},
        repositories={**earlier.repositories, **{trial.task.id: trial.repository for trial in asked.trials}},
        repos={**earlier.repos, **asked.repos},
        images={**earlier.images, **asked.images},
        attempts=_asked_for(earlier.attempts, asked.attempts),
        commands=(*earlier.commands, RunCommand(time=now(), extended=added, config=asked.config)),
    )


def _asked_for(
    earlier: Mapping[str, Mapping[str, int]], wanted: Mapping[str, Mapping[str, int]]
) -> dict[str, dict[str, int]]:
    """System -> task -> the most attempts that any command has asked for."""
    found = {system: dict(tasks) for system, tasks in earlier.items()}
    for system, tasks in wanted.items():
        known = found.setdefault(system, {})
        known.update({task: max(known.get(task, 0), number) for task, number in tasks.items()})
    return found
