"""`scoring.yaml`: which facts of a trial are worth how many points."""

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from harness.specs.errors import UserError
from harness.specs.reasons import REASONS, NoteCode, ReasonCode
from harness.specs.rubric import AXES, Rubric
from harness.specs.test_results import Slug
from harness.specs.yaml_files import FileModel, line_of_key, load_yaml, parse_yaml, read_text

FILE = "scoring.yaml"
TOTAL = 100
MOST_BY_JUDGE = 10
AXIS_GROUPS = {axis: f"axis-{axis}" for axis in AXES}
GROUPS = ("must-haves", "nice-to-haves", "mutation-score", "judged", *AXIS_GROUPS.values())
"""Measures that an item's `of` may name beside ids of criteria.

The first two, and the axes, are the criteria that probes or static checks decide, `judged` those that only a judge
can decide.
"""
EVENTS = (
    *("verdict-invalid", "verdict-failed", "verdict-unscored"),
    *(f"{stage}-failed" for stage in ("manifest", "mutation", "rubric")),
    *(code.value for code in ReasonCode),
    *REASONS.names,
)
"""Values of a cap's `when`: a verdict, a stage that failed, or the code of a reason."""
ABSENT_NAME = "absent-name"
"""Not a note of the verdict: each finding in `names.json` counts as one."""
NOTES = (*(code.value for code in NoteCode), ABSENT_NAME)
_TRACKS = Path(__file__).parent / "tracks"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Item(_Part):
    """Points for a share of what `of` names.

    `else_to` is the item that has them where there is nothing to measure: no such criterion in the task, no
    mutation score asked for.
    """

    id: Slug
    points: int = Field(gt=0, le=TOTAL)
    of: tuple[str, ...] = Field(min_length=1, description=f"ids of criteria, or {', '.join(GROUPS)}")
    judge: bool = Field(default=False, description="a judge decides it; its points are printed apart")
    else_to: str | None = None


class Deduction(_Part):
    """Points off for each note of this code in the verdict, `at_most` so many."""

    id: Slug
    points: int = Field(gt=0, le=TOTAL)
    note: str
    at_most: int = Field(gt=0, le=TOTAL)


class Cap(_Part):
    """Points that a score can't exceed where this happened."""

    when: str
    at: int = Field(ge=0, le=TOTAL)


class Scoring(FileModel):
    """`scoring.yaml`, of a task or a track."""

    items: tuple[Item, ...] = Field(min_length=1)
    deductions: tuple[Deduction, ...] = ()
    caps: tuple[Cap, ...] = ()
    tiers: dict[str, Annotated[int, Field(ge=0, le=TOTAL)]] = Field(
        default={}, description="name -> least score, from the best to the worst"
    )


def faults(scoring: Scoring) -> list[tuple[tuple[str | int, ...], str]]:
    """Return the place and the words of all that the schema can't see."""
    found: list[tuple[tuple[str | int, ...], str]] = []
    total = sum(item.points for item in scoring.items)
    if total != TOTAL:
        found.append((("items",), f"the points sum to {total}; make them {TOTAL}"))
    judged = sum(item.points for item in scoring.items if item.judge)
    if judged > MOST_BY_JUDGE:
        found.append((("items",), f"{judged} points are a judge's; at most {MOST_BY_JUDGE} may be"))
    ids = Counter([*(item.id for item in scoring.items), *(each.id for each in scoring.deductions)])
    items = {item.id: item for item in scoring.items}
    for number, item in enumerate(scoring.items):
        if ids[item.id] > 1:
            found.append((("items", number), f"id {item.id!r} is there twice; rename one"))
        if ("judged" in item.of) is not item.judge or (item.judge and len(item.of) > 1):
            found.append(
                (("items", number), f"item {item.id!r}: `judge: true` and `of: [judged]` go together, alone")
            )
        other = items.get(item.else_to) if item.else_to else None
        if item.else_to and (other is None or other.judge or item.judge or other.else_to or other is item):
            words = f"else_to: {item.else_to!r} is no item without a judge and without an else_to of its own"
            found.append((("items", number), words))
    for number, deduction in enumerate(scoring.deductions):
        if deduction.note not in NOTES:
            found.append((("deductions", number), f"unknown note {deduction.note!r}; known: {', '.join(NOTES)}"))
        if deduction.at_most < deduction.points:
            found.append((("deductions", number), f"at_most {deduction.at_most} is below one deduction's points"))
    for number, cap in enumerate(scoring.caps):
        if cap.when not in EVENTS:
            found.append((("caps", number), f"unknown event {cap.when!r}; known: {', '.join(EVENTS)}"))
    least = list(scoring.tiers.items())
    for (better, above), (worse, below) in pairwise(least):
        if above <= below:
            found.append((("tiers", worse), f"tier {worse} ({below}) isn't below {better} ({above}); order them"))
    return found


def load_scoring(path: Path, rubric: Rubric | None = None) -> Scoring:
    """Read a file.

    Args:
        path: The file.
        rubric: The task's, whose criteria items may name; None for a track's file, which may name groups only.

    Raises:
        UserError: One line, `FILE:LINE: what to do`.
    """
    scoring = load_yaml(path, Scoring)
    criteria = [criterion.id for criterion in rubric.criteria] if rubric else []
    wrong = faults(scoring)
    for number, item in enumerate(scoring.items):
        unknown = [name for name in item.of if name not in (*GROUPS, *criteria)]
        if unknown:
            known = ", ".join((*GROUPS, *criteria))
            wrong.append((("items", number), f"item {item.id!r}: unknown {unknown[0]!r}; known: {known}"))
    if wrong:
        place, words = wrong[0]
        raise UserError(f"{path}:{_line(path, place)}: {words}")
    return scoring


def track_path(track: str) -> Path:
    """Return where a track's scoring lies, if it has one."""
    return _TRACKS / track / FILE


def _line(path: Path, place: tuple[str | int, ...]) -> int:
    """Return the line of a key, or of an item of a list."""
    _, node = parse_yaml(read_text(path), str(path))
    value: Any = node
    line = line_of_key(path, str(place[0]))
    for key, below in value.value:
        if key.value == place[0] and len(place) > 1:
            if isinstance(place[1], int):
                return int(below.value[place[1]].start_mark.line) + 1
            return next(int(name.start_mark.line) + 1 for name, _ in below.value if name.value == place[1])
    return line
