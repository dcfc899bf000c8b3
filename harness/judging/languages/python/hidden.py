"""Tests that a file makes while it is loaded, as far as its text tells that it may. Pure."""

import re

from harness.judging.languages.found import parsed
from harness.judging.languages.python.classes import GRAMMAR
from harness.judging.languages.python.plain_names import with_plain_names

_TEST = rb"(?:[\w\x80-\xff]+[ \t]*,[ \t]*)*[Tt]est[\w\x80-\xff]*[ \t]*"
"""The first name of a list that a test can have, with those before it."""
_MADE_WHILE_LOADED = re.compile(
    # A name of a test's for anything but a function or class. The line must give something: that is looked at once.
    rb"^(?=[^=\n]*=(?!=))[ \t]*%(test)b(?:,|:[^=\n]|=)|;[ \t]*%(test)b(?:,|:[^=\n]|=(?!=))"
    rb"|\b[Tt]est[\w\x80-\xff]*[ \t]*:=|^[ \t]*global\b.*\b[Tt]est|^(?:async[ \t]+)?for[ \t]+%(test)b(?:,|in\b)"
    rb"|\b(?:import|as)\s+[Tt]est|\bimport\s*[(*]"
    # A class of tests with a base that a call returns.
    rb"|^[ \t]*class[ \t]+Test\w*[ \t]*\([^()]*\("
    rb"|\b(?:globals|vars|locals|exec)\s*\(|(?<!\.)\bsetattr\s*\(|\b__dict__\b|\bsys\.modules\b"
    rb"|\btype\s*\([^()\n]*,|\b(?:metaclass|__init_subclass__|__getattr__|__set_name__)\b|\bpytest_\w*collect"
    % {b"test": _TEST},
    re.MULTILINE,
)
_LOOP = re.compile(rb"^[ \t]+(?:async[ \t]+)?for[ \t]+%b(?:,|in\b)" % _TEST, re.MULTILINE)
_LATER = frozenset({"function_definition", "lambda"})
"""Nodes whose bodies run when something calls them."""


def hides_tests(text: bytes) -> bool:
    """Return whether a test file may make tests while it is loaded, by its text; it needn't. Linear to the text."""
    plain = with_plain_names(text)
    return bool(_MADE_WHILE_LOADED.search(plain)) or _decorates_tests(plain) or _loops_over_tests(plain)


def _loops_over_tests(text: bytes) -> bool:
    """Return whether a loop outside of functions gives its values the name of a test."""
    if not _LOOP.search(text):
        return False
    waiting = [parsed(GRAMMAR, text)]
    while waiting:
        node = waiting.pop()
        if node.type == "for_statement" and re.match(_TEST, (node.child_by_field_name("left") or node).text or b""):
            return True
        waiting += (child for child in node.children if child.type not in _LATER)
    return False


def _decorates_tests(text: bytes) -> bool:
    """Return whether a class of tests has a decorator that isn't pytest's."""
    is_decorated, indent = False, 0
    for whole in text.splitlines():
        line = whole.lstrip()
        if line.startswith(b"@"):
            is_decorated = is_decorated or not line.startswith(b"@pytest.")
            indent = len(whole) - len(line)
        elif is_decorated and line.startswith(b"class Test"):
            return True
        elif line and len(whole) - len(line) <= indent and not line.startswith((b"#", b")")):
            is_decorated = False
    return False
