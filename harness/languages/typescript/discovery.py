"""TypeScript, by the rules of vitest and jest.

An id is `describe > it`, each part as a template would have it: what is computed in a name stands as `${expression}`,
and a table's name (`it.each`) as it is written, so that all its cases are one test.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import PurePosixPath

import tree_sitter_typescript
from tree_sitter import Language, Node

from harness.languages.assertions import Part, Tally
from harness.languages.found import HelperFunction, TestFile, TestFunction, every_node, parser, text_of
from harness.languages.typescript.calls import (
    FUNCTIONS,
    aliases,
    argument,
    is_hook,
    registering,
    template_of,
)
from harness.languages.typescript.checks import functions, typescript_part

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
    grammar = _TSX if path.endswith("x") else _GRAMMAR
    root = parser(grammar).parse(source).root_node
    found = _Search(source, aliases(root))
    found.look(root)
    named = [(name, node, typescript_part(grammar, node)) for name, node in functions(grammar, root)]
    parts: dict[str, list[Part]] = {}
    for name, _, part in named:
        parts.setdefault(name, []).append(part)
    tally = Tally()
    tests = tuple(found.counted(grammar, parts, tally))
    counts = Counter(test.name for test in tests)
    twice = frozenset(name for name, times in counts.items() if times > 1)
    plain = [(name, node, part) for name, node, part in named if not name.startswith(".")]
    helpers = tuple(HelperFunction.at(node, name, tally.of(part, parts)) for name, node, part in plain)
    return TestFile(tests, frozenset(found.others), twice, helpers)


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
    tests: list[tuple[TestFunction, Node, _Place]] = field(default_factory=list)
    hooks: list[tuple[Node, _Place]] = field(default_factory=list)
    others: set[str] = field(default_factory=set)

    def look(self, root: Node) -> None:
        waiting = [(root, _Place())]
        while waiting:
            node, place = waiting.pop()
            waiting += reversed([*self._inside(node, place)])

    def counted(self, grammar: Language, parts: Mapping[str, list[Part]], tally: Tally) -> Iterator[TestFunction]:
        """The tests with their assertions: hooks of the blocks around a test are its own."""
        hooks = [(typescript_part(grammar, node), place.enclosing) for node, place in self.hooks]
        for test, node, place in self.tests:
            around = [part for part, enclosing in hooks if place.enclosing[: len(enclosing)] == enclosing]
            yield replace(test, assertions=tally.of(typescript_part(grammar, node), parts, around))

    def _inside(self, node: Node, place: _Place) -> Iterator[tuple[Node, _Place]]:
        """What to look at next, having noted what the node itself registers."""
        registers = registering(node, self.suites)
        if registers is not None:
            name = template_of(argument(node))
            if not registers:
                self.tests.append((self._test(node, place, name), node, place))
                return
            self.others.add(SEPARATOR.join([*place.enclosing, name]))
            place = place.within(b"", name)
        elif is_hook(node):
            self.hooks.append((node, place))
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
