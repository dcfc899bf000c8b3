"""Docstrings begin as readers expect: what a name does or is, never with a word that leaves it open."""

import ast
from pathlib import Path

import pytest

HARNESS = Path(__file__).parents[2] / "harness"
OPEN = ("What", "Of", "Those", "Whether", "Nobody", "Whose", "Who")
FILES = sorted(HARNESS.rglob("*.py"))


def openings(text: str) -> list[str]:
    """Return the first words of a module's docstrings that leave open what they tell of."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found = (ast.get_docstring(node) for node in ast.walk(ast.parse(text)) if isinstance(node, documented))
    return [words for words in found if words and (words.split()[0] in OPEN or words.startswith("Under what"))]


def test_an_opening_that_leaves_it_open_is_found() -> None:
    assert openings('def f():\n    """What both need."""\n') == ["What both need."]
    assert not openings('def f():\n    """Return what both need."""\n')


@pytest.mark.parametrize("folder", sorted({path.relative_to(HARNESS).parts[0] for path in FILES}))
def test_docstrings_say_what_a_name_does_or_is(folder: str) -> None:
    mine = [path for path in FILES if path.relative_to(HARNESS).parts[0] == folder]
    assert {path.name: bad for path in mine if (bad := openings(path.read_text()))} == {}
