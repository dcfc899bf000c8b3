"""Reads a run's directory into rows; nothing else does. A trial with damaged files is a row too, with its problem."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.agents.trajectory import failed_requests
from harness.judging.verify.mutants.records import MutantsFile
from harness.results.activity.trials import TrialBehaviour, trial_behaviour
from harness.results.rows import ArmTestRow, CriterionRow, TrialRow, TrialState, is_below
from harness.results.signals import signal_values
from harness.runs.attempts import AttemptRecord
from harness.runs.evidence_file import read_evidence
from harness.runs.finished_work import AgentFile
from harness.runs.mutants_file import read_mutants
from harness.runs.outcome import RunOutcome
from harness.runs.plan import RunFile
from harness.runs.store import find_trials
from harness.runs.trial_store import TrialFile, TrialReading, TrialStore
from harness.specs.errors import UserError
from harness.specs.model_file import called, called_apart
from harness.specs.reasons import Verdict
from harness.specs.test_results import TestId
from harness.specs.tracks import BEHAVIOUR
from harness.specs.yaml_files import load_yaml

_NO_MODEL = "none"
"""The name of a model's folder where a trial has none."""


@dataclass(frozen=True)
class RunRows:
    """All rows of one run. `trials` are read at once, the others when they are first asked for.

    `file` is its `run.yaml`, None where that can't be read.
    """

    directory: Path
    trials: tuple[TrialRow, ...]
    file: RunFile | None = None

    @property
    def asked(self) -> Mapping[str, Mapping[str, int]]:
        """SCAFFOLD/MODEL -> task -> attempts that were asked for; nothing where the run doesn't say."""
        return self.file.attempts if self.file else {}

    def asking(self, number: Callable[[str, str, int], int]) -> "RunRows":
        """Return the rows with other numbers of attempts.

        Args:
            number: From SCAFFOLD/MODEL, task and the old number to the new one; 0 leaves the task out.
        """
        if self.file is None:
            return self
        changed = {
            system: {task: many for task, asked in tasks.items() if (many := number(system, task, asked))}
            for system, tasks in self.asked.items()
        }
        attempts = {system: tasks for system, tasks in changed.items() if tasks}
        return replace(self, file=self.file.model_copy(update={"attempts": attempts}))

    def track_of(self, task: str) -> str:
        """Return a task's track: what the run or a verdict says, else `behaviour`."""
        told = self.file.tracks.get(task) if self.file else None
        return told or self._tracks_of_trials.get(task, BEHAVIOUR)

    @cached_property
    def _tracks_of_trials(self) -> Mapping[str, str]:
        return {row.task: row.track for row in self.trials}

    @property
    def tracks(self) -> frozenset[str]:
        """The tracks of all trials, also of those that never began."""
        asked = {task for tasks in self.asked.values() for task in tasks}
        return frozenset(map(self.track_of, {*self._tracks_of_trials, *asked}))

    def of_track(self, track: str) -> "RunRows":
        """Return the rows of one track's trials."""
        kept = replace(self, trials=tuple(row for row in self.trials if row.track == track))
        return kept.asking(lambda _, task, asked: asked if self.track_of(task) == track else 0)

    @cached_property
    def criteria(self) -> tuple[CriterionRow, ...]:
        """The criteria of all trials whose judging reached the rubric."""
        return tuple(row for trial in self.trials for row in _criteria(trial))

    @cached_property
    def arm_tests(self) -> tuple[ArmTestRow, ...]:
        """Tests in arms, of all trials whose arms were kept: where an arm was lost, none were."""
        return tuple(row for trial in self.trials for row in _arm_tests(self.directory, trial))

    def arm_tests_of(self, trial: TrialRow) -> tuple[ArmTestRow, ...]:
        """Return the rows of one trial."""
        return tuple(_arm_tests(self.directory, trial))

    def mutants_of(self, trial: TrialRow) -> MutantsFile | None:
        """Return what a trial's mutation score rests on; None where none was asked for."""
        return read_mutants(self.directory / "trials" / trial.trial)

    @cached_property
    def behaviours(self) -> tuple[TrialBehaviour, ...]:
        """Activity of the agents, of all trials whose trajectories can be read and have a call."""
        found = (trial_behaviour(self.directory, trial) for trial in self.trials)
        return tuple(item for item in found if item)

    def below(self, prefix: str) -> "RunRows":
        """Return the rows of the trials at `prefix` or below it: TASK, TASK/SCAFFOLD and so on."""
        return replace(self, trials=tuple(row for row in self.trials if is_below(row, prefix)))


def tracks_of(runs: Iterable[RunRows]) -> tuple[str, ...]:
    """Return the tracks of all trials of some runs; rates of several must not be averaged."""
    return tuple(sorted({track for run in runs for track in run.tracks}))


def by_track(runs: Sequence[RunRows]) -> dict[str, list[RunRows]]:
    """Return track -> the runs that have it, with its trials alone."""
    return {track: [run.of_track(track) for run in runs if track in run.tracks] for track in tracks_of(runs)}


def of_track(runs: Sequence[RunRows], track: str) -> list[RunRows]:
    """Return the runs with the trials of one track alone.

    Raises:
        UserError: No run has a trial of it.
    """
    known = by_track(runs)
    if track not in known:
        raise no_such_track(track, known)
    return known[track]


def no_such_track(track: str, known: Iterable[str]) -> UserError:
    """Return the error of a track that no trial has."""
    return UserError(f"--track {track}: no trial of this track; there are: {', '.join(sorted(known)) or 'none'}")


def load_rows(directory: Path) -> RunRows:
    """Return the rows of a run. A trial with missing or damaged files is a row too.

    Raises:
        UserError: The directory holds no run.
    """
    stores = list(find_trials(directory))
    file = run_file(directory)
    return RunRows(directory, tuple(_trial(store, directory, file) for store in stores), file)


def load_all(directories: Sequence[Path]) -> list[RunRows]:
    """Return the rows of runs.

    Raises:
        UserError: A directory holds no run, or is named twice: its trials would count twice.
    """
    seen: set[Path] = set()
    for directory in directories:
        if directory.resolve() in seen:
            raise UserError(f"{directory}: this run is named twice")
        seen.add(directory.resolve())
    return list(map(load_rows, directories))


def each_row(directory: Path) -> Iterator[TrialRow]:
    """Yield the rows of a run one by one, so that only one is in memory.

    Raises:
        UserError: The directory holds no run.
    """
    file = run_file(directory)
    for store in find_trials(directory):
        yield _trial(store, directory, file)


def rows_of(directory: Path, places: Iterable[str]) -> Iterator[TrialRow]:
    """Yield the rows of these trials of a run, one by one."""
    file = run_file(directory)
    for place in places:
        yield _trial(TrialStore(directory / "trials" / place), directory, file)


def row_of_outcome(outcome: RunOutcome, isolation: str) -> TrialRow:
    """Return the row of a trial that has just ended; nothing of it need be on disk."""
    trial, record = outcome.trial, outcome.record
    return TrialRow(
        trial=trial.place.as_posix(),
        task=trial.task.id,
        scaffold=trial.scaffold.name,
        model=trial.model,
        model_name=called(trial.model),
        attempt=trial.attempt,
        repository=trial.repository,
        track=trial.task.track,
        isolation=isolation,
        state=TrialState.JUDGED if record else TrialState.ENDED,
        verdict=outcome.verdict,
        reasons=outcome.reasons,
        notes=record.notes if record else (),
        usage=outcome.usage,
        problem="" if record or not outcome.reasons else outcome.reasons[0].words,
        ending=outcome.ending,
        remarks=outcome.remarks,
        record=record,
        published=outcome.beside,
    )


def run_file(directory: Path) -> RunFile | None:
    """Return a run's `run.yaml`; None where it can't be read."""
    try:
        return load_yaml(directory / "run.yaml", RunFile)
    except UserError:
        return None


def damage_of(directory: Path) -> str:
    """Return why a run's own file can't be read, in one line; empty where it can.

    Its trials can be shown without that file.
    """
    try:
        load_yaml(directory / "run.yaml", RunFile)
    except UserError as error:
        return f"{error}; what was asked for isn't known, and trials that never began are left out"
    return ""


def _trial(store: TrialStore, directory: Path, run: RunFile | None) -> TrialRow:
    place = store.directory.relative_to(directory / "trials").as_posix()
    store = TrialReading(store.directory)
    file, agent, record = store.trial(), store.agent(), store.verdict()
    damaged = store.damaged()
    names = _names(file, place)
    attempts = tuple(store.attempts.read())
    row = TrialRow(
        **names,
        model_name=_model_name(names["model"], run),
        repository=run.repositories.get(names["task"], "") if run else "",
        track=(run.tracks.get(names["task"]) if run else None) or (record.track if record else BEHAVIOUR),
        isolation=file.isolation if file else "",
        state=TrialState.JUDGED if record else TrialState.AGENT_DONE if agent else TrialState.BEGUN,
        usage=store.usage(),
        problem="" if record else "not judged yet; give its run another start",
        attempts=attempts,
        failed_requests=_failed_requests(store, agent, attempts),
    )
    if agent:
        kept = {"ending", "steps", "waiting_seconds", "format_errors", "remarks"}
        update = {**agent.model_dump(include=kept), "ending_message": agent.message}
        row = row.model_copy(update={**update, "agent_seconds": agent.counted_seconds})
    if record:
        update = {"verdict": record.verdict, "reasons": record.reasons, "notes": record.notes, "record": record}
        row = row.model_copy(update={**update, "published": store.verdict_beside()})
    elif fault := store.last_fault():
        words = f"{fault.code}: {fault.words}; another start of its run tries it again"
        update = {"state": TrialState.ENDED, "verdict": Verdict.UNSCORED, "reasons": (fault,), "problem": words}
        row = row.model_copy(update=update)
    if damaged:
        words = f"{', '.join(damaged)} can't be read"
        state = row.state if record else TrialState.DAMAGED
        # Whether it was judged may stand in what can't be read.
        more = f"; {row.problem}" if row.verdict else "; give its run another start"
        row = row.model_copy(update={"state": state, "problem": words if record else f"{words}{more}"})
    return row.model_copy(update={"signals": signal_values(store.directory, row)})


def _model_name(model: str, run: RunFile | None) -> str:
    """Return what a model is called among those of its run."""
    return called_apart([*(run.models if run else ()), model])[model]


def _failed_requests(store: TrialReading, agent: AgentFile | None, attempts: Iterable[AttemptRecord]) -> int | None:
    """Return those of all tries: of one that came to no end its trajectory alone tells. None before any try."""
    kept = [store.directory.parent / attempt.kept for attempt in attempts if attempt.kept]
    if agent is None:
        kept.append(store.directory)
    lost = [place / "trajectory.jsonl" for place in kept]
    told = [failed_requests(path) for path in lost if os.path.isfile(path)]  # noqa: PTH113  # pathlib raises where it may not be read
    if agent is None and not told:
        return None
    return sum(told) + (agent.failed_requests if agent else 0)


def _names(file: TrialFile | None, place: str) -> dict[str, Any]:
    """Return a trial's names; by the directory's place where `trial.json` doesn't say."""
    task, scaffold, model, attempt = place.split("/")
    if file:
        task, scaffold, model = file.task, file.scaffold, file.model
    elif model == _NO_MODEL:
        model = ""
    return {"trial": place, "task": task, "scaffold": scaffold, "model": model, "attempt": int(attempt)}


def _criteria(trial: TrialRow) -> Iterator[CriterionRow]:
    for item in trial.record.stages.rubric.criteria if trial.record else ():
        yield CriterionRow(
            **_key(trial),
            criterion=item.id,
            axis=item.axis,
            importance=item.importance,
            met=item.met,
            decided_by=item.decided_by,
            judge=item.judge.met if item.judge else None,
            agrees=item.agrees,
            explanation=item.words,
        )


def _arm_tests(directory: Path, trial: TrialRow) -> Iterator[ArmTestRow]:
    file = read_evidence(directory / "trials" / trial.trial / "evidence.json")
    who = tuple(_key(trial).values())
    names: dict[TestId, str] = {}
    for key, arm in file.evidence.arms.items() if file else ():
        of_arm = (str(key), key.role, key.variant, arm.kind, key.repetition, key.part, arm.status, arm.seconds)
        for result in arm.results:
            name = names.get(result.test) or names.setdefault(result.test, str(result.test))
            of_test = (name, result.outcome, result.quality, result.killed, result.cases, result.seconds)
            yield ArmTestRow._make((*who, *of_arm, *of_test))


def _key(trial: TrialRow) -> dict[str, Any]:
    """Return what each row of a trial begins with, in this order."""
    who = {name: getattr(trial, name) for name in ("trial", "task", "scaffold")}
    return {**who, "model": trial.model_name, "attempt": trial.attempt}
