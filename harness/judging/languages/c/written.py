"""C as the compiler takes it before it looks at words: split lines joined, directives in their plain form."""

import re

import tree_sitter_c
from tree_sitter import Language, Node

from harness.judging.languages.found import parsed

_GRAMMAR = Language(tree_sitter_c.language())
_BLANKS = bytes.maketrans(b"\f\v\0", b"   ")
"""Blanks that the grammar takes for none."""
_SPLIT = re.compile(rb"\\[ \t\r]*\n")
_WORD = re.compile(rb"\S*")
_BLANK = re.compile(rb"[ \t]*\n")
_ENDS = b";{}), \t\n"
"""Behind these nothing goes on: what follows stays on its line."""
_COMMENT = rb"/\*.*?(?:\*/|\Z)"
_PARTS = re.compile(
    rb'"(?:[^"\\\n]|\\.)*"?|' + rb"'(?:[^'\\\n]|\\.)*'?|" + rb"//(?:[^\n\\]|\\.)*|"
    rb"(?P<directive>(?:\#|%:|\?\?=)(?:[ \t]|\\\n|" + _COMMENT + rb")*)|(?P<comment>" + _COMMENT + rb")",
    re.DOTALL,
)
"""Texts, comments and the beginnings of directives. Every text and comment ends somewhere: no search begins anew."""


def read(text: bytes, _path: str = "") -> Node:
    """Return the root of a text's syntax tree; every line has the number that it had."""
    return parsed(_GRAMMAR, _plain(_joined(text.translate(_BLANKS))))


def bare(text: str) -> str:
    """Return a text of code without its strings and comments."""
    return _PARTS.sub(lambda part: part[0] if part["directive"] else b" ", text.encode()).decode("utf-8", "replace")


def _joined(text: bytes) -> bytes:
    r"""Move each `\` at a line's end that splits a word behind that word."""
    first, *others = _SPLIT.split(text)
    done, before, waiting = [first], first[-1:], 0
    for piece in others:
        waiting += 1
        word = _WORD.match(piece)
        end = word.end() if word and before and before not in _ENDS else 0
        done.append(piece[:end])
        if end < len(piece) or not before or before in _ENDS:
            done += [(b"\n" if _BLANK.match(piece, end) else b"\\\n") * waiting, piece[end:]]
            waiting = 0
        before = piece[-1:] or before
    return b"".join([*done, b"\n" * waiting])


def _plain(text: bytes) -> bytes:
    """Begin each directive with `#` alone, but for blanks that the grammar takes."""

    def part(found: re.Match[bytes]) -> bytes:
        begins = found["directive"]
        if begins is None or not begins[1:].strip(b" \t"):
            return found[0]
        return b"\\\n" * begins.count(b"\n") + b"#"

    return _PARTS.sub(part, text)
