"""The catalogue put together: the rules, which functions have a name, and how inert code stands in TypeScript."""

from collections.abc import Sequence

import tree_sitter_typescript
from tree_sitter import Language, Node

from harness.languages.found import text_of
from harness.languages.functions import Edit, Function, Grammar, below
from harness.languages.predicates import Hidden
from harness.languages.rewritten import Catalogue
from harness.languages.typescript.rewriting import branches, expressions, names, statements
from harness.languages.typescript.rewriting.reading import BLOCK, FUNCTIONS
from harness.languages.vocabulary import camel_case

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
"""What a body may only hold where it was written."""


def qualified(node: Node) -> str:
    """See `names_around`; empty for a constructor."""
    return "" if is_constructor(node) else names_around(node)


def names_around(node: Node) -> str:
    """The names around a function, outermost first: `Class.method`, `constant`, `constant.key`."""
    found: list[str] = []
    above: Node | None = node
    while above is not None:
        part = above.child_by_field_name(_NAMED.get(above.type, "-"))
        if part is not None:
            found.insert(0, text_of(part))
        above = above.parent
    return ".".join(found)


def is_constructor(node: Node) -> bool:
    """Fields and parameters of a class are set where its constructor begins: it is left as it is."""
    return node.type == "method_definition" and text_of(node.child_by_field_name("name")) == "constructor"


def hide(function: Function, hidden: Hidden) -> Sequence[Edit]:
    at = function.body.start_byte + 1
    return ((at, at, f" let {hidden.name} = {hidden.value};".encode()),)


def lend(ours: Function, theirs: Function) -> bytes | None:
    """The body of another function of the same kind, unless it holds what it may only hold where it was written."""
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
