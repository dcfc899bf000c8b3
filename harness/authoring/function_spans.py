"""The functions of a file by the lines that they take, and those that a patch touches."""

from collections.abc import Iterator, Mapping

from unidiff.patch import PatchedFile, PatchSet

from harness.judging.languages.c.catalogue import GRAMMAR as C
from harness.judging.languages.functions import functions_of
from harness.judging.languages.go.language import ON_DISK as GO
from harness.judging.languages.python.bodies import functions_of as python_functions
from harness.judging.languages.typescript.rewriting.catalogue import GRAMMAR as TYPESCRIPT

_GRAMMARS = {"c": C, "go": GO.grammar, "typescript": TYPESCRIPT}

Spans = dict[str, tuple[int, int]]
"""Qualified name -> first and last line, from 1."""


def spans_of(language: str, text: bytes) -> Spans:
    """Return the lines of outermost functions and methods; none of a text that can't be read."""
    if language == "python":
        found = python_functions(text) or {}
        return {name: (node.lineno, node.end_lineno or node.lineno) for name, node in found.items()}
    if language not in _GRAMMARS:
        return {}
    return {
        name.lstrip("."): (function.node.start_point[0] + 1, function.node.end_point[0] + 1)
        for name, function in functions_of(_GRAMMARS[language], text).items()
    }


def touched_functions(language: str, patch: PatchSet, texts: Mapping[str, bytes]) -> set[tuple[str, str]]:
    """Return file and name of the functions in which a patch takes out or adds a line."""
    found = set()
    for file in patch:
        spans, places = spans_of(language, texts.get(file.path, b"")), list(touched_places(file))
        inside = {name for name, (first, last) in spans.items() if any(first <= at <= last for at in places)}
        found |= {(file.path, name) for name in inside}
    return found


def touched_places(file: PatchedFile) -> Iterator[float]:
    """Yield the old lines that a patch takes out; where it only adds some, half a line behind the one before."""
    for hunk in file:
        before = max(hunk.source_start - 1, 0)
        is_replaced = False
        for line in hunk:
            if line.is_removed and line.source_line_no:
                yield line.source_line_no
                is_replaced = True
            elif line.is_added and not is_replaced:
                yield before + 0.5
            elif line.is_context:
                is_replaced = False
            before = line.source_line_no or before
