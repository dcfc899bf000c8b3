"""Two systems side by side: what `testwright compare` says, and both patches of each task that flips.

A patch as lines, those of the listed tests marked.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape  # five times as quick as the one of markupsafe
from itertools import combinations, zip_longest
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup
from unidiff.errors import UnidiffParseError
from unidiff.patch import Hunk, PatchedFile, PatchSet

from harness.judging.languages.registry import language_at
from harness.judging.testing.reading_process import heavy
from harness.judging.verify.rubric_check import CriterionResult
from harness.results.comparison.compare import Comparison, compare_runs
from harness.results.comparison.pairs import Flip
from harness.results.comparison.sides import PlacedTrial
from harness.results.report.comparison_tables import patch_file
from harness.results.site.material import Material, SiteTrial, System, TrackResults, comparison_page, flip_page, link
from harness.results.site.pages import LongTexts, Pages, Text, visible
from harness.specs.errors import UserError

MAX_LINES = 2_500
MAX_LINE = 400
_MAX_BYTES = 12_000_000
_KINDS = {"+": "added", "-": "removed", "@": "hunk", "d": "file"}


class PatchLine(NamedTuple):
    """A line of a patch: added, removed, hunk, file or nothing; `test` is the listed test of an added one."""

    text: str
    kind: str
    test: str = ""

    @property
    def html(self) -> str:
        listed = f' listed" title="{escape(visible(self.test[:200]), quote=True)}' if self.test else ""
        return f'<span class="line {self.kind}{listed}">{escape(visible(self.text)) or " "}</span>'

    @property
    def cell(self) -> Markup:
        return Markup(f'<td class="{self.kind}">{escape(visible(self.text))}</td>')


@dataclass(frozen=True)
class PatchPart:
    """The lines of a patch that are about one file."""

    name: str
    lines: tuple[PatchLine, ...]

    @property
    def added(self) -> int:
        return sum(line.kind == "added" for line in self.lines)

    @property
    def removed(self) -> int:
        return sum(line.kind == "removed" for line in self.lines)

    @property
    def html(self) -> Markup:
        return Markup("".join([line.html for line in self.lines]))  # each is escaped


@dataclass(frozen=True)
class PatchView:
    """A patch as a page shows it. `whole` is the file with everything, where not all is shown."""

    lines: tuple[PatchLine, ...]
    whole: Text | None = None

    @property
    def parts(self) -> list[PatchPart]:
        """Return the patch by files: each begins with its `diff` line."""
        starts = [number for number, line in enumerate(self.lines) if line.text.startswith("diff --git ")]
        starts = starts if starts[:1] == [0] else [0, *starts]
        ends = [*starts[1:], len(self.lines)]
        pieces = [self.lines[start:end] for start, end in zip(starts, ends, strict=True)]
        return [PatchPart(_file_of(piece), piece) for piece in pieces if any(line.text for line in piece)]


def _file_of(lines: Sequence[PatchLine]) -> str:
    first = lines[0].text
    return first.rpartition(" b/")[2] if first.startswith("diff --git ") else "patch"


def patch_view(path: Path, tests: Iterable[str], texts: LongTexts) -> PatchView | None:
    """Return None where there is no patch. `tests` are the listed ones, FILE::NAME."""
    try:
        with path.open("rb") as file:
            text = file.read(_MAX_BYTES).decode(errors="replace")
    except OSError:
        return None
    raw = text.split("\n")
    marks = dict(_marks(text, list(tests))) if len(raw) <= MAX_LINES else {}
    lines = [
        PatchLine(line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}…", _kind(line), marks.get(number, ""))
        for number, line in enumerate(raw[:MAX_LINES], start=1)
    ]
    is_cut = len(raw) > MAX_LINES or any(len(line) > MAX_LINE for line in raw)
    return PatchView(tuple(lines), texts.cut(text, "patch.txt", 0) if is_cut else None)


def _kind(line: str) -> str:
    if line.startswith(("+++ ", "--- ", "diff --git ")):
        return "file"
    return _KINDS.get(line[:1], "") if not line.startswith("d") else ""


def _marks(text: str, tests: list[str]) -> Iterator[tuple[int, str]]:
    """Yield line of the patch, from 1, and the listed test whose text it is."""
    try:
        found = list(PatchSet(text))
    except (UnidiffParseError, ValueError):
        return
    for file in found:
        short = {_short(test): test for test in tests if test.partition("::")[0] == file.path}
        for hunk in file if short else ():
            yield from _marks_of_hunk(file, hunk, short)


def _marks_of_hunk(file: PatchedFile, hunk: Hunk, short: dict[str, str]) -> Iterator[tuple[int, str]]:
    """Yield what a hunk leaves in place is read as a file: grammars go on after what they can't parse.

    A hunk that is dear to read has no marks.
    """
    language = language_at(file.path)
    lines = [line for line in hunk if not line.is_removed]
    if language is None:
        return
    try:
        text = "".join(str(line.value) for line in lines).encode()
        if heavy(text):
            return
        found = language.discovery.discover(text, file.path)
    except (UserError, RecursionError):
        return
    for test in found.tests:
        name = short.get(test.short)
        for line in lines[test.first_line - 1 : test.last_line] if name else ():
            if line.is_added and line.diff_line_no:
                yield line.diff_line_no, name or ""


def _short(test: str) -> str:
    """Return the last part of a test's name, whatever the language joins them with."""
    return test.partition("::")[2].rpartition(" > ")[2].rpartition("::")[2].rpartition(".")[2]


MOST_PAIRS = 15
"""Pairs of systems that have a page: of more systems, each is held against the first of the leaderboard."""
_LINES = 800
_EMPTY = PatchLine("", "")


@dataclass(frozen=True)
class Pairing:
    """Two systems, and the page that compares them."""

    first: System
    second: System
    place: str = ""
    """The track's, where the site has several."""

    @property
    def page(self) -> str:
        return comparison_page(self.first.name, self.second.name, self.place)

    @property
    def link(self) -> str:
        return link(self.page)


def pairings(systems: Sequence[System], place: str = "") -> list[Pairing]:
    """Return the better system first."""
    pairs = list(combinations(systems, 2))
    if len(pairs) > MOST_PAIRS:
        pairs = [(systems[0], other) for other in systems[1:]]
    return [Pairing(one, other, place) for one, other in pairs]


def write_comparison(pages: Pages, material: Material, track: TrackResults, pairing: Pairing) -> None:
    """Write the page of a pair, and one for each flip. Where `compare` refuses the pair, the page says why."""
    directories = [run.rows.directory for run in material.runs]
    found, refusal = None, ""
    try:
        found = compare_runs(list(track.runs), pairing.first.name, [pairing.second.name])
    except UserError as error:
        refusal = _without_paths(str(error), directories)
    flips = list(_write_flips(pages, material, pairing, found)) if found else []
    pages.write(
        pairing.page, "compare.html.j2", pairing=pairing, found=found, refusal=refusal, flips=flips,
        labels={pairing.first.name: pairing.first.label, pairing.second.name: pairing.second.label},
    )  # fmt: skip


def _write_flips(pages: Pages, material: Material, pairing: Pairing, found: Comparison) -> Iterator[object]:
    places = {trial.directory: trial for trial in material.trials}
    for flip in found.pairs[0].flips:
        page = flip_page(pairing.first.name, pairing.second.name, flip.task, pairing.place)
        sides = [_trial(places, flip.first_trial), _trial(places, flip.second_trial)]
        texts = LongTexts(pages, page)
        lines = list(
            zip_longest(_lines(flip.first_trial, texts, "a"), _lines(flip.second_trial, texts, "b"), fillvalue=_EMPTY)
        )
        pages.write(
            page, "flip.html.j2", pairing=pairing, flip=flip, sides=sides, lines=lines[:_LINES],
            left_out=max(0, len(lines) - _LINES), criteria=list(_criteria(flip)),
        )  # fmt: skip
        yield flip, sides, link(page)


def _trial(places: dict[Path, SiteTrial], placed: PlacedTrial | None) -> SiteTrial | None:
    return places.get(placed.directory) if placed else None


def _lines(placed: PlacedTrial | None, texts: LongTexts, name: str) -> Sequence[PatchLine]:
    path = patch_file(placed)
    if placed is None or path is None:
        return ()
    view = patch_view(path, (), LongTexts(texts.pages, f"{texts.page.removesuffix('.html')}-{name}.html"))
    return view.lines if view else ()


def _criteria(flip: Flip) -> Iterator[tuple[str, object, object]]:
    """Yield each criterion with both sides' results."""
    first, second = ({item.id: item for item in _results(trial)} for trial in (flip.first_trial, flip.second_trial))
    for name in dict.fromkeys([*first, *second]):
        yield name, first.get(name), second.get(name)


def _results(placed: PlacedTrial | None) -> Sequence[CriterionResult]:
    record = placed.row.record if placed else None
    return record.stages.rubric.criteria if record else ()


def _without_paths(message: str, directories: Sequence[Path]) -> str:
    for directory in directories:
        message = message.replace(str(directory), directory.name)
    return message
