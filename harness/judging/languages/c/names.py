"""Names of a C file: which stand for functions of the repository, and which for the file's or the patch's own things.

A file's own declaration hides a function only where the compiler takes it for that: in its block, its function, its
branch of `#if`. Parameters of prototypes hide nothing.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from tree_sitter import Node

from harness.judging.languages.c.written import read
from harness.judging.languages.conduct import Sources
from harness.judging.languages.found import text_of
from harness.judging.languages.scopes import Scopes

_BESIDE_CODE = re.compile(rb"/\*.*?\*/|//[^\n]*|^[ \t]*#(?:[^\n\\]|\\.)*", re.DOTALL | re.MULTILINE)
_PROTOTYPE = re.compile(rb"\b([A-Za-z_]\w*)\s*\(")
_VARIABLE = re.compile(rb"\bextern\b[^();{}]*?\b([A-Za-z_]\w*)\s*(?:\[[^;\]]*\]\s*)*[;=]")
_DEFINITION = re.compile(rb"^[A-Za-z_][^;{}()=#]{0,200}?\b([A-Za-z_]\w*)\s*\([^;{}]{0,2000}\)\s*\{", re.MULTILINE)
_REGIONS = frozenset({"preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "preproc_elifdef"})
_SCOPES = _REGIONS | {"function_definition", "compound_statement", "for_statement"}
_FILE, _NOWHERE = 0, -1
_INNER = {
    "pointer_expression": "argument",
    "cast_expression": "value",
    "binary_expression": "left",
    "conditional_expression": "consequence",
}
"""By a type of node: the field that it leads to the same place as."""
_MOST_STEPS = 10
"""Macros, brackets and operators between a name and what it stands for."""


class Macro(NamedTuple):
    """A macro without parameters: where it begins to hold, and the one name that it stands for, if it is one."""

    start: int
    scope: int
    target: str


@dataclass
class Names:
    """All that a text declares. A place is where a block begins that a name is known in; 0 is the file."""

    others: set[tuple[int, str]] = field(default_factory=set)
    """Places and names of data, and of functions that the text itself defines."""
    prototypes: set[str] = field(default_factory=set)
    defined: set[str] = field(default_factory=set)
    """Functions that have their body here, whatever surrounds it."""
    macros: dict[str, Macro] = field(default_factory=dict)
    includes: set[str] = field(default_factory=set)
    foreign: set[str] = field(default_factory=set)
    """Names that some declaration leaves to another file, or may leave to it by the name of a function's type."""
    makers: set[str] = field(default_factory=set)
    """Macros with parameters."""
    external: dict[int, list[str]] = field(default_factory=dict)
    """Names of data that another file has, by where their declarations begin."""
    blocks: Scopes = field(default_factory=Scopes)
    places: list[int] = field(default_factory=lambda: [_FILE])
    """By the number of each block: its place."""

    @classmethod
    def of(cls, root: Node) -> "Names":
        """Read a text's names; takes time linear to it."""
        names, live, undefined, blocks = cls(), set[int](), set[str](), list[Node]()
        waiting = [(root, _FILE)]
        while waiting:
            node, scope = waiting.pop()
            match node.type:
                case "preproc_def":
                    value = text_of(node.child_by_field_name("value")).strip()
                    macro = Macro(node.start_byte, scope, value if re.fullmatch(r"[A-Za-z_]\w*", value) else "")
                    names.macros.setdefault(text_of(node.child_by_field_name("name")), macro)
                case "preproc_function_def":
                    names.others.add((scope, text_of(node.child_by_field_name("name"))))
                    names.makers.add(text_of(node.child_by_field_name("name")))
                case "preproc_call" if text_of(node.child_by_field_name("directive")) == "#undef":
                    undefined.add(text_of(node.child_by_field_name("argument")).strip())
                case "preproc_include" if scope == _FILE:
                    names.includes.add(text_of(node.child_by_field_name("path"))[1:-1].rpartition("/")[2])
                case "function_definition":
                    name, _, parameters = _declared(node.child_by_field_name("declarator"))
                    names.others.add((scope, name))
                    names.defined.add(name)
                    live |= {parameters.start_byte} if parameters else set()
                case "declaration" | "parameter_declaration":
                    names._take(node, scope)
                case "enumerator":
                    names.others.add((scope, text_of(node.child_by_field_name("name"))))
                case "parameter_list" if node.start_byte not in live:
                    scope = _NOWHERE
                case _:
                    pass
            if node.type in _SCOPES and not _is_guard(node):
                scope = node.start_byte + 1
                blocks.append(node)
            waiting += ((child, scope) for child in node.children)
        for name in undefined:
            names.macros.pop(name, None)
        for block in sorted(blocks, key=lambda block: (block.start_byte, -block.end_byte)):
            names.blocks.add(block)
            names.places.append(block.start_byte + 1)
        return names

    def around(self, node: Node) -> frozenset[int]:
        """Return the places that a node stands in, the file's included."""
        return frozenset(self.places[number] for number in self.blocks.around(node.start_byte))

    def _take(self, declaration: Node, scope: int) -> None:
        classes = {text_of(child) for child in declaration.children if child.type == "storage_class_specifier"}
        for declarator in declaration.children_by_field_name("declarator"):
            name, is_function, _ = _declared(declarator)
            if not name:
                continue
            if not is_function:
                self.others.add((scope, name))
                if "extern" in classes or ("static" not in classes and _may_be_function(declaration, declarator)):
                    self.foreign.add(name)
                if "extern" in classes:
                    self.external.setdefault(declaration.start_byte, []).append(name)
            elif "static" not in classes and declaration.type == "declaration":
                self.prototypes.add(name)


class FunctionNames:
    """The names of the repository's functions, by its headers and sources and by what the patch's own files say."""

    def __init__(self, sources: Sources, others: Collection[str] = ()) -> None:
        """Take also the files of the patch that are code though they have no suffix of C."""
        headers = [text for path, text in sources.repository.items() if path.endswith(".h")]
        code = [text for path, text in sources.repository.items() if path.endswith(".c")]
        self._public = frozenset[str]().union(*map(_header_functions, headers))
        self._all = self._public.union(*(_names(_DEFINITION.findall(text)) for text in code))
        own = sources.own.items()
        self._own = {path: text for path, text in own if path.endswith((".h", ".c")) or path in others}
        self._read: dict[str, Names] = {}

    def of_file(self, root: Node, path: str) -> "FileNames":
        """Return the names of one of the patch's files, those of its own headers included."""
        whole = Names.of(root)
        seen, waiting = {path.rpartition("/")[2]}, list(whole.includes)
        for header in self._included(waiting, seen):
            whole.others |= {(place, name) for place, name in header.others if place == _FILE}
            whole.prototypes |= header.prototypes
            whole.foreign |= header.foreign
            whole.makers |= header.makers
            whole.macros = {**{name: each._replace(start=-1) for name, each in header.macros.items()}, **whole.macros}
        brought = (whole.prototypes & self._all) - self._public - whole.defined
        if brought:
            brought -= set[str]().union(*(self._names_of(own).defined for own in self._own))
        return FileNames(whole, self._public | brought, self._all)

    def _included(self, waiting: list[str], seen: set[str]) -> Iterator[Names]:
        while waiting:
            name = waiting.pop()
            for path in self._own if name not in seen else ():
                if path.rpartition("/")[2] == name:
                    header = self._names_of(path)
                    waiting += header.includes
                    yield header
            seen.add(name)

    def _names_of(self, path: str) -> Names:
        if path not in self._read:
            self._read[path] = Names.of(read(self._own[path]))
        return self._read[path]


@dataclass(frozen=True)
class FileNames:
    """The names of one file, and the functions that it may name."""

    _names: Names
    _functions: frozenset[str]
    _all: frozenset[str]

    def defines(self, name: str) -> bool:
        """Return whether a name is a function or a macro of the file itself, and nothing else's by another name."""
        macro = self._names.macros.get(name)
        is_other = (_FILE, name) in self._names.others and name not in self._names.foreign
        return is_other or (macro is not None and not macro.target)

    def has(self, name: str) -> bool:
        """Return whether a name is a function or data of the file itself, and no macro."""
        known = (_FILE, name) in self._names.others and name not in self._names.foreign
        return known and name not in self._names.makers and name not in self._names.macros

    def is_own(self, node: Node) -> bool:
        """Return whether a name stands for something that the file declares there, and no other file has."""
        name = text_of(node)
        if name in self._names.foreign or name in self._names.macros:
            return False
        return _is_parameter(node) or any((scope, name) in self._names.others for scope in self._names.around(node))

    def functions_as_data(self, declaration: Node) -> Iterable[str]:
        """Return functions of the repository that a declaration makes data of another file."""
        return [name for name in self._names.external.get(declaration.start_byte, ()) if name in self._all]

    def is_foreign(self, node: Node) -> bool:
        """Return whether an expression is the address of a function of the repository, or beside one."""
        for _ in range(_MOST_STEPS):
            if node.type == "identifier":
                return self._is_function(node)
            inner = node.child_by_field_name(_INNER.get(node.type, ""))
            if node.type == "parenthesized_expression":
                inner = next(iter(node.named_children), None)
            if inner is None or (node.type == "binary_expression" and node.children[1].type not in "+-"):
                return False
            node = inner
        return False

    def _is_function(self, node: Node) -> bool:
        name, scopes = text_of(node), None
        for _ in range(_MOST_STEPS):
            macro = self._names.macros.get(name)
            if macro is None:
                break
            scopes = scopes or self._names.around(node)
            if macro.start >= node.start_byte or macro.scope not in scopes:
                break
            name = macro.target
        if name not in self._functions:
            return False
        return not any((scope, name) in self._names.others for scope in scopes or self._names.around(node))


def _header_functions(header: bytes) -> frozenset[str]:
    """Return what a header has before a bracket, macros and comments aside: its functions, and what it calls."""
    code = _BESIDE_CODE.sub(b" ", header)
    return _names(_PROTOTYPE.findall(code)) - _names(_VARIABLE.findall(code))


def _names(found: Iterable[bytes]) -> frozenset[str]:
    return frozenset(name.decode() for name in found)


def _declared(declarator: Node | None) -> tuple[str, bool, Node | None]:
    """Return the name that a declarator declares, whether as a function, and that function's parameters."""
    is_function, parameters = False, None
    while declarator is not None and declarator.type != "identifier":
        match declarator.type:
            case "function_declarator":
                is_function, parameters = True, declarator.child_by_field_name("parameters")
            case "pointer_declarator" | "array_declarator":
                is_function = False
            case _:
                pass
        inner = declarator.child_by_field_name("declarator")
        if inner is None and declarator.type in ("parenthesized_declarator", "attributed_declarator"):
            inner = next((child for child in declarator.named_children if "declarator" in child.type), None)
            inner = inner or next((child for child in declarator.named_children if child.type == "identifier"), None)
        declarator = inner
    return text_of(declarator), is_function, parameters


def _may_be_function(declaration: Node, declarator: Node) -> bool:
    """Return whether a declaration's type is but a name, which may be that of a function's type."""
    kind = declaration.child_by_field_name("type")
    is_plain = declaration.type == "declaration" and declarator.type == "identifier"
    return is_plain and kind is not None and kind.type in ("type_identifier", "macro_type_specifier")


def _is_parameter(node: Node) -> bool:
    """Return whether a name is that of a parameter where it is declared."""
    while node.parent is not None and node.parent.type in ("pointer_declarator", "array_declarator"):
        if node.parent.child_by_field_name("declarator") != node:
            return False
        node = node.parent
    return node.parent is not None and node.parent.type == "parameter_declaration"


def _is_guard(node: Node) -> bool:
    """Return whether a branch of the preprocessor only keeps a header from being read twice."""
    if node.type != "preproc_ifdef" or node.children[0].type != "#ifndef" or len(node.named_children) < 2:
        return False
    name, first = node.child_by_field_name("name"), node.named_children[1]
    return first.type == "preproc_def" and text_of(first.child_by_field_name("name")) == text_of(name)
