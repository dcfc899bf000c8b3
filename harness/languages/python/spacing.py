"""The same Python in other lines and spaces, token by token."""

import re
import tokenize
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from random import Random
from tokenize import TokenInfo

from harness.languages.python.reading import functions_of, rows_within_tokens, tokens_of

_BREAK, _WIDER = 0.35, (2, 3)
_WORD = re.compile(r"\w")
_NO_TEXT = frozenset(
    {tokenize.NEWLINE, tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
)
_Gap = Callable[[TokenInfo, TokenInfo, int], str | None]
"""What is to stand between two tokens of a line, within so many brackets; None for what stands there."""


def spaced(text: bytes, names: Sequence[str], chance: Random) -> bytes:
    """Wider gaps, and lines that end within brackets, in functions of these names."""

    def gap(before: TokenInfo, after: TokenInfo, depth: int) -> str | None:
        if depth and before.string in ("(", ",", "[") and chance.random() < _BREAK:
            return "\n" + " " * chance.randint(1, 12)
        if before.end != after.start:
            return " " * chance.choice(_WIDER)
        return " " if before.string == "(" else None

    return _with_gaps(text, names, gap)


def compact(text: bytes, names: Sequence[str]) -> bytes:
    """Steps of one space, no blank lines, and no spaces around operators in functions of these names."""

    def gap(before: TokenInfo, after: TokenInfo, _depth: int) -> str | None:
        words = [bool(_WORD.match(side)) for side in (before.string[-1:], after.string[:1])]
        is_quoted = tokenize.STRING in (before.type, after.type)
        return None if all(words) or (is_quoted and any(words)) else ""

    return _dedented(_with_gaps(text, names, gap))


def _with_gaps(text: bytes, names: Sequence[str], gap: _Gap) -> bytes:
    functions = functions_of(text) or {}
    rows = {
        row for name in names if name in functions
        for row in range(functions[name].lineno - 1, functions[name].end_lineno or 0)
    }  # fmt: skip
    lines = text.decode("utf-8", "surrogateescape").split("\n")
    for before, after, depth in reversed(list(_neighbours(tokens_of(text)))):
        row, start, end = before.end[0] - 1, before.end[1], after.start[1]
        new = gap(before, after, depth) if row in rows and not lines[row][start:end].strip(" ") else None
        if new is not None:
            lines[row] = lines[row][:start] + new + lines[row][end:]
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def _neighbours(tokens: Sequence[TokenInfo]) -> Iterator[tuple[TokenInfo, TokenInfo, int]]:
    """Tokens that stand side by side on a line, and within how many brackets."""
    depth = 0
    for before, after in pairwise(tokens):
        depth += (before.string in ("(", "[", "{")) - (before.string in (")", "]", "}"))
        if before.end[0] == after.start[0] and not {before.type, after.type} & _NO_TEXT:
            yield before, after, depth


def _dedented(text: bytes) -> bytes:
    """Lines that begin within a text of several lines stay as they are."""
    kept, levels, level, begins = rows_within_tokens(text), dict[int, int](), 0, True
    for token in tokens_of(text):
        if token.type in (tokenize.INDENT, tokenize.DEDENT):
            level += 1 if token.type == tokenize.INDENT else -1
        elif token.type == tokenize.NEWLINE:
            begins = True
        elif begins and token.type not in _NO_TEXT:
            levels[token.start[0] - 1], begins = level, False
    lines = text.decode("utf-8", "surrogateescape").split("\n")
    done = [line if row in kept else " " * levels.get(row, 0) + line.strip() for row, line in enumerate(lines)]
    short = [line for row, line in enumerate(done) if line.strip() or row in kept]
    return ("\n".join(short) + "\n").encode("utf-8", "surrogateescape")
