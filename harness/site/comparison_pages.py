"""Two systems side by side: what `testwright compare` says, and both patches of each task that flips."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, zip_longest
from pathlib import Path

from harness.analysis.comparison.compare import Comparison, compare_runs
from harness.analysis.comparison.flips import Flip
from harness.analysis.comparison.sides import PlacedTrial
from harness.report.patches_beside import patch_file
from harness.site.material import Material, SiteTrial, System
from harness.site.pages import Pages
from harness.site.patches import PatchLine, patch_view
from harness.site.places import comparison_page, flip_page, link
from harness.site.texts import Texts
from harness.specs.errors import UserError
from harness.verify.rubric_check import CriterionResult

MOST_PAIRS = 15
"""Pairs of systems that have a page: of more systems, each is held against the first of the leaderboard."""
_LINES = 800
_EMPTY = PatchLine("", "")


@dataclass(frozen=True)
class Pairing:
    first: System
    second: System

    @property
    def page(self) -> str:
        return comparison_page(self.first.name, self.second.name)

    @property
    def link(self) -> str:
        return link(self.page)


def pairings(systems: Sequence[System]) -> list[Pairing]:
    """The better system first."""
    pairs = list(combinations(systems, 2))
    if len(pairs) > MOST_PAIRS:
        pairs = [(systems[0], other) for other in systems[1:]]
    return [Pairing(one, other) for one, other in pairs]


def write_comparison(pages: Pages, material: Material, pairing: Pairing) -> None:
    """Its page, and one for each flip. Where `compare` refuses, the page says why."""
    directories = [run.rows.directory for run in material.runs]
    found, refusal = None, ""
    try:
        found = compare_runs([run.rows for run in material.runs], pairing.first.name, [pairing.second.name])
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
        page = flip_page(pairing.first.name, pairing.second.name, flip.task)
        sides = [_trial(places, flip.first_trial), _trial(places, flip.second_trial)]
        texts = Texts(pages, page)
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


def _lines(placed: PlacedTrial | None, texts: Texts, name: str) -> Sequence[PatchLine]:
    path = patch_file(placed)
    if placed is None or path is None:
        return ()
    view = patch_view(path, (), Texts(texts.pages, f"{texts.page.removesuffix('.html')}-{name}.html"))
    return view.lines if view else ()


def _criteria(flip: Flip) -> Iterator[tuple[str, object, object]]:
    """Criterion, and both sides' results."""
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
