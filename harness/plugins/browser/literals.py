"""Literals of a suite: its files with one of them changed by machine."""

import io
import re
import tokenize
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

_STRINGS = {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
_BETWEEN = {tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT, tokenize.ENCODING}
_QUOTED = re.compile(r"""[A-Za-z]{0,2}("{3}|'{3}|"|')(.*)\1""", re.DOTALL)


class Mended(NamedTuple):
    """A file of a suite with one literal changed."""

    path: str
    text: bytes


class _Literal(NamedTuple):
    """Where a file has the label: characters `begin` to `end`, in an encoding. The lowest ranks have it alone."""

    rank: int
    path: str
    begin: int
    end: int
    encoding: str


def mended_texts(files: Mapping[str, bytes], label: str, new: str) -> Iterator[Mended]:
    """Yield each file once for each literal in it that has `label`, with `new` there; the likeliest first.

    In other files than Python's, each place that has it is a literal. Letters' case counts only for the order.
    Docstrings aren't literals of anything that runs.
    """
    found = [
        item
        for path in files
        for item in (_of_python if path.endswith(".py") else _of_other)(path, files[path], label)
    ]
    for item in sorted(found):
        text = files[item.path].decode(item.encoding)
        changed = re.sub(re.escape(label), lambda _: new, text[item.begin : item.end], flags=re.IGNORECASE)
        yield Mended(item.path, (text[: item.begin] + changed + text[item.end :]).encode(item.encoding))


def _of_other(path: str, data: bytes, label: str) -> Iterator[_Literal]:
    with suppress(UnicodeDecodeError):
        text = data.decode()
        for found in re.finditer(re.escape(label), text, re.IGNORECASE):
            begin, end = found.span()
            quoted = text[max(begin - 1, 0) : end + 1]
            yield _Literal(_rank(quoted, label), path, begin, end, "utf-8")


def _of_python(path: str, data: bytes, label: str) -> Iterator[_Literal]:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
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
        yield _Literal(_rank(token.string, label), path, begin, end, encoding)


def _rank(literal: str, label: str) -> int:
    quoted = _QUOTED.fullmatch(literal)
    if quoted and quoted[2].lower() == label.lower():
        return 0 if quoted[2] == label else 1
    return 2 if label in literal else 3
