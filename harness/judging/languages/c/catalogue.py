"""The catalogue of rules that rewrite C, and what a file is compiled with."""

from random import Random

import tree_sitter_c
from tree_sitter import Language, Node

from harness.judging.languages.c import flow_rules, value_rules
from harness.judging.languages.c.facts import may_change
from harness.judging.languages.composing import Hidden, snake_case
from harness.judging.languages.found import text_of
from harness.judging.languages.functions import Edit, Function, Grammar, apply, below
from harness.judging.languages.rewritten import Catalogue, rewritten_text
from harness.judging.languages.variant_source import VariantSource

_FLAGS = (
    "O1", "O2", "Os", "no-guess-branch-probability", "no-reorder-blocks", "no-if-conversion", "no-if-conversion2",
    "no-tree-ter", "no-tree-dominator-opts", "no-tree-fre", "no-tree-sra", "no-tree-ch", "no-tree-sink", "no-ipa-ra",
    "no-omit-frame-pointer", "no-shrink-wrap", "no-forward-propagate", "no-combine-stack-adjustments", "gcse",
    "schedule-insns2", "no-schedule-insns2", "crossjumping", "no-jump-tables", "reorder-blocks", "no-inline",
    "no-split-wide-types", "no-tree-coalesce-vars", "no-tree-copy-prop", "no-thread-jumps", "peephole2",
    "align-loops=16",
)  # fmt: skip
"""Options of the compiler that change its code, not what it does."""
_MOST_FLAGS = 8


def qualified(function: Node) -> str:
    """Return the name of a function; empty where a macro hides it."""
    declarator = function.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "identifier":
        declarator = declarator.child_by_field_name("declarator")
    return text_of(declarator)


def hide(function: Function, hidden: Hidden) -> list[Edit]:
    """Return edits that hide a value from the compiler, at the head of a function."""
    at = function.body.start_byte + 1
    return [(at, at, f"\nstatic volatile unsigned int {hidden.name} = {hidden.value}u;".encode())]


def declares(node: Node) -> list[str]:
    """Return the names of a function, variable, macro or type at the top of a file."""
    if node.type in ("preproc_def", "preproc_function_def", "preproc_include"):
        return [text_of(node.child_by_field_name("name") or node.child_by_field_name("path"))]
    if node.type in ("struct_specifier", "enum_specifier", "union_specifier"):
        return [text_of(node.child_by_field_name("name"))]
    names: list[str] = []
    for declarator in node.children_by_field_name("declarator"):
        inner: Node | None = declarator
        while inner is not None and inner.type not in ("identifier", "type_identifier"):
            inner = inner.child_by_field_name("declarator")
        names.append(text_of(inner))
    return names


def announces(node: Node) -> bool:
    """Return whether it is a function's prototype."""
    declarator = node.child_by_field_name("declarator") if node.type == "declaration" else None
    while declarator is not None and declarator.type == "pointer_declarator":
        declarator = declarator.child_by_field_name("declarator")
    return declarator is not None and declarator.type == "function_declarator"


def lend(ours: Function, theirs: Function) -> bytes | None:
    """Return their body for our function, with our names for the parameters, of which only the names may differ."""
    mine, others = _parameters(ours), _parameters(theirs)
    if [type_ for type_, _ in mine] != [type_ for type_, _ in others]:
        return None
    renamed = {old: new for (_, new), (_, old) in zip(mine, others, strict=True) if old != new}
    body, start = theirs.body.text or b"", theirs.body.start_byte
    named = [node for node in below(theirs.body) if node.type == "identifier"]
    if {text_of(node) for node in named} & (set(renamed.values()) - set(renamed)):
        return None
    edits = [
        (node.start_byte - start, node.end_byte - start, renamed[text_of(node)].encode())
        for node in named
        if text_of(node) in renamed
    ]
    return apply(body, edits)


def _parameters(function: Function) -> list[tuple[str, str]]:
    """Return the text around each parameter's name, and the name."""
    found: list[tuple[str, str]] = []
    for node in below(function.node):
        if node.start_byte >= function.body.start_byte:
            break
        if node.type == "parameter_declaration" and node.parent and node.parent.parent == _declarator(function):
            name = next((each for each in below(node) if each.type == "identifier"), None)
            text = text_of(node)
            if name is None:
                found.append((text, ""))
                continue
            cut = name.start_byte - node.start_byte
            around = text[:cut] + "@" + text[cut + len(text_of(name)) :]
            found.append(("".join(around.split()), text_of(name)))
    return found


def _declarator(function: Function) -> Node | None:
    declarator = function.node.child_by_field_name("declarator")
    while declarator is not None and declarator.type == "pointer_declarator":
        declarator = declarator.child_by_field_name("declarator")
    return declarator


GRAMMAR = Grammar(Language(tree_sitter_c.language()), frozenset({"function_definition"}), qualified)
CATALOGUE = Catalogue(
    grammar=GRAMMAR,
    rules=(*value_rules.RULES, *flow_rules.RULES),
    join=snake_case,
    hide=hide,
    labels=frozenset({"statement_identifier"}),
    may_change=may_change,
    lend=lend,
    declares=declares,
    announces=announces,
)


def running_text(source: VariantSource, path: str) -> bytes:
    """Return what of `path` is compiled: rewritten, and by options that are drawn, where the variant has a seed."""
    text = rewritten_text(CATALOGUE, source, path)
    if source.seed is None:
        return text
    chance = Random(f"{source.seed}/{path}")
    flags = chance.sample(_FLAGS, chance.randint(1, _MOST_FLAGS))
    return "".join(f'#pragma GCC optimize ("{flag}")\n' for flag in flags).encode() + text
