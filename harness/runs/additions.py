"""Additions of a command to a run's directory: refused with the difference, unless `--extend`."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from harness import PROTOCOL_VERSION
from harness.runs.plan import RunConfig, RunFile, Trial, read_run_file, scaffold_digest
from harness.specs.errors import UserError
from harness.specs.task import Task
from harness.tracks.registry import track_of

_OF_RUNS = {".lock", ".index", "events.jsonl", "run.yaml", "trials"}
_JUDGED_BY = ("judge", "judge_votes", "protocol", "control", "all_criteria", "registries")
"""Keys of a configuration that change outcomes beside the trials that it names. How many run at once, where, and what
they may cost at most doesn't."""
_SHOWN = 30
_NONE = "none"


@dataclass(frozen=True)
class AskedRun:
    """A command's request: the configuration of a run, and the trials that it comes to."""

    config: RunConfig
    trials: list[Trial]
    isolation: str

    @cached_property
    def tasks(self) -> dict[str, Task]:
        return {trial.task.id: trial.task for trial in self.trials}

    @cached_property
    def scaffolds(self) -> dict[str, str]:
        """Scaffold -> digest."""
        found = {trial.scaffold.name: trial.scaffold for trial in self.trials}
        return {name: scaffold_digest(scaffold) for name, scaffold in found.items()}

    @cached_property
    def models(self) -> dict[str, str]:
        """Model -> digest."""
        found = {trial.model: trial for trial in self.trials if trial.model}
        return {model: trial.model_digest for model, trial in found.items()}

    @cached_property
    def repos(self) -> dict[str, str]:
        """Repo -> digest."""
        return {task.repo.name: task.repo.digest for task in self.tasks.values()}

    @cached_property
    def images(self) -> dict[str, str]:
        """Task -> digest of its image, where that is known without making it."""
        kind = "docker" if self.isolation == "docker" else "local"
        found = {name: track_of(task).images.known_digest(task, kind) for name, task in self.tasks.items()}
        return {name: digest for name, digest in found.items() if digest}

    @cached_property
    def attempts(self) -> dict[str, dict[str, int]]:
        """System -> task -> attempts."""
        found: defaultdict[str, dict[str, int]] = defaultdict(dict)
        for trial in self.trials:
            tasks, task = found[trial.system], trial.task.id
            tasks[task] = max(tasks.get(task, 0), trial.attempt)
        return dict(found)


def check_additions(directory: Path, asked: AskedRun, extend: bool) -> tuple[str, ...]:
    """Return what a command adds or changes, a line each; nothing where it only goes on, or begins a run.

    Raises:
        UserError: Something is added or changed, and it isn't `extend`.
    """
    found = tuple(_differences(directory, asked))
    if not found or extend:
        return found
    lines = [f"  {line}" for line in found[:_SHOWN]]
    if len(found) > _SHOWN:
        lines.append(f"  and {len(found) - _SHOWN} more")
    remedy = (
        "give --extend to go on here all the same (what has changed is done again, old work stays beside it), "
        "or choose another directory with -o"
    )
    raise UserError("\n".join([f"{directory}: it holds something else than this command asks for:", *lines, remedy]))


def _differences(directory: Path, asked: AskedRun) -> Iterator[str]:
    if not directory.is_dir():
        return
    if (directory / "run.yaml").exists():
        yield from _against(read_run_file(directory), asked)
    elif any(directory.glob("trials/*")):
        yield "run.yaml: it is gone, so what the trials here were run with isn't known"
    elif foreign := sorted(path.name for path in directory.iterdir() if not _is_ours(path.name)):
        names = ", ".join(foreign[:5]) + (f" and {len(foreign) - 5} more" if len(foreign) > 5 else "")
        yield f"files that are no run: {names}"


def _is_ours(name: str) -> bool:
    return name in _OF_RUNS or name.endswith(".partial")


def _against(run: RunFile, asked: AskedRun) -> Iterator[str]:
    if run.isolation and run.isolation != asked.isolation:
        yield f"isolation: {run.isolation} -> {asked.isolation}"
    if run.protocol_version != PROTOCOL_VERSION:
        yield f"protocol version: {run.protocol_version} -> {PROTOCOL_VERSION}"
    old, new = run.config.model_dump(mode="json"), asked.config.model_dump(mode="json")
    for name in _JUDGED_BY:
        if old[name] != new[name]:
            yield f"{name.replace('_', ' ')}: {_words(old[name])} -> {_words(new[name])}"
    digests = {name: task.digest for name, task in asked.tasks.items()}
    yield from _changed("files of task", run.tasks, digests)
    yield from _changed("repo.yaml of", run.repos, asked.repos)
    yield from _changed("image of task", run.images, asked.images)
    yield from _changed("files of scaffold", run.scaffolds, asked.scaffolds)
    yield from _changed("parameters of model", run.models, asked.models)
    yield from _added(run, asked)


def _changed(what: str, old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    for name, digest in new.items():
        if name in old and old[name] != digest:
            yield f"{what} {name}: digest {_short(old[name])} -> {_short(digest)}"


def _added(run: RunFile, asked: AskedRun) -> Iterator[str]:
    """Yield trials that no command has asked for yet. A run of an old version doesn't say what was asked for."""
    if not run.attempts:
        return
    tasks = {task for known in run.attempts.values() for task in known}
    yield from _more("tasks", [task for task in asked.tasks if task not in tasks])
    yield from _more("systems", [system for system in asked.attempts if system not in run.attempts])
    for system, wanted in asked.attempts.items():
        known = run.attempts.get(system, {})
        steps: defaultdict[tuple[int, int], list[str]] = defaultdict(list)
        for task, number in wanted.items():
            if known and task in tasks and number > known.get(task, 0):
                steps[known.get(task, 0), number].append(task)
        for (before, after), named in steps.items():
            where = named[0] if len(named) == 1 else f"{len(named)} tasks"
            yield f"attempts of {system} at {where}: {before} -> {after}"


def _more(what: str, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        yield f"{what}: {_NONE} -> {name}"


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {number}" for name, number in value.items())
    if isinstance(value, list):
        return ", ".join(value) or _NONE
    return _NONE if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _short(digest: str) -> str:
    return digest.removeprefix("sha256:")[:12]
