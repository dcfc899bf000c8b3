"""The results of the commands for authors: images, stubs, a repository's suite, a new task, judges' consistency."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from harness.specs.problem import Problem
from harness.specs.rubric import Importance
from harness.specs.yaml_files import FileModel


@dataclass(frozen=True)
class Build:
    """An image that is there now. `seconds` is the time that it took to make or to find it."""

    name: str
    reference: str
    digest: str
    seconds: float


@dataclass(frozen=True)
class Check:
    """Results of a check of a repo image (`tests` > 0) or task image."""

    name: str
    digest: str
    tests: int
    seconds: float
    problems: tuple[Problem, ...]


@dataclass(frozen=True)
class StubbedPatch:
    """One removal: `kind` as the language has it, `diff` as git writes it.

    `warnings` are of stubs whose value a legitimate test could expect. `said` is what the compiler says; empty where
    it compiles. `is_written` says that it lies at `path` now.
    """

    kind: str
    path: Path
    diff: str
    warnings: tuple[str, ...]
    said: str = ""
    is_written: bool = False

    @property
    def compiles(self) -> bool:
        """Return whether the compiler accepts the removal."""
        return not self.said


class SuiteRecord(FileModel):
    """`repos/NAME/suite.yaml`: how many tests passed every time, and those that didn't, by how they ended."""

    image_digest: str
    times: int
    green: int
    red: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


class Symbol(BaseModel):
    """A function: how many of its lines the chosen tests reach, and how many of these no test beside them does."""

    model_config = ConfigDict(frozen=True)

    file: str
    name: str
    first_line: int
    reached: int
    alone: int


class Proposal(BaseModel):
    """A proposal of functions that a removal may take out: `symbols`, the most likely first.

    `remark` says why there are none, and what else of upstream's tests should be withheld with these.
    """

    model_config = ConfigDict(frozen=True)

    task: str
    tests: tuple[str, ...]
    symbols: tuple[Symbol, ...]
    remark: str
    written: tuple[Path, ...]


REFERENCE = "reference"
MET, UNMET = "met", "unmet"


class Flaw(StrEnum):
    """Reasons why a criterion should be reworded."""

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


class ConsistencyFinding(_Part):
    """A criterion that should be reworded. `where` is its line in its rubric."""

    criterion: str
    importance: Importance
    flaw: Flaw
    suite: str
    words: str
    where: str = ""


class Consistency(_Part):
    """Findings on a rubric's criteria, from judgings of several suites.

    `faults` are judgings of which no answer counts; `calls` and `cost_usd` are of all judges, None for unknown.
    """

    task: str
    judges: tuple[str, ...]
    suites: tuple[str, ...]
    findings: tuple[ConsistencyFinding, ...] = ()
    faults: tuple[str, ...] = ()
    ballots: tuple[Ballot, ...] = ()
    calls: int = 0
    cost_usd: float | None = None


def flaws(ballots: Sequence[Ballot]) -> Iterator[tuple[Flaw, str]]:
    """Yield the flaws of one criterion on one suite, by all judges together. Pure."""
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
    """Return each judge's answer, where there are several judges."""
    if len({ballot.judge for ballot in ballots}) < 2:
        return ""
    each = (
        f"{ballot.judge}: {', '.join(f'{n} {name}' for name, n in sorted(ballot.votes.items()))}"
        for ballot in ballots
    )
    return f" ({'; '.join(each)})"
