"""Meanings of a C file's names: texts of macros and variables, calls by other names. All that a name gets count."""

import re
from collections.abc import Mapping
from itertools import islice

from tree_sitter import Node

from harness.judging.languages.c.means import (
    FOLDERS,
    FORMATS,
    PROGRAMS,
    READERS,
    RUNNERS,
    SHELL,
    SOURCE_FOLDERS,
    WRITING,
)
from harness.judging.languages.conduct import given_to
from harness.judging.languages.dotted_names import name_of
from harness.judging.languages.found import nodes_of, text_of
from harness.judging.languages.known_names import MOST_MEANINGS, MOST_TEXT, Key, TextsOfNames
from harness.judging.languages.pathnames import UNKNOWN, written
from harness.judging.languages.scopes import FILE, Scopes

_PASSES = 4
"""Looks at the declarations: macros may stand before those that they are made of."""
_MOST_STEPS = 10
_TOKEN = re.compile(r'"([^"\\\n]*)"|([A-Za-z_]\w*)|\s+|(.)', re.DOTALL)
_GETTERS = frozenset({"getenv", "secure_getenv"})
_NAME = re.compile(r"\s*([A-Za-z_]\w*)\s*")
_WORD = re.compile(r"\w+")
_VERB = re.compile(r"%%|%[-+# .0-9]*+(?:hh?|ll?|[zjtL])?[a-zA-Z]")
_PASTED = re.compile(r"(?<!\w)\w+(?:\s*##\s*\w+)+")
_PASSED = re.compile(r"(?<!\w)([A-Za-z_]\w*)\s*\(\s*([A-Za-z_]\w*)\s*[,)]")
"""A call that is given a name first."""


class Values:
    """The values of one file's names. Made in time linear to the file."""

    def __init__(self, root: Node) -> None:
        self._functions, self._texts = Scopes(), TextsOfNames()
        self._targets: dict[str, set[str]] = {}
        self._pasted: dict[str, tuple[list[str], list[list[str]]]] = {}
        self._handed: dict[str, list[tuple[int, str]]] = {}
        self._words, self._programs = {"argv"}, set[Key]()
        declared: list[tuple[Key, Node | str]] = []
        name, parameters = "", list[str]()
        for node in nodes_of(root):
            declared += self._written(node) if node.type == "call_expression" else []
            match node.type:
                case "function_definition" if self._functions.innermost(node.start_byte) == FILE:
                    self._functions.add(node)
                    name, parameters = _signature(node)
                    self._words.update(parameters[1:2] if name == "main" else [])
                case "call_expression" if parameters and self._functions.innermost(node.start_byte) != FILE:
                    self._hand(name, parameters, node)
                case "preproc_def":
                    macro, value = (text_of(node.child_by_field_name(field)) for field in ("name", "value"))
                    declared.append(((FILE, macro), value.strip()))
                    if found := _NAME.fullmatch(value):
                        self._target(macro, found[1])
                case "preproc_function_def":
                    self._make(node)
                case "init_declarator" | "assignment_expression":
                    declared += self._pair(node)
                case _:
                    pass
        for _ in range(_PASSES):
            declared = [(key, value) for key, value in declared if not self._tell(key, value)]

    def texts(self, node: Node) -> list[str]:
        """Return the texts that an expression may come to, with `UNKNOWN` for what isn't written in the file."""
        return self._all_of(node, self._functions.innermost(node.start_byte))

    def is_program(self, node: Node) -> bool:
        """Return whether an expression names the running program."""
        if node.type in ("subscript_expression", "pointer_expression"):
            index = node.child_by_field_name("index")
            is_first = node.children[0].type == "*" if index is None else text_of(index) == "0"
            return is_first and text_of(node.child_by_field_name("argument")) in self._words
        key = (self._functions.innermost(node.start_byte), text_of(node)) if node.type == "identifier" else (FILE, "")
        return key[1] in PROGRAMS or key in self._programs or (FILE, key[1]) in self._programs

    def called(self, name: str) -> list[str]:
        """Return the names that a call may be of: its own, those of its macros, and what these hand a path to."""
        found, waiting = [name], [name]
        for _ in range(_MOST_STEPS):
            waiting = [each for one in waiting for each in sorted(self._targets.get(one, ())) if each not in found]
            found += waiting[:MOST_MEANINGS]
            waiting = waiting[:MOST_MEANINGS]
        return found

    def handed(self, name: str) -> list[tuple[int, str]]:
        """Return by their places what a function of the file hands as a path or a command, and to which calls."""
        return self._handed.get(name, [])

    def pasted(self, name: str, given: list[str]) -> set[str]:
        """Return the names that a call's macros paste together of what it is given."""
        found = set[str]()
        for macro in self.called(name):
            parameters, chains = self._pasted.get(macro, ([], []))
            values = dict(zip(parameters, given, strict=False))
            found |= {"".join(values.get(piece, piece) for piece in chain) for chain in chains}
        return found

    def _all_of(self, value: Node | str, function: int) -> list[str]:
        return self._texts.all_of(function, lambda known: _text(value, known))

    def _make(self, macro: Node) -> None:
        """Take down what a macro with parameters pastes together, and the calls that it hands one of them."""
        name, given, value = (text_of(macro.child_by_field_name(field)) for field in ("name", "parameters", "value"))
        parameters = _WORD.findall(given)
        chains = [_WORD.findall(found[0]) for found in islice(_PASTED.finditer(value), MOST_MEANINGS)]
        self._pasted[name] = (parameters[:MOST_MEANINGS], [chain[:MOST_MEANINGS] for chain in chains])
        known = frozenset(parameters)
        for found in _PASSED.finditer(value):
            if found[2] in known and found[1] not in known:
                self._target(name, found[1])

    def _hand(self, name: str, parameters: list[str], call: Node) -> None:
        called, known = name_of(call.child_by_field_name("function")), self._handed.setdefault(name, [])
        given = given_to(call)[:_MOST_STEPS]
        if len(given) > 1 and given[1].type == "string_literal" and text_of(given[1]).strip('"') in WRITING:
            return
        if called in READERS or called in SHELL or called in FOLDERS or RUNNERS.fullmatch(called):
            names = [text_of(item) for item in given if item.type == "identifier"]
            places = [parameters.index(each) for each in names if each in parameters]
            known += [
                (place, called) for place in places if len(known) < MOST_MEANINGS and (place, called) not in known
            ]

    def _written(self, call: Node) -> list[tuple[Key, Node | str]]:
        """Return the name that a call writes a text to, with the call."""
        given = given_to(call) if name_of(call.child_by_field_name("function")) in FORMATS else []
        to = given[0] if given else None
        if to is not None and to.type == "pointer_expression":
            to = to.child_by_field_name("argument")
        is_name = to is not None and to.type == "identifier"
        return [((self._functions.innermost(call.start_byte), text_of(to)), call)] if is_name else []

    def _target(self, name: str, target: str) -> None:
        targets = self._targets.setdefault(name, set())
        if len(targets) < MOST_MEANINGS:
            targets.add(target)

    def _pair(self, node: Node) -> list[tuple[Key, Node | str]]:
        is_declared = node.type == "init_declarator"
        name = node.child_by_field_name("declarator" if is_declared else "left")
        value = node.child_by_field_name("value" if is_declared else "right")
        if not is_declared and text_of(node.child_by_field_name("operator")) != "=":
            return []
        found = _name(name)
        if value is None or not found:
            return []
        key = (self._functions.innermost(node.start_byte), found)
        if self.is_program(value):
            self._programs.add(key)
        values = value.named_children[:MOST_MEANINGS] if value.type == "initializer_list" else [value]
        return [(key, each) for each in values if not each.is_extra]

    def _tell(self, key: Key, value: Node | str) -> bool:
        """Take down a name's texts; return whether nothing else is to be found out about this value."""
        texts = [text for text in self._all_of(value, key[0]) if UNKNOWN not in text and len(text) <= MOST_TEXT]
        self._texts.add(key, texts)
        return bool(texts)


def _signature(function: Node) -> tuple[str, list[str]]:
    """Return a function's name and the names of its first parameters."""
    declarator = function.child_by_field_name("declarator")
    while declarator is not None and declarator.type == "pointer_declarator":
        declarator = declarator.child_by_field_name("declarator")
    if declarator is None or declarator.type != "function_declarator":
        return "", []
    listed = declarator.child_by_field_name("parameters")
    parameters = [each.child_by_field_name("declarator") for each in (listed.named_children if listed else [])]
    return text_of(declarator.child_by_field_name("declarator")), list(map(_name, parameters[:_MOST_STEPS]))


def _name(declarator: Node | None) -> str:
    """Return what a declarator of data declares."""
    while declarator is not None and declarator.type in ("pointer_declarator", "array_declarator"):
        declarator = declarator.child_by_field_name("declarator")
    return text_of(declarator) if declarator is not None and declarator.type == "identifier" else ""


def _text(value: Node | str, known: Mapping[str, str]) -> str:
    """Return one text of an expression, or of what a macro stands for."""
    if not isinstance(value, str):
        if value.type == "subscript_expression":
            value = value.child_by_field_name("argument") or value
        if value.type == "call_expression":
            return _result(value, known)
        return written(value, known).replace("\\\n", "")
    pieces, size = list[str](), 0
    if value.startswith("(") and value.endswith(")"):
        value = value[1:-1]
    for token in _TOKEN.finditer(value):
        if token[3] or size > MOST_TEXT:
            return UNKNOWN
        pieces.append(known[token[2]] if token[2] else token[1] or "")
        size += len(pieces[-1])
    return "".join(pieces) if pieces else UNKNOWN


def _result(call: Node, known: Mapping[str, str]) -> str:
    """Return the text that a call writes, or the folder that it tells."""
    if _tells_folder(call):
        return "."
    given = given_to(call)
    place = FORMATS.get(name_of(call.child_by_field_name("function")), len(given))
    if place >= len(given):
        return UNKNOWN
    items = iter(given[place + 1 :])

    def piece(found: re.Match[str]) -> str:
        item = None if found[0] == "%%" else next(items, None)
        if item is None:
            return "%" if found[0] == "%%" else UNKNOWN
        return "." if _tells_folder(item) else written(item, known)[:MOST_TEXT]

    return _VERB.sub(piece, written(given[place], known)[:MOST_TEXT])[:MOST_TEXT]


def _tells_folder(node: Node) -> bool:
    """Return whether an expression tells where the sources or the library are."""
    is_asked = node.type == "call_expression" and name_of(node.child_by_field_name("function")) in _GETTERS
    given = given_to(node) if is_asked else []
    return len(given) == 1 and SOURCE_FOLDERS.fullmatch(text_of(given[0])) is not None
