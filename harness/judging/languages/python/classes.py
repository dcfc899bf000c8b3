"""The functions, classes and imports of a Python file, as its syntax tree has them, and their assertions.

Assertions are those of pytest, unittest and mocks, and functions with similar names. Long runs of comments are
blanked
first: Python's grammar takes a time for them that grows with the square of their number.
"""

import re
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import tree_sitter_python
from tree_sitter import Language, Node, Query

from harness.judging.languages.assertions import WORDS, Part, Tally, look, sounding
from harness.judging.languages.dotted_names import bare
from harness.judging.languages.dotted_names import name_of as _name_as_written
from harness.judging.languages.found import HelperFunction, parsed
from harness.judging.languages.found import text_of as _text_as_written
from harness.judging.languages.nfkc import normal

KEPT = 20
"""Comments of a run that stay at its beginning, and as many at its end: what stands beside code is never touched."""
_TOKEN = re.compile(
    rb"""
    (?P<comment> \#[^\n]* )
    | \"{3} (?: [^"\\] | \\. | "(?!"") )*+ (?: \"{3} )?
    | \'{3} (?: [^'\\] | \\. | '(?!'') )*+ (?: \'{3} )?
    | " (?: [^"\\\n] | \\. )*+ "?
    | ' (?: [^'\\\n] | \\. )*+ '?
    """,
    re.VERBOSE | re.DOTALL,
)


def name_of(node: Node | None) -> str:
    """Return the dotted name that a node is, as Python reads it; empty for one that is no name."""
    return normal(_name_as_written(node))


def text_of(node: Node | None) -> str:
    """Return a node's text with its names as Python reads them. For literals it would be another text."""
    return normal(_text_as_written(node))


_RETURN = re.compile(rb"\r(?!\n)")
_OWN_LINE = re.compile(rb"^[ \t\r\x0b\f]*#", re.MULTILINE)
"""A comment that begins its line, as all of a run do but the first."""


def with_short_comments(source: bytes) -> bytes:
    """Return the same code with spaces in place of the comments in the middle of long runs: all else is where it was.

    A carriage return ends a line for Python, and so a comment; for the grammar only a line feed does.
    """
    source = _RETURN.sub(b"\n", source)
    if len(_OWN_LINE.findall(source)) < 2 * KEPT:
        return source
    text = bytearray(source)
    run: list[tuple[int, int]] = []
    for token in _TOKEN.finditer(source):
        if not token["comment"] or (run and source[run[-1][1] : token.start()].strip()):
            _blank(text, run)
            run = []
        if token["comment"]:
            run.append(token.span())
    _blank(text, run)
    return bytes(text)


def _blank(text: bytearray, run: list[tuple[int, int]]) -> None:
    for start, end in run[KEPT:-KEPT]:
        text[start:end] = b" " * (end - start)


_RAISING = '"raises" "warns" "deprecated_call" "RaisesGroup" "RaisesExc"'
SOUNDS = sounding(*WORDS, "must")
_QUERY = Query(
    Language(tree_sitter_python.language()),
    f"""
    (assert_statement) @check
    ((raise_statement . [(identifier) @check (call function: (identifier) @check)]) @_ (#eq? @check "AssertionError"))
    ((call function: [(identifier) @check (attribute attribute: (identifier) @check)])
        @_ (#any-of? @check {_RAISING}))
    ((call function: (identifier) @call) @_ (#match? @call "{SOUNDS}|^fail$"))
    ((call function: (attribute attribute: (identifier) @method)) @_ (#match? @method "{SOUNDS}"))
    ((call function: (attribute object: (identifier) @whose attribute: (identifier) @method))
        @_ (#any-of? @whose "self" "cls" "pytest") (#match? @method "^fail"))
    ((call function: (attribute attribute: (identifier) @mark)
        arguments: (argument_list (string (string_content) @name))) @_ (#eq? @mark "usefixtures"))
    (identifier) @name
    (attribute attribute: (identifier) @member) @_
    (function_definition name: (identifier) @local)
    (assignment left: (identifier) @local right: (lambda))
    """,
)
_HOOK = re.compile(r"(async)?_?(setup|teardown|set_?up|tear_?down)_?(class|method|module|function)?", re.IGNORECASE)


class CheckedFunction(NamedTuple):
    """A function of one of several files that are read together.

    `start` is where its file begins among them, in bytes.
    """

    node: Node
    start: int = 0

    @property
    def decorators(self) -> str:
        return " ".join(text_of(child) for child in self.node.children if child.type == "decorator")


class PythonChecks:
    """Counts in files read together: `functions` are the modules', `classes` the methods of each class, by name."""

    def __init__(
        self, functions: Mapping[str, CheckedFunction], classes: Iterable[Mapping[str, CheckedFunction]]
    ) -> None:
        self._tally = Tally()
        self._parts: dict[int, Part] = {}
        self._known: dict[str, list[Part]] = {name: [self._part(item)] for name, item in functions.items()}
        self._hooks = self._without_being_named(functions)
        for methods in classes:
            for name, method in methods.items():
                self._known.setdefault(f".{name}", []).append(self._part(method))

    def within(self, methods: Mapping[str, CheckedFunction]) -> Callable[[CheckedFunction], int]:
        """Return a counter for functions of a class with these methods, inherited ones included; or of the module."""
        own = {f".{name}": [self._part(method)] for name, method in methods.items()}
        fixtures = {name: own[f".{name}"] for name, method in methods.items() if "fixture" in method.decorators}
        hooks = self._without_being_named(methods)
        known = ChainMap(own, fixtures, self._known)
        return lambda function: self._tally.of(self._part(function), known, chain(hooks, self._hooks))

    def _part(self, function: CheckedFunction) -> Part:
        place = function.start + function.node.start_byte
        if place not in self._parts:
            self._parts[place] = look(_QUERY, function.node).moved(function.start)
        return self._parts[place]

    def _without_being_named(self, functions: Mapping[str, CheckedFunction]) -> list[Part]:
        """Return hooks of unittest and pytest, and fixtures that are used automatically."""
        return [
            self._part(function)
            for name, function in functions.items()
            if _HOOK.fullmatch(name) or "autouse" in function.decorators
        ]


_BLOCKS = frozenset(
    {
        "if_statement",
        "try_statement",
        "with_statement",
        "else_clause",
        "elif_clause",
        "except_clause",
        "finally_clause",
        "for_statement",
        "while_statement",
        "match_statement",
        "case_clause",
        "block",
    }
)
_DATACLASSES = frozenset({"dataclass", "define", "frozen", "mutable", "attrs"})
MAX_CLASS_DEPTH = 20
MAX_MEANINGS = 10
"""The most meanings of one name in one file."""
GRAMMAR = Language(tree_sitter_python.language())


@dataclass(eq=False)
class Scope:
    """The module or a class: `name` is its dotted path within its file."""

    name: str
    bases: tuple[str, ...]
    module: "Module"
    functions: list[tuple[str, CheckedFunction]] = field(default_factory=list)
    classes: list["Scope"] = field(default_factory=list)
    other_names: list[HelperFunction] = field(default_factory=list)
    """Other names of functions that assert elsewhere: `same = TestCase.assertEqual`."""
    values: set[str] = field(default_factory=set)
    """Names that it gives to what is no function: `test_slow = None`."""
    collected: bool | None = None
    """Whether pytest collects it, as `__test__` says."""
    is_made: bool = False
    """It has a constructor of its own, so that pytest collects none of its methods."""

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
        self.imports: dict[str, list[str]] = {}
        """All that a name may stand for, with the dots of a relative import: `Shared` for `from ..base import Shared`
        is `..base.Shared`."""
        self.other_names: dict[str, list[str]] = {}
        """Names of this file that a name is given for: `shared.Base` for `Base = shared.Base`."""
        self.stars: list[str] = []
        """Modules of which everything is imported."""
        self.top = Scope("", (), self)
        _fill(self.top, parsed(GRAMMAR, with_short_comments(source)))

    @cached_property
    def scopes(self) -> tuple[Scope, ...]:
        return tuple(self.top.walk())

    @cached_property
    def classes(self) -> Mapping[str, list[Scope]]:
        """Classes by their dotted paths: several where one is defined anew, or another one under `else`."""
        found: dict[str, list[Scope]] = {}
        for scope in self.scopes[1:]:
            found.setdefault(scope.name, []).append(scope)
        return found

    def meanings(self, name: str) -> frozenset[str]:
        """Return a dotted name with all that this file's imports and assignments say it stands for."""
        found, waiting = {name}, [name]
        while waiting and len(found) < MAX_MEANINGS:
            first, dot, rest = waiting.pop().partition(".")
            for meaning in (*self.imports.get(first, ()), *self.other_names.get(first, ())):
                if (whole := f"{meaning}{dot}{rest}") not in found:
                    found.add(whole)
                    waiting.append(whole)
        return frozenset(found)

    def text(self, node: Node) -> bytes:
        """Return a node's text, each there once: a method's is that of every class that inherits it."""
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
            scope.functions.append((name, CheckedFunction(node, scope.module.start)))
            scope.is_made |= name in ("__init__", "__new__") and node.parent == body
        elif definition.type == "class_definition" and inner is not None and depth < MAX_CLASS_DEPTH:
            child = Scope(f"{scope.name}.{name}".lstrip("."), _bases(definition), scope.module)
            child.is_made = node is not definition and any(map(_makes_constructor, node.named_children))
            _fill(child, inner, depth + 1)
            scope.classes.append(child)
        elif definition.type in ("import_statement", "import_from_statement"):
            _import(scope.module, definition)
        else:
            _assign(scope, definition)


def _makes_constructor(decorator: Node) -> bool:
    """Return whether a decorator is that of a dataclass, or of attrs."""
    name = text_of(decorator).removeprefix("@").partition("(")[0].strip()
    return decorator.type == "decorator" and name.rpartition(".")[2] in _DATACLASSES


def _statements(body: Node) -> Iterator[Node]:
    """Yield a block's statements, those under `if`, `try` and `with` included, but not those of functions."""
    waiting = list(reversed(body.named_children))
    while waiting:
        node = waiting.pop()
        if node.type in _BLOCKS:
            waiting += reversed(node.named_children)
        else:
            yield node


def _bases(definition: Node) -> tuple[str, ...]:
    """Return the dotted names of its bases; of `Shared[int]` that before the bracket."""
    arguments = definition.child_by_field_name("superclasses")
    return tuple(filter(None, (_dotted(node) for node in arguments.named_children))) if arguments else ()


def _dotted(node: Node | None) -> str:
    """Return a dotted name, that of a subscript's value included; empty for anything else."""
    while node is not None and bare(node).type == "subscript":
        node = bare(node).child_by_field_name("value")
    inner = bare(node) if node is not None else None
    is_name = inner is not None and inner.type in ("identifier", "attribute", "dotted_name", "relative_import")
    return name_of(inner) if is_name else ""


def _import(module: Module, statement: Node) -> None:
    source = statement.child_by_field_name("module_name")
    prefix = _dotted(source)
    if source is not None and not prefix:
        return
    if any(child.type == "wildcard_import" for child in statement.named_children):
        module.stars.append(prefix)
    for node in statement.children_by_field_name("name"):
        name, alias = _dotted(node.child_by_field_name("name") or node), _dotted(node.child_by_field_name("alias"))
        if source is not None:
            meaning = f"{prefix}{name}" if prefix.endswith(".") else f"{prefix}.{name}"
        else:
            meaning = name if alias else name.partition(".")[0]
        _add(module.imports, alias or name.partition(".")[0], meaning)


def _add(meanings: dict[str, list[str]], name: str, meaning: str) -> None:
    known = meanings.setdefault(name, [])
    if meaning not in known and len(known) < MAX_MEANINGS:
        known.append(meaning)


def _assign(scope: Scope, statement: Node) -> None:
    assignment = statement.named_children[0] if statement.type == "expression_statement" else None
    if assignment is None or assignment.type != "assignment":
        return
    left, right = (assignment.child_by_field_name(side) for side in ("left", "right"))
    name, value = (text_of(left) if left and left.type == "identifier" else ""), _dotted(right)
    if not name or right is None:
        return
    if name == "__test__" and right.type in ("true", "false"):
        scope.collected = right.type == "true"
    if right.type in ("none", "true", "false", "integer", "string"):
        scope.values.add(name)
    if value and right.type in ("identifier", "attribute") and re.search(SOUNDS, value.rpartition(".")[2]):
        scope.other_names.append(HelperFunction.at(statement, f"{scope.name}.{name}".lstrip("."), 1))
    if right.type == "lambda" and name.startswith("test"):
        scope.functions.append((name, CheckedFunction(statement, scope.module.start)))
    if value and not scope.name:
        _add(scope.module.other_names, name, value)
