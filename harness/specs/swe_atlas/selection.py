"""`swe-atlas:PATH[/GLOB]`: which task directories a pattern stands for."""

from collections.abc import Iterator
from pathlib import Path

from harness.specs.errors import UserError
from harness.specs.swe_atlas.layout import DESCRIPTION

SCHEME = "swe-atlas:"


def is_published(pattern: str) -> bool:
    return pattern.startswith(SCHEME)


def absolute(pattern: str) -> str:
    """The same pattern wherever it is read from; any other is left as it is."""
    return f"{SCHEME}{Path(pattern.removeprefix(SCHEME)).absolute()}" if is_published(pattern) else pattern


def task_directories(pattern: str) -> list[Path]:
    """A task's own directory, all that lie in a directory, or those that a glob matches; sorted. Raises UserError."""
    place = pattern.removeprefix(SCHEME)
    path = Path(place)
    if (path / DESCRIPTION).is_file():
        return [path.resolve()]
    candidates = path.iterdir() if path.is_dir() else _matching(path)
    found = sorted(candidate.resolve() for candidate in candidates if (candidate / DESCRIPTION).is_file())
    if not found:
        raise UserError(f"{pattern}: no task directory there (one has a {DESCRIPTION})")
    return found


def _matching(path: Path) -> Iterator[Path]:
    """What a glob below the root or the current directory matches."""
    root = Path(path.anchor)
    return root.glob(str(path.relative_to(path.anchor)))
