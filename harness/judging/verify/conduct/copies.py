"""Copies of the code under test in a suite, piece by piece, whatever names they have. Pure.

Takes time linear to the text.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

from harness.judging.languages.conduct import Conduct
from harness.judging.verify.conduct.tokens import Token, tokens_of
from harness.specs.reasons import Note, NoteCode
from harness.specs.task import Task

LONG, SHORT = 20, 8
"""Tokens that make one piece to compare: names count by where they occur in it, so that new names hide nothing.

Short pieces leave out punctuation: statements between those of a copy break every long piece.
"""
COPIED, COPIED_SHORT = 0.3, 0.4
"""Shares of a touched part's long and short pieces that a suite has as well. Honest suites: at most 0.02 and 0.23."""
FEWEST_PIECES = 40
"""The fewest long runs of a touched part: in shorter parts any two functions look alike."""
_PUNCTUATION = frozenset(b"( ) { } ; , pass".split())
_END = re.compile(r"^\}", re.MULTILINE)
"""The end of a function of a braced language."""
_MOST_PARTS = 1000
"""Parts of tasks whose pieces are kept: many suites are judged for one task."""


class Pieces(NamedTuple):
    """Hashes of a part's pieces."""

    long: frozenset[int]
    short: frozenset[int]


def pieces_of(tokens: Iterable[Token]) -> Iterator[tuple[int, int]]:
    """Yield the length and the hash of each piece of a text."""
    long, short = deque[tuple[bytes, bool]](maxlen=LONG), deque[tuple[bytes, bool]](maxlen=SHORT)
    for text, is_name, is_literal, is_idle in tokens:
        if is_idle:
            continue
        word = (text, is_name or is_literal)
        long.append(word)
        if len(long) == LONG:
            yield LONG, _hash(long)
        if text not in _PUNCTUATION:
            short.append(word)
            if len(short) == SHORT:
                yield SHORT, _hash(short)


def _hash(piece: Iterable[tuple[bytes, bool]]) -> int:
    """Return a hash of texts in which those that may be other ones, names and literals, are but numbered."""
    seen: dict[bytes, int] = {}
    number = seen.setdefault
    return hash(tuple([number(text, len(seen)) if varies else text for text, varies in piece]))


def parts_of(task: Task, conduct: Conduct) -> list[Pieces]:
    """Return the pieces of what the task's patches take out or stand beside: the touched code, part by part."""
    parts = (_pieces(text, path, conduct) for path, text in _touched(task))
    return [part for part in parts if len(part.long) >= FEWEST_PIECES]


@lru_cache(_MOST_PARTS)
def _pieces(text: bytes, path: str, conduct: Conduct) -> Pieces:
    found: dict[int, set[int]] = {LONG: set(), SHORT: set()}
    for length, piece in pieces_of(tokens_of(conduct.parse(text, path), conduct)):
        found[length].add(piece)
    return Pieces(frozenset(found[LONG]), frozenset(found[SHORT]))


def copied(parts: Iterable[Pieces], have: frozenset[int]) -> Iterator[Note]:
    """Yield a note if a suite has much of a part: `have` are the pieces that all its files have together."""
    shares = [(_share(part.long, have), _share(part.short, have)) for part in parts]
    if any(long >= COPIED or short >= COPIED_SHORT for long, short in shares):
        most = max(max(pair) for pair in shares)
        words = f"the suite has {most:.0%} of a part of the code under test, token for token but for names"
        yield Note(code=NoteCode.COPIED_ORACLE, words=words)


def _share(part: frozenset[int], have: frozenset[int]) -> float:
    return len(part & have) / max(1, len(part))


def _touched(task: Task) -> Iterator[tuple[str, bytes]]:
    """Yield the pristine text of each place that removal, placebo or a probe changes, with its file's path."""
    paths = [task.path("removal.patch"), task.path("placebo.patch"), *(probe.path for probe in task.probes)]
    for path in paths:
        try:
            patch = PatchSet(path.read_text(encoding="utf-8", errors="surrogateescape"))
        except (OSError, UnidiffParseError):
            continue  # whoever lays the patch over the tree says so
        for file in patch:
            for hunk in file:
                text = "".join(line.value for line in hunk if not line.is_added)
                for part in _END.split(text):
                    yield file.path, part.encode("utf-8", "surrogateescape")
