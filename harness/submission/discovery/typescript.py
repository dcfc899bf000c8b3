"""TypeScript, by the rules of vitest and jest.

An id is `describe > it`, each part as a template would have it: what is computed in a name stands as `${expression}`,
and a table's name (`it.each`) as it is written, so that all its cases are one test.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import PurePosixPath

import tree_sitter_typescript
from tree_sitter import Language, Node

from harness.submission.discovery.found import TestFile, TestFunction, every_node, parser, text_of
from harness.submission.discovery.typescript_calls import FUNCTIONS, aliases, argument, registering, template_of

FILE_RULE = "its name must end in .test.ts or .spec.ts"
SEPARATOR = " > "
MAX_DEPTH = 20
_GRAMMAR = Language(tree_sitter_typescript.language_typescript())
_TSX = Language(tree_sitter_typescript.language_tsx())
_FILE = re.compile(r"\.(test|spec)\.[cm]?[jt]sx?$")
_LOOPS = frozenset({"for_statement", "for_in_statement", "while_statement"})
_NAMES = frozenset(
    {
        "identifier", "property_identifier", "type_identifier", "shorthand_property_identifier",
        "shorthand_property_identifier_pattern", "member_expression", "nested_type_identifier",
    }
)  # fmt: skip


def is_test_file(path: str) -> bool:
    """Whether vitest would collect this file by its name alone."""
    return _FILE.search(PurePosixPath(path).name) is not None


def discover(source: bytes, path: str) -> TestFile:
    """The tests of a file, wherever it registers them but in a function that is called from elsewhere."""
    root = parser(_TSX if path.endswith("x") else _GRAMMAR).parse(source).root_node
    found = _Search(source, aliases(root))
    found.look(root)
    counts = Counter(test.name for test in found.tests)
    twice = frozenset(name for name, count in counts.items() if count > 1)
    return TestFile(tuple(found.tests), frozenset(found.others), twice)


@cache
def names(source: bytes) -> frozenset[str]:
    """Every identifier and dotted name of a text, and the modules that it imports."""
    nodes = list(every_node(_GRAMMAR, source))
    modules = [node.child_by_field_name("source") for node in nodes if node.type == "import_statement"]
    return frozenset(
        {text_of(node) for node in nodes if node.type in _NAMES} | {template_of(node) for node in modules}
    )


@cache
def calls(source: bytes) -> frozenset[str]:
    """What a text calls, as written: `setTimeout`, `vi.useFakeTimers`."""
    nodes = [node for node in every_node(_GRAMMAR, source) if node.type == "call_expression"]
    return frozenset(text_of(node.child_by_field_name("function")) for node in nodes)


def reaches_folder(path: str, source: bytes) -> bool:  # noqa: ARG001
    """Never: what isn't imported is set up by configuration, which no submission may change."""
    return False


def assertions(text: bytes) -> int:
    """How many places of a text can make its test fail: calls of `expect` and `assert`, types left out."""
    return sum(re.match(r"(expect|assert)\b(?!.*\()", call) is not None for call in _written_calls(text))


def _written_calls(text: bytes) -> Iterator[str]:
    for node in every_node(_GRAMMAR, text):
        if node.type == "call_expression":
            yield text_of(node.child_by_field_name("function"))


@dataclass(frozen=True)
class _Place:
    """Where a node stands: in which `describe` blocks, and behind which heads of loops and functions."""

    enclosing: tuple[str, ...] = ()
    heads: tuple[bytes, ...] = ()
    depth: int = 0

    def within(self, head: bytes, *names: str) -> "_Place":
        return _Place((*self.enclosing, *names), (*self.heads, head), self.depth + 1)


@dataclass
class _Search:
    source: bytes
    suites: dict[str, bool]
    """Names of functions that register: whether what they register are suites."""
    tests: list[TestFunction] = field(default_factory=list)
    others: set[str] = field(default_factory=set)

    def look(self, root: Node) -> None:
        waiting = [(root, _Place())]
        while waiting:
            node, place = waiting.pop()
            waiting += reversed([*self._inside(node, place)])

    def _inside(self, node: Node, place: _Place) -> Iterator[tuple[Node, _Place]]:
        """What to look at next, having noted what the node itself registers."""
        registers = registering(node, self.suites)
        if registers is not None:
            name = template_of(argument(node))
            if not registers:
                self.tests.append(self._test(node, place, name))
                return
            self.others.add(SEPARATOR.join([*place.enclosing, name]))
            place = place.within(b"", name)
        elif node.type == "function_declaration":
            self.others.add(text_of(node.child_by_field_name("name")))
        body = node.child_by_field_name("body")
        for child in node.children:
            if body is not None and child == body and node.type in FUNCTIONS | _LOOPS:
                yield from self._body(node, body, place)
            elif place.depth <= MAX_DEPTH:
                yield child, place

    def _body(self, node: Node, body: Node, place: _Place) -> Iterator[tuple[Node, _Place]]:
        if place.depth <= MAX_DEPTH:
            yield body, place.within(self.source[_start_of(node) : body.start_byte])

    def _test(self, node: Node, place: _Place, name: str) -> TestFunction:
        enclosing = SEPARATOR.join(place.enclosing)
        return TestFunction(
            SEPARATOR.join([*place.enclosing, name]),
            node.start_point[0] + 1,
            node.end_point[0] + 1,
            b"".join(place.heads) + self.source[node.start_byte : node.end_byte],
            enclosing,
        )


def _start_of(function: Node) -> int:
    """Where what a function is given to begins: `[1, 2].forEach((n) => ...`."""
    around = function.parent
    call = around.parent if around is not None and around.type == "arguments" else None
    return (call or function).start_byte
