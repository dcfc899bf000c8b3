"""Places of catalogs: folders with tasks, repos and rubrics, by name."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from harness.specs.errors import UserError

BUILT_IN = "built-in"


def default_directory() -> Path:
    """Return the catalog that an installed wheel carries, or the checkout's own folders."""
    package = Path(__file__).resolve().parent.parent
    return package / "catalog" if (package / "catalog").is_dir() else package.parent


class CatalogPlace(NamedTuple):
    """A catalog on this machine, and the name that its tasks are told apart by: `NAME/TASK`."""

    name: str
    directory: Path


Places = Path | Sequence[CatalogPlace] | None
"""One catalog's folder, several catalogs, or the built-in one."""


def place_of(directory: Path, name: str = "") -> CatalogPlace:
    """Return a folder as a catalog, which has the folder's name where no other is given."""
    whole = directory.resolve()
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name or whole.name).strip("-.")
    return CatalogPlace(name or plain or "catalog", whole)


def known_places(given: Places) -> tuple[CatalogPlace, ...]:
    """Return the catalogs that are given, else the built-in one.

    Raises:
        UserError: A folder is no catalog, or two have one name.
    """
    named = [place_of(given)] if isinstance(given, Path) else given
    places = tuple(named or [place_of(default_directory(), BUILT_IN)])
    for place in places:
        if not (place.directory / "tasks").is_dir():
            words = "no catalog here (it needs folders tasks, repos, rubrics, scaffolds)"
            raise UserError(f"{place.directory}: {words}")
    for name, count in Counter(place.name for place in places).items():
        if count > 1:
            raise UserError(f"{count} catalogs are called {name!r}; give one another name: --catalog NAME=PLACE")
    return places
