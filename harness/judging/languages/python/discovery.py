"""Python, by the default rules of pytest."""

import sys
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from tree_sitter import Node

from harness.judging.languages.found import FileQuota, HelperFunction, TestFile, TestFunction, every_node, nodes_of
from harness.judging.languages.protocol import TreeFiles
from harness.judging.languages.python.bases import Bases
from harness.judging.languages.python.classes import (
    GRAMMAR,
    CheckedFunction,
    Module,
    PythonChecks,
    Scope,
    name_of,
    text_of,
    with_short_comments,
)

FILE_RULE = "its name must be test_*.py or *_test.py"
_ALONE = TreeFiles(frozenset(), {})
_DOES = frozenset({"identifier", "call", "raise_statement", "binary_operator", "subscript"})
"""Types of nodes of which a body has one that does anything."""


def is_test_file(path: str) -> bool:
    """Return whether pytest would collect this file by its name alone."""
    name = PurePosixPath(path).name
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))


def discover(source: bytes, path: str = "") -> TestFile:
    """Return a file's test functions as pytest's default rules see them, also those that classes inherit.

    Raises:
        TooMuchToRead: The file is larger than anybody would write, or inheritance makes too many tests of few lines.
    """
    return PythonRelatives(_ALONE).discover(source, path)


class PythonRelatives:
    """See `Relatives`."""

    def __init__(self, files: TreeFiles) -> None:
        self._bases = Bases(files)

    def missing(self, source: bytes, path: str) -> frozenset[str]:
        FileQuota(path, source)
        module = self._bases.module(source, path)
        for scope in module.scopes:
            self._bases.ancestors(scope)
        deque(self._bases.imported_tests(module), maxlen=0)
        return frozenset(self._bases.missing)

    def discover(self, source: bytes, path: str) -> TestFile:
        quota, module = FileQuota(path, source), self._bases.module(source, path)
        ancestors = {scope: self._bases.ancestors(scope) for scope in module.scopes}
        tests: list[TestFunction] = []
        others: set[str] = set()
        helpers: list[HelperFunction] = []
        checks = _checks(module, ancestors.values())
        for scope in module.scopes:
            own = _methods(ancestors[scope])
            methods = {name: function for name, (function, _) in own.items()} if scope.name else {}
            assertions = checks.within(methods)
            collects = _collects_tests(scope, ancestors[scope])
            for name, (function, home) in own.items():
                qualified = f"{scope.name}.{name}" if scope.name else name
                quota.take(qualified)
                if collects and name.startswith("test") and not _is_fixture(function.node):
                    origin = "" if home is module else home.path
                    tests.append(_test(qualified, function.node, home, assertions(function), origin))
                elif home is module:
                    others.add(qualified)
                    helpers.append(HelperFunction.at(function.node, qualified, assertions(function)))
            helpers += scope.other_names
            if scope.name:
                others.add(scope.name)
        tests += self._imported(module, quota)
        return TestFile(tuple(tests), frozenset(others), frozenset(_defined_twice(module.scopes)), tuple(helpers))

    def _imported(self, module: Module, quota: FileQuota) -> Iterator[TestFunction]:
        """Yield the tests that a file has by importing them, each once."""
        known = {name for name, _ in module.top.functions}
        checks: dict[str, PythonChecks] = {}
        for name, function, home in self._bases.imported_tests(module):
            if name in known or _is_fixture(function.node):
                continue
            known.add(name)
            quota.take(name)
            if home.path not in checks:
                checks[home.path] = _checks(home, [home.scopes])
            yield _test(name, function.node, home, checks[home.path].within({})(function), home.path)


def _checks(module: Module, ancestors: Iterable[Iterable[Scope]]) -> PythonChecks:
    """Return what asserts in a file and in those that its classes have bases in.

    A name of its own means what it says.
    """
    modules = dict.fromkeys(scope.module for line in ancestors for scope in line)
    all_of = [*(other for other in modules if other is not module), module]
    functions = {name: function for each in all_of for name, function in each.top.functions}
    return PythonChecks(functions, [dict(scope.functions) for each in all_of for scope in each.scopes if scope.name])


def names(source: bytes) -> frozenset[str]:
    """Return every identifier and dotted name of a text, imported or used."""
    kinds = ("identifier", "dotted_name", "attribute")
    nodes = every_node(GRAMMAR, with_short_comments(source))
    return frozenset(name_of(node) for node in nodes if node.type in kinds)


def calls(source: bytes) -> frozenset[str]:
    """Return what a text calls, as written: `sleep`, `time.sleep`."""
    nodes = (node for node in every_node(GRAMMAR, with_short_comments(source)) if node.type == "call")
    return frozenset(name_of(node.child_by_field_name("function")) for node in nodes)


def reaches_folder(path: str, source: bytes) -> bool:  # noqa: ARG001
    """Return whether a file acts on every test below it.

    It does as a conftest.py, if it makes its folder a package, or as a module in the place of one of Python's own.
    """
    file = PurePosixPath(path)
    return file.name in ("conftest.py", "__init__.py") or file.stem in sys.stdlib_module_names


def _methods(ancestors: Iterable[Scope]) -> dict[str, tuple[CheckedFunction, Module]]:
    """Return the functions of a class, each with its file. What a nearer class gives a value is none."""
    found: dict[str, tuple[CheckedFunction, Module]] = {}
    hidden: set[str] = set()
    for ancestor in ancestors:
        here = {name: (function, ancestor.module) for name, function in ancestor.functions if name not in hidden}
        found = {**here, **found}
        hidden |= ancestor.values - here.keys()
    return found


def _collects_tests(scope: Scope, ancestors: Iterable[Scope]) -> bool:
    if not scope.name:
        return True
    line = list(ancestors)
    if next((each.collected for each in line if each.collected is not None), True) is False:
        return False
    bases = [meaning for ancestor in line for base in ancestor.bases for meaning in ancestor.module.meanings(base)]
    if any(base.rpartition(".")[2].endswith("TestCase") for base in bases):
        return True
    if any(ancestor.is_made for ancestor in line) or any(base.endswith("NamedTuple") for base in bases):
        return False
    return all(part.startswith("Test") for part in scope.name.split("."))


def _is_fixture(node: Node) -> bool:
    decorators = [child for child in node.children if child.type == "decorator"]
    return any(text_of(decorator).partition("(")[0].strip().endswith("fixture") for decorator in decorators)


def _test(name: str, node: Node, module: Module, assertions: int, origin: str) -> TestFunction:
    first, last = node.start_point[0] + 1, node.end_point[0] + 1
    enclosing, is_empty = name.rpartition(".")[0], _is_empty(node)
    return TestFunction(name, first, last, module.text(node), enclosing, assertions, origin, is_empty=is_empty)


def _is_empty(node: Node) -> bool:
    """Return whether nothing is named in the body of a test, which no decorator but pytest's own is around."""
    decorators = (text_of(child).lstrip("@ \t") for child in node.children if child.type == "decorator")
    body = (node.child_by_field_name("definition") or node).child_by_field_name("body")
    if body is None or not all(each.startswith("pytest.") for each in decorators):
        return False
    return not any(each.type in _DOES for each in nodes_of(body))


def _defined_twice(scopes: Iterable[Scope]) -> Iterator[str]:
    for scope in scopes:
        counts = Counter(name for name, _ in scope.functions)
        yield from (f"{scope.name}.{name}".lstrip(".") for name, count in counts.items() if count > 1)
