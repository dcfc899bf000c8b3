"""Catalogs as the command line names them: folders, commits of git repositories, and those of installed packages."""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from filelock import FileLock

from harness.authoring.repo_new.git_source import fetch_commit, wanted_commit
from harness.sandbox.host import cache_directory, scratch_directory, writing
from harness.sandbox.images.work_tree import unpack_tree
from harness.specs.catalog import CATALOGS
from harness.specs.catalog_places import CatalogPlace, place_of
from harness.specs.errors import UserError

_NAMED = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)=(?P<place>.+)", re.DOTALL)
_URL = re.compile(r"[a-z+]+://|[^/@]+@[^/:@]+:")
_WHOLE = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def places_of(given: Sequence[str]) -> tuple[CatalogPlace, ...]:
    """Return what `--catalog` names, each as `PLACE` or `NAME=PLACE`.

    A place is a folder; else `URL@COMMIT` of a git repository, which is fetched into the cache; else a name that an
    installed package has registered.

    Raises:
        UserError: There is no such catalog, or git can't fetch it.
        ToolFailed: git isn't done in time, or the cache can't be written.
    """
    return tuple(map(_place, given))


def _place(given: str) -> CatalogPlace:
    found = None if Path(given).exists() else _NAMED.fullmatch(given)
    name, place = (found["name"], found["place"]) if found else ("", given)
    if Path(place).is_dir():
        return place_of(Path(place), name)
    if _URL.match(place) or ("@" in place and Path(place.rpartition("@")[0]).exists()):
        return _fetched(place, name)
    if place in CATALOGS.names:
        registered = CATALOGS.get(place)
        return place_of(Path(registered() if callable(registered) else registered), name or place)
    words = (
        f"no folder, no git repository (URL@COMMIT) and no catalog of a package (known: {', '.join(CATALOGS.names)})"
    )
    raise UserError(f"--catalog {place}: {words}; mkdir -p {place}/tasks begins one")


def _fetched(source: str, name: str) -> CatalogPlace:
    """Return the tree of a commit in the cache. A whole hash is fetched once, any other name each time."""
    wanted = wanted_commit(source)
    called = name or wanted.url.rstrip("/").rpartition("/")[2].rpartition(":")[2].removesuffix(".git") or "catalog"
    kept = cache_directory() / "catalogs"
    with writing(kept):
        kept.mkdir(parents=True, exist_ok=True)
    with FileLock(kept / ".lock"), scratch_directory() as scratch:
        if _WHOLE.fullmatch(wanted.commit) and (kept / wanted.commit).is_dir():
            return place_of(kept / wanted.commit, called)
        done = fetch_commit(wanted, "catalog", scratch, lambda words: print(words, file=sys.stderr))
        directory = kept / done.commit
        if not directory.is_dir():
            with writing(directory), done.archive.open("rb") as archive:
                unpack_tree(archive, directory)
    return place_of(directory, called)
