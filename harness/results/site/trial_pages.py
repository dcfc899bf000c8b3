"""A page for each trial: what was asked for, what was done, and every reason for its verdict.

Tests against arms: what each listed test did on each variant.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

from markupsafe import Markup

from harness.judging.verify.judge.replies import Vote
from harness.judging.verify.verdict import outcome_words
from harness.results.activity.trials import TrialBehaviour, behaviour_of
from harness.results.report.trial_report import column_value, track_columns
from harness.results.rows import ArmTestRow, TrialRow
from harness.results.signals import shown_signals, signal_cell
from harness.results.site.applications import application_view
from harness.results.site.comparison_pages import patch_view
from harness.results.site.failures import failures_of
from harness.results.site.material import Material, SiteTrial, System, link, root_of, task_page, trial_page
from harness.results.site.pages import LongTexts, Pages, Text, visible
from harness.results.site.trajectories import Step, folded, read_records, steps_of
from harness.runs.records import read_lines
from harness.specs.rubric import AXES
from harness.specs.test_results import Outcome, Quality
from harness.specs.tracks import BEHAVIOUR
from harness.specs.variants import Role, VariantKind

MAX_CELLS = 3_000
_ORDER = list(VariantKind)


@dataclass(frozen=True)
class ArmCell:
    """A cell of the table of arms. `kind` is passed, killed, failed, skipped or missing."""

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
    def group(self) -> str:
        """The heading under which the arm stands; empty where its kind isn't known."""
        if not self.kind:
            return ""
        must_pass = VariantKind(self.kind).behaves_like_baseline
        return "the behaviour is right: every test must pass" if must_pass else "the behaviour is wrong: tests notice"

    @property
    def words(self) -> str:
        """Return what its name says."""
        return arm_words(self.arm)

    @property
    def html(self) -> Markup:
        """The HTML of its cells."""
        return Markup("".join([cell.html for cell in self.cells]))


@dataclass(frozen=True)
class ArmTable:
    """A table of arms. `left_out` counts the tests that there is no room for."""

    tests: Sequence[str]
    lines: Sequence[ArmLine]
    left_out: int = 0

    @property
    def groups(self) -> Sequence[tuple[str, Sequence[ArmLine]]]:
        """Return the lines by their headings, in their order."""
        return [(group, list(lines)) for group, lines in groupby(self.lines, key=lambda line: line.group)]

    @property
    def legend(self) -> Sequence[tuple[str, str]]:
        """Kinds of arms that the table has, and what they are."""
        kinds = {line.kind for line in self.lines}
        return [(kind.value, words) for kind, words in _LEGEND.items() if kind in kinds]


_NOTHING = ArmCell("missing", "not run")
_LEGEND = {
    VariantKind.BASELINE: "the code as it is in the repository",
    VariantKind.REWRITTEN: "the same behaviour, its text written anew by a machine",
    VariantKind.TWIN: "an equivalent mutant: as a probe in place, size and form, with the behaviour as it was",
    VariantKind.PLACEBO_AUTHORED: "the same behaviour, rewritten at length by the task's author",
    VariantKind.REMOVAL: "the behaviour is taken out, and the code refuses; a test must fail here or under garbage",
    VariantKind.GARBAGE: "the behaviour is taken out, and the code returns plausible garbage",
    VariantKind.PROBE: "a small mutant that belongs to a criterion, which is met where a test fails",
}
_ARM = re.compile(r"(twin|probe|rewritten|removal|garbage)-([^,_]+)(?:_(\d+))?")


def arm_words(arm: str) -> str:
    """Return what an arm's name says: `twin-1.3_2` is the 2nd twin of probe 1.3."""
    variant, _, rest = arm.partition(",")
    found = _ARM.fullmatch(variant)
    words = variant.replace("-", " ")
    if found and found[1] == "twin":
        words = f"twin {found[3] or 1} of probe {found[2]}"
    elif found and found[1] == "probe":
        words = f"probe {found[2]}"
    elif found:
        words = f"{found[1]}, draw {found[2]}"
    again = [part.replace("run-", "run again: ").replace("test-", "alone: test ") for part in rest.split(",") if part]
    return ", ".join([words, *(part.replace("-", " ") for part in again)])


def arm_table(trial: TrialRow, rows: Iterable[ArmTestRow]) -> ArmTable:
    """Return the arms of the listed tests, by kind of variant.

    They come from the verdict where the arms' own results weren't kept.
    """
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
    """Return all of it as lines of text, tabs between arm, test and outcome."""
    return "".join(f"{row.arm}\t{row.test}\t{outcome_words(row.outcome, row.quality)}\n" for row in rows)


def _line(arm: str, rows: Sequence[ArmTestRow], tests: Sequence[str]) -> ArmLine:
    first = rows[0]
    tells = not first.kind.behaves_like_baseline
    # Of two with one name the first counts.
    cells = {row.test: _cell(row.outcome, row.quality, row.killed and tells) for row in reversed(rows)}
    return ArmLine(arm, first.kind, first.arm_status, first.arm_seconds, [cells.get(t, _NOTHING) for t in tests])


@cache
def _cell(outcome: Outcome, quality: Quality | None, notices: bool) -> ArmCell:
    """Return a cell, remembered: there are few different ones, in thousands of places."""
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
    """Return a key that sorts `probe-1.10` after `probe-1.9`."""
    parts = name.replace(".", "-").replace(",", "-").replace("_", "-").split("-")
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in parts)


_PAGE_CHARS = 400_000
"""Characters of the steps on one page, as HTML."""
_MAX_CRITERIA, _MAX_REASONS, _MAX_WORDS = 200, 100, 1_500
_FILES = ("trajectory.jsonl", "submission/patch.diff", "submission/manifest.yaml", "verdict.json", "evidence.json")


@dataclass(frozen=True)
class CriterionView:
    """A criterion on a trial's page. `votes` are a judge's, `killed_by` has a probe's killers."""

    item: Any
    axis: str
    statement: str
    votes: Sequence[Vote]


def write_trial(pages: Pages, material: Material, system: System, trial: SiteTrial) -> TrialBehaviour | None:
    """Write a trial's pages, several for a long trajectory, and return what its agent did, without the records."""
    row, page = trial.row, trial.page
    texts = LongTexts(pages, page)
    task = material.tasks.get(row.task)
    trajectory = read_records(trial.directory / "trajectory.jsonl")
    behaviour = behaviour_of(row, trajectory.records)
    chunks = list(_packed(steps_of(trajectory.records, texts), page)) if trajectory.records else []
    arm_rows = trial.run.rows.arm_tests_of(row)
    table = arm_table(row, arm_rows)
    whole = texts.cut(arm_text(arm_rows), "arms.txt", 0) if table.left_out else None
    pages.write(
        page,
        "trial.html.j2",
        row=row,
        system=system,
        run=trial.run,
        record=row.record,
        behaviour=behaviour,
        reasons=[(reason, _words(reason.words)) for reason in row.reasons[:_MAX_REASONS]],
        notes=[(note, _words(note.words)) for note in row.notes[:_MAX_REASONS]],
        task_link=link(task_page(row.task)),
        others=_others(material, trial),
        request=texts.cut(task.prompt, "request.txt") if task else None,
        criteria=_criteria(material, trial),
        table=table,
        legend=table.legend if material.track_of[row.task] == BEHAVIOUR else [],
        application=application_view(trial.directory, arm_rows, texts),
        failures=failures_of(trial.directory, task.repo.report, arm_rows, texts) if task else None,
        own=_own_columns(row),
        arms_file=whole,
        patch=patch_view(trial.directory / "submission" / "patch.diff", _listed(row), texts),
        manifest=_manifest(trial.directory, texts),
        steps=chunks[0] if chunks else "",
        parts=[link(trial_page(trial.run.place, row, number)) for number in range(1, len(chunks) + 1)],
        trajectory_problem=trajectory.problem,
        usage=_usage(row),
        signals=[(title, signal_cell(row, name)) for name, title in shown_signals([row]).items()],
        files=[name for name in _FILES if (trial.directory / name).is_file()],
    )
    for number, chunk in enumerate(chunks[1:], start=2):
        name = trial_page(trial.run.place, row, number)
        parts = [link(trial_page(trial.run.place, row, each)) for each in range(1, len(chunks) + 1)]
        pages.write(name, "trajectory.html.j2", row=row, number=number, parts=parts, steps=chunk)
    return replace(behaviour, records=(), calls=(), actions=()) if behaviour else None


def _own_columns(row: TrialRow) -> list[tuple[str, str]]:
    """Return what the trial's track says beside the verdict: title and words."""
    if row.record is None:
        return []
    return [(title, column_value(title, row.record)) for title in track_columns([row.record])]


def _words(text: str) -> str:
    return text if len(text) <= _MAX_WORDS else f"{text[:_MAX_WORDS]}…"


def _listed(row: TrialRow) -> Sequence[str]:
    return row.record.stages.manifest.tests if row.record else ()


def _manifest(directory: Path, texts: LongTexts) -> Text | None:
    try:
        data = (directory / "submission" / "manifest.yaml").read_bytes()
    except OSError:
        return None
    return texts.cut(data[:1_000_000].decode(errors="replace"), "manifest.txt")


def _others(material: Material, trial: SiteTrial) -> Sequence[tuple[System, Sequence[SiteTrial]]]:
    """Return all trials at this task, by system."""
    return [(system, system.at(trial.row.task)) for system in material.systems if system.at(trial.row.task)]


def _packed(steps: Iterable[Step], page: str) -> Iterator[Markup]:
    """Yield the steps as HTML, in parts that a page has room for."""
    held: list[str] = []
    size, root = 0, root_of(page)
    for step in steps:
        text = folded(step, root)
        if held and size + len(text) > _PAGE_CHARS:
            yield Markup("".join(held))  # escaped already
            held, size = [], 0
        held.append(text)
        size += len(text)
    yield Markup("".join(held))


def _criteria(material: Material, trial: SiteTrial) -> list[CriterionView]:
    row = trial.row
    task = material.tasks.get(row.task)
    statements = {item.id: item.statement for item in task.rubric.criteria} if task else {}
    votes: defaultdict[str, list[Vote]] = defaultdict(list)
    for vote in read_lines(trial.directory / "judge.jsonl", Vote):
        short = {"quote": vote.quote[:600], "why": vote.why[:600], "words": vote.words[:600]}
        votes[vote.question].append(vote.model_copy(update=short))
    criteria = row.record.stages.rubric.criteria if row.record else ()
    return [
        CriterionView(
            item.model_copy(update={"words": _words(item.words)}),
            AXES.get(item.axis, str(item.axis)),
            _words(statements.get(item.id, "")),
            votes[item.id][:15],
        )
        for item in criteria[:_MAX_CRITERIA]
    ]


def _usage(row: TrialRow) -> Mapping[str, Any] | None:
    if row.usage is None:
        return None
    parts = (("agent", row.usage.agent), ("tries set aside", row.usage.lost), ("judge", row.usage.judge))
    return {"parts": [(name, usage) for name, usage in parts if usage.calls or name == "agent"], "file": row.usage}
