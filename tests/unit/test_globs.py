"""Globs mean what the pages say: the same as a matcher of a few lines, written from the documented meaning."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.judging.submission.policy import BUILD_PRODUCTS
from harness.specs.catalog import Catalog
from harness.specs.catalog_places import default_directory
from harness.specs.repo import checked_glob, matches


def fits(parts: list[str], globs: list[str]) -> bool:
    """The documented meaning, part by part: `**` is any number of directories, and something at the end."""
    if not globs:
        return not parts
    if globs[0] == "**":
        if len(globs) == 1:
            return bool(parts)
        return any(fits(parts[at:], globs[1:]) for at in range(len(parts) + 1))
    return bool(parts) and part_fits(parts[0], globs[0]) and fits(parts[1:], globs[1:])


def part_fits(part: str, glob: str) -> bool:
    if not glob:
        return not part
    if glob[0] == "*":
        return any(part_fits(part[at:], glob[1:]) for at in range(len(part) + 1))
    return bool(part) and glob[0] in ("?", part[0]) and part_fits(part[1:], glob[1:])


LETTERS = st.text(alphabet="ab.[]{}!\\|@()^$+~-é\n\udcff ", min_size=1, max_size=4)
PARTS = LETTERS.filter(lambda part: part not in (".", ".."))
PATHS = st.lists(PARTS, min_size=1, max_size=5).map("/".join)
GLOB_PARTS = (
    st.lists(LETTERS | st.sampled_from(["*", "?"]), min_size=1, max_size=3)
    .map("".join)
    .filter(lambda part: "**" not in part and part not in (".", ".."))
)
GLOBS = st.lists(GLOB_PARTS | st.just("**"), min_size=1, max_size=4).map("/".join)


@given(PATHS, GLOBS)
@example("a/b", "**/**")
@example("a", "a/**")
@example("a/.x", "a/*")
@example("a\n", "a")
@example("[a]", "[a]")
def test_a_glob_matches_what_its_documented_meaning_says(path: str, glob: str) -> None:
    checked_glob(glob)
    assert matches(path, [glob]) == fits(path.split("/"), glob.split("/"))


@given(st.data())
def test_a_glob_made_from_a_path_matches_it(data: st.DataObject) -> None:
    path = data.draw(PATHS)
    parts = path.split("/")
    at = data.draw(st.integers(0, len(parts) - 1))
    assert matches(path, ["/".join([*parts[:at], "*"])]) == (at == len(parts) - 1)
    assert matches(path, ["/".join([*parts[:at], "**"])])
    assert matches(path, ["nothing", "/".join(["**", *parts[at:]])])


@pytest.mark.parametrize("glob", ["tests/**.py", "a**/b", "a//b", "../x", "a/", "./a"])
def test_a_glob_without_one_meaning_is_refused(glob: str) -> None:
    with pytest.raises(ValueError, match=r"glob|part of the path"):
        checked_glob(glob)


def test_the_globs_of_every_shipped_repository_match_as_documented() -> None:
    catalog = Catalog()
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True
    )
    own = listed.stdout.split("\0")[:-1]
    patched = {
        line[6:]
        for patch in default_directory().glob("tasks/*/**/*.patch")
        for line in patch.read_text(errors="replace").splitlines()
        if line.startswith(("--- a/", "+++ b/"))
    }
    paths = {*own[::25], *patched}
    assert len(patched) > 30
    for name in catalog.names("repos"):
        repo = catalog.repo(name)
        for glob in {*repo.test_paths, *repo.runner_files, *BUILD_PRODUCTS}:
            for path in paths:
                assert matches(path, [glob]) == fits(path.split("/"), glob.split("/")), (path, glob)
