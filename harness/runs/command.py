"""From the options of `testwright run` to a finished run: configuration, engine, directory, trials."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from harness.agents.native.agent import check_native
from harness.agents.registry import agent_context, build_agent, is_native
from harness.judging.verify.judge.judge import Judge
from harness.models.build import Models
from harness.models.price_table import has_price
from harness.runs.ablation import with_whole_path
from harness.runs.additions import AskedRun, check_additions
from harness.runs.concurrency import FirstInterrupt, run_to_end
from harness.runs.executors.protocol import make_executor
from harness.runs.judges import configured_judge, self_judging
from harness.runs.looks import LOOKS
from harness.runs.outcome import Observer, RunOutcome
from harness.runs.plan import RunConfig, Trial, plan_trials
from harness.runs.scheduler import RunWatch, run_services, trial_specs
from harness.runs.store import RunStore, check_free
from harness.runs.timings import longest_first
from harness.runs.trial_index import MANY, Finished, has_index, sort_out
from harness.sandbox.egress.clients import egress_for
from harness.sandbox.egress.destinations import named_endpoint
from harness.sandbox.registry import check_sandbox
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.schema_faults import first_fault
from harness.specs.task import Task
from harness.specs.tracks import absolute
from harness.specs.yaml_files import load_yaml
from harness.tracks.registry import check_sandboxed, track_of

Watch = Callable[[int], AbstractContextManager[Observer]]
"""Makes an observer for so many trials."""
Warn = Callable[[str], None]


@dataclass(frozen=True)
class FinishedRun:
    """A run at its end. `left_out` is how many trials were not begun, since too many had ended with a harness error.

    `finished` are those of a large run that had nothing left to do: they have no outcome of this start.
    """

    directory: Path
    isolation: str
    outcomes: tuple[RunOutcome, ...]
    left_out: int = 0
    finished: Sequence[tuple[Trial, Finished]] = ()


def configure(options: dict[str, Any], file: Path | None) -> RunConfig:
    """Return a run's configuration: the file's keys, and over them the options that are not None.

    Raises:
        UserError: A key or a value is wrong.
    """
    config = load_yaml(file, RunConfig) if file else RunConfig()
    given = {key: value for key, value in options.items() if value is not None}
    whole = {**config.model_dump(), **given}
    try:
        chosen = RunConfig.model_validate(whole)
    except ValidationError as error:
        raise UserError(first_fault(error, whole)) from None
    # A run goes on from anywhere: what it names by a path is named by the whole path.
    paths = {"tasks": tuple(map(absolute, chosen.tasks)), "exclude": tuple(map(absolute, chosen.exclude))}
    paths["overrides"] = tuple(map(with_whole_path, chosen.overrides))
    image_map = chosen.image_map.absolute() if chosen.image_map else None
    if image_map and not image_map.is_file():
        raise UserError(f"--image-map {chosen.image_map}: there is no such file")
    sandbox = check_sandbox(chosen.sandbox)
    for look in chosen.looks:
        LOOKS.check(look)
    return chosen.model_copy(update={**paths, "image_map": image_map, "sandbox": sandbox})


class Prepared(NamedTuple):
    """A configuration's trials, models and judge, checked."""

    models: Models
    trials: list[Trial]
    judge: Judge | None


def execute(
    catalog: Catalog, config: RunConfig, directory: Path, watch: Watch, warn: Warn, extend: bool = False
) -> FinishedRun:
    """Run what is missing. All that can be checked is checked before the directory is made.

    Of a large run that may have nothing left to do, models and agents are checked once something is: that takes
    seconds, and much memory.

    Args:
        catalog: Where tasks, scaffolds and models lie.
        config: What to run.
        directory: The run's.
        watch: Shows progress.
        warn: Told what is no error.
        extend: Whether the directory may hold trials under other conditions, or fewer than are asked for now.

    Raises:
        UserError: Something is wrong; nothing was paid.
    """
    prepared = _plan(catalog, config, warn)
    check = partial(_check, prepared, config, warn)
    is_late = len(prepared.trials) > MANY and has_index(directory)
    if not is_late:
        check()
    interrupt = FirstInterrupt()
    late = check if is_late else None
    return run_to_end(_execute(prepared, catalog, config, directory, watch, interrupt, extend, late), interrupt)


def prepare(catalog: Catalog, config: RunConfig, warn: Warn) -> Prepared:
    """Make all checks that need neither an engine nor the run's directory.

    Raises:
        UserError: Something is wrong.
    """
    prepared = _plan(catalog, config, warn)
    _check(prepared, config, warn)
    return prepared


def _plan(catalog: Catalog, config: RunConfig, warn: Warn) -> Prepared:
    make_executor(config.executor)
    trials, models = plan_trials(catalog, config), Models(catalog)
    broken = [f"{message}; the task is left out" for message in catalog.left_out.values()]
    for warning in (*broken, *_remarks(trials)):
        warn(warning)
    return Prepared(models, trials, configured_judge(catalog, models, config, check=False))


def _check(prepared: Prepared, config: RunConfig, warn: Warn) -> None:
    models, trials, _ = prepared
    for trial in {(trial.task.id, trial.scaffold.name, trial.model): trial for trial in reversed(trials)}.values():
        check(models, trial)
    for first in {trial.scaffold.name: trial for trial in reversed(trials)}.values():
        check_agent(models, first)
    for task in {trial.task.id: trial.task for trial in trials}.values():
        check_recipe(task)
    check_registries(config, [trial.task for trial in trials if trial.model])
    if config.judge:
        models.check(config.judge)
    for warning in (*check_caps(config, trials), *check_judge(models, config)):
        warn(warning)


def _remarks(trials: list[Trial]) -> list[str]:
    """Return what was read of tasks and doesn't count for anything."""
    tasks = {trial.task.id: trial.task for trial in trials}
    return [f"{name}: {remark}" for name, task in tasks.items() for remark in task.remarks]


def check(models: Models, trial: Trial) -> None:
    """Check all of a trial that needs no engine.

    Raises:
        UserError: Something is wrong.
    """
    if trial.model:
        models.check(trial.model, is_native(trial.scaffold))
    _ = trial.task.prompt
    for name in trial.task.needed:
        trial.task.patch(name)


def check_recipe(task: Task) -> None:
    """Check the recipe of a task's image, as far as its repository has it; nothing is made.

    Raises:
        UserError: It is wrong.
    """
    track_of(task).images.known_digest(task, "docker")  # whoever asks for it has read the whole recipe


def check_registries(config: RunConfig, tasks: Iterable[Task]) -> None:
    """Check that this machine knows where the tasks' package registries are.

    Raises:
        UserError: It doesn't know one of them.
    """
    for named in config.registries:
        named_endpoint(named)
    for clients in {task.registries for task in tasks if task.registries}:
        egress_for(clients, config.registries)


def check_agent(models: Models, trial: Trial) -> None:
    """Check that a trial's scaffold can work: its templates, say.

    Raises:
        UserError: It can't.
    """
    if is_native(trial.scaffold):
        check_native(trial.task, trial.scaffold)
        return
    model = models.build(trial.model) if trial.model else None
    build_agent(agent_context(trial.task, trial.scaffold, model))


def check_caps(config: RunConfig, trials: list[Trial]) -> list[str]:
    """Check that the caps on money can be held, and return warnings of those of tasks that can't.

    Raises:
        UserError: The run's own cap can't be held.
    """
    files = {trial.model: trial.model_file for trial in trials}
    unpriced = [model for model, file in files.items() if file and not has_price(file)]
    remedy = "give its prices in a model file (`prices: {input: USD, output: USD}`, per million tokens; -m FILE.yaml)"
    if unpriced and config.max_cost_usd:
        name = unpriced[0]
        raise UserError(f"--max-cost can't be held for model {name}: its price is unknown; {remedy}")
    return [
        f"the tasks' cost limit can't be held for model {name}: its price is unknown; {remedy}. "
        "Steps and time still end a trial"
        for name in unpriced
    ]


def check_judge(models: Models, config: RunConfig) -> list[str]:
    """Return what to warn of before a judge is paid.

    Raises:
        UserError: The run's cap can't be held for it.
    """
    file = models.file(config.judge) if config.judge else None
    if file and config.max_cost_usd and not has_price(file):
        raise UserError(
            f"--max-cost can't be held for the judge {config.judge}: its price is unknown; give it in a model file"
        )
    return [warning] if (warning := self_judging(models, config.judge, config.models)) else []


async def _execute(
    prepared: Prepared,
    catalog: Catalog,
    config: RunConfig,
    directory: Path,
    watch: Watch,
    interrupt: FirstInterrupt,
    extend: bool,
    check_late: Callable[[], None] | None,
) -> FinishedRun:
    executor, (models, trials, judge) = make_executor(config.executor), prepared
    asked = AskedRun(config, trials, await executor.isolation(config))
    await check_sandboxed(asked.tasks.values(), asked.isolation)
    check_free(directory)
    added = check_additions(directory, asked, extend)
    store = RunStore(directory)
    try:
        rest, finished = sort_out(directory, asked, judge)
        if rest and check_late:
            check_late()
        run = store.describe(asked, added)
        outcomes: list[RunOutcome] = []
        if rest:
            with watch(len(rest)) as observe:
                watching = RunWatch(store, replace(asked, trials=rest), observe, interrupt)
                order = longest_first(rest) if config.jobs > 1 else rest
                specs = trial_specs(catalog, config, run.id, directory, order)
                with closing(watching):
                    await executor.run(specs, run_services(config, store, models.limiters, watching))
                outcomes = watching.outcomes()
    finally:
        store.close()
    return FinishedRun(directory, asked.isolation, tuple(outcomes), len(rest) - len(outcomes), finished)
