"""TypeScript, by the rules of vitest and jest.

An id is `describe > it`, each part as a template would have it: what is computed in a name stands as `${expression}`,
and a table's name (`it.each`) as it is written, so that all its cases are one test.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import PurePosixPath
from typing import NamedTuple

import tree_sitter_typescript
from tree_sitter import Language, Node

from harness.judging.languages.assertions import Part, Tally
from harness.judging.languages.dotted_names import name_of
from harness.judging.languages.found import (
    FileQuota,
    HelperFunction,
    TestFile,
    TestFunction,
    every_node,
    nodes_of,
    parsed,
    text_of,
)
from harness.judging.languages.typescript.calls import (
    FUNCTIONS,
    aliases,
    argument,
    functions,
    is_hook,
    registering,
    template_of,
    test_to_come,
    typescript_part,
)

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
_DOES = _NAMES | {"this", "call_expression", "new_expression", "throw_statement"}
"""Types of nodes of which a body has one that does anything."""


def is_test_file(path: str) -> bool:
    """Return whether vitest would collect this file by its name alone."""
    return _FILE.search(PurePosixPath(path).name) is not None


def discover(source: bytes, path: str) -> TestFile:
    """Return the tests of a file, wherever it registers them but in a function that is called from elsewhere.

    Raises:
        TooMuchToRead: The file is larger than anybody would write.
    """
    quota = FileQuota(path, source)
    grammar = _TSX if path.endswith("x") else _GRAMMAR
    root = parsed(grammar, source)
    found = _Search(source, aliases(root), quota)
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


def names(source: bytes) -> frozenset[str]:
    """Return every identifier and dotted name of a text, and the modules that it imports."""
    nodes = list(every_node(_GRAMMAR, source))
    modules = [node.child_by_field_name("source") for node in nodes if node.type == "import_statement"]
    return frozenset(
        {name_of(node) for node in nodes if node.type in _NAMES} | {template_of(node) for node in modules}
    )


def calls(source: bytes) -> frozenset[str]:
    """Return what a text calls, as written: `setTimeout`, `vi.useFakeTimers`."""
    nodes = (node for node in every_node(_GRAMMAR, source) if node.type == "call_expression")
    return frozenset(name_of(node.child_by_field_name("function")) for node in nodes)


def reaches_folder(path: str, source: bytes) -> bool:  # noqa: ARG001
    """Return False: what isn't imported is set up by configuration, which no submission may change."""
    return False


def _is_empty(call: Node) -> bool:
    """Return whether nothing is named in the function that a call registers as a test."""
    arguments = call.child_by_field_name("arguments")
    given = [node for node in (arguments.named_children if arguments else ()) if node.type in FUNCTIONS]
    body = given[0].child_by_field_name("body") if len(given) == 1 else None
    return body is not None and not any(node.type in _DOES for node in nodes_of(body))


@dataclass(frozen=True)
class _Place:
    """A node's surroundings: `describe` blocks, and heads of loops and functions.

    `heads` are where in the source those heads begin and end.
    """

    enclosing: tuple[str, ...] = ()
    heads: tuple[tuple[int, int], ...] = ()
    depth: int = 0

    def within(self, head: tuple[int, int] = (0, 0), *names: str) -> "_Place":
        return _Place((*self.enclosing, *names), (*self.heads, head), self.depth + 1)


class _Seen(NamedTuple):
    """A node to look at. `given_to` is where the call begins that it is an argument of, else where itself begins."""

    node: Node
    place: _Place
    given_to: int


@dataclass
class _Search:
    source: bytes
    suites: dict[str, bool]
    """Names of functions that register: whether what they register are suites."""
    quota: FileQuota
    tests: list[tuple[TestFunction, Node, _Place]] = field(default_factory=list)
    hooks: list[tuple[Node, _Place]] = field(default_factory=list)
    others: set[str] = field(default_factory=set)

    def look(self, root: Node) -> None:
        waiting = [_Seen(root, _Place(), 0)]
        while waiting:
            waiting += reversed([*self._inside(waiting.pop())])

    def counted(self, grammar: Language, parts: Mapping[str, list[Part]], tally: Tally) -> Iterator[TestFunction]:
        """Yield the tests with their assertions: hooks of the blocks around a test are its own."""
        hooks: dict[tuple[str, ...], list[Part]] = {}
        for node, place in self.hooks:
            hooks.setdefault(place.enclosing, []).append(typescript_part(grammar, node))
        for test, node, place in self.tests:
            blocks = (place.enclosing[:depth] for depth in range(len(place.enclosing) + 1))
            around = chain.from_iterable(hooks.get(block, ()) for block in blocks)
            assertions = tally.of(typescript_part(grammar, node), parts, around)
            yield replace(test, assertions=assertions, is_empty=_is_empty(node))

    def _inside(self, seen: _Seen) -> Iterator[_Seen]:
        """Yield what to look at next, having noted what the node itself registers."""
        node, place, given_to = seen
        registers = registering(node, self.suites)
        if registers is not None:
            title = argument(node)
            if registers and title is not None and title.type in FUNCTIONS:  # Playwright's blocks need none
                yield from (_Seen(child, place, given_to) for child in node.children)
                return
            name = template_of(title)
            if not registers:
                self.tests.append((self._test(node, place, name), node, place))
                return
            self._note(SEPARATOR.join([*place.enclosing, name]))
            place = place.within((0, 0), name)
        elif (to_come := test_to_come(node, self.suites)) is not None:
            self._note(SEPARATOR.join([*place.enclosing, template_of(to_come)]))
        elif is_hook(node, self.suites):
            self.hooks.append((node, place))
        elif node.type == "function_declaration":
            self._note(text_of(node.child_by_field_name("name")))
        body = node.child_by_field_name("body") if node.type in FUNCTIONS | _LOOPS else None
        for child in node.children:
            if place.depth > MAX_DEPTH:
                return
            if body is not None and child == body:
                yield _Seen(body, place.within((given_to, body.start_byte)), body.start_byte)
            else:
                yield _Seen(child, place, self._given_to(node, child, given_to))

    @staticmethod
    def _given_to(node: Node, child: Node, given_to: int) -> int:
        """Return where a call's text begins: that of `[1, 2].forEach((n) => ...` begins with its table."""
        if node.type == "arguments":
            return given_to
        return node.start_byte if child.type == "arguments" else child.start_byte

    def _note(self, name: str) -> None:
        self.quota.take(name)
        self.others.add(name)

    def _test(self, node: Node, place: _Place, name: str) -> TestFunction:
        enclosing = SEPARATOR.join(place.enclosing)
        whole = SEPARATOR.join([*place.enclosing, name])
        self.quota.take(whole, *(range(start, end) for start, end in place.heads))
        heads = b"".join(self.source[start:end] for start, end in place.heads)
        first, last = node.start_point[0] + 1, node.end_point[0] + 1
        return TestFunction(whole, first, last, heads + self.source[node.start_byte : node.end_byte], enclosing)
