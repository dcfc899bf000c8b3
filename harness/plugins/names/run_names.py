"""Names of a run's suites: one container for each trial, on the engine that the run had."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from harness.judging.submission.extraction import Submission
from harness.plugins.names.beside import known_names, look_beside
from harness.plugins.names.findings import NamesFile
from harness.plugins.names.looking import look_at
from harness.runs.concurrency import run_to_end, side_by_side
from harness.runs.engine_session import EngineSession, engine_session
from harness.runs.looks import note_again
from harness.runs.outcome import ends_run, message_of, reason_code
from harness.runs.plan import RunFile, chosen_tasks, read_run_file
from harness.runs.store import RunStore, find_trials
from harness.runs.trial_store import TrialStore
from harness.specs.catalog import Catalog
from harness.specs.task import Task
from harness.specs.tracks import BEHAVIOUR, address_of


@dataclass(frozen=True)
class LookedTrial:
    """A trial and its names; without them `complaint` says why. `is_lost` is one that another start may look at."""

    place: str
    names: NamesFile | None
    complaint: str = ""
    is_lost: bool = False


def write_names(run: Path, catalog: Catalog, again: bool) -> list[LookedTrial]:
    """Look at the suite of each finished trial and write `names.json` beside its verdict.

    Args:
        run: The run's directory.
        catalog: Where its tasks are.
        again: Also look where `names.json` is there and of this submission.

    Raises:
        UserError: There is no run, its engine isn't there, or another process works in it.
    """
    stores = list(find_trials(run))
    return run_to_end(_write(run, catalog, stores, again))


def names_of(task: Task, submission: Submission, sandbox: str) -> NamesFile:
    """Return the names of one submission.

    Raises:
        UserError: The engine isn't there.
        SandboxLost: The container was lost.
    """
    return run_to_end(_one(task, submission, sandbox))


async def _one(task: Task, submission: Submission, sandbox: str) -> NamesFile:
    async with engine_session(sandbox, uuid4().hex) as session:
        return await look_at(task, submission, session.arm_context(task, await session.engine.image(task)))


async def _write(run: Path, catalog: Catalog, stores: Sequence[TrialStore], again: bool) -> list[LookedTrial]:
    file = read_run_file(run)
    lock = RunStore(run)
    try:
        tasks = _outside(catalog, file)
        async with engine_session(file.config.sandbox, file.id, alone=True) as session:

            async def work(store: TrialStore) -> LookedTrial:
                return await _trial(session, run, catalog, tasks, store, again)

            def failed(store: TrialStore, error: Exception) -> LookedTrial:
                if ends_run(error, run):
                    raise error
                with suppress(OSError):
                    store.log(f"names: {message_of(error)}")
                return LookedTrial(
                    _place(run, store), None, f"{reason_code(error)}: {message_of(error)}", is_lost=True
                )

            return await side_by_side(stores, work, failed, file.config.jobs)
    finally:
        lock.close()


def _outside(catalog: Catalog, file: RunFile) -> dict[str, Task]:
    """Return the tasks that lie in other people's datasets, by id."""
    outside = [config for config in file.configs if any(map(address_of, config.tasks))]
    return {task.id: task for config in outside for task in chosen_tasks(catalog, config)}


async def _trial(
    session: EngineSession, run: Path, catalog: Catalog, tasks: dict[str, Task], store: TrialStore, again: bool
) -> LookedTrial:
    place, trial = _place(run, store), store.trial()
    if trial is None or store.agent() is None:
        return LookedTrial(place, None, "its agent has not finished")
    submission = store.submission()
    known = None if again else known_names(store.directory, submission)
    if known:
        note_again(store, submission)
        return LookedTrial(place, known)
    task = tasks.get(trial.task) or catalog.task(trial.task)
    if task.track != BEHAVIOUR:
        return LookedTrial(place, None, f"nothing looks for absent names in {task.track} tasks")
    context = session.arm_context(task, await session.engine.image(task))
    names = await look_beside(store.directory, task, submission, context)
    note_again(store, submission)
    return LookedTrial(place, names)


def _place(run: Path, store: TrialStore) -> str:
    return store.directory.relative_to(run / "trials").as_posix()
