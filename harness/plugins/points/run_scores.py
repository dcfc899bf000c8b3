"""Scores of a run: the facts in the files of its trials, `score.json`, and the check of what is written there."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from harness.judging.verify.mutants.records import MutantsFile
from harness.judging.verify.rubric_check import CriterionResult
from harness.judging.verify.verdict import StageStatus, VerdictRecord
from harness.plugins.names.findings import FILE as NAMES
from harness.plugins.names.findings import read_names
from harness.plugins.points.score import Facts, ScoreFile, Share, Sources, compute
from harness.plugins.points.scoring_file import (
    ABSENT_NAME,
    AXIS_GROUPS,
    FILE,
    GROUPS,
    Scoring,
    load_scoring,
    track_path,
)
from harness.runs.records import read_record, write_whole
from harness.runs.store import find_trials
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.rubric import GradedBy, Importance

SCORE = "score.json"
_BY_CODE = (GradedBy.PROBE, GradedBy.STATIC)


class ScoredTrial(NamedTuple):
    """A trial and its score; None where it has no verdict or its task and track have no `scoring.yaml`."""

    directory: Path
    place: str
    score: ScoreFile | None


def facts_of(
    record: VerdictRecord, mutants: MutantsFile | None, is_damaged: bool = False, absent_names: int = 0
) -> Facts:
    """Return what points may be made of. Pure.

    Args:
        record: The verdict.
        mutants: The mutation score, where one was asked for.
        is_damaged: One was asked for, and its file can't be read.
        absent_names: How many the suite uses, where somebody looked for them.
    """
    shares: dict[str, Share | None] = {}
    criteria = record.stages.rubric.criteria
    if not criteria:
        shares = {name: None for name in GROUPS if name != "mutation-score"}
    by_code = [item for item in criteria if item.decided_by in _BY_CODE]
    groups = {
        "must-haves": [item for item in by_code if item.importance is Importance.MUST],
        "nice-to-haves": [item for item in by_code if item.importance is Importance.NICE],
        "judged": [item for item in criteria if item.decided_by not in _BY_CODE],
        **{name: [item for item in by_code if item.axis == axis] for axis, name in AXIS_GROUPS.items()},
        **{item.id: [item] for item in by_code},
    }
    shares |= {name: _share(found) for name, found in groups.items() if found}
    if is_damaged or mutants is not None:
        shares["mutation-score"] = _mutation(mutants) if mutants else None
    events = {f"verdict-{record.verdict}", *(reason.code.value for reason in record.reasons)}
    stages = record.stages
    statuses = {
        "manifest": stages.manifest.status,
        "mutation": stages.mutation.status,
        "rubric": stages.rubric.status,
    }
    events |= {f"{name}-failed" for name, status in statuses.items() if status is StageStatus.FAILED}
    notes = Counter(note.code.value for note in record.notes)
    notes[ABSENT_NAME] = absent_names  # a verdict's notes of them are cut
    return Facts(shares, notes, frozenset(events))


def _share(criteria: Iterable[CriterionResult]) -> Share | None:
    """Return how many are met; None if one couldn't be decided."""
    met = [item.met for item in criteria]
    return None if None in met else Share(sum(map(bool, met)), len(met))


def _mutation(mutants: MutantsFile) -> Share | None:
    detected = sum(mutant.status.is_detected for mutant in mutants.mutants)
    valid = detected + sum(mutant.status.is_undetected for mutant in mutants.mutants)
    return Share(detected, valid) if valid else None


def scored_trials(run: Path, catalog: Catalog) -> Iterator[ScoredTrial]:
    """Yield the trials of a run with their scores, made anew from verdicts; nothing is run or written.

    Raises:
        UserError: There is no run, or a `scoring.yaml` is wrong.
    """
    for store in find_trials(run):
        directory = store.directory
        record = read_record(directory / "verdict.json", VerdictRecord)
        found = scoring_of(record, catalog) if record else None
        place = directory.relative_to(run / "trials").as_posix()
        yield ScoredTrial(directory, place, _score(directory, record, *found) if record and found else None)


def _score(directory: Path, record: VerdictRecord, scoring: Scoring, path: Path) -> ScoreFile:
    file, looked = directory / "mutants.json", directory / NAMES
    mutants = read_record(file, MutantsFile)
    sources = Sources(
        task=record.task,
        scoring=_digest(path),
        verdict=_digest(directory / "verdict.json"),
        mutants=_digest(file) if file.is_file() else "",
        names=_digest(looked) if looked.is_file() else "",
    )
    names = read_names(directory)
    count = len(names.findings) if names else 0
    return compute(scoring, facts_of(record, mutants, file.is_file() and mutants is None, count), sources)


def scoring_of(record: VerdictRecord, catalog: Catalog) -> tuple[Scoring, Path] | None:
    """Return the scoring of a trial's task, or of its track, and its file.

    Raises:
        UserError: The file is wrong.
    """
    there = (place.directory / "tasks" / record.task / FILE for place in catalog.places)
    if own := next((path for path in there if path.exists()), None):
        return load_scoring(own, catalog.task(record.task).rubric), own
    path = track_path(record.track)
    return (load_scoring(path), path) if path.is_file() else None


def write_scores(run: Path, catalog: Catalog) -> list[ScoredTrial]:
    """Write `score.json` beside each verdict.

    Raises:
        UserError: A scoring file is wrong, or the directory holds no run; nothing is written then.
    """
    found = list(scored_trials(run, catalog))
    for trial in found:
        if trial.score:
            write_whole(trial.directory / SCORE, trial.score.model_dump_json(indent=2) + "\n")
    return found


def differences(run: Path, catalog: Catalog) -> tuple[int, list[str]]:
    """Return how many trials were compared, and a line for each addend, or file, that isn't as computed anew.

    Raises:
        UserError: As `scored_trials`.
    """
    lines, count = [], 0
    for trial in scored_trials(run, catalog):
        file = trial.directory / SCORE
        if trial.score is None and not file.exists():
            continue
        count += 1
        lines += [f"{trial.place}: {words}" for words in _differing(file, trial.score)]
    return count, lines


def _differing(file: Path, computed: ScoreFile | None) -> list[str]:
    if not file.exists():
        return [f"{SCORE} is missing; testwright score write makes it"]
    kept = read_record(file, ScoreFile)
    if kept is None:
        return [f"{SCORE} can't be read"]
    if computed is None:
        return [f"{SCORE} is there, and nothing to compute it from"]
    before, now = kept.model_dump(mode="json"), computed.model_dump(mode="json")
    words: list[str] = []
    for name, value in now.items():
        if isinstance(value, list):
            words += _parts(name, before[name], value)
        elif before[name] != value:
            words.append(f"{name} is {before[name]!r}, computed {value!r}")
    return words


def _parts(name: str, before: list[dict[str, object]], now: list[dict[str, object]]) -> Iterator[str]:
    """Yield the addends that differ, by their names."""
    told = [{str(part.get("id") or part.get("when")): part for part in parts} for parts in (before, now)]
    for part in dict.fromkeys((*told[0], *told[1])):
        old, new = told[0].get(part), told[1].get(part)
        if old is None or new is None:
            yield f"{name} {part}: {'computed, and not there' if old is None else 'there, and not computed'}"
        elif old != new:
            fields = [key for key in new if old[key] != new[key]]
            yield f"{name} {part}: " + ", ".join(f"{key} is {old[key]!r}, computed {new[key]!r}" for key in fields)


def current_score(directory: Path) -> ScoreFile | None:
    """Return a trial's `score.json`; None without one, and where what it is made of was made after it."""
    score = read_record(directory / SCORE, ScoreFile)
    if score is None:
        return None
    try:
        is_current = score.verdict == _digest(directory / "verdict.json")
        for kept, name in ((score.mutants, "mutants.json"), (score.names, NAMES)):
            is_current &= kept == (_digest(directory / name) if (directory / name).is_file() else "")
    except UserError:
        return None
    return score if is_current else None


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None
