"""The probes of a task that change the same code, by the text of their patches."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

from harness.specs.task import Probe

NEAR = 6
"""Lines of the tree between two changes that stand together."""


class Hunk(NamedTuple):
    """A change of a file: what git names as its function, first and last line of the tree that it touches."""

    file: str
    function: str
    first: int
    last: int

    def is_beside(self, other: "Hunk") -> bool:
        """Return whether both change the same function, or lines close to each other."""
        if self.file != other.file:
            return False
        is_near = self.first - NEAR <= other.last and other.first - NEAR <= self.last
        return is_near or (self.function != "" and self.function == other.function)


def probes_beside(probes: Sequence[Probe], some: Sequence[Probe]) -> list[Probe]:
    """Return the probes that change the same code as some of them, without these; in their order."""
    taken = [place for probe in some for place in places_of(probe.path)]
    return [
        probe
        for probe in probes
        if probe not in some and any(place.is_beside(other) for place in places_of(probe.path) for other in taken)
    ]


@lru_cache(maxsize=1000)
def places_of(patch: Path) -> tuple[Hunk, ...]:
    """Return what a patch changes; nothing of one that is absent or no diff."""
    try:
        read = PatchSet(patch.read_text(encoding="utf-8", errors="surrogateescape"))
    except (UnidiffParseError, OSError):
        return ()
    found = []
    for file in read:
        for hunk in file:
            lines = [line.source_line_no for line in hunk if line.is_removed and line.source_line_no]
            first = min(lines, default=hunk.source_start)
            last = max(lines, default=hunk.source_start + hunk.source_length)
            found.append(Hunk(file.path, hunk.section_header.strip(), first, last))
    return tuple(found)
