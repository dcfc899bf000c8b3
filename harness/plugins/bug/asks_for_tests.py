"""Repairs that ask whether tests run: lines of the product that name a test runner. Pure.

Hidden tests and drawn inputs run below the repository's test runner. A repair that asks for it may hold there alone.
Only code counts: comments and sentences may speak of tests, and lines that were there before may name a runner.
A text that is put together from texts beside one another counts as a whole one.

`NODE_ENV` names no runner: libraries warn in development by it. Repairs run with either value (`hidden_arms.py`).
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from harness.judging.languages.registry import language_of
from harness.judging.verify.intake import FileChange
from harness.judging.verify.tokens import Token, tokens_of
from harness.specs.repo import Repo


class _Runner(NamedTuple):
    """A test runner as code knows it: patterns of whole names, and of whole texts."""

    names: bytes
    texts: bytes


_PYTHON = rb"_?pytest|PYTEST_\w+|unittest|doctest|xdist"
_TYPESCRIPT = rb"(__)?vitest\w*|VITEST\w*|jest|JEST_\w+"
_RUNNERS = {
    "python": _Runner(_PYTHON, rb"(%s)(\.\w+)*" % _PYTHON),
    "go": _Runner(
        rb"testing",
        rb"testing|\.test|_test\.go|-?test\.((bench|cpu|mem|fuzz|cover)\w*|v|run|short|timeout|count|parallel|list)?",
    ),
    "typescript": _Runner(_TYPESCRIPT, rb"@?(%s)(/[\w-]+)?" % _TYPESCRIPT),
    "c": _Runner(rb"program_invocation(_short)?_name|__progname", rb"/proc/self/\w+|(abs_)?(top_)?srcdir"),
}
"""By language."""
_OURS = rb"TESTWRIGHT_\w*"
_JOINS = frozenset({b"join", b"Join", b"concat"})
_BETWEEN = frozenset(b"+ ( ) [ ] { } . string".split())
"""Tokens between texts that are put together."""
_PREFIX, _QUOTES = b"rbufRBUF", b"\"'`"
_MOST_CHARS = 40


def asks_for_tests(repo: Repo, changes: Iterable[FileChange]) -> str:
    """Return in words where a repair names a test runner; empty where nowhere. Takes time linear to the text."""
    language, runner = language_of(repo), _RUNNERS.get(repo.language)
    conduct = language.conduct
    if conduct is None or runner is None:
        return ""
    names, texts = (re.compile(b"%s|%s" % (pattern, _OURS)) for pattern in runner)
    for change in changes:
        if not change.path.endswith(language.suffixes):
            continue
        root = conduct.parse(change.new or b"", change.path)
        added = frozenset(number for number, _ in _added(change))
        for token in _wholes(tokens_of(root, conduct, added)):
            if (texts if token.is_literal else names).fullmatch(token.text):
                return f"{change.path} names {token.text.decode(errors='replace')[:_MOST_CHARS]}"
    return ""


def _wholes(tokens: Iterable[Token]) -> Iterator[Token]:
    """Yield names, texts without quotes, and texts that are put together: `"a" + "b"`, `"".join(["a", "b"])`."""
    added, listed, joins = b"", b"", False
    for token in tokens:
        if token.is_literal:
            text = token.text.lstrip(_PREFIX).strip(_QUOTES)
            added, listed = added[-_MOST_CHARS:] + text, listed[-_MOST_CHARS:] + text
            yield token._replace(text=text)
            yield token._replace(text=listed if joins else added)
        elif token.text == b",":
            added = b""
        elif token.text not in _BETWEEN:
            if token.text in _JOINS:
                yield Token(listed, is_name=False, is_literal=True)
            added, listed = b"", listed if token.text == b"concat" else b""
            joins = token.text in _JOINS
            yield token


def _added(change: FileChange) -> Iterator[tuple[int, bytes]]:
    known = frozenset((change.old or b"").splitlines())
    lines = enumerate((change.new or b"").splitlines(), start=1)
    return ((number, line) for number, line in lines if line not in known)
