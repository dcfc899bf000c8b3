"""Systems in the order of their resolve rates, with the figures without which a rate misleads: costs and times."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from harness.results.rows import TrialRow
from harness.results.run_rows import RunRows
from harness.results.scores import ResolveRate, TaskScore, Who, pooled, resolve_rate, task_scores
from harness.results.statistics.clusters import mean
from harness.results.statistics.proportions import ranks
from harness.runs.plan import system_name
from harness.runs.trial_store import UsageFile
from harness.specs.reasons import Verdict
from harness.specs.usage import NO_USAGE, Usage


@dataclass(frozen=True)
class SystemEffort:
    """The effort of a system. `agent`, `lost` and `judge` are sums over `trials`, the rest are means.

    Means are over the trials that have the number, None where none has. `wall_seconds` are the agent's wall time with
    its sandbox's start, `working_seconds` those without waiting for a provider. `retries` is how many attempts were
    tried again because the infrastructure failed.
    """

    trials: int
    resolved: int
    agent: Usage
    lost: Usage
    judge: Usage
    steps: float | None
    wall_seconds: float | None
    working_seconds: float | None
    waiting_seconds: float | None
    retries: int

    @property
    def cost_per_trial(self) -> float | None:
        """USD of agent and lost attempts; None where a cost isn't known."""
        cost = (self.agent + self.lost).cost_usd
        return None if cost is None or not self.trials else cost / self.trials

    @property
    def cost_per_resolved(self) -> float | None:
        """USD of all trials by the number of resolved ones; None where nothing was resolved."""
        cost = (self.agent + self.lost).cost_usd
        return None if cost is None or not self.resolved else cost / self.resolved


def effort(rows: Sequence[TrialRow]) -> SystemEffort:
    """Return what a system's trials took. Pure."""
    usages = [row.usage for row in rows if row.usage]
    return SystemEffort(
        trials=len(rows),
        resolved=sum(row.verdict is Verdict.RESOLVED for row in rows),
        agent=_total(usages, lambda usage: usage.agent),
        lost=_total(usages, lambda usage: usage.lost),
        judge=_total(usages, lambda usage: usage.judge),
        steps=_mean(row.steps for row in rows),
        wall_seconds=_mean(_wall(row) for row in rows),
        working_seconds=_mean(row.agent_seconds for row in rows),
        waiting_seconds=_mean(row.waiting_seconds for row in rows),
        retries=sum(not attempt.is_final for row in rows for attempt in row.attempts),
    )


def _wall(row: TrialRow) -> float | None:
    return row.usage.agent_seconds if row.usage and row.ending else None


def _total(usages: Iterable[UsageFile], part: Callable[[UsageFile], Usage]) -> Usage:
    return sum(map(part, usages), start=NO_USAGE)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return mean(known) if known else None


@dataclass(frozen=True)
class Standing:
    """One system: a scaffold with its model. `rank` is the best place that the intervals by task leave open.

    `on_front`: no other system resolves as much for less; None where what its trials cost isn't known. Controls have
    neither: a reference that is handed in as it is doesn't compete.
    """

    who: Who
    rate: ResolveRate
    rank: int | None
    is_tied: bool
    effort: SystemEffort
    on_front: bool | None
    scores: Mapping[str, TaskScore]
    rows: tuple[TrialRow, ...]


def leaderboard(runs: Sequence[RunRows]) -> tuple[Standing, ...]:
    """Return systems by rate, the best first. Trials that were asked for and never began count as failed. Pure."""
    systems = list(dict.fromkeys(who for run in runs for who in _systems(run)))
    rows = {who: tuple(row for run in runs for row in run.trials if _who(row) == who) for who in systems}
    scores = {who: pooled(_scores(run, who) for run in runs) for who in systems}
    rates = {who: resolve_rate(scores[who]) for who in systems if scores[who]}
    ranked = [who for who in rates if who.model]
    places = dict(zip(ranked, ranks([rates[who].rate.by_task for who in ranked]), strict=True))
    efforts = {who: effort(rows[who]) for who in rates}
    exact = {who: exact_rate(scores[who].values()) for who in rates}
    front = pareto_front({who: (exact[who], efforts[who].cost_per_trial) for who in ranked})
    found = [
        Standing(
            who=who,
            rate=rates[who],
            rank=places.get(who),
            is_tied=list(places.values()).count(places.get(who, 0)) > 1,
            effort=efforts[who],
            on_front=None if efforts[who].cost_per_trial is None or not who.model else who in front,
            scores=scores[who],
            rows=rows[who],
        )
        for who in rates
    ]
    return tuple(sorted(found, key=lambda item: (-exact[item.who], item.who)))


def have_same_tasks(standings: Iterable[Standing]) -> bool:
    """Return whether the rates of these systems are over the same tasks."""
    return len({frozenset(standing.scores) for standing in standings}) < 2


def exact_rate(scores: Iterable[TaskScore]) -> Fraction:
    """Return the resolve rate from counts alone, so that equal counts are equal rates."""
    shares = [Fraction(score.resolved, len(score.verdicts)) for score in scores]
    return sum(shares, start=Fraction()) / len(shares)


def pareto_front(systems: Mapping[Who, tuple[Fraction | float, float | None]]) -> frozenset[Who]:
    """Return the systems, of those with a rate and a cost, that none beats: at least as good in both, better in one.

    Systems whose cost isn't known are left out. Costs count to a millionth of a dollar.
    """
    known = {who: (value, round(cost, 6)) for who, (value, cost) in systems.items() if cost is not None}
    return frozenset(
        who
        for who, (value, cost) in known.items()
        if not any(
            better >= value and cheaper <= cost and (better, cheaper) != (value, cost)
            for better, cheaper in known.values()
        )
    )


def by_system(rows: Iterable[TrialRow]) -> dict[Who, list[TrialRow]]:
    """Return trials by system, in the order of the rows."""
    groups: dict[Who, list[TrialRow]] = {}
    for row in rows:
        groups.setdefault(_who(row), []).append(row)
    return groups


def _who(row: TrialRow) -> Who:
    return Who(row.scaffold, row.model)


def _systems(run: RunRows) -> list[Who]:
    """Return the systems that have a trial, then those that only were asked for."""
    asked = run.asked
    scaffolds = {system: Who(*_parted(system)) for system in asked}
    return [*by_system(run.trials), *scaffolds.values()]


def _parted(system: str) -> tuple[str, str]:
    scaffold, _, model = system.partition("/")
    return scaffold, model


def _scores(run: RunRows, who: Who) -> dict[str, TaskScore]:
    rows = [row for row in run.trials if _who(row) == who]
    scores = task_scores(rows, run.asked.get(system_name(*who)))
    known = run.file.repositories if run.file else {}
    return {
        task: TaskScore(task, score.repository or known.get(task, ""), score.verdicts)
        for task, score in scores.items()
    }
