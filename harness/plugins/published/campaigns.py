"""Tests of UTscapy's campaigns (`.uts`), by the marks that their lines begin with. Pure."""

import re
from collections.abc import Iterator, Sequence
from io import StringIO
from itertools import pairwise

from harness.judging.languages.found import TestFile, TestFunction

SUFFIX = ".uts"
_TEST = "="
_HEADINGS = ("%", "+", _TEST)
"""A campaign, a set and a test: each ends the test above it."""
COMMENTS = ("#", "*")
"""Comments: at the end of a test they are about what follows."""
_COUNTS = re.compile(r"PASSED=\d+ FAILED=\d+\b")


def campaign_tests(text: bytes) -> TestFile:
    """Return the tests of a campaign, by their whole names.

    A test goes from its `=` line to its last line of code. Tests of one name can't be told apart in a log: they are
    one here, with the text of all, so that a change to any of them is a change to it.

    Args:
        text: The campaign, whole.
    """
    lines = StringIO(text.decode(errors="replace"), newline=None).readlines()
    found: dict[str, TestFunction] = {}
    for first, end in _spans(lines):
        name = " ".join(lines[first][1:].split())
        if not name:
            continue
        own = "".join(lines[first:end]).encode()
        known = found.get(name)
        found[name] = (
            TestFunction(name, known.first_line, known.last_line, known.text + own, assertions=1)
            if known
            else TestFunction(name, first + 1, end, own, assertions=1)
        )
    return TestFile(tuple(found.values()))


def is_counts(name: str, file: str) -> bool:
    """Return whether a parsed name is the line of a campaign's counts, which parsers take for a test's."""
    return file.endswith(SUFFIX) and _COUNTS.match(name) is not None


def _spans(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the first line of each test and the one behind its last."""
    headings = [at for at, line in enumerate(lines) if line.startswith(_HEADINGS)]
    for first, following in pairwise([*headings, len(lines)]):
        if lines[first].startswith(_TEST):
            end = following
            while end > first + 1 and _is_above(lines[end - 1]):
                end -= 1
            yield first, end


def _is_above(line: str) -> bool:
    return not line.strip() or line.startswith(COMMENTS)
