"""Rules of Python that a node decides alone, without the file's names. Pure."""

from tree_sitter import Node

from harness.judging.languages.conduct import Around, Remark, Shown
from harness.judging.languages.python.classes import text_of
from harness.judging.languages.python.means import ATTRIBUTES, ENCODING, PLAIN_ENCODING


def alone(node: Node, around: Around) -> Shown:
    """Look at a statement: one that is only a string is a description."""
    child = node.named_children[0] if node.named_child_count == 1 else None
    return "", around | Around.ALONE if child is not None and child.type == "string" else around


def matched(node: Node, around: Around) -> Shown:
    """Mark what a pattern takes of an object."""
    name = next(iter(node.named_children), None)
    return Remark(f"looks at {text_of(name)}" if text_of(name) in ATTRIBUTES else "", around, [name or node])


def comment(node: Node, around: Around) -> Shown:
    """Mark an unusual encoding: in it a comment may hold lines that run."""
    found = ENCODING.match(text_of(node)) if node.start_point[0] < 2 else None
    hides = found is not None and not PLAIN_ENCODING.fullmatch(found[1])
    return (f"is written in {found[1]}" if found and hides else ""), around
