"""Python, by the default rules of pytest."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath

import tree_sitter_python
from tree_sitter import Language, Node

from harness.languages.found import HelperFunction, TestFile, TestFunction, every_node, parser
from harness.languages.found import text_of as _text
from harness.languages.python.checks import PythonChecks

_BLOCKS = frozenset(
    {
        "if_statement",
        "try_statement",
        "with_statement",
        "else_clause",
        "elif_clause",
        "except_clause",
        "finally_clause",
        "block",
    }
)
MAX_CLASS_DEPTH = 20


FILE_RULE = "its name must begin with test_"
_GRAMMAR = Language(tree_sitter_python.language())


def is_test_file(path: str) -> bool:
    """Whether pytest would collect this file by its name alone."""
    name = PurePosixPath(path).name
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))


def discover(source: bytes, path: str = "") -> TestFile:  # noqa: ARG001
    """The test functions of a Python file as pytest's default rules see them, inherited ones included."""
    module = _Scope("", "", (), [])
    _fill(module, parser(_GRAMMAR).parse(source).root_node)
    tests: list[TestFunction] = []
    others: set[str] = set()
    helpers: list[HelperFunction] = []
    checks = PythonChecks(dict(module.functions), [dict(scope.functions) for scope in _walk(module) if scope.name])
    for scope in _walk(module):
        own = dict(_methods(scope, module))
        assertions = checks.within(own if scope.name else {})
        for name, node in own.items():
            qualified = f"{scope.name}.{name}" if scope.name else name
            if _is_test(scope, module, name, node):
                tests.append(_test(qualified, node, source, assertions(node)))
            else:
                others.add(qualified)
                helpers.append(HelperFunction.at(node, qualified, assertions(node)))
        if scope.name:
            others.add(scope.name)
    return TestFile(tuple(tests), frozenset(others), frozenset(_defined_twice(module)), tuple(helpers))


@cache
def names(source: bytes) -> frozenset[str]:
    """Every identifier and dotted name of a text, imported or used."""
    kinds = ("identifier", "dotted_name", "attribute")
    return frozenset(_text(node) for node in every_node(_GRAMMAR, source) if node.type in kinds)


@cache
def calls(source: bytes) -> frozenset[str]:
    """What a text calls, as written: `sleep`, `time.sleep`."""
    nodes = [node for node in every_node(_GRAMMAR, source) if node.type == "call"]
    return frozenset(_text(node.child_by_field_name("function")) for node in nodes)


def reaches_folder(path: str, source: bytes) -> bool:  # noqa: ARG001
    """A conftest.py acts on every test below it."""
    return PurePosixPath(path).name == "conftest.py"


@dataclass
class _Scope:
    """The module or a class: `name` is its dotted path."""

    name: str
    short: str
    bases: tuple[str, ...]
    functions: list[tuple[str, Node]]
    classes: tuple["_Scope", ...] = ()
    opted_out: bool = False


def _fill(scope: _Scope, body: Node, depth: int = 0) -> None:
    for node in _statements(body):
        definition = node.child_by_field_name("definition") if node.type == "decorated_definition" else node
        if definition is None:
            continue
        name = _text(definition.child_by_field_name("name"))
        inner = definition.child_by_field_name("body")
        if definition.type == "function_definition":
            scope.functions.append((name, node))
        elif definition.type == "class_definition" and inner is not None and depth < MAX_CLASS_DEPTH:
            child = _Scope(f"{scope.name}.{name}".lstrip("."), name, _bases(definition), [])
            _fill(child, inner, depth + 1)
            scope.classes += (child,)
        elif _opts_out(definition):
            scope.opted_out = True


def _statements(body: Node) -> Iterator[Node]:
    """Statements of a block, those under `if`, `try` and `with` included, but not those of functions."""
    waiting = list(reversed(body.named_children))
    while waiting:
        node = waiting.pop()
        if node.type in _BLOCKS:
            waiting += reversed(node.named_children)
        else:
            yield node


def _bases(definition: Node) -> tuple[str, ...]:
    arguments = definition.child_by_field_name("superclasses")
    return tuple(_text(node) for node in arguments.named_children) if arguments else ()


def _opts_out(node: Node) -> bool:
    return _text(node).replace(" ", "") == "__test__=False"


def _walk(scope: _Scope) -> Iterator[_Scope]:
    yield scope
    for child in scope.classes:
        yield from _walk(child)


def _ancestors(scope: _Scope, module: _Scope) -> Iterator[_Scope]:
    """A class and its bases of the same file, in the order in which Python looks names up (roughly)."""
    classes = {child.short: child for child in _walk(module) if child.short}
    waiting, seen = [scope], set[str]()
    while waiting:
        current = waiting.pop(0)
        if current.name in seen:
            continue
        seen.add(current.name)
        yield current
        waiting += [classes[base] for base in current.bases if base in classes]


def _methods(scope: _Scope, module: _Scope) -> Iterator[tuple[str, Node]]:
    found: Mapping[str, Node] = {}
    for ancestor in _ancestors(scope, module):
        found = {**dict(ancestor.functions), **found}
    yield from found.items()


def _is_test(scope: _Scope, module: _Scope, name: str, node: Node) -> bool:
    if not name.startswith("test") or _is_fixture(node):
        return False
    if not scope.name:
        return True
    if any(ancestor.opted_out for ancestor in (scope,)):
        return False
    if _is_unittest(scope, module):
        return True
    return all(part.startswith("Test") for part in scope.name.split("."))


def _is_unittest(scope: _Scope, module: _Scope) -> bool:
    bases = [base for ancestor in _ancestors(scope, module) for base in ancestor.bases]
    return any(base.rpartition(".")[2].endswith("TestCase") for base in bases)


def _is_fixture(node: Node) -> bool:
    decorators = [child for child in node.children if child.type == "decorator"]
    return any(_text(decorator).partition("(")[0].strip().endswith("fixture") for decorator in decorators)


def _test(name: str, node: Node, source: bytes, assertions: int) -> TestFunction:
    first, last = node.start_point[0] + 1, node.end_point[0] + 1
    enclosing = name.rpartition(".")[0]
    return TestFunction(name, first, last, source[node.start_byte : node.end_byte], enclosing, assertions)


def _defined_twice(module: _Scope) -> Iterator[str]:
    for scope in _walk(module):
        counts = Counter(name for name, _ in scope.functions)
        yield from (f"{scope.name}.{name}".lstrip(".") for name, count in counts.items() if count > 1)
