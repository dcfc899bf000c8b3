"""The sides of a comparison, as a person names them, and their trials."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from harness.results.rows import TrialRow
from harness.results.run_rows import RunRows
from harness.results.scores import TaskScore, pooled, task_scores
from harness.runs.plan import system_name
from harness.specs.errors import UserError
from harness.specs.model_file import called_apart


class PlacedTrial(NamedTuple):
    """A trial and the directory of its run."""

    run: Path
    row: TrialRow

    @property
    def directory(self) -> Path:
        return self.run / "trials" / self.row.trial


@dataclass(frozen=True)
class Side:
    """A scaffold with its model, in all runs or in one of them, and all of its trials.

    `name` is what it is known by, `called` what readers see: a model file by its name, without its path. `scores` has
    every task that it was asked to work at, also those where no trial has begun.
    """

    name: str
    called: str
    scaffold: str
    model: str
    runs: tuple[RunRows, ...]
    trials: tuple[PlacedTrial, ...]
    scores: Mapping[str, TaskScore]

    def at(self, task: str) -> tuple[PlacedTrial, ...]:
        """Return its trials at a task, by run and attempt."""
        return tuple(trial for trial in self.trials if trial.row.task == task)


def find_sides(runs: Sequence[RunRows], names: Sequence[str]) -> tuple[Side, ...]:
    """Return the sides that are named: SCAFFOLD, SCAFFOLD/MODEL or one of these after `RUN:`.

    Raises:
        UserError: There is no such side, with those that there are; or two names are the same side.
    """
    sides = tuple(_find(runs, name) for name in names)
    known: dict[tuple[object, ...], str] = {}
    for side, name in zip(sides, names, strict=True):
        key = (side.scaffold, side.model, *(run.directory for run in side.runs))
        if key in known:
            raise UserError(f"{known[key]} and {name} are the same side: there is nothing to compare")
        known[key] = name
    return sides


def _find(runs: Sequence[RunRows], name: str) -> Side:
    named = _named_run(runs, name)
    chosen, system = ([named.run], named.system) if named else (list(runs), name)
    there = list(dict.fromkeys(who for run in chosen for who in _systems(run)))
    names = called_apart(model for run in runs for _, model in _systems(run))
    called = {who: system_name(who[0], names[who[1]]) for who in there}
    fitting = _fitting(system, called)
    if not fitting:
        known = ", ".join(sorted(called.values())) or "none"
        raise UserError(f"no trial of {system!r} in {_named(chosen)}; there are: {known}")
    if len(fitting) > 1:
        several = ", ".join(sorted(called[who] for who in fitting))
        raise UserError(f"{name!r} has several models in {_named(chosen)}; name one: {several}")
    who = fitting[0]
    return _side(name if named else system_name(*who), name if named else called[who], *who, chosen)


def _fitting(system: str, called: Mapping[tuple[str, str], str]) -> list[tuple[str, str]]:
    """Return the one that is named, by its model's name or its model file's path; else all of a scaffold."""
    exact = [who for who, name in called.items() if system in (name, system_name(*who))]
    return exact or [who for who in called if who[0] == system]


class _InRun(NamedTuple):
    run: RunRows
    system: str


def _named_run(runs: Sequence[RunRows], name: str) -> _InRun | None:
    """Return the run before one of the colons of a name, if it is one; a model's name may have colons of its own."""
    for place, char in enumerate(name):
        if char == ":" and (found := [run for run in runs if run.directory == Path(name[:place])]):
            return _InRun(found[0], name[place + 1 :])
    return None


def _side(name: str, called: str, scaffold: str, model: str, runs: Sequence[RunRows]) -> Side:
    system = system_name(scaffold, model)
    having = tuple(run for run in runs if (scaffold, model) in set(_systems(run)))
    _check_one(system, scaffold, model, having)
    rows = [[row for row in run.trials if (row.scaffold, row.model) == (scaffold, model)] for run in having]
    asked = [run.file.attempts.get(system) if run.file else None for run in having]
    scores = pooled(map(task_scores, rows, asked))
    placed = (PlacedTrial(run.directory, row) for run, own in zip(having, rows, strict=True) for row in own)
    trials = tuple(sorted(placed, key=lambda trial: (trial.row.task, str(trial.run), trial.row.attempt)))
    return Side(name, called, scaffold, model, having, trials, _with_repositories(scores, having))


def _check_one(system: str, scaffold: str, model: str, runs: Sequence[RunRows]) -> None:
    """Refuse a name that stands for two things in several runs: a changed scaffold is another side."""
    first = runs[0]
    for run in runs[1:]:
        for kind, one, other in _digests(first, run, scaffold, model):
            if one and other and one != other:
                raise UserError(
                    f"{system}: its {kind} is another in {run.directory} ({other[:12]}) than in {first.directory} "
                    f"({one[:12]}); to compare the two, name each with its run: {first.directory}:{system}"
                )


def _digests(one: RunRows, other: RunRows, scaffold: str, model: str) -> Iterator[tuple[str, str, str]]:
    if one.file and other.file:
        yield "scaffold", one.file.scaffolds.get(scaffold, ""), other.file.scaffolds.get(scaffold, "")
        yield "model", one.file.models.get(model, ""), other.file.models.get(model, "")


def _systems(run: RunRows) -> Iterator[tuple[str, str]]:
    """Yield scaffold and model of each system that has a trial in a run, or was asked for."""
    yield from dict.fromkeys((row.scaffold, row.model) for row in run.trials)
    for system in run.file.attempts if run.file else ():
        scaffold, _, model = system.partition("/")
        yield scaffold, model


def _with_repositories(scores: Mapping[str, TaskScore], runs: Sequence[RunRows]) -> dict[str, TaskScore]:
    """Return scores with repositories, also for tasks at which no trial has begun."""
    known = {task: name for run in runs if run.file for task, name in run.file.repositories.items()}
    return {
        task: TaskScore(task, score.repository or known.get(task, ""), score.verdicts)
        for task, score in scores.items()
    }


def _named(runs: Sequence[RunRows]) -> str:
    return ", ".join(str(run.directory) for run in runs)
