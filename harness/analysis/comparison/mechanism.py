"""What ended a side's trials beside its model's skill: a broken adapter must not be read as a weak model."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.agents.ending import Ending
from harness.analysis.comparison.sides import PlacedTrial, Side
from harness.analysis.rows import TrialRow
from harness.specs.reasons import ReasonCode, Verdict

ODD_SHARE = 0.1
"""Of a side's trials; where more show signs of a fault in the mechanism, a warning says so."""
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
    """Pure."""
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
    """An agent that has ended without a metered call: it may have ignored where its model is."""
    return bool(row.ending) and row.usage is not None and row.usage.agent.calls == 0


def _format_errors(rows: Sequence[TrialRow]) -> list[int]:
    return [row.format_errors for row in rows if row.format_errors is not None]


def _faults(row: TrialRow) -> Iterator[str]:
    yield from (attempt.code for attempt in row.attempts if attempt.code)


def _counted(rows: Sequence[TrialRow], words: Callable[[TrialRow], Iterator[str]]) -> Mapping[str, int]:
    """The most frequent first."""
    counts = Counter(str(word) for row in rows for word in words(row))
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
