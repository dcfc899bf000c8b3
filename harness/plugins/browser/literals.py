"""Literals of a suite: its files with one of them changed by machine."""

import io
import re
import tokenize
from collections.abc import Iterator, Mapping
from typing import NamedTuple

_STRINGS = {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
_BETWEEN = {tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT, tokenize.ENCODING}
_QUOTED = re.compile(r"""[A-Za-z]{0,2}("{3}|'{3}|"|')(.*)\1""", re.DOTALL)


class Mended(NamedTuple):
    """A file of a suite with one literal changed; `rank` is 0 where that had the label and nothing else."""

    rank: int
    path: str
    line: int
    text: bytes


def mended_texts(files: Mapping[str, bytes], label: str, new: str) -> Iterator[Mended]:
    """Yield each Python file once for each literal in it that has `label`, with `new` there; the likeliest first.

    Letters' case counts only for the order. Docstrings aren't literals of anything that runs.
    """
    found = [
        item for path in sorted(files) if path.endswith(".py") for item in _of_file(path, files[path], label, new)
    ]
    yield from sorted(found, key=lambda item: (item.rank, item.path, item.line))


def _of_file(path: str, data: bytes, label: str, new: str) -> Iterator[Mended]:
    try:
        text = data.decode()
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (UnicodeDecodeError, tokenize.TokenError, SyntaxError):
        return
    starts = [0]
    for line in io.StringIO(text):  # as the tokens' rows are counted: a form feed ends none
        starts.append(starts[-1] + len(line))
    for before, token, after in zip([None, *tokens], tokens, [*tokens[1:], None], strict=False):
        stands_alone = (before is None or before.type in _BETWEEN) and after and after.type == tokenize.NEWLINE
        if token.type not in _STRINGS or stands_alone or label.lower() not in token.string.lower():
            continue
        begin, end = (starts[row - 1] + column for row, column in (token.start, token.end))
        changed = re.sub(re.escape(label), lambda _: new, token.string, flags=re.IGNORECASE)
        yield Mended(_rank(token.string, label), path, token.start[0], (text[:begin] + changed + text[end:]).encode())


def _rank(literal: str, label: str) -> int:
    quoted = _QUOTED.fullmatch(literal)
    if quoted and quoted[2] == label:
        return 0
    return 1 if label in literal else 2
