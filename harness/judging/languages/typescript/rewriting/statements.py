"""Rules for declarations, loops, blocks and functions within a function."""

from collections.abc import Sequence

from tree_sitter import Node

from harness.judging.languages.composing import Rule, Scene
from harness.judging.languages.found import text_of
from harness.judging.languages.functions import Edit
from harness.judging.languages.typescript.rewriting.bindings import declared_by
from harness.judging.languages.typescript.rewriting.reading import (
    BLOCK,
    bare,
    declarators,
    field,
    has,
    has_function,
    in_block,
    inserted,
    inside,
    is_body,
    is_labelled,
    is_literal,
    negated,
    replaced,
    statements,
    takes_a_name,
    value_of,
)

Edits = Sequence[Edit]
_SIMPLE = ("expression_statement", "return_statement", "throw_statement", "continue_statement")


def split_declaration(node: Node, _: Scene) -> Edits:
    """Rewrite `const x = a;` as `let x; x = a;`."""
    listed = declarators(node)
    value = listed[0].child_by_field_name("value") if len(listed) == 1 and in_block(node) else None
    if value is None or field(listed[0], "name").type != "identifier" or takes_a_name(value):
        return ()
    head = text_of(listed[0])[: value.start_byte - listed[0].start_byte].rstrip().removesuffix("=")
    return replaced(node, f"let {head}; {text_of(field(listed[0], 'name'))} = {text_of(value)};")


def merge_declarations(node: Node, _: Scene) -> Edits:
    """Rewrite `const a = 1; const b = 2;` as `const a = 1, b = 2;`."""
    behind = node.next_sibling
    same = (
        behind is not None and behind.type == node.type and text_of(behind.children[0]) == text_of(node.children[0])
    )
    if behind is None or not same or not in_block(node) or not text_of(node).endswith(";"):
        return ()
    return ((node.end_byte - 1, behind.children[0].end_byte, b", "),)


def part_declarations(node: Node, _: Scene) -> Edits:
    """Rewrite `const a = 1, b = 2;` as `const a = 1; const b = 2;`."""
    listed = declarators(node)
    if len(listed) < 2 or not in_block(node):
        return ()
    kind = text_of(node.children[0])
    return replaced(node, " ".join(f"{kind} {text_of(each)};" for each in listed))


def swap_declarations(node: Node, _: Scene) -> Edits:
    """Rewrite `const a = []; const b = {};` in the other order, where both only make something new."""
    behind = node.next_named_sibling
    if behind is None or behind.type != node.type or not in_block(node):
        return ()
    values = [each.child_by_field_name("value") for each in (*declarators(node), *declarators(behind))]
    if not all(value is not None and _makes(value) for value in values):
        return ()
    return ((node.start_byte, behind.end_byte, f"{text_of(behind)} {text_of(node)}".encode()),)


def block_around(node: Node, scene: Scene) -> Edits:
    """Rewrite `f();` as `{ f(); }`, or a loop that runs once."""
    directive = node.named_child_count > 0 and node.named_children[0].type == "string"
    above = node.parent
    lone = above is not None and len(statements(above)) == 1
    if directive or lone or not in_block(node):
        return ()
    return replaced(node, scene.chance.choice((f"{{ {text_of(node)} }}", f"do {{ {text_of(node)} }} while (false);")))


def lone_statement(node: Node, _: Scene) -> Edits:
    """Rewrite `if (c) { f(); }` as `if (c) f();`."""
    body = statements(node)
    above = node.parent
    if above is None or above.type not in ("if_statement", "else_clause", "for_in_statement", "while_statement"):
        return ()
    if len(body) != 1 or body[0].type not in _SIMPLE or not text_of(body[0]).endswith(";"):
        return ()
    return replaced(node, " " + text_of(body[0]))


def statement_in_block(node: Node, _: Scene) -> Edits:
    """Rewrite `if (c) f();` as `if (c) { f(); }`."""
    return replaced(node, f" {{ {text_of(node)} }}") if is_body(node) else ()


def bind_in_body(node: Node, scene: Scene) -> Edits:
    """Rewrite `for (const x of a) { B }` as `for (const t of a) { const x = t; B }`."""
    kind, left, body = node.child_by_field_name("kind"), field(node, "left"), field(node, "body")
    if kind is None or text_of(kind) not in ("const", "let") or body.type not in BLOCK or left.type != "identifier":
        return ()
    if any(text_of(left) == text_of(other) for each in statements(body) for other in declared_by(each)):
        return ()
    name = scene.fresh()
    declared = inserted(body.start_byte + 1, f" {text_of(kind)} {text_of(left)} = {name};")
    return (left.start_byte, left.end_byte, name.encode()), declared


def leave_inside(node: Node, scene: Scene) -> Edits:
    """Rewrite `while (c) { B }` as `while (true) { if (!c) break; B }`."""
    condition, body = field(node, "condition"), field(node, "body")
    if bare(condition).type == "true":
        return ()
    head = scene.chance.choice(("while (true)", "for (;;)"))
    return replaced(node, f"{head} {{ if ({negated(condition)}) {{ break; }} {inside(body)} }}")


def while_as_for(node: Node, _: Scene) -> Edits:
    """Rewrite `while (c) { B }` as `for (; c; ) { B }`."""
    return replaced(node, f"for (; {text_of(bare(field(node, 'condition')))}; ) {text_of(field(node, 'body'))}")


def for_as_while(node: Node, _: Scene) -> Edits:
    """Rewrite `for (let i = 0; c; i++) { B }` as `{ let i = 0; while (c) { B i++; } }`.

    That is done only where no closure keeps an `i` of its own.
    """
    start, condition, step = (node.child_by_field_name(part) for part in ("initializer", "condition", "increment"))
    body = field(node, "body")
    if start is None or condition is None or step is None or is_labelled(node) or not in_block(node):
        return ()
    if has_function(node) or has(body, "continue_statement") or start.type not in ("lexical_declaration",):
        return ()
    test = text_of(condition).rstrip(";")
    return replaced(node, f"{{ {text_of(start)} while ({test}) {{ {inside(body)} {text_of(step)}; }} }}")


def arrow_with_block(node: Node, _: Scene) -> Edits:
    """Rewrite `a => b` as `a => { return b; }`."""
    body = field(node, "body")
    return () if body.type in BLOCK else replaced(body, f"{{ return ({text_of(body)}); }}")


def arrow_without_block(node: Node, _: Scene) -> Edits:
    """Rewrite `a => { return b; }` as `a => (b)`."""
    body = statements(field(node, "body"))
    value = value_of(body[0]) if len(body) == 1 and body[0].type == "return_statement" else None
    return () if value is None else replaced(field(node, "body"), f"({text_of(value)})")


def _makes(value: Node) -> bool:
    """Return whether an expression makes something new of literals alone."""
    core = bare(value)
    if core.type == "array":
        return all(child.type != "spread_element" and _makes(child) for child in core.named_children)
    if core.type == "object":
        pairs = core.named_children
        return all(pair.type == "pair" and _makes(field(pair, "value")) for pair in pairs)
    return is_literal(core)


RULES = (
    Rule("split-declaration", frozenset({"lexical_declaration"}), split_declaration),
    Rule("merge-declarations", frozenset({"lexical_declaration"}), merge_declarations),
    Rule("part-declarations", frozenset({"lexical_declaration"}), part_declarations),
    Rule("swap-declarations", frozenset({"lexical_declaration"}), swap_declarations),
    Rule("block-around", frozenset({"expression_statement"}), block_around),
    Rule("lone-statement", frozenset({"statement_block"}), lone_statement),
    Rule("statement-in-block", frozenset({*_SIMPLE, "break_statement"}), statement_in_block),
    Rule("bind-in-body", frozenset({"for_in_statement"}), bind_in_body),
    Rule("leave-inside", frozenset({"while_statement"}), leave_inside),
    Rule("while-as-for", frozenset({"while_statement"}), while_as_for),
    Rule("for-as-while", frozenset({"for_statement"}), for_as_while),
    Rule("arrow-with-block", frozenset({"arrow_function"}), arrow_with_block),
    Rule("arrow-without-block", frozenset({"arrow_function"}), arrow_without_block),
)
