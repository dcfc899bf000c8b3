"""From what a person asked for to a finished run: configuration, engine, directory, trials."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from harness.llm.build import build_model
from harness.runs.plan import RunConfig, Trial, plan_trials
from harness.runs.scheduler import Observer, Outcome, run_all
from harness.runs.store import RunStore
from harness.sandbox.choice import choose_engine
from harness.sandbox.protocol import Engine
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.loading import load_yaml

Watch = Callable[[int], AbstractContextManager[Observer]]
"""Makes an observer for so many trials."""


@dataclass(frozen=True)
class FinishedRun:
    directory: Path
    isolation: str
    outcomes: tuple[Outcome, ...]


def configure(options: dict[str, Any], file: Path | None) -> RunConfig:
    """A run's configuration: the file's keys, and over them the options that are not None. Raises UserError."""
    config = load_yaml(file, RunConfig) if file else RunConfig()
    given = {key: value for key, value in options.items() if value is not None}
    try:
        return RunConfig.model_validate({**config.model_dump(), **given})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise UserError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def execute(catalog: Catalog, config: RunConfig, directory: Path, watch: Watch) -> FinishedRun:
    """Run what is missing. Checks all that can be checked before it makes the directory. Raises UserError."""
    trials = plan_trials(catalog, config)
    for trial in trials:
        _check(trial)
    return asyncio.run(_execute(config, trials, directory, watch))


def _check(trial: Trial) -> None:
    if trial.model:
        build_model(trial.model)
    _ = trial.task.prompt
    for name in ("removal.patch", "withheld.patch"):
        trial.task.patch(name)


async def _execute(config: RunConfig, trials: list[Trial], directory: Path, watch: Watch) -> FinishedRun:
    engine = choose_engine(config.sandbox)
    try:
        return await _with(engine, config, trials, directory, watch)
    finally:
        await engine.close()


async def _with(engine: Engine, config: RunConfig, trials: list[Trial], directory: Path, watch: Watch) -> FinishedRun:
    store = RunStore(directory)
    try:
        with watch(len(trials)) as observe:
            outcomes = await run_all(engine, config, trials, store, observe)
    finally:
        store.close()
    return FinishedRun(directory, engine.isolation, tuple(outcomes))
