"""The functions and classes of a Python file, and what it imports, as its syntax tree has them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import tree_sitter_python
from tree_sitter import Language, Node

from harness.languages.found import HelperFunction, parsed, text_of
from harness.languages.python.checks import SOUNDS, Function
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
GRAMMAR = Language(tree_sitter_python.language())


@dataclass(eq=False)
class Scope:
    """The module or a class: `name` is its dotted path within its file."""

    name: str
    short: str
    bases: tuple[str, ...]
    module: "Module"
    functions: list[tuple[str, Function]] = field(default_factory=list)
    classes: list["Scope"] = field(default_factory=list)
    other_names: list[HelperFunction] = field(default_factory=list)
    """Of what asserts elsewhere: `same = TestCase.assertEqual`."""
    opted_out: bool = False

    def walk(self) -> Iterator["Scope"]:
        yield self
        for child in self.classes:
            yield from child.walk()


class Module:
    """One file. Among others that are read with it, it stands at the bytes `start` to `end`."""

    def __init__(self, source: bytes, path: str = "", start: int = 0) -> None:
        self.path, self.start, self.end = path, start, start + len(source) + 1
        self._source = source
        self._texts: dict[tuple[int, int], bytes] = {}
        self.imports: dict[str, str] = {}
        """What a name stands for, with the dots of a relative import: `Shared` for `from ..base import Shared` is
        `..base.Shared`."""
        self.stars: list[str] = []
        """Modules of which everything is imported."""
        self.top = Scope("", "", (), self)
        _fill(self.top, parsed(GRAMMAR, with_short_comments(source)))

    @cached_property
    def scopes(self) -> tuple[Scope, ...]:
        return tuple(self.top.walk())

    @cached_property
    def classes(self) -> Mapping[str, Scope]:
        """By their names without what they stand in."""
        return {scope.short: scope for scope in self.scopes if scope.short}

    def text(self, node: Node) -> bytes:
        """A node's text, each there once: a method's is that of every class that inherits it."""
        place = (node.start_byte, node.end_byte)
        return self._texts.setdefault(place, self._source[slice(*place)])


def _fill(scope: Scope, body: Node, depth: int = 0) -> None:
    for node in _statements(body):
        definition = node.child_by_field_name("definition") if node.type == "decorated_definition" else node
        if definition is None:
            continue
        name = text_of(definition.child_by_field_name("name"))
        inner = definition.child_by_field_name("body")
        if definition.type == "function_definition":
            scope.functions.append((name, Function(node, scope.module.start)))
        elif definition.type == "class_definition" and inner is not None and depth < MAX_CLASS_DEPTH:
            child = Scope(f"{scope.name}.{name}".lstrip("."), name, _bases(definition), scope.module)
            _fill(child, inner, depth + 1)
            scope.classes.append(child)
        elif definition.type in ("import_statement", "import_from_statement"):
            _import(scope.module, definition)
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
    """The names of its bases; of `Shared[int]` that before the bracket."""
    arguments = definition.child_by_field_name("superclasses")
    return tuple(text_of(node).partition("[")[0].strip() for node in arguments.named_children) if arguments else ()


def _import(module: Module, statement: Node) -> None:
    """The first meaning of a name stays: what `except ImportError` imports instead is for another machine."""
    source = statement.child_by_field_name("module_name")
    prefix = text_of(source)
    if any(child.type == "wildcard_import" for child in statement.named_children):
        module.stars.append(prefix)
    for node in statement.children_by_field_name("name"):
        name = text_of(node.child_by_field_name("name") or node)
        alias = text_of(node.child_by_field_name("alias"))
        if source is not None:
            module.imports.setdefault(alias or name, _joined(prefix, name))
        else:
            module.imports.setdefault(alias or name.partition(".")[0], name if alias else name.partition(".")[0])


def _joined(module: str, name: str) -> str:
    return f"{module}{name}" if module.endswith(".") else f"{module}.{name}"


def _other_name(statement: Node) -> str:
    """The name that a statement gives to a function that sounds like an assertion; empty where it gives none."""
    assignment = statement.named_children[0] if statement.type == "expression_statement" else None
    left, right = (assignment and assignment.child_by_field_name(side) for side in ("left", "right"))
    if not left or not right or left.type != "identifier" or right.type not in ("attribute", "identifier"):
        return ""
    return text_of(left) if re.search(SOUNDS, text_of(right).rpartition(".")[2]) else ""


def _opts_out(node: Node) -> bool:
    return text_of(node).replace(" ", "") == "__test__=False"
