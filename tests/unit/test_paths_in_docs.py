"""Pages for people name files that there are: of this checkout, of the package, and headings of other pages."""

import re
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from harness.specs.registry import Registry

CHECKOUT = Path(__file__).parents[2]
PAGES = [*CHECKOUT.glob("*.md"), *(CHECKOUT / "docs").glob("*.md")]
PACKAGES = [path.name for path in (CHECKOUT / "harness").iterdir() if (path / "__init__.py").is_file()]
_FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s#]*)(?:#([^)\s]+))?\)")
# `package/module.py` is below harness/; folders are named so in ARCHITECTURE.md alone. A test's id is a repository's.
_TOP = "|".join(("harness", "scripts", "tests", "docs", *PACKAGES))
_PATH = re.compile(rf"(?<![\w/.:~-])((?:{_TOP})/[\w./*-]*[\w/*])(?!::)")
_CHECKED = ("harness", "scripts", "docs")


def _named(page: Path) -> set[str]:
    text = page.read_text(encoding="utf-8")
    if page.name != "ARCHITECTURE.md":
        text = _FENCED.sub("", text)
    if page.name == "swe-atlas.md":  # the table of the ninety names files of their repositories
        text = re.sub(r"^\| \d+ \|.*$", "", text, flags=re.MULTILINE)
    found = set()
    for path in _PATH.findall(text):
        top = path.split("/")[0]
        # A file right below tests/ is a repository's: ours are in groups.
        ours = path.count("/") > 1 if top == "tests" else path.endswith(".py")
        if top in _CHECKED or ours or page.name in ("ARCHITECTURE.md", "CONTRIBUTING.md"):
            found.add(path)
    return found


def _is_there(path: str) -> bool:
    """A word in capitals stands for any name."""
    pattern = re.sub(r"(?<=/)[A-Z]+(?=[/.]|$)", "*", path.rstrip("/"))
    return any(True for root in (CHECKOUT, CHECKOUT / "harness") for _ in root.glob(pattern))


def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", _FENCED.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_names_files_that_there_are(page: Path) -> None:
    assert sorted(path for path in _named(page) if not _is_there(path)) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_pages_links_lead_to_files_and_headings_that_there_are(page: Path) -> None:
    wrong = []
    for target, anchor in _LINK.findall(_FENCED.sub("", page.read_text(encoding="utf-8"))):
        if "://" in target:
            continue
        file = (page.parent / target) if target else page
        if not file.exists() or (anchor and file.suffix == ".md" and anchor not in _anchors(file)):
            wrong.append(f"{target}#{anchor}")
    assert wrong == []


def test_the_architecture_names_files_of_each_package() -> None:
    named = _named(CHECKOUT / "ARCHITECTURE.md")
    assert [name for name in PACKAGES if not any(path.startswith(f"{name}/") for path in named)] == []


def test_the_architecture_names_functions_and_classes_of_the_file_before_them() -> None:
    text = (CHECKOUT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = [
        (CHECKOUT / "harness" / path, name)
        for path, names in re.findall(r"`([\w/]+\.py)` \(((?:`\w+`(?:, )?)+)\)", text)
        for name in re.findall(r"\w+", names)
    ]
    named += [
        (CHECKOUT / "harness" / path, name.split(".")[-1])
        for path, name in re.findall(r"^    (\w[\w/]+\.py) +([\w.]*)", text, re.MULTILINE)
    ]
    assert len(named) > 10
    assert [
        (path.name, name)
        for path, name in named
        if name
        and not re.search(rf"^ *(?:async def|def|class) {name}\b", path.read_text(encoding="utf-8"), re.MULTILINE)
    ] == []


_PROSE = re.compile(r'"""(?s:.*?)"""|#.*$', re.MULTILINE)


def _words_of_code(text: str) -> set[str]:
    """Return the words of a module outside of docstrings and comments."""
    return set(re.findall(r"\w+", _PROSE.sub("", text)))


def _identifiers(text: str) -> set[str]:
    """Words of code that are written as names of Python are: with a capital letter or an underscore."""
    words = re.findall(r"`([A-Za-z_]\w*(?:\.\w+)*)(?:\(\))?`", _FENCED.sub("", text))
    return {
        word for word in words if re.search("[A-Z_]", word) and not re.search(r"\.(?:py|sh|md|toml|yaml|j2)$", word)
    }


def _unknown(text: str, known: set[str]) -> list[str]:
    found = {word for word in _identifiers(text) if not word.startswith("testwright.")}
    return sorted(word for word in found if not known.issuperset(word.split(".")))


def test_a_name_that_nothing_has_is_found() -> None:
    assert _unknown("a `Code.rewrite` of `harness`, see `write`", {"Code", "write"}) == ["Code.rewrite"]
    assert _unknown("```python\nUnheard()\n```", set()) == []


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "docs/extending.md"])
def test_a_page_on_the_code_names_what_the_code_has(page: str) -> None:
    sources = [path for folder in ("harness", "tests") for path in (CHECKOUT / folder).rglob("*.py")]
    ours = [path for path in sources if "planted" not in path.parts and "fixtures" not in path.parts]
    text = (CHECKOUT / page).read_text(encoding="utf-8")
    known = set().union(*(_words_of_code(path.read_text(encoding="utf-8")) for path in ours))
    known |= {word for block in _FENCED.findall(text) for word in re.findall(r"\w+", block)}  # examples run as tests
    assert _unknown(text, known) == []


def _table(page: Path, heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, without its head."""
    below = page.read_text(encoding="utf-8").partition(f"{heading}\n")[2]
    rows = re.findall(r"^\|.+\|$", below.split("\n## ")[0], re.MULTILINE)
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[2:]]


def _seams() -> list[tuple[Registry[Any], set[str], set[str]]]:
    """Each registry of the table of seams, with the names in the core and of plugins that the table has."""
    found = []
    for _, protocol, registry, core, plugins in _table(CHECKOUT / "ARCHITECTURE.md", "## Seams"):
        name, path = re.findall(r"`([\w/.]+)`", registry + protocol)[:2]
        module = import_module("harness." + path.removesuffix(".py").replace("/", "."))
        found.append((getattr(module, name), set(re.findall(r"[\w-]+", core)), set(re.findall(r"[\w.-]+", plugins))))
    return found


def test_the_table_of_seams_has_what_is_registered_in_the_core_and_by_plugins() -> None:
    points = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    for registry, core, plugins in _seams():
        assert plugins == set(points.pop(registry.group, {})), registry.group
        assert core | plugins == set(registry.names), registry.group
    assert set(points) == {"inspect_ai"}, "a group of another program's; all others are seams of ours"


def test_the_page_on_extending_names_the_entry_points_of_each_seam() -> None:
    told = {group.strip("`") for *_, group in _table(CHECKOUT / "docs" / "extending.md", "# Extending testwright")}
    assert told == {registry.group for registry, *_ in _seams()}
