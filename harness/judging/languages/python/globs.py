"""Searches of Python below a folder, by a pattern. Pure."""

from tree_sitter import Node

from harness.judging.languages.conduct import Around, Remark, Shown, is_source
from harness.judging.languages.dotted_names import bare
from harness.judging.languages.python.calls import given_to
from harness.judging.languages.python.means import SOURCE
from harness.judging.languages.python.values import Values


def globbed(call: Node, values: Values) -> Shown | None:
    """Look at a search below a folder: what isn't known to be one of code makes its pattern nothing."""
    member, given = bare(call.child_by_field_name("function") or call), given_to(call)
    of = member.child_by_field_name("object")
    if of is None or not given:
        return None
    found = any(
        is_source(f"{folder}/{text}", SOURCE) for folder in values.texts(of) for text in values.texts(given[0])
    )
    return Remark("reads a file of code", Around.LISTING, given) if found else ("", Around.LISTING)
