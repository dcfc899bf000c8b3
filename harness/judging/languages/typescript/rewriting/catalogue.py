"""The catalogue of TypeScript put together: its rules, which functions have a name, and how inert code is placed.

Before its rules apply, a text gets the form that they expect: arrow functions with blocks, braces, no missing `;`, no
`!` behind. Then its touched functions are rewritten, and the rest stays as it is.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby

import tree_sitter_typescript
from tree_sitter import Language, Node

from harness.judging.languages.composing import Hidden, camel_case
from harness.judging.languages.found import parsed, text_of
from harness.judging.languages.functions import Edit, Function, Grammar, apply, below, functions_of, touched_functions
from harness.judging.languages.rewritten import Catalogue, rewritten_text
from harness.judging.languages.typescript.rewriting import branches, expressions, names, statements
from harness.judging.languages.typescript.rewriting.reading import BLOCK, FUNCTIONS, is_body
from harness.judging.languages.variant_source import VariantSource

_NAMED = {
    "variable_declarator": "name",
    "public_field_definition": "name",
    "pair": "key",
    "assignment_expression": "left",
    "class_declaration": "name",
    "class": "name",
    "function_declaration": "name",
    "function_expression": "name",
    "generator_function_declaration": "name",
    "method_definition": "name",
}
_UNSAFE = frozenset({"super", "private_property_identifier", "meta_property", "import"})
"""Nodes that a body may only hold where it was written."""


def qualified(node: Node) -> str:
    """Return the names around a function as `names_around` does; empty for a constructor."""
    return "" if is_constructor(node) else names_around(node)


def names_around(node: Node) -> str:
    """Return the names around a function, outermost first: `Class.method`, `constant`, `constant.key`."""
    found: list[str] = []
    above: Node | None = node
    while above is not None:
        part = above.child_by_field_name(_NAMED.get(above.type, "-"))
        if part is not None:
            found.insert(0, text_of(part))
        above = above.parent
    return ".".join(found)


def is_constructor(node: Node) -> bool:
    """Return whether a node is a constructor, which is left as it is.

    Fields and parameters are set where it begins.
    """
    return node.type == "method_definition" and text_of(node.child_by_field_name("name")) == "constructor"


def hide(function: Function, hidden: Hidden) -> Sequence[Edit]:
    """Return edits that hide a value from engines, at the head of a function."""
    at = function.body.start_byte + 1
    return ((at, at, f" let {hidden.name} = {hidden.value};".encode()),)


def lend(ours: Function, theirs: Function) -> bytes | None:
    """Return the body of another function of the same kind, unless it depends on where it was written."""
    kinds = [
        (each.node.type, any(child.type in ("async", "*") for child in each.node.children)) for each in (ours, theirs)
    ]
    unsafe = any(node.type in _UNSAFE for node in below(theirs.body))
    return theirs.body.text if kinds[0] == kinds[1] and theirs.body.type in BLOCK and not unsafe else None


GRAMMAR = Grammar(Language(tree_sitter_typescript.language_typescript()), FUNCTIONS, qualified)
CATALOGUE = Catalogue(
    grammar=GRAMMAR,
    rules=(*expressions.RULES, *branches.RULES, *statements.RULES, *names.RULES),
    join=camel_case,
    hide=hide,
    lend=lend,
)


_ENDED = frozenset(
    {
        "expression_statement", "lexical_declaration", "variable_declaration", "return_statement", "throw_statement",
        "break_statement", "continue_statement",
    }
)  # fmt: skip
_STARTS = (b"{ return (", b"{ ")


def in_plain_form(grammar: Grammar, text: bytes, names: Collection[str]) -> bytes:
    """Return `text` with the functions of these names in plain form."""
    text = apply(
        text, [_left_out(node) for node in _nodes(grammar, text, names) if node.type == "non_null_expression"]
    )
    edits = [edit for node in _nodes(grammar, text, names) for edit in _edits(node)]
    # At one place the end of what is inside comes before the end of what is around it.
    ends, starts = [edit for edit in edits if edit[2] not in _STARTS], [edit for edit in edits if edit[2] in _STARTS]
    return apply(text, [*reversed(ends), *starts])


def _nodes(grammar: Grammar, text: bytes, names: Collection[str]) -> Iterator[Node]:
    found = functions_of(grammar, text)
    for name in names:
        if name in found:
            yield from _all(found[name].node)


def _left_out(node: Node) -> Edit:
    """Return the `!` of `a!`, which says nothing at run time. The grammar takes `a && b!.c` for `(a && b)!.c`."""
    return node.end_byte - 1, node.end_byte, b" "


def _all(node: Node) -> Iterator[Node]:
    yield node
    yield from below(node)


def _edits(node: Node) -> Iterator[Edit]:
    body = node.child_by_field_name("body") if node.type == "arrow_function" else None
    if body is not None and body.type not in BLOCK:
        yield body.start_byte, body.start_byte, _STARTS[0]
        yield body.end_byte, body.end_byte, b"); }"
    ended = ";" if node.type in _ENDED and not text_of(node).endswith(";") else ""
    opened = is_body(node) and node.type not in BLOCK | {"if_statement"}
    if opened:
        yield node.start_byte, node.start_byte, _STARTS[1]
    if opened or ended:
        yield node.end_byte, node.end_byte, (ended + (" }" if opened else "")).encode()


def running_text(source: VariantSource, path: str) -> bytes:
    """Return the text that what runs of `path` is transpiled from: as it is written where the variant has no seed."""
    text = source.code[path]
    if source.seed is not None:
        for names in _touched(source.family.get(path, ())):
            text = _rewritten(source, path, text, names)
    return text


@lru_cache(maxsize=64)
def _touched(family: tuple[bytes, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the touched functions, those that share a statement together."""
    touched = touched_functions(GRAMMAR, family)
    return tuple(tuple(names) for _, names in groupby(touched, key=lambda name: re.split(r"[.#]", name)[0]))


def _rewritten(source: VariantSource, path: str, text: bytes, names: tuple[str, ...]) -> bytes:
    """Return `text` with some functions rewritten.

    Nothing but the statements around them is looked at: that is quick.
    """

    def alone(text: bytes) -> bytes:
        return _alone(text, names)

    part = replace(
        source,
        code={path: alone(text)},
        family={path: tuple(map(alone, source.family.get(path, ())))},
        inert={path: tuple(map(alone, source.inert.get(path, ())))},
    )
    made = parsed(GRAMMAR.language, rewritten_text(CATALOGUE, part, path)).children
    pairs = zip(_holders(text, names), made, strict=True)
    return apply(text, [(old.start_byte, old.end_byte, new.text or b"") for old, new in pairs])


@lru_cache(maxsize=1024)
def _alone(text: bytes, names: tuple[str, ...]) -> bytes:
    return in_plain_form(GRAMMAR, b"\n".join(node.text or b"" for node in _holders(text, names)), names)


def _holders(text: bytes, names: Collection[str]) -> list[Node]:
    """Return the statements of a file that hold functions of these names, in their order."""
    found = functions_of(GRAMMAR, text)
    holders: dict[int, Node] = {}
    for name in names:
        node = found[name].node if name in found else None
        while node is not None and node.parent is not None and node.parent.parent is not None:
            node = node.parent
        if node is not None:
            holders[node.start_byte] = node
    return [holders[start] for start in sorted(holders)]
