"""What several judges said of each criterion of a task, and which criteria should be reworded for it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from harness.specs.rubric import Importance

REFERENCE = "reference"
MET, UNMET = "met", "unmet"


class Flaw(StrEnum):
    """Why a criterion should be reworded."""

    DISAGREE = "judges disagree"
    UNDECIDED = "can't be told"
    PRESCRIBES = "prescribes one way"
    LENIENT = "accepts less than the probes"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Ballot(_Part):
    """The votes of one judge on one criterion for one suite, by what they say: `met`, `unmet`, `cannot tell`.

    `expected` is what probes and static checks say of it; None where nobody but a judge can tell.
    """

    judge: str
    suite: str
    criterion: str
    votes: dict[str, int]
    expected: bool | None = None


class Finding(_Part):
    """`where` is the criterion's line in its rubric."""

    criterion: str
    importance: Importance
    flaw: Flaw
    suite: str
    words: str
    where: str = ""


class Consistency(_Part):
    """`faults` are judgings of which no answer counts; `calls` and `cost_usd` are of all judges, None for unknown."""

    task: str
    judges: tuple[str, ...]
    suites: tuple[str, ...]
    findings: tuple[Finding, ...] = ()
    faults: tuple[str, ...] = ()
    ballots: tuple[Ballot, ...] = ()
    calls: int = 0
    cost_usd: float | None = None


def flaws(ballots: Sequence[Ballot]) -> Iterator[tuple[Flaw, str]]:
    """Of one criterion and one suite, by all judges together. Pure."""
    votes = _sum(ballots)
    said = ", ".join(f"{count} {answer}" for answer, count in sorted(votes.items()))
    if votes[MET] and votes[UNMET]:
        yield Flaw.DISAGREE, f"{said}{_by_judge(ballots)}"
    elif 2 * (votes[MET] + votes[UNMET]) <= votes.total():
        yield Flaw.UNDECIDED, said
    expected, majority = ballots[0].expected, _majority(votes)
    if expected is not None and majority is not None and majority is not expected:
        words = "met by the probes or the static check" if expected else "unmet by the probes"
        yield (Flaw.PRESCRIBES if expected else Flaw.LENIENT), f"{words}; the judges say {said}"


def _sum(ballots: Iterable[Ballot]) -> Counter[str]:
    votes: Counter[str] = Counter()
    for ballot in ballots:
        votes.update(ballot.votes)
    return votes


def _majority(votes: Counter[str]) -> bool | None:
    return None if votes[MET] == votes[UNMET] else votes[MET] > votes[UNMET]


def _by_judge(ballots: Sequence[Ballot]) -> str:
    """Who says what, where there are several judges."""
    if len({ballot.judge for ballot in ballots}) < 2:
        return ""
    each = (
        f"{ballot.judge}: {', '.join(f'{n} {name}' for name, n in sorted(ballot.votes.items()))}"
        for ballot in ballots
    )
    return f" ({'; '.join(each)})"
