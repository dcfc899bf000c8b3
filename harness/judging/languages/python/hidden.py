"""Tests that a file makes while it is loaded, as far as its text tells that it may. Pure."""

import re

from harness.judging.languages.found import nodes_of, parsed
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
_NAMED_AS_TEST = re.compile(rb"[Tt]est[\w\x80-\xff]*")
_TARGETS = {"assignment": "left", "for_statement": "left", "named_expression": "name", "as_pattern": "alias"}
"""Nodes that give something a name, and the fields with the names."""
_LATER = frozenset({"function_definition", "lambda"})
"""Nodes whose bodies run when something calls them."""


def hides_tests(text: bytes) -> bool:
    """Return whether a test file may make tests while it is loaded, by its text; it needn't. Linear to the text."""
    plain = with_plain_names(text)
    return bool(_MADE_WHILE_LOADED.search(plain)) or _decorates_tests(plain) or _binds_tests(plain)


def _binds_tests(text: bytes) -> bool:
    """Return whether something outside of functions is given the name of a test, however that is written."""
    if not _NAMED_AS_TEST.search(text):
        return False
    waiting = [parsed(GRAMMAR, text)]
    while waiting:
        node = waiting.pop()
        for target in node.children_by_field_name(_TARGETS[node.type]) if node.type in _TARGETS else ():
            if any(
                _NAMED_AS_TEST.fullmatch(each.text or b"") for each in nodes_of(target) if each.type == "identifier"
            ):
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
