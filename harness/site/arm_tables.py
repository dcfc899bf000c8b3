"""Tests against arms: what each listed test did on each variant."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from markupsafe import Markup

from harness.analysis.rows import ArmTestRow, TrialRow
from harness.site.visible import visible
from harness.specs.results import Outcome, Quality
from harness.specs.variants import Role, VariantKind
from harness.verify.verdict import outcome_words

MAX_CELLS = 3_000
_ORDER = list(VariantKind)


@dataclass(frozen=True)
class ArmCell:
    """`kind` is passed, killed, failed, skipped or missing."""

    kind: str
    words: str

    @property
    def letter(self) -> str:
        return {"passed": "·", "killed": "K", "failed": "F", "skipped": "s"}.get(self.kind, "-")

    @cached_property
    def html(self) -> str:
        return Markup('<td class="{}" title="{}">{}</td>').format(self.kind, visible(self.words), self.letter)


@dataclass(frozen=True)
class ArmLine:
    """An arm and a cell for each test."""

    arm: str
    kind: str
    ended: str
    seconds: float
    cells: Sequence[ArmCell]

    @property
    def html(self) -> Markup:
        """Its cells."""
        return Markup("".join([cell.html for cell in self.cells]))


@dataclass(frozen=True)
class ArmTable:
    """`left_out` counts the tests that there is no room for."""

    tests: Sequence[str]
    lines: Sequence[ArmLine]
    left_out: int = 0


_NOTHING = ArmCell("missing", "not run")


def arm_table(trial: TrialRow, rows: Iterable[ArmTestRow]) -> ArmTable:
    """Arms of the listed tests, by kind of variant; from the verdict where the arms' own results weren't kept."""
    arms: dict[str, list[ArmTestRow]] = {}
    for row in rows:
        if row.role in (Role.LISTED, Role.CHANGED_BEFORE):
            arms.setdefault(row.arm, []).append(row)
    if not arms:
        return _from_verdict(trial)
    listed = trial.record.stages.manifest.tests if trial.record else ()
    tests = list(dict.fromkeys([*listed, *(row.test for found in arms.values() for row in found)]))
    shown = tests[: max(1, MAX_CELLS // len(arms))]
    lines = [_line(arm, found, shown) for arm, found in arms.items()]
    lines.sort(key=lambda line: (_ORDER.index(VariantKind(line.kind)), _natural(line.arm)))
    return ArmTable(shown, lines, len(tests) - len(shown))


def arm_text(rows: Iterable[ArmTestRow]) -> str:
    """All of it as lines of text, tabs between arm, test and outcome."""
    return "".join(f"{row.arm}\t{row.test}\t{outcome_words(row.outcome, row.quality)}\n" for row in rows)


def _line(arm: str, rows: Sequence[ArmTestRow], tests: Sequence[str]) -> ArmLine:
    first = rows[0]
    tells = not first.kind.behaves_like_baseline
    # Of two with one name the first counts.
    cells = {row.test: _cell(row.outcome, row.quality, row.killed and tells) for row in reversed(rows)}
    return ArmLine(arm, first.kind, first.arm_status, first.arm_seconds, [cells.get(t, _NOTHING) for t in tests])


@cache
def _cell(outcome: Outcome, quality: Quality | None, notices: bool) -> ArmCell:
    """There are few different ones, in thousands of places."""
    words = outcome_words(outcome, quality)
    if outcome is Outcome.FAILED:
        return ArmCell("killed" if notices else "failed", words)
    return ArmCell(outcome.value, words)


def _from_verdict(trial: TrialRow) -> ArmTable:
    records = trial.record.stages.mutation.tests if trial.record else ()
    arms = list(dict.fromkeys(arm for record in records for arm in record.arms))
    shown = records[: max(1, MAX_CELLS // max(1, len(arms)))]
    lines = [ArmLine(arm, "", "", 0.0, [_told(record.arms.get(arm, "missing")) for record in shown]) for arm in arms]
    return ArmTable([record.test for record in shown], lines, len(records) - len(shown))


def _told(words: str) -> ArmCell:
    return ArmCell(words.partition(":")[0].strip(), words)


def _natural(name: str) -> tuple[tuple[int, str], ...]:
    """`probe-1.10` comes after `probe-1.9`."""
    parts = name.replace(".", "-").replace(",", "-").replace("_", "-").split("-")
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in parts)
