"""What asserts in Python: pytest, unittest, mocks, and functions with similar names."""

import re
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping
from itertools import chain

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


class PythonChecks:
    """Counts in one file: `functions` are the module's, `classes` the methods of each class, by name."""

    def __init__(self, functions: Mapping[str, Node], classes: Iterable[Mapping[str, Node]]) -> None:
        self._tally = Tally()
        self._parts: dict[int, Part] = {}
        self._known: dict[str, list[Part]] = {name: [self._part(node)] for name, node in functions.items()}
        self._hooks = self._without_being_named(functions)
        for methods in classes:
            for name, node in methods.items():
                self._known.setdefault(f".{name}", []).append(self._part(node))

    def within(self, methods: Mapping[str, Node]) -> Callable[[Node], int]:
        """Counts for functions of a class that has these methods, inherited ones included; or of the module."""
        own = {f".{name}": [self._part(method)] for name, method in methods.items()}
        fixtures = {name: own[f".{name}"] for name, method in methods.items() if "fixture" in _decorators(method)}
        hooks = self._without_being_named(methods)
        known = ChainMap(own, fixtures, self._known)
        return lambda node: self._tally.of(self._part(node), known, chain(hooks, self._hooks))

    def _part(self, node: Node) -> Part:
        if node.start_byte not in self._parts:
            self._parts[node.start_byte] = look(_QUERY, node)
        return self._parts[node.start_byte]

    def _without_being_named(self, functions: Mapping[str, Node]) -> list[Part]:
        """Hooks of unittest and pytest, and fixtures that are used automatically."""
        return [
            self._part(node)
            for name, node in functions.items()
            if _HOOK.fullmatch(name) or "autouse" in _decorators(node)
        ]


def _decorators(node: Node) -> str:
    return " ".join(text_of(child) for child in node.children if child.type == "decorator")
