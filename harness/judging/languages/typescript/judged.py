"""Conditions of TypeScript by which tests check only where CI is set, as it is where testwright asks for a report.

A test that is skipped there is none of them: it is skipped in the arms as well. Neither is what leads to no check.
"""

import re
from collections.abc import Mapping, Sequence

from tree_sitter import Node

from harness.judging.languages.assertions import WORDS, sounding
from harness.judging.languages.conduct import Around, Remark, Rule, Shown, given_to
from harness.judging.languages.dotted_names import bare
from harness.judging.languages.found import text_of
from harness.judging.languages.judged import ASKS, JudgedChecks
from harness.judging.languages.typescript.calls import FUNCTIONS
from harness.judging.languages.typescript.meanings import Meanings
from harness.judging.languages.typescript.modules import string_of

_SET = frozenset(
    {
        "process.env.CI", "import.meta.env.CI", "std-env.isCI", "ci-info.isCI", "is-ci",
        "process.env.VITEST_WORKER_ID", "process.env.VITEST_POOL_ID",
    }
)  # fmt: skip
"""Names of what is set, or has another value, where files run by themselves."""
_ENVIRONMENTS = frozenset({"process.env", "import.meta.env"})
_REGISTERING = frozenset({"it", "test", "describe", "suite", "fit", "specify"})
_RUNNING = frozenset({"", "only", "each", "for", "concurrent", "sequential", "fails", "failing"})
"""Their members that register what runs."""
_CHECK = re.compile(sounding(*WORDS))
_FALSE = frozenset({"undefined", "null", "false", "''", '""', '"false"', "'false'", '"0"', "'0'", "0"})
_EQUAL = {"===": True, "==": True, "!==": False, "!=": False}
_ENDS = frozenset({"return_statement", "continue_statement"})
_DEEPEST = 10
_MOST_CHARS = 1_000
"""Characters of a condition that is looked at."""


class Judged(JudgedChecks):
    """The checks of one file, and the conditions that they depend on. Made while its nodes are looked at in order."""

    def __init__(self, meanings: Meanings) -> None:
        super().__init__()
        self._meanings = meanings
        self._named: dict[str, bool | None] = {}
        """Names of conditions: whether they hold where CI is set; None where they have several meanings."""
        self._bodies = set[int]()
        """Bodies of tests, by their ids."""
        self.rules: Mapping[str, Rule] = {
            "if_statement": self._branch,
            "ternary_expression": self._branch,
            "statement_block": self._block,
            "pair": self._option,
        }

    def look(self, node: Node) -> None:
        """Take down a node, before any rule is asked."""
        if node.type == "call_expression":
            name, last = _first(node), _last(node)
            registers = name in _REGISTERING and last in _RUNNING
            if registers or _CHECK.search(name) or _CHECK.search(last):
                self._checks.append(node.start_byte)
            if registers:
                functions = (item for item in given_to(node) if item.type in FUNCTIONS)
                bodies = (item.child_by_field_name("body") for item in functions)
                self._bodies.update(body.id for body in bodies if body is not None)
        elif node.type == "function_declaration":
            if (given := _returned(node)) is not None:
                self._named[text_of(node.child_by_field_name("name"))] = self._holds(given)
        elif node.type == "throw_statement":
            self._checks.append(node.start_byte)
        elif node.type == "variable_declarator":
            new, value = node.child_by_field_name("name"), node.child_by_field_name("value")
            if new is not None and new.type == "identifier":
                given = _returned(value) if value is not None and value.type in FUNCTIONS else value
                holds = self._holds(given) if given is not None else None
                known = self._named.get(text_of(new), holds)
                self._named[text_of(new)] = holds if known == holds else None

    def call_words(self, call: Node, given: Sequence[Node]) -> str:
        """Return what a call shows that takes a condition: `test.runIf(process.env.CI)`."""
        needed = {"runIf": True, "skipIf": False, "skip": False}.get(_last(call))
        return ASKS if needed is not None and given and self._holds(given[0]) is needed else ""

    def operation_words(self, node: Node) -> str:
        """Return what `process.env.CI && expect(...)` shows."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        needed = {"&&": True, "||": False}.get(text_of(node.child_by_field_name("operator")))
        if needed is None or left is None or right is None or not self._has_check(right):
            return ""
        return ASKS if self._holds(left) is needed else ""

    def _block(self, node: Node, around: Around) -> Shown:
        """Mark what leaves a block before its checks where CI isn't set."""
        statements = node.named_children
        for statement in statements:
            if statement.type != "if_statement" or not _leaves(statement.child_by_field_name("consequence")):
                continue
            condition = statement.child_by_field_name("condition")
            if condition is None or self._holds(condition) is not False:
                continue
            is_first = node.id in self._bodies and not self._checks_between(node.start_byte, statement.start_byte)
            is_before = self._checks_between(statement.end_byte, node.end_byte)
            if is_before or (is_first and statement != statements[-1]):
                return Remark(ASKS, around, [condition])
        return "", around

    def _option(self, node: Node, around: Around) -> Shown:
        """Mark `{ skip: !process.env.CI }`."""
        key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
        is_skipped = key is not None and value is not None and text_of(key) == "skip" and self._holds(value) is False
        return Remark(ASKS if is_skipped else "", around, [node])

    def _tests(self, node: Node) -> bool:
        """Return whether an expression or a statement has checks, or is a function that registers tests."""
        return self._has_check(node) or (node.type == "identifier" and text_of(node) in _REGISTERING)

    def _holds(self, node: Node, deepest: int = _DEEPEST) -> bool | None:
        """Return whether a condition holds where CI is set or where it isn't; None where that isn't what decides."""
        node = bare(node)
        if deepest == 0 or node.end_byte - node.start_byte > _MOST_CHARS:
            return None
        operator = text_of(node.child_by_field_name("operator"))
        if node.type == "unary_expression":
            inner = node.child_by_field_name("argument")
            found = self._holds(inner, deepest - 1) if inner is not None else None
            return found if found is None or operator != "!" else not found
        if node.type == "binary_expression":
            return self._compared(node, operator, deepest - 1)
        if node.type == "call_expression":
            given = given_to(node)
            is_plain = text_of(node.child_by_field_name("function")) in ("Boolean", "String", "Number")
            named = self._named.get(_first(node)) if not given else None
            return self._holds(given[0], deepest - 1) if is_plain and given else named
        if node.type == "identifier" and (known := self._named.get(text_of(node))) is not None:
            return known
        return True if self._meanings.whole(node) in _SET else None

    def _compared(self, node: Node, operator: str, deepest: int) -> bool | None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return None
        if operator == "in":
            return True if string_of(left) == "CI" and self._meanings.whole(right) in _ENVIRONMENTS else None
        found = self._holds(left, deepest)
        if operator in _EQUAL:
            other = text_of(bare(right))
            is_same = _EQUAL[operator] != (other in _FALSE)
            return None if found is None else found == is_same
        if operator in ("&&", "||", "??"):
            return found if found is not None else self._holds(right, deepest)
        return None


def _returned(function: Node) -> Node | None:
    """Return the one value that a function does nothing but return."""
    body = function.child_by_field_name("body")
    if body is None or body.type != "statement_block":
        return body
    found = body.named_children
    given = found[0].named_children if len(found) == 1 and found[0].type == "return_statement" else []
    return given[0] if given else None


def _first(call: Node) -> str:
    """Return the name that a chain of calls and members begins with."""
    inner: Node | None = call
    for _ in range(_DEEPEST):
        if inner is None or inner.type not in ("call_expression", "member_expression", "await_expression"):
            break
        inner = inner.child_by_field_name("function") or inner.child_by_field_name("object")
    return text_of(inner) if inner is not None and inner.type == "identifier" else ""


def _last(call: Node) -> str:
    function = call.child_by_field_name("function")
    return text_of(function.child_by_field_name("property")) if function is not None else ""


def _leaves(node: Node | None) -> bool:
    """Return whether a statement leaves what is around it, or skips the test."""
    if node is None:
        return False
    inner = node.named_children[:_DEEPEST] if node.type == "statement_block" else [node]
    for each in inner:
        call = bare(each.named_children[0]) if each.type == "expression_statement" and each.named_children else each
        if each.type in _ENDS or (call.type == "call_expression" and _last(call) == "skip"):
            return True
    return False
