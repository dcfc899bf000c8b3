"""One side against others: the same tasks, the same images, the same rules, or a refusal.

Ends of trials that have causes beside a model's skill are counted: a broken adapter must not be read as a weak model.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from harness.agents.trajectory import Ending
from harness.judging.verify.verdict import VerdictRecord
from harness.results.comparison.pairs import Pair, pair_up
from harness.results.comparison.sides import PlacedTrial, Side, find_sides
from harness.results.leaderboard import SystemEffort, effort
from harness.results.rows import TrialRow
from harness.results.run_rows import RunRows, load_all, of_track, tracks_of
from harness.results.scores import ResolveRate, resolve_rate
from harness.runs.plan import RunFile
from harness.specs.errors import UserError
from harness.specs.model_file import called
from harness.specs.reasons import ReasonCode, Verdict
from harness.specs.yaml_files import load_yaml

ODD_SHARE = 0.1
"""Share of a side's trials; where more show signs of a fault in the mechanism, a warning says so."""
_NOTHING_HANDED_IN = frozenset(
    {ReasonCode.EMPTY_SUBMISSION, ReasonCode.MANIFEST_MISSING, ReasonCode.MANIFEST_UNPARSEABLE}
)


@dataclass(frozen=True)
class Mechanism:
    """Counts of trials, but for `failed_requests`, `format_errors` and `faults`: requests, calls of tools, attempts.

    `format_errors` are malformed calls of the model, None where no trial's agent tells of them.

    `endings` are agents' own, `faults` reasons of attempts without a verdict (those that were retried too),
    `reasons` verdicts' that say that nothing usable was handed in. `odd` trials have at least one sign of a mechanism
    that failed: no verdict; and of an agent with a model an end by format errors, no metered call, nothing usable
    handed in. `example` is one of them.
    """

    trials: int
    endings: Mapping[str, int]
    failed_requests: int
    with_failed_requests: int
    format_errors: int | None
    with_format_errors: int
    faults: Mapping[str, int]
    reasons: Mapping[str, int]
    without_calls: int
    without_verdict: int
    odd: int
    example: str

    @property
    def is_suspicious(self) -> bool:
        return self.odd > ODD_SHARE * self.trials


def mechanism(side: Side, trials: Sequence[PlacedTrial]) -> Mechanism:
    """Summarise how one side's trials ended. Pure."""
    rows = [trial.row for trial in trials]
    has_model = bool(side.model)
    odd = [trial for trial in trials if _is_odd(trial.row, has_model)]
    return Mechanism(
        trials=len(rows),
        endings=_counted(rows, lambda row: iter([row.ending] if row.ending else [])),
        failed_requests=sum(row.failed_requests or 0 for row in rows),
        with_failed_requests=sum(bool(row.failed_requests) for row in rows),
        format_errors=sum(counted) if (counted := _format_errors(rows)) else None,
        with_format_errors=sum(map(bool, _format_errors(rows))),
        faults=_counted(rows, _faults),
        reasons=_counted(rows, lambda row: iter({reason.code for reason in row.reasons} & _NOTHING_HANDED_IN)),
        without_calls=sum(has_model and _is_without_calls(row) for row in rows),
        without_verdict=sum(row.verdict in (None, Verdict.UNSCORED) for row in rows),
        odd=len(odd),
        example=str(odd[0].directory) if odd else "",
    )


def _is_odd(row: TrialRow, has_model: bool) -> bool:
    if row.verdict in (None, Verdict.UNSCORED):
        return True
    return has_model and (
        row.ending == Ending.FORMAT_ERRORS
        or _is_without_calls(row)
        or any(reason.code in _NOTHING_HANDED_IN for reason in row.reasons)
    )


def _is_without_calls(row: TrialRow) -> bool:
    """Return an agent that has ended without a metered call: it may have ignored where its model is."""
    return bool(row.ending) and row.usage is not None and row.usage.agent.calls == 0


def _format_errors(rows: Sequence[TrialRow]) -> list[int]:
    return [row.format_errors for row in rows if row.format_errors is not None]


def _faults(row: TrialRow) -> Iterator[str]:
    yield from (attempt.code for attempt in row.attempts if attempt.code)


def _counted(rows: Sequence[TrialRow], words: Callable[[TrialRow], Iterator[str]]) -> Mapping[str, int]:
    """Return the most frequent first."""
    counts = Counter(str(word) for row in rows for word in words(row))
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


_SHOWN = 3
_REMEDY = "start the older run again with today's tasks and options, or judge it again with testwright regrade"


class Fact(NamedTuple):
    """A fact that a trial's verdict rests on, and which trial that is."""

    task: str
    kind: str
    value: str
    trial: PlacedTrial


def check_same(sides: Sequence[Side], tasks: Iterable[str]) -> None:
    """Check that all trials were judged under the same conditions.

    Raises:
        UserError: A task, its image, the rules, the judge or the isolation differ between two of them.
    """
    if words := _told(list(differences(sides, tasks))):
        raise UserError(f"these trials can't be compared: {words}; {_REMEDY}")


def mixed_conditions(runs: Sequence[RunRows]) -> str:
    """Return in words how conditions differ between trials at one task, over all runs; empty where they don't."""
    placed: dict[str, list[tuple[PlacedTrial, Sequence[RunRows]]]] = {}
    for run in runs:
        for row in run.trials:
            placed.setdefault(row.task, []).append((PlacedTrial(run.directory, row), (run,)))
    return _told([pair for trials in placed.values() for pair in _differing(trials)])


def _told(found: Sequence[tuple[Fact, Fact]]) -> str:
    more = len(found) - _SHOWN
    words = "; ".join(_words(one, other) for one, other in found[:_SHOWN])
    return f"{words}; and {more} more differences" if more > 0 else words


def differences(sides: Sequence[Side], tasks: Iterable[str]) -> Iterator[tuple[Fact, Fact]]:
    """Yield for each task and kind of fact the first two facts that differ."""
    for task in tasks:
        yield from _differing([(trial, side.runs) for side in sides for trial in side.at(task)])


def _differing(trials: Iterable[tuple[PlacedTrial, Sequence[RunRows]]]) -> Iterator[tuple[Fact, Fact]]:
    known: dict[str, Fact] = {}
    told: set[str] = set()
    for fact in (fact for trial, runs in trials for fact in _facts(trial, runs)):
        first = known.setdefault(fact.kind, fact)
        if first.value != fact.value and fact.kind not in told:
            told.add(fact.kind)
            yield first, fact


def _facts(trial: PlacedTrial, runs: Sequence[RunRows]) -> Iterator[Fact]:
    row, record = trial.row, trial.row.record
    if record:
        found = _of_record(record)
    else:
        # What never came to a verdict is known by its run alone.
        files = (run.file for run in runs if run.directory == trial.run)
        digest = next((file.tasks.get(row.task, "") for file in files if file), "")
        found = {"task digest": digest, "isolation": row.isolation}
    yield from (Fact(row.task, kind, value, trial) for kind, value in found.items() if value)


def _of_record(record: VerdictRecord) -> dict[str, str]:
    judge = record.judge.identity if record.judge else None
    return {
        "task digest": record.task_digest,
        "repository's rules (repo digest)": record.repo_digest,
        "image digest": record.image_digest,
        "protocol version": str(record.protocol_version),
        "grading rules": record.protocol.value,
        "control round": record.control.value,
        "isolation": record.isolation,
        "judge (model, settings, prompts, votes)": f"{judge.model} {judge.model_dump_json()}" if judge else "none",
    }


def _words(one: Fact, other: Fact) -> str:
    return (
        f"task {one.task}: {one.kind} differs: {_short(one)} in {one.trial.directory}, "
        f"{_short(other)} in {other.trial.directory}"
    )


def _short(fact: Fact) -> str:
    return fact.value.partition(" ")[0] if fact.kind.startswith("judge") else fact.value[:12]


@dataclass(frozen=True)
class SideSummary:
    """One side, at the tasks that all sides have."""

    side: Side
    rate: ResolveRate
    effort: SystemEffort
    mechanism: Mechanism


@dataclass(frozen=True)
class Comparison:
    """A comparison of systems. `left_out` are tasks that some sides lack, with the names of these sides."""

    runs: tuple[Path, ...]
    tasks: tuple[str, ...]
    left_out: Mapping[str, tuple[str, ...]]
    sides: tuple[SideSummary, ...]
    pairs: tuple[Pair, ...]
    notes: tuple[str, ...]


def compare(directories: Sequence[Path], first: str, others: Sequence[str], track: str = "") -> Comparison:
    """Compare a system with others at tasks of one track.

    Args:
        directories: Runs.
        first: The system: SCAFFOLD, SCAFFOLD/MODEL, or RUN: and one of these.
        others: The others, named in the same way.
        track: The tasks'; may be empty where the runs have one.

    Raises:
        UserError: A name fits no system or several, conditions differ, or the track must be named.
    """
    runs = _load(directories)
    found = tracks_of(runs)
    if not track and len(found) > 1:
        raise UserError(
            f"these runs have tasks of several tracks, which aren't averaged: name one with --track: "
            f"{', '.join(found)}"
        )
    return compare_runs(of_track(runs, track) if track else runs, first, others)


def compare_runs(runs: Sequence[RunRows], first: str, others: Sequence[str]) -> Comparison:
    """Compare a system with others in runs that were read before. See `compare`."""
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
    found = load_all(directories)
    for run in found:
        load_yaml(run.directory / "run.yaml", RunFile)
    return found


def _common(sides: Sequence[Side]) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    everything = sorted({task for side in sides for task in side.scores})
    lacking = {task: tuple(side.called for side in sides if task not in side.scores) for task in everything}
    left_out = {task: names for task, names in lacking.items() if names}
    tasks = tuple(task for task in everything if task not in left_out)
    if not tasks:
        names = "; ".join(f"{side.called} has {', '.join(sorted(side.scores)) or 'none'}" for side in sides)
        raise UserError(f"the sides have no task in common: {names}")
    return tasks, left_out


def _summary(side: Side, tasks: Sequence[str]) -> SideSummary:
    trials = [trial for task in tasks for trial in side.at(task)]
    rate = resolve_rate({task: side.scores[task] for task in tasks})
    return SideSummary(side, rate, effort([trial.row for trial in trials]), mechanism(side, trials))


def _notes(sides: Sequence[Side], tasks: Sequence[str]) -> Iterator[str]:
    """Yield what a reader must know of the whole before believing a difference."""
    first = sides[0]
    for other in sides[1:]:
        if first.scaffold != other.scaffold and first.model != other.model and first.model and other.model:
            yield f"{first.called} and {other.called} differ in scaffold and model: a difference may be due to either"
        if uneven := [t for t in tasks if len(first.scores[t].verdicts) != len(other.scores[t].verdicts)]:
            yield (
                f"{first.called} and {other.called} have different numbers of attempts at {len(uneven)} tasks: "
                "McNemar's test takes the first ones of the side with more"
            )
        if first.model and first.model == other.model and len(_model_digests((first, other))) > 1:
            names = f"with {first.called} than with {other.called}"
            yield f"{called(first.model)} has other settings {names}: see run.yaml of both"
    repositories = {side.scores[task].repository for side in sides for task in tasks}
    if "" in repositories:
        yield "a run doesn't say which repositories its tasks have: no interval by repository"
    elif len(repositories) == 1:
        yield "all tasks are of one repository: nothing here says how the sides do on others"


def _model_digests(sides: Sequence[Side]) -> set[str]:
    found = (run.file.models.get(side.model, "") for side in sides for run in side.runs if run.file)
    return {digest for digest in found if digest}
