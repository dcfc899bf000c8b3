"""Names and texts of code as they are meant: escapes read, and texts that are put together as whole ones. Pure."""

import re
from collections.abc import Iterable, Iterator

from harness.judging.languages.escapes import unescaped
from harness.judging.languages.nfkc import normal
from harness.judging.verify.conduct.tokens import Token

_JOINS = frozenset({b"join", b"Join", b"concat"})
_BETWEEN = frozenset(b"+ ( ) [ ] { } ${ ` . string".split())
"""Tokens between texts that are put together."""
_LITERAL = re.compile(rb"([a-zA-Z]{0,2}8?)([\"'`]+)")
_PIECES = re.compile(rb"(?<!\\)\"\s*(?:u8|[uUL])?\"")
"""The end of a text of C and the beginning of the next one, which the grammar takes for one text."""
_LONG_HEX = re.compile(rb"\\x0+(?=[0-9a-fA-F]{2})")
"""C's escapes have as many digits as there are."""
_BRACES = re.compile(rb"[{}]")
_WORDS = re.compile(rb"[\w.]+")
_MOST_CHARS = 80


def read_tokens(tokens: Iterable[Token], language: str) -> Iterator[Token]:
    """Yield tokens with texts without quotes, and texts that are put together: `"a" + "b"`, `"".join(["a", "b"])`.

    Of texts with code in braces (Python's `f"{x}"`) the words of this code come as texts.
    """
    added, listed, joins = b"", b"", False
    for token in tokens:
        if token.is_literal or (token.text.startswith(b"\\") and not token.is_name):
            text, inner = _meant(token.text, language)
            added, listed = added[-_MOST_CHARS:] + text, listed[-_MOST_CHARS:] + text
            for each in (text, listed if joins else added, *inner):
                yield Token(each, is_name=False, is_literal=True)
            continue
        if token.text == b",":
            added = b""
        elif token.text not in _BETWEEN:
            if token.text in _JOINS:
                yield Token(listed, is_name=False, is_literal=True)
            added, listed = b"", listed if token.text == b"concat" else b""
            joins = token.text in _JOINS
        yield token._replace(text=_named(token.text)) if token.is_name else token


def _meant(literal: bytes, language: str) -> tuple[bytes, list[bytes]]:
    """Return what a literal stands for, and the words of code that stands in it."""
    found = _LITERAL.match(literal)
    if found is None:
        return _unescaped(literal), []
    prefix, quotes = found.groups()
    text = literal[found.end() :].rstrip(quotes[:1])
    if language == "c":
        text = _LONG_HEX.sub(rb"\\x", _PIECES.sub(b"", text))
    inner = list(_words_in_braces(text)) if b"f" in prefix.lower() else []
    return (text if b"r" in prefix.lower() or quotes[:1] == b"`" else _unescaped(text)), inner


def _words_in_braces(text: bytes) -> Iterator[bytes]:
    depth, start = 0, 0
    for brace in _BRACES.finditer(text):
        if depth > 0:
            yield from _WORDS.findall(_unescaped(text[start : brace.start()]))
        depth, start = depth + (1 if brace[0] == b"{" else -1), brace.end()


def _unescaped(text: bytes) -> bytes:
    return unescaped(text.decode(errors="replace")).encode(errors="replace") if b"\\" in text else text


def _named(name: bytes) -> bytes:
    """Return a name as languages compare it: Python takes letters of other widths as plain ones."""
    plain = _unescaped(name)
    return plain if plain.isascii() else normal(plain.decode(errors="replace")).encode()
