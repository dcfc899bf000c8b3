"""Results of discovery in a file of any language."""

from collections.abc import Iterator, Sized
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from tree_sitter import Language, Node, Parser

from harness.specs.errors import UserError
from harness.specs.test_results import TestId


@dataclass(frozen=True)
class TestFunction:
    """A test in a file. Lines count from 1, both ends included; `text` has all that belongs to it (decorators)."""

    __test__ = False

    name: str
    first_line: int
    last_line: int
    text: bytes
    enclosing: str = ""
    """Blocks around the test: classes joined by dots, `describe` blocks by ` > `; empty at the top of its file."""
    assertions: int = 0
    """By its text: its own, and those of functions of its file that it reaches, each function once."""
    origin: str = ""
    """The path of the file that its text and lines are in, where that is another one: tests can be inherited."""
    is_shared: bool = False
    """Whether the file of its text has the same test: there it is listed."""
    is_empty: bool = False
    """Whether its body names nothing and does nothing: what fails then is a fixture or a hook."""

    @property
    def short(self) -> str:
        """The test's name within what it stands in."""
        return self.name[len(self.enclosing) :].lstrip(". >") if self.enclosing else self.name


class Start(NamedTuple):
    """The line on which the function begins that ran as a test, by the report; 0 where that has none."""

    test: TestId
    file: str
    line: int


@dataclass(frozen=True)
class HelperFunction:
    """A function that is no test. `assertions` are those of a test that only calls it."""

    name: str
    first_line: int
    last_line: int
    assertions: int

    @classmethod
    def at(cls, node: Node, name: str, assertions: int) -> "HelperFunction":
        """Return the function of a syntax node."""
        return cls(name, node.start_point[0] + 1, node.end_point[0] + 1, assertions)

    @property
    def short(self) -> str:
        """The function's name without its class."""
        return self.name.rpartition(".")[2]


@dataclass(frozen=True)
class TestFile:
    """Discovered tests. `others` are names of functions and classes that are no tests; `twice` is ambiguous.

    `helpers` are those of the others that are functions (in C also macros), a file that holds no tests included.
    `is_collected` is whether the test runner was asked: then `hidden` are tests that it collects and no text shows,
    and `uncollected` those of the others whose text looks like a test.
    """

    __test__ = False

    tests: tuple[TestFunction, ...]
    others: frozenset[str] = frozenset()
    twice: frozenset[str] = frozenset()
    helpers: tuple[HelperFunction, ...] = ()
    hidden: frozenset[str] = frozenset()
    uncollected: frozenset[str] = frozenset()
    is_collected: bool = False

    def find(self, name: str) -> TestFunction | None:
        """Return the test of this name, the first where several have it."""
        return self._by_name.get(name)

    @cached_property
    def _by_name(self) -> dict[str, TestFunction]:
        return {test.name: test for test in reversed(self.tests)}


MAX_SOURCE = 5_000_000
"""Bytes of a file of code."""
MAX_FUNCTIONS = 20_000
"""The most functions in one file, inherited ones counted for each class: ten times what a manifest may list."""


MAX_TEXT = 50_000_000
"""Bytes of names and texts of one file's tests: what several tests share counts for each."""
MAX_NAME = 400
"""Bytes of a dotted name. Nobody writes a longer one, and each of its beginnings would be a name as well."""


class TooMuchToRead(UserError):
    """Finding the tests of some file would take more time or memory than any honest file needs."""


class FileQuota:
    """A count of what discovery may still find in one file.

    Raises TooMuchToRead for a file that is too large for anything.
    """

    def __init__(self, path: str, source: bytes) -> None:
        self._path, self._functions, self._text = path, MAX_FUNCTIONS, MAX_TEXT
        if len(source) > MAX_SOURCE:
            raise TooMuchToRead(f"{path}: larger than {MAX_SOURCE} bytes")

    def take(self, *texts: Sized) -> None:
        """Count one function with all that is kept of it.

        Raises:
            TooMuchToRead: The file has more than anybody would write.
        """
        self._functions -= 1
        self._text -= sum(map(len, texts))
        if self._functions < 0:
            raise TooMuchToRead(f"{self._path}: more than {MAX_FUNCTIONS} test functions and helpers")
        if self._text < 0:
            raise TooMuchToRead(f"{self._path}: more than {MAX_TEXT} bytes of names and texts of tests")


def parsed(grammar: Language, source: bytes) -> Node:
    """Return the root of a text's syntax tree; there is one for any text."""
    return Parser(grammar).parse(source).root_node


def every_node(grammar: Language, source: bytes) -> Iterator[Node]:
    """Yield all nodes of a text's tree, parents first."""
    return nodes_of(parsed(grammar, source))


def nodes_of(root: Node) -> Iterator[Node]:
    """Yield a node and all below it, parents first, in the order of the text."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.children)


def text_of(node: Node | None) -> str:
    """Return the text of a node; empty for None."""
    return (node.text or b"").decode("utf-8", "replace") if node else ""
