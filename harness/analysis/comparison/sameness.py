"""Whether sides were judged on the same tasks, in the same images, by the same rules."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from harness.analysis.comparison.sides import PlacedTrial, Side
from harness.specs.errors import UserError
from harness.verify.verdict import VerdictRecord

_SHOWN = 3
_REMEDY = "start the older run again with today's tasks and options, or judge it again with testwright regrade"


class Fact(NamedTuple):
    """What a trial's verdict rests on, and which trial that is."""

    task: str
    kind: str
    value: str
    trial: PlacedTrial


def check_same(sides: Sequence[Side], tasks: Iterable[str]) -> None:
    """Raises UserError where a task, its image, the rules, the judge or the isolation differ between any trials."""
    found = list(differences(sides, tasks))
    if not found:
        return
    more = len(found) - _SHOWN
    words = "; ".join(_words(one, other) for one, other in found[:_SHOWN])
    rest = f"; and {more} more differences" if more > 0 else ""
    raise UserError(f"these trials can't be compared: {words}{rest}; {_REMEDY}")


def differences(sides: Sequence[Side], tasks: Iterable[str]) -> Iterator[tuple[Fact, Fact]]:
    """For each task and kind of fact the first two that differ."""
    for task in tasks:
        known: dict[str, Fact] = {}
        told: set[str] = set()
        for fact in (fact for side in sides for trial in side.at(task) for fact in _facts(trial, side)):
            first = known.setdefault(fact.kind, fact)
            if first.value != fact.value and fact.kind not in told:
                told.add(fact.kind)
                yield first, fact


def _facts(trial: PlacedTrial, side: Side) -> Iterator[Fact]:
    row, record = trial.row, trial.row.record
    if record:
        found = _of_record(record)
    else:
        # What never came to a verdict is known by its run alone.
        files = (run.file for run in side.runs if run.directory == trial.run)
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
