"""Test classes that inherit withheld tests from a class of another file, and so lose them too."""

import ast
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from harness.specs.ids import TestId


class Heir(NamedTuple):
    """A class of `file` that inherits from `base`, which is withheld or an heir itself."""

    file: str
    name: str
    base: str


def heirs_of(tests: Iterable[TestId], files: Mapping[str, bytes]) -> list[Heir]:
    """Of Python's test files the classes that inherit withheld tests, by way of others too, in the files' order."""
    classes = [(path, *found) for path, text in files.items() for found in _classes(text)]
    withheld = {(test.file, test.name.rpartition(".")[0].rpartition(".")[2]) for test in tests if "." in test.name}
    named = {name: file for file, name in withheld}
    found: dict[tuple[str, str], Heir] = {}
    grown = True
    while grown:
        grown = False
        for path, name, bases in classes:
            base = next((base for base in bases if base in named), None)
            if base and (path, name) not in {*withheld, *found}:
                found[path, name] = Heir(path, name, base)
                named.setdefault(name, path)
                grown = True
    order = [(path, name) for path, name, _ in classes]
    return [found[key] for key in order if key in found]


def _classes(text: bytes) -> list[tuple[str, tuple[str, ...]]]:
    """Name and bases of each class; none of a text that this Python can't read."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    found = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    return [(node.name, tuple(ast.unparse(base).rpartition(".")[2] for base in node.bases)) for node in found]
