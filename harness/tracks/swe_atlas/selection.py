"""`swe-atlas:PATH[/GLOB]`: which task directories a path stands for."""

from collections.abc import Iterator
from pathlib import Path

from harness.specs.errors import UserError
from harness.tracks.swe_atlas.layout import DESCRIPTION

NAME = "swe-atlas"


def task_directories(place: str) -> list[Path]:
    """A task's own directory, all that lie in a directory, or those that a glob matches; sorted. Raises UserError."""
    path = Path(place)
    if (path / DESCRIPTION).is_file():
        return [path.resolve()]
    candidates = path.iterdir() if path.is_dir() else _matching(path)
    found = sorted(candidate.resolve() for candidate in candidates if (candidate / DESCRIPTION).is_file())
    if not found:
        raise UserError(f"{NAME}:{place}: no task directory there (one has a {DESCRIPTION})")
    return found


def _matching(path: Path) -> Iterator[Path]:
    """What a glob below the root or the current directory matches."""
    root = Path(path.anchor)
    return root.glob(str(path.relative_to(path.anchor)))
