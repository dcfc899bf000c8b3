"""Conditions of Go by which tests check only where they are verbose, as they are where testwright runs them.

So are those that ask for other flags of a run of tests, or that look for them among the program's arguments. What
only logs there is none of them, nor is anything else that leads to no check.
"""

import re
from collections.abc import Callable, Mapping

from tree_sitter import Node

from harness.judging.languages.assertions import WORDS, sounding
from harness.judging.languages.conduct import Around, Remark, Rule, Shown, callee, given_to
from harness.judging.languages.dotted_names import bare, name_of
from harness.judging.languages.found import nodes_of, text_of
from harness.judging.languages.judged import ASKS, JudgedChecks

_VERBOSE = "testing.Verbose"
_CHECK = re.compile(sounding(*WORDS, "must", "require"))
_FAILING = frozenset({"Error", "Errorf", "Fatal", "Fatalf", "Fail", "FailNow"})
_SKIPPING = frozenset({"Skip", "Skipf", "SkipNow"})
_ENDS = frozenset({"return_statement", "continue_statement"})
_TEST = re.compile(r"(Test|Fuzz|Example)(?![a-z])\w*")
_DEEPEST = 10
_MOST_CHARS = 1_000
"""Characters of a condition that is looked at."""
_FLAG = re.compile(r"""["`]-{0,2}test\.(?!(?:short|bench|fuzz|cover|cpu\b|parallel)\w*)""")
"""A flag of a run of tests, but for those that have the same value wherever nobody asks for another one."""
_ARGUMENT = re.compile(_FLAG.pattern.replace("{0,2}", "{1,2}") + r"\w")
_ARGUMENTS, _LOOKUP = "os.Args", "flag.Lookup"
_SEARCHING = frozenset({"strings", "slices", "regexp"})
"""Packages whose functions look for something in texts and lists."""
_GIVES = frozenset({"short_var_declaration", "var_spec", "assignment_statement", "range_clause"})
_CHECKS_FOR_NIL = frozenset({"==", "!="})


class Judged(JudgedChecks):
    """The checks of one file, and the conditions that they depend on. Made in time linear to the file."""

    def __init__(self, root: Node, resolved: Callable[[str], str]) -> None:
        """Take also what gives a dotted name with its package's own name."""
        super().__init__()
        self._resolved = resolved
        self._named: dict[str, bool | None] = {}
        """Names of conditions: whether they hold where tests are verbose; None where they have several meanings."""
        self._asking, self._arguments = set[str](), set[str]()
        """Names of what flags of the run decide, and names of the program's arguments."""
        self._bodies = set[int]()
        """Bodies of tests, by their ids."""
        self.rules: Mapping[str, Rule] = {"if_statement": self._branch, "block": self._block}
        for node in nodes_of(root):
            self._look(node)

    def _look(self, node: Node) -> None:
        if node.type == "call_expression":
            first, _, last = callee(node).rpartition(".")
            if last in _FAILING or _CHECK.search(last) or _CHECK.search(first) or last == "Run":
                self._checks.append(node.start_byte)
            bodies = (item.child_by_field_name("body") for item in given_to(node) if item.type == "func_literal")
            if last in ("Run", "Fuzz"):
                self._bodies.update(body.id for body in bodies if body is not None)
        elif node.type == "function_declaration":
            body = node.child_by_field_name("body")
            name = text_of(node.child_by_field_name("name"))
            if body is not None and _TEST.fullmatch(name):
                self._bodies.add(body.id)
            elif body is not None and (given := _returned(body)) is not None:
                self._named[name] = self._holds(given)
                self._asking |= {name} if self._asks(given) else set()
        elif node.type in _GIVES:
            self._name(node)
        elif node.type == "if_statement" and self._asks(node.child_by_field_name("condition")):
            self._asking.update(_set_in(node.child_by_field_name("consequence")))

    def _name(self, node: Node) -> None:
        names = node.child_by_field_name("left") or node.child_by_field_name("name")
        values = node.child_by_field_name("right") or node.child_by_field_name("value")
        if names is None or values is None or names.end_byte - names.start_byte > _MOST_CHARS:
            return
        known = re.findall(r"\w+", text_of(names))
        if self._asks(values):
            self._asking.update(known)
        if self._is_of_arguments(values):
            self._arguments.update(known)
        if node.type == "range_clause":
            return
        inner = values.named_children
        holds = self._holds(inner[0]) if len(inner) == 1 else None
        for name in known:
            self._named[name] = holds if self._named.get(name, holds) == holds else None

    def _block(self, node: Node, around: Around) -> Shown:
        """Mark what leaves a block before its checks where tests aren't verbose."""
        for statement in _statements(node)[:-1]:
            if statement.type != "if_statement" or not self._leaves(statement.child_by_field_name("consequence")):
                continue
            condition = statement.child_by_field_name("condition")
            if condition is None or not (self._holds(condition) is False or self._asks(condition)):
                continue
            is_first = node.id in self._bodies and not self._checks_between(node.start_byte, statement.start_byte)
            if is_first or self._checks_between(statement.end_byte, node.end_byte):
                return Remark(ASKS, around, [condition])
        return "", around

    def _branch(self, node: Node, around: Around) -> Shown:
        """Mark also a choice by the run's flags of which one side has all checks: which side is nobody's business."""
        condition, given, other = (
            node.child_by_field_name(field) for field in ("condition", "consequence", "alternative")
        )
        if condition is not None and given is not None and self._asks(condition):
            is_only = self._tests(given) != (other is not None and self._tests(other))
            return Remark(ASKS if is_only else "", around, [condition])
        return super()._branch(node, around)

    def _asks(self, node: Node | None) -> bool:
        """Return whether an expression depends on a flag of the run; that there is one says nothing."""
        if node is None or node.end_byte - node.start_byte > _MOST_CHARS:
            return False
        waiting = [node]
        while waiting:
            part = waiting.pop()
            if part.type == "func_literal" or _is_compared_with_nil(part):
                continue
            if (part.type == "identifier" and text_of(part) in self._asking) or self._asks_by_call(part):
                return True
            waiting += part.named_children
        return False

    def _asks_by_call(self, node: Node) -> bool:
        """Return whether a node is a call that asks for a flag, or a comparison of arguments with one."""
        is_compared = node.type == "binary_expression"
        sides = given_to(node) if node.type == "call_expression" else node.named_children if is_compared else []
        if not is_compared and sides and self._resolved(callee(node)) == _LOOKUP:
            return _FLAG.match(text_of(sides[0])) is not None
        is_known = is_compared or self._resolved(callee(node)).partition(".")[0] in _SEARCHING
        if not is_known or not any(_ARGUMENT.match(text_of(side)) for side in sides):
            return False
        return any(map(self._is_of_arguments, sides))

    def _is_of_arguments(self, node: Node) -> bool:
        """Return whether an expression is made of the program's arguments alone; the program itself is none."""
        for _ in range(_DEEPEST):
            node = bare(node)
            if node.type == "expression_list" and node.named_child_count == 1:
                node = node.named_children[0]
            elif node.type in ("index_expression", "slice_expression"):
                if text_of(node.child_by_field_name("index") or node.child_by_field_name("end")) in ("0", "1"):
                    return False
                node = node.child_by_field_name("operand") or node
            elif node.type == "call_expression" and self._resolved(callee(node)) == "strings.Join":
                node = next(iter(given_to(node)), node)
            else:
                break
        if node.type == "selector_expression":
            return self._resolved(name_of(node)) == _ARGUMENTS
        return node.type == "identifier" and text_of(node) in self._arguments

    def _leaves(self, block: Node | None) -> bool:
        """Return whether a block leaves what is around it, or skips the test."""
        for each in _statements(block)[:_DEEPEST] if block is not None else ():
            call = each.named_children[0] if each.type == "expression_statement" and each.named_children else each
            if each.type in _ENDS or (
                call.type == "call_expression" and callee(call).rpartition(".")[2] in _SKIPPING
            ):
                return True
        return False

    def _holds(self, node: Node, deepest: int = _DEEPEST) -> bool | None:
        """Return whether a condition holds where tests are verbose or where not; None where that doesn't decide."""
        node = bare(node)
        if deepest == 0 or node.end_byte - node.start_byte > _MOST_CHARS:
            return None
        operator = text_of(node.child_by_field_name("operator"))
        if node.type == "unary_expression":
            inner = node.child_by_field_name("operand")
            found = self._holds(inner, deepest - 1) if inner is not None else None
            return found if found is None or operator != "!" else not found
        if node.type == "binary_expression":
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            if left is None or right is None:
                return None
            found = self._holds(left, deepest - 1)
            if operator in ("==", "!="):
                is_same = (operator == "==") == (text_of(right) == "true")
                return None if found is None else found == is_same
            return found if found is not None or operator not in ("&&", "||") else self._holds(right, deepest - 1)
        if node.type == "identifier":
            return self._named.get(text_of(node))
        name = callee(node) if node.type == "call_expression" else ""
        return True if self._resolved(name) == _VERBOSE else self._named.get(name)


def _set_in(block: Node | None) -> list[str]:
    """Return the names that a block sets by statements of its own."""
    found = [each for each in _statements(block)[:_DEEPEST] if each.type == "assignment_statement"] if block else []
    lefts = [left for each in found if (left := each.child_by_field_name("left")) is not None]
    return [text_of(name) for left in lefts for name in left.named_children if name.type == "identifier"]


def _is_compared_with_nil(node: Node) -> bool:
    right = node.child_by_field_name("right") if node.type == "binary_expression" else None
    is_nil = right is not None and right.type == "nil"
    return is_nil and text_of(node.child_by_field_name("operator")) in _CHECKS_FOR_NIL


def _statements(block: Node) -> list[Node]:
    found = [child for child in block.named_children if not child.is_extra]
    is_listed = len(found) == 1 and found[0].type == "statement_list"
    return [child for child in found[0].named_children if not child.is_extra] if is_listed else found


def _returned(body: Node) -> Node | None:
    """Return the one value that a function does nothing but return."""
    found = _statements(body)
    given = found[0].named_children if len(found) == 1 and found[0].type == "return_statement" else []
    values = given[0].named_children if len(given) == 1 and given[0].type == "expression_list" else []
    return values[0] if len(values) == 1 else None
