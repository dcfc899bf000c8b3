"""Calls of Python by which a whole package is copied, or code is loaded from an archive. Pure."""

from collections.abc import Sequence
from itertools import islice

from tree_sitter import Node

from harness.judging.languages.conduct import words_of
from harness.judging.languages.found import nodes_of
from harness.judging.languages.python.classes import text_of
from harness.judging.languages.python.values import Values

_COPIERS = words_of("shutil.copytree shutil.make_archive shutil.move")
_SEARCHED = words_of("sys.path.insert sys.path.append")
_ARCHIVES = (".zip", ".egg", ".whl", ".pyz")
_MOST_NODES = 200


def copy_words(name: str, last: str, given: Sequence[Node], values: Values) -> str:
    """Return in words what a call does with a package or an archive, by its names and what it is given."""
    if name in _COPIERS and any(_is_of_module(found) for node in given for found in values.meant(node)):
        return "copies a package"
    is_searched = name in _SEARCHED or last == "syspath_prepend"
    if is_searched and any(text.endswith(_ARCHIVES) for node in given for text in values.texts(node)):
        return "loads modules from an archive"
    return ""


def _is_of_module(node: Node) -> bool:
    """Return whether an expression has a module's file in it: that of another one than the test's."""
    attributes = (each for each in islice(nodes_of(node), _MOST_NODES) if each.type == "attribute")
    return any(text_of(each.child_by_field_name("attribute")) == "__file__" for each in attributes)
