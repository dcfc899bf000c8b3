"""Uses of listed names of Python that show nothing, as their surroundings tell for certain. Pure."""

from collections.abc import Iterator

from tree_sitter import Node

from harness.judging.languages.conduct import last_part, words_of
from harness.judging.languages.python.calls import asks_status, first_named
from harness.judging.languages.python.classes import name_of, text_of

_TRACERS = words_of("settrace setprofile settrace_all_threads setprofile_all_threads")
_SAYING = words_of("name parent")
"""Attributes of a module's specification that its importer has written down."""
_CODES = words_of("__code__ func_code gi_code cr_code ag_code f_code")
_OF_PATHS = words_of("stat lstat")
_COMPARES = words_of("assertEqual assertNotEqual")


def harmless(node: Node) -> Iterator[int]:
    """Yield the numbers of nodes within this one that need no mark.

    They are files' numbers that are compared with one another, as those of hard links; tracing that is ended; the
    name that a module was imported by; and a function's name, asked of its code: what `__name__` says as well.
    """
    if node.type == "comparison_operator":
        yield from _numbers(node.named_children)
    elif node.type == "call":
        function, given = node.child_by_field_name("function"), first_named(node.child_by_field_name("arguments"))
        called = last_part(name_of(function))
        if called in _TRACERS and function is not None and [item.type for item in given] == ["none"]:
            yield function.id
        elif called in _COMPARES:
            yield from _numbers(given[:2])
    elif node.type == "attribute":
        name, of = text_of(node.child_by_field_name("attribute")), node.child_by_field_name("object")
        within = text_of(of.child_by_field_name("attribute")) if of is not None else ""
        is_name = (name in _SAYING and within == "__spec__") or (name == "co_name" and within in _CODES)
        if of is not None and is_name:
            yield of.id


def _numbers(sides: list[Node]) -> Iterator[int]:
    """Yield both sides of a comparison if each asks a path for its number."""
    if len(sides) == 2 and all(map(_is_number, sides)):
        yield from (side.id for side in sides)


def _is_number(node: Node) -> bool:
    if node.type != "attribute" or text_of(node.child_by_field_name("attribute")) != "st_ino":
        return False
    of = node.child_by_field_name("object")
    return of is not None and asks_status(of) and last_part(name_of(of.child_by_field_name("function"))) in _OF_PATHS
