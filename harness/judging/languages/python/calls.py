"""Parts of Python's calls, subscripts and strings. Pure."""

from tree_sitter import Node

from harness.judging.languages.conduct import MOST_GIVEN, last_part
from harness.judging.languages.dotted_names import bare
from harness.judging.languages.escapes import unescaped
from harness.judging.languages.found import text_of as text_as_written
from harness.judging.languages.python.classes import name_of, text_of
from harness.judging.languages.python.means import OPENERS, STATUS, WRITING
from harness.judging.languages.python.values import Values

_MOST_PARTS = 200


def writes(call: Node, name: str) -> bool:
    """Return whether a call that opens a file makes a new one, by a literal mode."""
    arguments = call.child_by_field_name("arguments")
    nodes = arguments.named_children[:MOST_GIVEN] if arguments else []
    if last_part(name) != "open" or any(node.type in ("list_splat", "dictionary_splat") for node in nodes):
        return False
    plain = [node for node in nodes if node.type not in ("keyword_argument", "comment")]
    named = {text_of(node.child_by_field_name("name")): node.child_by_field_name("value") for node in nodes}
    place = 1 if name in OPENERS else 0
    mode = plain[place] if len(plain) > place else named.get("mode")
    return mode is not None and WRITING.fullmatch(literal(mode)) is not None


def module_asked(node: Node) -> Node | None:
    """Return the name of the module in `sys.modules["name"].member`."""
    of = bare(node).child_by_field_name("object")
    found = bare(of) if of is not None else None
    if found is None or found.type != "subscript" or name_of(found.child_by_field_name("value")) != "sys.modules":
        return None
    return found.child_by_field_name("subscript")


def is_called(node: Node) -> bool:
    """Return whether an expression is what a call calls."""
    return node.parent is not None and node.parent.type == "call"


def is_of_repr(call: Node) -> bool:
    """Return whether a call is given what `repr` gives."""
    given = given_to(call)
    return bool(given) and given[0].type == "call" and name_of(given[0].child_by_field_name("function")) == "repr"


def is_read(node: Node) -> bool:
    """Return whether an expression is neither set nor deleted."""
    around = node.parent
    if around is None or around.type == "delete_statement":
        return False
    return around.type != "assignment" or around.child_by_field_name("left") != node


def number(text: str) -> int | None:
    """Return the number that is written, in whatever base."""
    try:
        return int(text, 0)
    except ValueError:
        return None


def listed(node: Node, values: Values) -> Node:
    """Return what a call of `list` or `tuple` is given, else the node itself."""
    is_list = name_of(node.child_by_field_name("function")) in ("tuple", "list")
    given = given_to(node) if is_list else []
    return values.meant(given[0])[0] if given else node


def asks_status(node: Node) -> bool:
    """Return whether an expression asks for a file's status."""
    called = node.child_by_field_name("function") if node.type == "call" else None
    return called is not None and STATUS.fullmatch(last_part(name_of(called)) or text_of(member_of(node))) is not None


def first_named(node: Node | None) -> list[Node]:
    """Return the parts of a list or of arguments without comments, of a long one the first ones."""
    found: list[Node] = []
    cursor = node.walk() if node is not None else None
    is_there = cursor is not None and cursor.goto_first_child()
    while cursor is not None and is_there and len(found) < _MOST_PARTS:
        if (child := cursor.node) is not None and child.is_named and not child.is_extra:
            found.append(child)
        is_there = cursor.goto_next_sibling()
    return found


def given_to(call: Node) -> list[Node]:
    """Return what a call is given, but for keywords other than `args`."""
    arguments = call.child_by_field_name("arguments")
    nodes = first_named(arguments)
    plain = [bare(node) for node in nodes if node.type != "keyword_argument"]
    named = [node for node in nodes if text_of(node.child_by_field_name("name")) == "args"]
    return [*plain, *(bare(value) for node in named if (value := node.child_by_field_name("value")))]


def member_of(call: Node) -> Node | None:
    """Return the name of the method that is called."""
    function = call.child_by_field_name("function")
    return bare(function).child_by_field_name("attribute") if function else None


def literal(node: Node) -> str:
    """Return the text of a string without what is computed in it; empty for what is none."""
    if node.type != "string":
        return ""
    text = "".join(text_as_written(child) for child in node.children if child.type == "string_content")
    return text if "r" in text_of(node.children[0]).lower() else unescaped(text)
