"""Python by which a file takes the teeth out of other tests: what they check by is something else. Pure.

It puts something in the place of what pytest, unittest or the language gives all tests: at the level of a module, in
any function of a conftest, or in a fixture that every test has. A test that does so for itself, or what only shows
more (`maxDiff`), is no such thing; neither is what tests didn't have before.
"""

import builtins
import posixpath
import re
import unittest
import unittest.mock
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from harness.judging.languages.conduct import last_part, words_of
from harness.judging.languages.found import nodes_of
from harness.judging.languages.marked import Found
from harness.judging.languages.python.calls import first_named, literal
from harness.judging.languages.python.classes import name_of, text_of
from harness.judging.languages.python.imports import Imports

_OF_PYTEST = words_of(
    """
    raises warns deprecated_call approx fail skip xfail importorskip exit fixture mark param main
    Function Item Class Module Package File Session Collector Config ExceptionInfo RaisesExc RaisesGroup outcomes
    """
)
_SPARED = words_of(
    """
    maxDiff longMessage _diffThreshold shortDescription assertEquals assertNotEquals assertAlmostEquals
    assertNotAlmostEquals assertRegexpMatches assertNotRegexpMatches assertRaisesRegexp assert_
    """
)
"""Names of what says how much a failure shows, and old names that newer versions of Python don't have."""
_HARMLESS = words_of("print breakpoint help exit quit copyright credits license")
_GIVEN_BACK = words_of("input open __import__")
"""Names of the language that fixtures may put something else for: no test checks anything by them."""
_MOCKS = words_of("Mock MagicMock NonCallableMock NonCallableMagicMock CallableMixin AsyncMock")
_NAMES = {
    "pytest": _OF_PYTEST,
    "unittest": frozenset(dir(unittest)),
    "unittest.TestCase": frozenset(dir(unittest.TestCase)) - _SPARED,
    "unittest.case.TestCase": frozenset(dir(unittest.TestCase)) - _SPARED,
    "unittest.mock": frozenset(dir(unittest.mock)),
    **{f"unittest.mock.{name}": frozenset(dir(unittest.mock.Mock)) for name in _MOCKS},
    "builtins": frozenset(dir(builtins)) - _HARMLESS - {"_"},
}
"""Names that tests have without this file, by what they are of."""
_INNER = re.compile(r"_pytest(?:\.\w+)*")
_CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]*")
_PATCHES = words_of(
    "unittest.mock.patch unittest.mock.patch.object mock.patch mock.patch.object mocker.patch mocker.patch.object"
)
"""They act within a `with` or a function, or from a call of their `start` on."""
_EVERY = re.compile(r"\bautouse\s*=\s*True\b")
_ADDED = "PYTEST_ADDOPTS"
_SEVERAL = frozenset({"pattern_list", "tuple_pattern", "list_pattern"})
_MOST_DECORATION = 400
"""Characters of a decorator that are looked at."""


def teeth(root: Node, path: str) -> Found:
    """Return what a file replaces for other tests, by the numbers of the nodes."""
    imports = [node for node in nodes_of(root) if node.type in ("import_statement", "import_from_statement")]
    return dict(_File(imports, posixpath.basename(path) == "conftest.py").found(root))


class _Place(NamedTuple):
    """The surroundings of a node: whether it acts for all tests, and names that a condition says aren't there yet."""

    is_for_all: bool = True
    is_given_back: bool = False
    is_outside: bool = True
    missing: frozenset[str] = frozenset()


class _File:
    """One file, with the meanings of its imports."""

    def __init__(self, imports: list[Node], is_conftest: bool) -> None:
        self._imports, self._is_conftest = Imports(imports, (), frozenset(), lambda _: False), is_conftest
        self._decorations: dict[int, list[str]] = {}
        self._started = set[int]()
        """Calls by their numbers of which the result is started at once."""

    def found(self, root: Node) -> Iterator[tuple[int, tuple[str, Node]]]:
        """Yield what acts for all tests: outside of functions, or in a function as the module's docstring tells."""
        waiting = [(root, _Place())]
        while waiting:
            node, place = waiting.pop()
            if node.type == "decorator":
                continue
            if place.is_for_all and (words := self._words(node, place)):
                yield node.id, (words, node)
            place = self._within(node, place)
            waiting += [(child, place) for child in reversed(node.named_children)]

    def _within(self, node: Node, place: _Place) -> _Place:
        """Take a node in, and return what its children stand in."""
        if node.type == "decorated_definition" and (inner := node.child_by_field_name("definition")) is not None:
            decorators = [text_of(each)[:_MOST_DECORATION] for each in node.children if each.type == "decorator"]
            self._decorations[inner.id] = decorators
        elif node.type == "attribute" and text_of(node.child_by_field_name("attribute")) == "start":
            of = node.child_by_field_name("object")
            self._started |= {of.id} if of is not None else set()
        elif node.type == "if_statement" and (name := _missing(node)):
            return place._replace(missing=frozenset({name}))
        elif node.type == "function_definition":
            return self._in_function(node, place)
        return place

    def _in_function(self, function: Node, place: _Place) -> _Place:
        decorations = self._decorations.get(function.id, [])
        is_of_all = any(map(_EVERY.search, decorations))
        is_test = text_of(function.child_by_field_name("name")).startswith("test")
        is_own = not is_of_all and (is_test or any("fixture" in each for each in decorations))
        is_inherited = self._is_conftest or (place.is_for_all and not place.is_outside)
        is_given_back = is_of_all or (place.is_given_back and not is_own)
        return _Place(is_of_all or (is_inherited and not is_own), is_given_back, False, place.missing)

    def _words(self, node: Node, place: _Place) -> str:
        """Return in words what a node replaces; what a fixture gives back counts less."""
        if node.type == "assignment":
            left = node.child_by_field_name("left")
            targets = [] if left is None else left.named_children if left.type in _SEVERAL else [left]
            return next((words for target in targets if (words := self._set(target, node, place))), "")
        if node.type != "call":
            return ""
        function, given = (
            name_of(node.child_by_field_name("function")),
            first_named(node.child_by_field_name("arguments")),
        )
        whole = self._imports.resolved(function)
        is_patch = whole in _PATCHES and (place.is_given_back or node.id in self._started)
        if not is_patch and last_part(function) != "setattr":
            return ""
        of, name = self._replaced(whole, given)
        is_spared = place.is_given_back and of == "builtins" and name in _GIVEN_BACK
        return "" if is_spared else self._of(of, name, place)

    def _replaced(self, setter: str, given: list[Node]) -> tuple[str, str]:
        """Return what a call replaces an attribute of, and its name: both as one text, or one by one."""
        text = literal(given[0]) if given else ""
        if text and setter != "setattr":
            of, _, name = text.rpartition(".")
            return of, name
        return (self._object(given[0]), literal(given[1])) if len(given) > 1 else ("", "")

    def _set(self, target: Node, statement: Node, place: _Place) -> str:
        if target.type == "subscript":
            of, key = target.child_by_field_name("value"), target.child_by_field_name("subscript")
            is_added = (
                key is not None and literal(key) == _ADDED and self._imports.resolved(name_of(of)) == "os.environ"
            )
            right = statement.child_by_field_name("right")
            is_empty = right is not None and right.type == "string" and not literal(right)
            return f"sets {_ADDED}" if is_added and self._is_conftest and not is_empty else ""
        if target.type != "attribute":
            return ""
        of, name = target.child_by_field_name("object"), text_of(target.child_by_field_name("attribute"))
        if of is not None and name == "deselect" and self._is_conftest and last_part(name_of(of)) == "option":
            return "deselects tests"
        return self._of(self._object(of), name, place) if of is not None else ""

    def _object(self, node: Node) -> str:
        name = name_of(node)
        whole = self._imports.resolved(name)
        return "builtins" if name == "__builtins__" else whole

    def _of(self, of: str, name: str, place: _Place) -> str:
        """Return in words that an attribute is replaced, where all tests have it."""
        is_inner = _INNER.fullmatch(of) is not None and not _CONSTANT.fullmatch(name)
        is_known = is_inner or name in _NAMES.get(of, ())
        return f"replaces {of}.{name} for other tests" if is_known and name not in place.missing else ""


def _missing(statement: Node) -> str:
    """Return the name of which `if not hasattr(whole, "name")` says that it isn't there yet."""
    condition = statement.child_by_field_name("condition")
    call = next(iter(condition.named_children), None) if condition is not None else None
    if condition is None or call is None or condition.type != "not_operator":
        return ""
    given = first_named(call.child_by_field_name("arguments"))
    is_asked = name_of(call.child_by_field_name("function")) == "hasattr" and len(given) == 2
    return literal(given[1]) if is_asked else ""
