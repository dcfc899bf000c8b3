"""Totals of a large run, from the index of its trials; `run_rows` has every row, for runs that fit in memory."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.results.scores import ResolveRate, TaskScore, Who, resolve_rate
from harness.runs.plan import RunFile, slug, system_name
from harness.runs.store import check_is_run
from harness.runs.trial_index import MANY, TrialIndex, count_trials
from harness.runs.trial_store import TrialStore
from harness.specs.reasons import Verdict
from harness.specs.tracks import BEHAVIOUR
from harness.specs.yaml_files import load_yaml

LARGE = MANY


@dataclass
class SystemTotal:
    """One system. `verdicts` counts trials, under None those without one; costs are in USD, None where unknown."""

    verdicts: Counter[Verdict | None] = field(default_factory=Counter)
    agent_usd: float | None = 0.0
    judge_usd: float | None = 0.0
    rate: ResolveRate | None = None


@dataclass
class TrackTotal:
    """The trials of one track. `lost` counts reasons as `STAGE:CODE`."""

    systems: defaultdict[Who, SystemTotal] = field(default_factory=lambda: defaultdict(SystemTotal))
    lost: Counter[str] = field(default_factory=Counter)


def is_large(directory: Path) -> bool:
    """Return whether a run has too many trials to be read at once.

    Raises:
        UserError: The directory holds no run.
    """
    check_is_run(directory)
    return count_trials(directory) > LARGE


def run_total(directory: Path) -> dict[str, TrackTotal]:
    """Return the totals of a run by track: no rate is over tasks of two.

    The files of trials are read only where the run's index doesn't know them as they are.

    Raises:
        UserError: The directory holds no run.
    """
    file = load_yaml(directory / "run.yaml", RunFile)
    tracks: defaultdict[str, TrackTotal] = defaultdict(TrackTotal)
    verdicts: defaultdict[Who, defaultdict[str, list[Verdict | None]]] = defaultdict(lambda: defaultdict(list))
    known_verdicts = {verdict.value: verdict for verdict in Verdict}
    models = _models(file)
    index = TrialIndex(directory)
    for group, attempts in index.scan():
        task, scaffold, folder = group.split("/")
        who = models.get((scaffold, folder)) or Who(scaffold, "" if folder == "none" else folder)
        finished = [entry for entry in attempts.values() if entry]
        found = [
            known_verdicts[entry.verdict] if entry else _without(directory, f"{group}/{attempt}")
            for attempt, entry in attempts.items()
        ]
        verdicts[who][task] += found
        track = tracks[_track_of(file, task)]
        total = track.systems[who]
        total.verdicts.update(found)
        track.lost.update(entry.lost for entry in finished)
        total.agent_usd = _sum([total.agent_usd, *(entry.agent_usd for entry in finished)])
        total.judge_usd = _sum([total.judge_usd, *(entry.judge_usd for entry in finished)])
    index.keep()
    for name, track in tracks.items():
        track.lost = _single(track.lost)
        for who, total in track.systems.items():
            asked = file.attempts.get(system_name(*who), {})
            scores = _scores(verdicts[who], asked, file.repositories)
            total.rate = resolve_rate({task: each for task, each in scores.items() if _track_of(file, task) == name})
    return dict(sorted(tracks.items()))


def _track_of(file: RunFile, task: str) -> str:
    return file.tracks.get(task, BEHAVIOUR)


def _single(lost: Counter[str]) -> Counter[str]:
    """Return each reason by itself; trials may have several."""
    found: Counter[str] = Counter()
    for several, count in lost.items():
        for name in filter(None, several.split(",")):
            found[name] += count
    return found


def _models(file: RunFile) -> dict[tuple[str, str], Who]:
    """Return (scaffold, a model's folder) -> system, for those that `run.yaml` knows."""
    known = [Who(*_system(system)) for system in file.attempts]
    return {(who.scaffold, slug(who.model) or "none"): who for who in known}


def _system(system: str) -> tuple[str, str]:
    scaffold, _, model = system.partition("/")
    return scaffold, model


def _scores(
    verdicts: Mapping[str, list[Verdict | None]], asked: Mapping[str, int], repositories: Mapping[str, str]
) -> dict[str, TaskScore]:
    scores = {}
    for task in {**verdicts, **asked}:
        found = verdicts.get(task, [])
        missing = [None] * (asked.get(task, 0) - len(found))
        scores[task] = TaskScore(task, repositories.get(task, ""), (*found, *missing))
    return scores


def _without(directory: Path, place: str) -> Verdict | None:
    """Return the entry of a trial that has no readable verdict."""
    return Verdict.UNSCORED if TrialStore(directory / "trials" / place).last_fault() else None


def _sum(amounts: list[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if len(known) == len(amounts) else None
