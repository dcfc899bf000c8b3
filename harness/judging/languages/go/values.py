"""Meanings of a Go file's names: texts, functions of packages, results of calls. All that a name gets count."""

import re
from collections.abc import Mapping, Sequence
from itertools import islice

from tree_sitter import Node

from harness.judging.languages.conduct import callee, given_to
from harness.judging.languages.dotted_names import bare, name_of
from harness.judging.languages.found import MAX_NAME, nodes_of, text_of
from harness.judging.languages.go.means import ALL_FILES, FOLDERS, HERE, READERS, RUNNERS
from harness.judging.languages.known_names import MOST_MEANINGS, MOST_TEXT, Key, TextsOfNames
from harness.judging.languages.pathnames import UNKNOWN, written
from harness.judging.languages.scopes import FILE, Scopes

_DECLARES = {
    "const_spec": ("name", "value"),
    "var_spec": ("name", "value"),
    "short_var_declaration": ("left", "right"),
    "assignment_statement": ("left", "right"),
    "range_clause": ("left", "right"),
}
"""Types of nodes that give names to values, with the fields of both."""
_FUNCTIONS = frozenset({"function_declaration", "method_declaration"})
_PASSES = 4
"""Looks at the declarations: constants may stand before those that they are made of."""
_MOST_NODES = 30
"""Nodes of an expression that are asked where it leads."""
_VERB = re.compile(r"%%|%[-+# .0-9]*+[a-zA-Z]")

_LITERALS = frozenset({"interpreted_string_literal", "raw_string_literal"})
_TELLING = frozenset({"call_expression", "identifier"})
_IS_HERE, _IS_OF_ALL = "a place beside the package", "files of the package's folder"
_PROGRAM = "os.Args"
_OF_LISTS = frozenset({_PROGRAM, _IS_OF_ALL})
"""Meanings of names; a list and its elements have the same."""


class Values:
    """The values of one file's names. Made in time linear to the file."""

    def __init__(self, root: Node, imported: Mapping[str, str]) -> None:
        self._imported, self._functions, self._texts = imported, Scopes(), TextsOfNames()
        self._meanings: dict[Key, set[str]] = {}
        self._valued: dict[Key, list[Node]] = {}
        self._handed: dict[str, list[tuple[int, str]]] = {}
        declared: list[tuple[str, Node]] = []
        handing: list[tuple[str, int, Node]] = []
        function, parameters = "", list[str]()
        for node in nodes_of(root):
            if node.type in _FUNCTIONS:
                self._functions.add(node)
                function, parameters = _signature(node)
            elif node.type == "call_expression" and parameters and self._functions.innermost(node.start_byte) != FILE:
                given = given_to(node)
                names = [text_of(item) for item in given if item.type == "identifier" and not writes_only(given)]
                places = [parameters.index(name) for name in names if name in parameters]
                handing += [(function, place, node) for place in places]
            elif node.type in _DECLARES and text_of(node.child_by_field_name("operator")) in ("", "="):
                declared += _pairs(node)
        for name, value in declared:
            self._mean(name, value)
        for function, place, call in handing:
            self._hand(function, place, self.called(call))
        for _ in range(_PASSES):
            declared = [(name, value) for name, value in declared if not self._tell(name, value)]

    def texts(self, node: Node) -> list[str]:
        """Return the texts that an expression may come to, with `UNKNOWN` for what isn't written in the file."""
        return self._texts.all_of(
            self._functions.innermost(node.start_byte), lambda known: self._written(node, known)
        )

    def called(self, call: Node) -> list[str]:
        """Return the dotted names that a call may be of, with the packages' own names."""
        name = callee(call)
        return [self.resolved(name), *sorted(self._meant(name, call))]

    def handed(self, call: Node) -> list[tuple[int, str]]:
        """Return by their places what a function of the file hands as a path or a program, and to which calls."""
        return self._handed.get(callee(call), [])

    def made_by(self, node: Node) -> set[str]:
        """Return the calls of packages that an expression may be the result of."""
        node = bare(node)
        if node.type == "call_expression":
            return {self.resolved(callee(node))}
        name = text_of(node) if node.type == "identifier" else ""
        return {meaning[:-2] for meaning in self._meant(name, node) if meaning.endswith("()")}

    def valued(self, node: Node) -> list[Node]:
        """Return what `reflect.ValueOf` was given where an expression may be its result."""
        node = bare(node)
        if node.type == "call_expression":
            return given_to(node)
        places = (self._functions.innermost(node.start_byte), FILE)
        return [each for place in places for each in self._valued.get((place, text_of(node)), [])]

    def is_here(self, node: Node) -> bool:
        """Return whether some part of an expression tells where the package is."""
        parts = (part for part in islice(nodes_of(node), _MOST_NODES) if part.type in _TELLING)
        return any(self.made_by(part) & HERE or _IS_HERE in self._meant(text_of(part), part) for part in parts)

    def is_program(self, node: Node) -> bool:
        """Return whether an expression is the running program, or a name for the words that it was started with."""
        return _PROGRAM in (self._meant(text_of(node), node) if node.type == "identifier" else self._element(node))

    def is_of_all(self, name: Node) -> bool:
        """Return whether a name stands for each file of the package's folder."""
        return _IS_OF_ALL in self._meant(text_of(name), name)

    def resolved(self, name: str) -> str:
        """Return a dotted name with its package's own name."""
        first, dot, rest = name.partition(".")
        return self._imported.get(first, first) + dot + rest

    def _meant(self, name: str, node: Node) -> set[str]:
        if not name or "." in name:
            return set()
        own = self._meanings.get((self._functions.innermost(node.start_byte), name), set())
        return own | self._meanings.get((FILE, name), set())

    def _mean(self, name: str, value: Node) -> None:
        """Take down which function of a package a name stands for, or the calls that its value comes from."""
        node, found = bare(value), set[str]()
        found |= self._element(node)
        if node.type == "selector_expression":
            found.add(self.resolved(name_of(node)))
        elif node.type == "identifier":
            found |= self._meant(text_of(node), node) & _OF_LISTS
        elif node.type == "call_expression":
            found |= self._called(node)
            if "reflect.ValueOf()" in found:
                self._valued.setdefault((self._functions.innermost(value.start_byte), name), []).extend(
                    given_to(node)
                )
        if node.type in ("call_expression", "binary_expression") and self.is_here(node):
            found.add(_IS_HERE)
        if found:
            meanings = self._meanings.setdefault((self._functions.innermost(value.start_byte), name), set())
            if len(meanings) < MOST_MEANINGS:
                meanings |= found

    def _element(self, node: Node) -> frozenset[str]:
        """Return the meanings of a list's first element."""
        listed = node.child_by_field_name("operand") if node.type == "index_expression" else None
        if listed is None or text_of(node.child_by_field_name("index")) != "0":
            return frozenset()
        listed = bare(listed)
        return _OF_LISTS & {self.resolved(name_of(listed)), *self._meant(text_of(listed), listed)}

    def _called(self, call: Node) -> set[str]:
        """Return the meanings of a call's result."""
        name = self.resolved(callee(call))
        patterns = [text_of(item)[1:-1] for item in given_to(call)[:1] if item.type in _LITERALS]
        is_of_all = name == "filepath.Glob" and not ALL_FILES.isdisjoint(patterns)
        return {f"{name}()", *([_IS_OF_ALL] if is_of_all else [])}

    def _hand(self, function: str, place: int, names: list[str]) -> None:
        known = self._handed.setdefault(function, [])
        for name in names:
            is_listed = name in RUNNERS or READERS.fullmatch(name) or FOLDERS.fullmatch(name)
            if is_listed and len(known) < MOST_MEANINGS and (place, name) not in known:
                known.append((place, name))

    def _tell(self, name: str, value: Node) -> bool:
        """Take down a name's texts; return whether nothing else is to be found out about this value."""
        texts = [text for text in self.texts(value) if text != UNKNOWN and len(text) <= MOST_TEXT]
        self._texts.add((self._functions.innermost(value.start_byte), name), texts)
        return bool(texts) and not any(UNKNOWN in text for text in texts)

    def _written(self, node: Node, known: Mapping[str, str]) -> str:
        """Return one text of an expression: sums of any length, and what `fmt.Sprintf` is given."""
        node, spine = bare(node), list[Node]()
        while (sides := summands(node)) is not None:
            spine.append(sides[1])
            node = sides[0]
        text = self._formatted(node, known)
        while spine and len(text) <= MOST_TEXT:
            text += self._formatted(spine.pop(), known)
        return text[: MOST_TEXT + 1]

    def _formatted(self, node: Node, known: Mapping[str, str]) -> str:
        if node.type == "index_expression":
            node = bare(node.child_by_field_name("operand") or node)
        if node.type != "call_expression" or self.resolved(callee(node)) != "fmt.Sprintf":
            return written(node, known)
        form, *items = given_to(node) or [node]
        waiting = iter(items)

        def piece(found: re.Match[str]) -> str:
            item = None if found[0] == "%%" else next(waiting, None)
            return "%" if found[0] == "%%" else written(item, known) if item is not None else UNKNOWN

        return _VERB.sub(piece, written(form, known)[:MOST_TEXT]) if items else UNKNOWN


def _signature(function: Node) -> tuple[str, list[str]]:
    """Return a function's name and the names of its first parameters; those of methods aren't followed."""
    listed = function.child_by_field_name("parameters")
    if function.type != "function_declaration" or listed is None:
        return "", []
    names = [name for each in listed.named_children for name in each.children_by_field_name("name")]
    return text_of(function.child_by_field_name("name")), [text_of(name) for name in names[:_MOST_NODES]]


def writes_only(given: Sequence[Node]) -> bool:
    """Return whether a call that opens a file can't read it, by what it is given."""
    is_short = len(given) > 1 and given[1].end_byte - given[1].start_byte <= MAX_NAME
    return is_short and "O_WRONLY" in re.split(r"\W+", text_of(given[1]))


def summands(node: Node) -> tuple[Node, Node] | None:
    """Return both sides of a sum, without brackets; None for anything else."""
    if node.type != "binary_expression" or text_of(node.child_by_field_name("operator")) != "+":
        return None
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    return (bare(left), bare(right)) if left is not None and right is not None else None


def _pairs(node: Node) -> list[tuple[str, Node]]:
    """Return the names that a declaration gives, with their values: a call may give several."""
    left, right = (node.child_by_field_name(field) for field in _DECLARES[node.type])
    if left is None or right is None:
        return []
    names = left.named_children if left.type == "expression_list" else node.children_by_field_name("name")
    values = (
        [right] if node.type == "range_clause" else [value for value in right.named_children if not value.is_extra]
    )
    if len(values) == 1:
        values *= len(names)
    pairs = zip(names, values, strict=False)
    known = [(text_of(name), value) for name, value in pairs if name.type == "identifier"]
    return [(name, each) for name, value in known if name != "_" for each in _each(value)]


def _each(value: Node) -> list[Node]:
    """Return a value, or the first ones of a list that is written out: its name may stand for any of them."""
    if value.type != "composite_literal":
        return [value]
    elements = elements_of(value)[:MOST_MEANINGS]
    return [element for element in elements if element.type.endswith("_literal")] or [value]


def elements_of(composite: Node) -> list[Node]:
    """Return the elements of a list that is written out."""
    body = bare(composite).child_by_field_name("body")
    elements = [element for element in body.named_children if element.type == "literal_element"] if body else []
    return [element.named_children[0] for element in elements if element.named_children]
