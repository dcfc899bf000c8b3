"""Hooks and fixtures that note a failure against a test, which then runs all the same: `expect.soft`. Pure.

Vitest's report has such a failure as one of the test's own, as it has what is written into `task.result`.
"""

import re
from collections.abc import Callable, Iterator

from tree_sitter import Node

from harness.judging.languages.dotted_names import name_of
from harness.judging.languages.found import text_of
from harness.judging.languages.marked import Found
from harness.judging.languages.typescript.calls import FUNCTIONS, HOOKS

NOTES = "has a hook fail in a test's stead"
_FIXTURES = "extend"
"""The member of `test` that is given fixtures."""
_SOFT = "soft"
_NAMES = frozenset({"identifier", "property_identifier", "shorthand_property_identifier_pattern", "string_fragment"})
_RESULT = re.compile(r"(?:.*\.)?task\.result(?:\..*)?")
_DEEPEST = 20
"""Functions around a name that are taken to mention it."""


def noted_failures(root: Node, whole: Callable[[Node | None], str]) -> Found:
    """Return what notes failures outside of tests, by the numbers of the nodes: calls and assignments.

    `whole` gives the whole name that an expression stands for.
    """
    calls: dict[int, Node] = {}
    mentioned: dict[str, set[str | int]] = {}
    """By a name, what mentions it: functions by their names, hooks by the numbers of their calls."""
    found: Found = {}
    waiting: list[tuple[Node, tuple[str, str], tuple[str | int, ...]]] = [(root, ("", ""), ())]
    while waiting:
        node, around, within = waiting.pop()
        if node.type in _NAMES and _is_use(node, around):
            mentioned.setdefault(text_of(node), set()).update(within)
        elif node.type == "call_expression" and _is_hook(node, whole):
            calls[node.id] = node
            within = (*within[1 - _DEEPEST :], node.id)
        elif name := _name_of_function(node):
            within = (*within[1 - _DEEPEST :], name)
        if _writes_result(node):
            found[node.id] = NOTES, node
        waiting += [(child, (node.type, around[0]), within) for child in reversed(node.children)]
    return found | {number: (NOTES, calls[number]) for number in _mentioning(mentioned)}


def _mentioning(mentioned: dict[str, set[str | int]]) -> Iterator[int]:
    """Yield the hooks that mention soft checks, or a function that does."""
    waiting: list[str | int] = [_SOFT]
    known = set[str | int](waiting)
    while waiting:
        name = waiting.pop()
        if isinstance(name, int):
            yield name
            continue
        new = mentioned.get(name, set()) - known
        known |= new
        waiting += new


def _is_use(name: Node, around: tuple[str, str]) -> bool:
    """Return whether a name isn't a key that an object is given, nor a text that takes no member by its name.

    `around` are the types of the node around it and of the one around that: to ask a node takes a walk from the root.
    """
    if name.type == "string_fragment":
        return around[1] == "subscript_expression"
    return around[0] not in ("pair", "method_definition")


def _is_hook(call: Node, whole: Callable[[Node | None], str]) -> bool:
    called = call.child_by_field_name("function")
    if called is None or called.type not in ("identifier", "member_expression"):
        return False
    last = (whole(called) or name_of(called)).rpartition(".")[2]
    return last in HOOKS or last == _FIXTURES


def _name_of_function(node: Node) -> str:
    """Return the name that a declaration gives a function; empty for anything else."""
    if node.type == "variable_declarator":
        value = node.child_by_field_name("value")
        return text_of(node.child_by_field_name("name")) if value is not None and value.type in FUNCTIONS else ""
    return text_of(node.child_by_field_name("name")) if node.type == "function_declaration" else ""


def _writes_result(node: Node) -> bool:
    if node.type == "assignment_expression":
        return _RESULT.fullmatch(name_of(node.child_by_field_name("left"))) is not None
    called = node.child_by_field_name("function") if node.type == "call_expression" else None
    name = name_of(called)
    return name.endswith(("errors.push", "errors.unshift")) and _RESULT.fullmatch(name) is not None
