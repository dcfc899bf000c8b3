"""Python, by the default rules of pytest."""

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

import tree_sitter_python
from tree_sitter import Language, Node

from harness.languages.found import FileQuota, HelperFunction, TestFile, TestFunction, every_node, name_of, parsed
from harness.languages.found import text_of as _text
from harness.languages.python.checks import SOUNDS, PythonChecks
from harness.languages.python.comments import with_short_comments

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
MAX_ANCESTORS = 50
"""Of one class: bases of bases beyond them are not looked at."""


FILE_RULE = "its name must be test_*.py or *_test.py"
_GRAMMAR = Language(tree_sitter_python.language())


def is_test_file(path: str) -> bool:
    """Whether pytest would collect this file by its name alone."""
    name = PurePosixPath(path).name
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))


def discover(source: bytes, path: str = "") -> TestFile:
    """The test functions of a Python file as pytest's default rules see them, inherited ones included.

    Raises TooMuchToRead, also where inheritance makes too many tests of few lines.
    """
    quota, texts = FileQuota(path, source), _Texts(source)
    module = _Scope("", "", (), [])
    _fill(module, parsed(_GRAMMAR, with_short_comments(source)))
    scopes = [*_walk(module)]
    classes = {scope.short: scope for scope in scopes if scope.short}
    tests: list[TestFunction] = []
    others: set[str] = set()
    helpers: list[HelperFunction] = []
    checks = PythonChecks(dict(module.functions), [dict(scope.functions) for scope in scopes if scope.name])
    for scope in scopes:
        ancestors = _ancestors(scope, classes)
        own = _methods(ancestors)
        assertions = checks.within(own if scope.name else {})
        collects = _collects_tests(scope, ancestors)
        for name, node in own.items():
            qualified = f"{scope.name}.{name}" if scope.name else name
            quota.take(qualified)
            if collects and name.startswith("test") and not _is_fixture(node):
                tests.append(_test(qualified, node, texts, assertions(node)))
            else:
                others.add(qualified)
                helpers.append(HelperFunction.at(node, qualified, assertions(node)))
        helpers += scope.other_names
        if scope.name:
            others.add(scope.name)
    return TestFile(tuple(tests), frozenset(others), frozenset(_defined_twice(scopes)), tuple(helpers))


def names(source: bytes) -> frozenset[str]:
    """Every identifier and dotted name of a text, imported or used."""
    kinds = ("identifier", "dotted_name", "attribute")
    nodes = every_node(_GRAMMAR, with_short_comments(source))
    return frozenset(name_of(node) for node in nodes if node.type in kinds)


def calls(source: bytes) -> frozenset[str]:
    """What a text calls, as written: `sleep`, `time.sleep`."""
    nodes = (node for node in every_node(_GRAMMAR, with_short_comments(source)) if node.type == "call")
    return frozenset(name_of(node.child_by_field_name("function")) for node in nodes)


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
    classes: list["_Scope"] = field(default_factory=list)
    other_names: list[HelperFunction] = field(default_factory=list)
    """Of what asserts elsewhere: `same = TestCase.assertEqual`."""
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
            scope.classes.append(child)
        elif _opts_out(definition):
            scope.opted_out = True
        elif other := _other_name(definition):
            scope.other_names.append(HelperFunction.at(definition, f"{scope.name}.{other}".lstrip("."), 1))


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


def _other_name(statement: Node) -> str:
    """The name that a statement gives to a function that sounds like an assertion; empty where it gives none."""
    assignment = statement.named_children[0] if statement.type == "expression_statement" else None
    left, right = (assignment and assignment.child_by_field_name(side) for side in ("left", "right"))
    if not left or not right or left.type != "identifier" or right.type not in ("attribute", "identifier"):
        return ""
    return _text(left) if re.search(SOUNDS, _text(right).rpartition(".")[2]) else ""


def _opts_out(node: Node) -> bool:
    return _text(node).replace(" ", "") == "__test__=False"


def _walk(scope: _Scope) -> Iterator[_Scope]:
    yield scope
    for child in scope.classes:
        yield from _walk(child)


def _ancestors(scope: _Scope, classes: Mapping[str, _Scope]) -> list[_Scope]:
    """A class and its bases of the same file, in the order in which Python looks names up (roughly)."""
    found: dict[str, _Scope] = {}
    waiting = deque([scope])
    while waiting and len(found) < MAX_ANCESTORS:
        current = waiting.popleft()
        if current.name not in found:
            found[current.name] = current
            waiting += [classes[base] for base in current.bases if base in classes]
    return list(found.values())


def _methods(ancestors: Iterable[_Scope]) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for ancestor in ancestors:
        found = {**dict(ancestor.functions), **found}
    return found


def _collects_tests(scope: _Scope, ancestors: Iterable[_Scope]) -> bool:
    if not scope.name:
        return True
    if scope.opted_out:
        return False
    bases = [base for ancestor in ancestors for base in ancestor.bases]
    if any(base.rpartition(".")[2].endswith("TestCase") for base in bases):
        return True
    return all(part.startswith("Test") for part in scope.name.split("."))


def _is_fixture(node: Node) -> bool:
    decorators = [child for child in node.children if child.type == "decorator"]
    return any(_text(decorator).partition("(")[0].strip().endswith("fixture") for decorator in decorators)


class _Texts(dict[tuple[int, int], bytes]):
    """Parts of a file by where they lie, each there once: a method's text is that of every class that inherits it."""

    def __init__(self, source: bytes) -> None:
        super().__init__()
        self._source = source

    def __missing__(self, place: tuple[int, int]) -> bytes:
        self[place] = self._source[slice(*place)]
        return self[place]


def _test(name: str, node: Node, texts: _Texts, assertions: int) -> TestFunction:
    first, last = node.start_point[0] + 1, node.end_point[0] + 1
    enclosing = name.rpartition(".")[0]
    return TestFunction(name, first, last, texts[node.start_byte, node.end_byte], enclosing, assertions)


def _defined_twice(scopes: Iterable[_Scope]) -> Iterator[str]:
    for scope in scopes:
        counts = Counter(name for name, _ in scope.functions)
        yield from (f"{scope.name}.{name}".lstrip(".") for name, count in counts.items() if count > 1)
