"""Long runs of comments, for which Python's grammar takes a time that grows with the square of their number."""

import re

KEPT = 20
"""Comments of a run that stay at its beginning, and as many at its end: what stands beside code is never touched."""
_TOKEN = re.compile(
    rb"""
    (?P<comment> \#[^\n]* )
    | \"{3} (?: [^"\\] | \\. | "(?!"") )*+ (?: \"{3} )?
    | \'{3} (?: [^'\\] | \\. | '(?!'') )*+ (?: \'{3} )?
    | " (?: [^"\\\n] | \\. )*+ "?
    | ' (?: [^'\\\n] | \\. )*+ '?
    """,
    re.VERBOSE | re.DOTALL,
)


_RETURN = re.compile(rb"\r(?!\n)")
_OWN_LINE = re.compile(rb"^[ \t\r\x0b\f]*#", re.MULTILINE)
"""Of a run all comments but the first begin their lines."""


def with_short_comments(source: bytes) -> bytes:
    """The same code with spaces in place of the comments in the middle of long runs: all else is where it was.

    A carriage return ends a line for Python, and so a comment; for the grammar only a line feed does.
    """
    source = _RETURN.sub(b"\n", source)
    if len(_OWN_LINE.findall(source)) < 2 * KEPT:
        return source
    text = bytearray(source)
    run: list[tuple[int, int]] = []
    for token in _TOKEN.finditer(source):
        if not token["comment"] or (run and source[run[-1][1] : token.start()].strip()):
            _blank(text, run)
            run = []
        if token["comment"]:
            run.append(token.span())
    _blank(text, run)
    return bytes(text)


def _blank(text: bytearray, run: list[tuple[int, int]]) -> None:
    for start, end in run[KEPT:-KEPT]:
        text[start:end] = b" " * (end - start)
