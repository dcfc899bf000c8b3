"""A score from the facts of a trial, with every addend. Pure.

    score = min(caps that fired, max(0, sum of points x share met - deductions, each with its own limit))

Addends are exact hundredths, so that their sum is the score to the last digit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from pydantic import BaseModel, ConfigDict, Field

from harness.plugins.points.scoring_file import Item, Scoring
from harness.specs.yaml_files import FileModel

_UNITS = 100
"""Addends are counted in hundredths of a point."""


@dataclass(frozen=True)
class Share:
    """A share: `met` of `whole`; None for what couldn't be measured."""

    met: int
    whole: int


@dataclass(frozen=True)
class Facts:
    """Facts that a score is made of: measures by name, notes by code, what happened.

    A name that `shares` lacks is nothing to be measured here; None says that it is, and couldn't be.
    """

    shares: Mapping[str, Share | None]
    notes: Mapping[str, int]
    events: frozenset[str]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ItemAddend(_Part):
    """Points of an item. `met` and `whole` are None where it wasn't measured; then `addend` is too."""

    id: str
    points: int = Field(description="with those that other items left to it")
    judge: bool = False
    left_to: str = Field(default="", description="the item that has its points: there was nothing to measure")
    met: int | None = None
    whole: int | None = None
    addend: float | None = None


class DeductionAddend(_Part):
    """Points off, 0 or less."""

    id: str
    count: int
    addend: float


class CapFired(_Part):
    """A limit that held."""

    when: str
    at: int


class ScoreFile(FileModel):
    """`score.json`, beside the verdict, which it never changes.

    The addends of items without a judge, of deductions, `to_zero` and `to_cap` sum to `score`. That is None, for
    unscored, where an item wasn't measured, unless a cap of 0 decides.
    """

    task: str
    scoring: str = Field(description="SHA-256 of the scoring.yaml")
    verdict: str = Field(description="SHA-256 of the verdict.json")
    mutants: str = Field(default="", description="SHA-256 of the mutants.json, empty without one")
    names: str = Field(default="", description="SHA-256 of the names.json, empty without one")
    items: tuple[ItemAddend, ...]
    deductions: tuple[DeductionAddend, ...]
    caps: tuple[CapFired, ...] = Field(description="those that fired")
    to_zero: float = Field(description="what lifts a sum below 0 to 0")
    to_cap: float = Field(description="what the lowest cap takes off")
    score: float | None
    judge: float | None = Field(description="points of the items that a judge decides; None where it decided none")
    judge_points: int = Field(description="how many these items have")
    tier: str

    @property
    def words(self) -> str:
        """Return it as people read it: `78 + judge 6 of 10`."""
        return score_words(self.score, self.judge, self.judge_points)


def score_words(score: float | None, judge: float | None, judge_points: int) -> str:
    """Return a score as people read it, a judge's points apart."""
    told = "unscored" if score is None else f"{score:.4g}"
    if not judge_points:
        return told
    return f"{told} + judge {'not measured' if judge is None else f'{judge:.4g} of {judge_points}'}"


@dataclass(frozen=True)
class Sources:
    """The task and the digests of the files that a score was made from."""

    task: str
    scoring: str
    verdict: str
    mutants: str = ""
    names: str = ""


def compute(scoring: Scoring, facts: Facts, sources: Sources) -> ScoreFile:
    """Return the score of a trial."""
    items = _items(scoring.items, facts)
    deductions = [
        DeductionAddend(id=each.id, count=count, addend=-float(min(each.at_most, each.points * count)))
        for each in scoring.deductions
        for count in [facts.notes.get(each.note, 0)]
    ]
    fired = [CapFired(when=cap.when, at=cap.at) for cap in scoring.caps if cap.when in facts.events]
    ours = [item for item in items if not item.judge and not item.left_to]
    judged = [item for item in items if item.judge and not item.left_to]
    total = sum(_units(item.addend or 0.0) for item in ours) + sum(_units(each.addend) for each in deductions)
    to_zero = max(0, -total)
    limit = min((cap.at for cap in fired), default=None)
    to_cap = min(0, limit * _UNITS - total - to_zero) if limit is not None else 0
    is_decided = limit == 0 or all(item.addend is not None for item in ours)
    score = (total + to_zero + to_cap) / _UNITS if is_decided else None
    is_judged = bool(judged) and all(item.addend is not None for item in judged)
    return ScoreFile(
        **vars(sources),
        items=tuple(items),
        deductions=tuple(deductions),
        caps=tuple(fired),
        to_zero=to_zero / _UNITS,
        to_cap=to_cap / _UNITS,
        score=score,
        judge=sum(_units(item.addend or 0.0) for item in judged) / _UNITS if is_judged else None,
        judge_points=sum(item.points for item in judged),
        tier=tier_of(scoring.tiers, score) if score is not None else "",
    )


def tier_of(tiers: Mapping[str, int], score: float) -> str:
    """Return the best tier that a score reaches; `below C` where it reaches none, empty where there are none."""
    reached = [name for name, least in tiers.items() if score >= least]
    if reached or not tiers:
        return reached[0] if reached else ""
    return f"below {list(tiers)[-1]}"


def addends(file: ScoreFile) -> list[float]:
    """Return all addends; their sum is the score."""
    items = [item.addend or 0.0 for item in file.items if not item.judge]
    return [*items, *(each.addend for each in file.deductions), file.to_zero, file.to_cap]


def _items(items: Sequence[Item], facts: Facts) -> list[ItemAddend]:
    left = {item.id: item.else_to for item in items if item.else_to and not _named(item, facts)}
    found = []
    for item in items:
        points = item.points + sum(other.points for other in items if left.get(other.id) == item.id)
        base = ItemAddend(id=item.id, points=points, judge=item.judge, left_to=left.get(item.id, ""))
        shares = [] if base.left_to else [facts.shares.get(name) for name in item.of if name in facts.shares]
        known = [share for share in shares if share is not None and share.whole]
        if known and len(known) == len(shares) and len(known) == len(item.of):
            share = sum((Fraction(each.met, each.whole) for each in known), Fraction(0)) / len(known)
            whole = known[0].whole if len(known) == 1 else share.denominator
            met = known[0].met if len(known) == 1 else share.numerator
            told = {"met": met, "whole": whole, "addend": round(points * share * _UNITS) / _UNITS}
            base = base.model_copy(update=told)
        found.append(base)
    return found


def _named(item: Item, facts: Facts) -> bool:
    return any(name in facts.shares for name in item.of)


def _units(points: float) -> int:
    return round(points * _UNITS)
