"""One side against others: the same tasks, the same images, the same rules, or a refusal."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.analysis.comparison.mechanism import Mechanism, mechanism
from harness.analysis.comparison.pairs import Pair, pair_up
from harness.analysis.comparison.sameness import check_same
from harness.analysis.comparison.sides import Side, find_sides
from harness.analysis.effort import Effort, effort
from harness.analysis.resolve_rates import ResolveRate, resolve_rate
from harness.analysis.run_rows import RunRows, load_rows
from harness.runs.plan import RunFile
from harness.specs.errors import UserError
from harness.specs.loading import load_yaml


@dataclass(frozen=True)
class SideSummary:
    """One side, at the tasks that all sides have."""

    side: Side
    rate: ResolveRate
    effort: Effort
    mechanism: Mechanism


@dataclass(frozen=True)
class Comparison:
    """`left_out` are tasks that not all sides have, with the names of the sides that lack them."""

    runs: tuple[Path, ...]
    tasks: tuple[str, ...]
    left_out: Mapping[str, tuple[str, ...]]
    sides: tuple[SideSummary, ...]
    pairs: tuple[Pair, ...]
    notes: tuple[str, ...]


def compare(directories: Sequence[Path], first: str, others: Sequence[str]) -> Comparison:
    """Sides are named SCAFFOLD, SCAFFOLD/MODEL, or RUN: and one of these. Raises UserError for what is refused."""
    return compare_runs(_load(directories), first, others)


def compare_runs(runs: Sequence[RunRows], first: str, others: Sequence[str]) -> Comparison:
    """The same of runs that were read before."""
    sides = find_sides(runs, [first, *others])
    tasks, left_out = _common(sides)
    check_same(sides, tasks)
    return Comparison(
        runs=tuple(run.directory for run in runs),
        tasks=tasks,
        left_out=left_out,
        sides=tuple(_summary(side, tasks) for side in sides),
        pairs=pair_up(sides[0], sides[1:], tasks),
        notes=tuple(_notes(sides, tasks)),
    )


def _load(directories: Sequence[Path]) -> list[RunRows]:
    seen: dict[Path, Path] = {}
    for directory in directories:
        if directory.resolve() in seen:
            raise UserError(f"{directory}: this run is named twice")
        seen[directory.resolve()] = directory
    found = [load_rows(directory) for directory in directories]
    for run in found:
        load_yaml(run.directory / "run.yaml", RunFile)
    return found


def _common(sides: Sequence[Side]) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    everything = sorted({task for side in sides for task in side.scores})
    lacking = {task: tuple(side.name for side in sides if task not in side.scores) for task in everything}
    left_out = {task: names for task, names in lacking.items() if names}
    tasks = tuple(task for task in everything if task not in left_out)
    if not tasks:
        names = "; ".join(f"{side.name} has {', '.join(sorted(side.scores)) or 'none'}" for side in sides)
        raise UserError(f"the sides have no task in common: {names}")
    return tasks, left_out


def _summary(side: Side, tasks: Sequence[str]) -> SideSummary:
    trials = [trial for task in tasks for trial in side.at(task)]
    rate = resolve_rate({task: side.scores[task] for task in tasks})
    return SideSummary(side, rate, effort([trial.row for trial in trials]), mechanism(side, trials))


def _notes(sides: Sequence[Side], tasks: Sequence[str]) -> Iterator[str]:
    """What a reader must know of the whole before believing a difference."""
    first = sides[0]
    for other in sides[1:]:
        if first.scaffold != other.scaffold and first.model != other.model and first.model and other.model:
            yield f"{first.name} and {other.name} differ in scaffold and model: a difference may be due to either"
        if uneven := [t for t in tasks if len(first.scores[t].verdicts) != len(other.scores[t].verdicts)]:
            yield (
                f"{first.name} and {other.name} have different numbers of attempts at {len(uneven)} tasks: McNemar's "
                "test takes the first ones of the side with more"
            )
        if first.model and first.model == other.model and len(_model_digests((first, other))) > 1:
            yield f"{first.model} has other settings with {first.name} than with {other.name}: see run.yaml of both"
    repositories = {side.scores[task].repository for side in sides for task in tasks}
    if "" in repositories:
        yield "a run doesn't say which repositories its tasks have: no interval by repository"
    elif len(repositories) == 1:
        yield "all tasks are of one repository: nothing here says how the sides do on others"


def _model_digests(sides: Sequence[Side]) -> set[str]:
    found = (run.file.models.get(side.model, "") for side in sides for run in side.runs if run.file)
    return {digest for digest in found if digest}
