"""What discovery finds in a file, whatever its language."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from tree_sitter import Language, Node, Parser


@dataclass(frozen=True)
class TestFunction:
    """A test in a file. Lines count from 1, both ends included; `text` has all that belongs to it (decorators)."""

    __test__ = False

    name: str
    first_line: int
    last_line: int
    text: bytes
    enclosing: str = ""
    """What it stands in: classes joined by dots, `describe` blocks by ` > `; empty at the top of its file."""
    assertions: int = 0
    """By its text: its own, and those of functions of its file that it reaches, each function once."""

    @property
    def short(self) -> str:
        """Its name within what it stands in."""
        return self.name[len(self.enclosing) :].lstrip(". >") if self.enclosing else self.name


@dataclass(frozen=True)
class HelperFunction:
    """A function that is no test. `assertions` are those of a test that only calls it."""

    name: str
    first_line: int
    last_line: int
    assertions: int

    @classmethod
    def at(cls, node: Node, name: str, assertions: int) -> "HelperFunction":
        return cls(name, node.start_point[0] + 1, node.end_point[0] + 1, assertions)

    @property
    def short(self) -> str:
        """Its name without its class."""
        return self.name.rpartition(".")[2]


@dataclass(frozen=True)
class TestFile:
    """What discovery found. `others` are names of functions and classes that are no tests; `twice` is ambiguous.

    `helpers` are those of the others that are functions (in C also macros), a file that holds no tests included.
    """

    __test__ = False

    tests: tuple[TestFunction, ...]
    others: frozenset[str] = frozenset()
    twice: frozenset[str] = frozenset()
    helpers: tuple[HelperFunction, ...] = ()

    def find(self, name: str) -> TestFunction | None:
        return next((test for test in self.tests if test.name == name), None)


@cache
def parser(grammar: Language) -> Parser:
    return Parser(grammar)


def every_node(grammar: Language, source: bytes) -> Iterator[Node]:
    waiting = [parser(grammar).parse(source).root_node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.children)


def text_of(node: Node | None) -> str:
    return (node.text or b"").decode("utf-8", "replace") if node else ""
