"""The trials of a large run that need nothing any more, told from its index: none of them is opened or begun."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from harness import PROTOCOL_VERSION
from harness.runs.additions import Asked
from harness.runs.plan import Trial
from harness.runs.trial_index import MANY, Finished, TrialIndex, reached_under
from harness.specs.grading import GradingRules
from harness.verify.judge.judge import Judge


class Sorted(NamedTuple):
    """What a start asks for: `rest` has something left to do, or may have; `finished` has nothing."""

    rest: list[Trial]
    finished: Sequence[tuple[Trial, Finished]] = ()


def sort_out(directory: Path, asked: Asked, judge: Judge | None) -> Sorted:
    """Only of many trials, by the rules of our own verdicts; otherwise each is looked at when its turn comes.

    A trial counts as finished where a start would find by its files that its agent's work and its verdict are what
    is asked for: the same identity, reached under the same conditions. Where an image's digest isn't known without
    making it, nothing of its task does.
    """
    if len(asked.trials) <= MANY or asked.config.protocol is not GradingRules.TESTWRIGHT:
        return Sorted(asked.trials)
    index = TrialIndex(directory)
    known = dict(index.scan())
    index.keep()
    rest: list[Trial] = []
    finished: list[tuple[Trial, Finished]] = []
    for trials in _groups(asked.trials):
        first = trials[0]
        image = asked.images.get(first.task.id)
        found = known.get(first.place.parent.as_posix(), {})
        if image is None or not found:
            rest += trials
            continue
        identity = _identities(first, image, asked)
        under = _conditions(first, image, asked.isolation, judge)
        for trial in trials:
            entry = found.get(str(trial.attempt))
            if entry and entry.under == under and entry.identity == identity(trial.attempt):
                finished.append((trial, entry))
            else:
                rest.append(trial)
    return Sorted(rest, finished)


def _groups(trials: Sequence[Trial]) -> Iterator[list[Trial]]:
    """Those that differ in nothing but the attempt's number, in the order of a plan."""
    for _, group in groupby(trials, lambda trial: (trial.task.id, trial.scaffold.name, trial.model)):
        yield list(group)


def _identities(first: Trial, image: str, asked: Asked) -> Callable[[int], str]:
    """`Trial.identity` by an attempt's number, without working out anew what all have in common."""
    head, tail = first.identity_text(image, asked.isolation, asked.scaffolds[first.scaffold.name])

    def identity(attempt: int) -> str:
        return hashlib.sha256(f"{head}{attempt}{tail}".encode()).hexdigest()

    return identity


def _conditions(trial: Trial, image: str, isolation: str, judge: Judge | None) -> str:
    """What `Judging.is_done` asks of a verdict, as the index has it."""
    return reached_under(
        is_ours=GradingRules.TESTWRIGHT.is_ours,
        digests=(trial.task.digest, trial.task.repo.digest, image),
        isolation=isolation,
        version=PROTOCOL_VERSION,
        judge=judge.identity if judge else None,
        is_without_judge=False,
    )
