"""Uses of listed names of TypeScript that show nothing, as the calls around them tell for certain. Pure."""

from collections.abc import Sequence

from tree_sitter import Node

from harness.judging.languages.conduct import MOST_GIVEN, given_to
from harness.judging.languages.dotted_names import bare, name_of
from harness.judging.languages.found import text_of
from harness.judging.languages.typescript.means import TEXTS, is_data
from harness.judging.languages.typescript.modules import string_of

_TYPES = frozenset({"toBeTypeOf", "toBeDefined", "toBeInstanceOf", "toBeTruthy"})
"""Matchers that say that there is something, and of which type."""


def harmless(function: Node | None, name: str, given: Sequence[Node]) -> set[int]:
    """Return the numbers of nodes within a call that need no mark, by what it calls and what it is given.

    They are `import.meta.glob` for files of data alone, and a method `toString` that isn't called.
    """
    if function is None or function.type != "member_expression":
        return set()
    if name == "import.meta.glob" and given:
        listed = given[0].named_children[:MOST_GIVEN] if given[0].type == "array" else given[:1]
        is_short = given[0].type != "array" or len(listed) < MOST_GIVEN
        return (
            {function.id} if listed and is_short and all(is_data(string_of(each) or "") for each in listed) else set()
        )
    if text_of(function.child_by_field_name("property")) not in _TYPES:
        return set()
    of = function.child_by_field_name("object")
    call = bare(of) if of is not None else None
    if call is None or call.type != "call_expression" or name_of(call.child_by_field_name("function")) != "expect":
        return set()
    return {each.id for each in given_to(call) if text_of(each.child_by_field_name("property")) in TEXTS}


def is_set(options: Node, name: str) -> bool:
    """Return whether an object has `true` under a name."""
    pairs = [item for item in options.named_children[:MOST_GIVEN] if item.type == "pair"]
    return any(
        text_of(item.child_by_field_name("key")).strip("\"'") == name and text_of(item.named_children[-1]) == "true"
        for item in pairs
    )
