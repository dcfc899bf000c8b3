"""What asserts in Python: pytest, unittest, mocks, and functions with similar names."""

import re
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import NamedTuple

import tree_sitter_python
from tree_sitter import Language, Node, Query

from harness.languages.assertions import WORDS, Part, Tally, look, sounding
from harness.languages.found import text_of

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


class Function(NamedTuple):
    """`start` is where its file stands among others that are read with it, in bytes."""

    node: Node
    start: int = 0

    @property
    def decorators(self) -> str:
        return " ".join(text_of(child) for child in self.node.children if child.type == "decorator")


class PythonChecks:
    """Counts in files read together: `functions` are the modules', `classes` the methods of each class, by name."""

    def __init__(self, functions: Mapping[str, Function], classes: Iterable[Mapping[str, Function]]) -> None:
        self._tally = Tally()
        self._parts: dict[int, Part] = {}
        self._known: dict[str, list[Part]] = {name: [self._part(item)] for name, item in functions.items()}
        self._hooks = self._without_being_named(functions)
        for methods in classes:
            for name, method in methods.items():
                self._known.setdefault(f".{name}", []).append(self._part(method))

    def within(self, methods: Mapping[str, Function]) -> Callable[[Function], int]:
        """Counts for functions of a class that has these methods, inherited ones included; or of the module."""
        own = {f".{name}": [self._part(method)] for name, method in methods.items()}
        fixtures = {name: own[f".{name}"] for name, method in methods.items() if "fixture" in method.decorators}
        hooks = self._without_being_named(methods)
        known = ChainMap(own, fixtures, self._known)
        return lambda function: self._tally.of(self._part(function), known, chain(hooks, self._hooks))

    def _part(self, function: Function) -> Part:
        place = function.start + function.node.start_byte
        if place not in self._parts:
            self._parts[place] = look(_QUERY, function.node).moved(function.start)
        return self._parts[place]

    def _without_being_named(self, functions: Mapping[str, Function]) -> list[Part]:
        """Hooks of unittest and pytest, and fixtures that are used automatically."""
        return [
            self._part(function)
            for name, function in functions.items()
            if _HOOK.fullmatch(name) or "autouse" in function.decorators
        ]
