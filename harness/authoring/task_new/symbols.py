"""The functions of a file by the lines that they take."""

from harness.languages.c.catalogue import GRAMMAR as C
from harness.languages.functions import functions_of
from harness.languages.go.language import ON_DISK as GO
from harness.languages.python.reading import functions_of as python_functions
from harness.languages.typescript.rewriting.catalogue import GRAMMAR as TYPESCRIPT

_GRAMMARS = {"c": C, "go": GO.grammar, "typescript": TYPESCRIPT}

Spans = dict[str, tuple[int, int]]
"""Qualified name -> first and last line, from 1."""


def spans_of(language: str, text: bytes) -> Spans:
    """Outermost functions and methods; none of a text that can't be read."""
    if language == "python":
        found = python_functions(text) or {}
        return {name: (node.lineno, node.end_lineno or node.lineno) for name, node in found.items()}
    if language not in _GRAMMARS:
        return {}
    return {
        name.lstrip("."): (function.node.start_point[0] + 1, function.node.end_point[0] + 1)
        for name, function in functions_of(_GRAMMARS[language], text).items()
    }
