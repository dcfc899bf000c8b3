"""Added code that evaluates texts as code: whatever such a text names is hidden. Pure.

Methods of these names (`client.eval(script)` of a database), parameters and own functions are something else.
"""

from collections.abc import Set as AbstractSet

from tree_sitter import Node

from harness.judging.languages.conduct import words_of
from harness.judging.languages.found import nodes_of

_NAMES = {"identifier": (b"eval", b"exec"), "shorthand_property_identifier": (b"eval",)}
"""By the type of the node of a name that stands alone."""
_RUNNING = frozenset(b"runInThisContext runInNewContext runInContext compileFunction".split())
"""Functions of Node's module vm."""
_MEMBERS = {"attribute": ("object", "attribute"), "member_expression": ("object", "property")}
_GLOBAL = frozenset(b"builtins __builtins__ globalThis global window self".split())
_OTHER = words_of(
    """
    function_definition function_declaration parameters lambda_parameters default_parameter typed_parameter
    typed_default_parameter required_parameter optional_parameter
    """
)
"""Nodes around a name that is nobody's function of evaluating."""


def evaluation(root: Node, added: AbstractSet[int]) -> str:
    """Return in words what of some lines of Python or TypeScript evaluates a text; empty for nothing."""
    for node in nodes_of(root):
        if "identifier" in node.type and node.start_point[0] + 1 in added and _evaluates(node):
            return f"evaluates texts by {(node.text or b'').decode()}"
    return ""


def _evaluates(node: Node) -> bool:
    name, around = node.text or b"", node.parent
    if around is None:
        return False
    if name == b"Function":
        return node.type == "identifier" and around.type in ("new_expression", "call_expression")
    if name not in (b"eval", b"exec"):
        return name in _RUNNING
    if around.type in _MEMBERS and around.child_by_field_name(_MEMBERS[around.type][1]) == node:
        of = around.child_by_field_name(_MEMBERS[around.type][0])
        return of is not None and of.text in _GLOBAL and not (of.text == b"self" and around.type == "attribute")
    if around.type == "keyword_argument" and around.child_by_field_name("name") == node:
        return False
    if around.type == "dotted_name":
        return _is_of_builtins(around)
    return name in _NAMES.get(node.type, ()) and around.type not in _OTHER


def _is_of_builtins(name: Node) -> bool:
    """Return whether a name is imported from Python's module of them."""
    statement = name.parent
    if statement is not None and statement.type == "aliased_import":
        statement = statement.parent
    module = statement.child_by_field_name("module_name") if statement is not None else None
    return module is not None and module.text == b"builtins"
