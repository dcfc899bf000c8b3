"""Rules for expressions: the same value, found by the same steps in the same order."""

import re
from collections.abc import Callable, Sequence

from tree_sitter import Node

from harness.judging.languages.composing import Rule, Scene
from harness.judging.languages.found import text_of
from harness.judging.languages.functions import Edit
from harness.judging.languages.typescript.rewriting.bindings import bindings, counted
from harness.judging.languages.typescript.rewriting.reading import (
    OPPOSITES,
    bare,
    field,
    is_boolean,
    is_condition,
    is_literal,
    is_quoted,
    negated,
    operator,
    replaced,
    takes_a_name,
    wrapped,
)

Edits = Sequence[Edit]
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_WORD = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_NUMBER = re.compile(r"\d{1,9}")
_VALUES = frozenset(
    {
        "binary_expression", "arguments", "return_statement", "ternary_expression", "parenthesized_expression",
        "variable_declarator", "assignment_expression", "subscript_expression", "array",
    }
)  # fmt: skip
_REPLACED_BY_VITE = ("import.meta", "process.env")


def swap_equality(node: Node, scene: Scene) -> Edits:
    """Rewrite `a === b` as `b === a`, where it can't matter which is read first."""
    left, right = field(node, "left"), field(node, "right")
    if operator(node) not in ("===", "!==", "==", "!=") or not _either_order(left, right, scene):
        return ()
    return replaced(node, f"{wrapped(right)} {operator(node)} {wrapped(left)}")


def mirror_comparison(node: Node, _: Scene) -> Edits:
    """Rewrite `a < 1` as `1 > a`."""
    left, right = field(node, "left"), field(node, "right")
    if operator(node) not in _MIRRORED or not (is_literal(left) or is_literal(right)):
        return ()
    return replaced(node, f"{wrapped(right)} {_MIRRORED[operator(node)]} {wrapped(left)}")


def deny_opposite(node: Node, _: Scene) -> Edits:
    """Rewrite `a === b` as `!(a !== b)`; only for these, which NaN can't confuse."""
    above = node.parent
    while above is not None and above.type == "parenthesized_expression":
        above = above.parent
    denied = above is not None and above.type == "unary_expression"
    return () if denied or operator(node) not in OPPOSITES else replaced(node, f"!{negated(node)}")


def de_morgan(node: Node, _: Scene) -> Edits:
    """Return `a && b` as a condition: `!(!a || !b)`."""
    if operator(node) not in ("&&", "||") or not (is_condition(node) or is_boolean(node)):
        return ()
    other = "||" if operator(node) == "&&" else "&&"
    return replaced(node, f"!({negated(field(node, 'left'))} {other} {negated(field(node, 'right'))})")


def choose(node: Node, scene: Scene) -> Edits:
    """Rewrite `a || b` as `a ? a : b`, `a && b` as `a ? b : a`, and `a ?? b` by a comparison to null."""
    left, right = field(node, "left"), field(node, "right")
    if operator(node) not in ("&&", "||", "??") or not bindings(scene).settled(left, node.start_byte):
        return ()
    a, b = wrapped(left), wrapped(right)
    forms = {
        "||": (f"({a} ? {a} : {b})", f"(!{a} ? {b} : {a})"),
        "&&": (f"({a} ? {b} : {a})", f"(!{a} ? {a} : {b})"),
        "??": (f"({a} === null || {a} === undefined ? {b} : {a})", f"({a} == null ? {b} : {a})"),
    }
    return replaced(node, scene.chance.choice(forms[operator(node)]))


def choose_by_condition(node: Node, _: Scene) -> Edits:
    """Return `a && b` as a condition: `a ? b : false`; `a || b`: `a ? true : b`."""
    if operator(node) not in ("&&", "||") or not (is_condition(node) or is_boolean(node)):
        return ()
    a, b = wrapped(field(node, "left")), wrapped(field(node, "right"))
    return replaced(node, f"({a} ? {b} : false)" if operator(node) == "&&" else f"({a} ? true : {b})")


def flip_choice(node: Node, _: Scene) -> Edits:
    """Rewrite `c ? a : b` as `!c ? b : a`."""
    condition, yes, no = (field(node, part) for part in ("condition", "consequence", "alternative"))
    return replaced(node, f"{negated(condition)} ? {wrapped(no)} : {wrapped(yes)}")


def unfold_not(node: Node, _: Scene) -> Edits:
    """Rewrite `!a` as `a ? false : true`."""
    if operator(node) != "!":
        return ()
    return replaced(node, f"({wrapped(field(node, 'argument'))} ? false : true)")


def unfold_truth(node: Node, scene: Scene) -> Edits:
    """Rewrite `true` as a comparison of two words."""
    if node.parent is None or node.parent.type not in _VALUES:
        return ()
    known = bindings(scene)
    fixed = sorted(name for name in known.declared if known.fixed(name, node.start_byte))
    if not fixed:
        return ()
    name, other = scene.chance.choice(fixed), scene.fresh()
    equals = "!==" if node.type == "true" else "==="
    sides = [f"typeof {name}", f'"{other}"']
    scene.chance.shuffle(sides)
    return replaced(node, f"({sides[0]} {equals} {sides[1]})")


def unfold_undefined(node: Node, scene: Scene) -> Edits:
    """Rewrite `undefined` as `void 0`."""
    if node.parent is None or node.parent.type not in _VALUES:
        return ()
    return replaced(node, f"void {scene.chance.randint(0, 9)}")


def unfold_number(node: Node, scene: Scene) -> Edits:
    """Rewrite `7` as `"seventh".length`, where it is the value of an expression."""
    value = int(text_of(node)) if _NUMBER.fullmatch(text_of(node)) else -1
    if node.parent is None or node.parent.type not in _VALUES or not 0 <= value <= 12:
        return ()
    word = (scene.fresh() + scene.fresh() + scene.fresh())[:value]
    return replaced(node, f'"{word}".length') if len(word) == value else ()


def name_in_brackets(node: Node, _: Scene) -> Edits:
    """Rewrite `a.b` as `a["b"]`."""
    held, name = field(node, "object"), field(node, "property")
    outside = text_of(node).startswith(_REPLACED_BY_VITE)
    if name.type != "property_identifier" or outside or held.type == "meta_property":
        return ()
    chain = "?." if node.child_by_field_name("optional_chain") is not None else ""
    return ((held.end_byte, node.end_byte, f'{chain}["{text_of(name)}"]'.encode()),)


def name_behind_dot(node: Node, _: Scene) -> Edits:
    """Rewrite `a["b"]` as `a.b`."""
    held, index = field(node, "object"), field(node, "index")
    name = text_of(index)[1:-1]
    if index.type != "string" or not _WORD.fullmatch(name) or bare(held).type == "number":
        return ()
    chain = "?." if node.child_by_field_name("optional_chain") is not None else "."
    return ((held.end_byte, node.end_byte, f"{chain}{name}".encode()),)


def join_template(node: Node, scene: Scene) -> Edits:
    """Rewrite `` `a${b}c` `` as `` `a`.concat(b, `c`) ``, which makes strings of its parts by the same rule."""
    pieces = _pieces(node)
    inserted = [piece for piece, is_text in pieces if not is_text]
    known = bindings(scene)
    if not inserted or not all(known.settled(part, node.start_byte) for part in _inserted(node)[1:]):
        return ()
    if not pieces[0][1]:
        pieces.insert(0, ("``", True))
    return replaced(node, f"{pieces[0][0]}.concat({', '.join(piece for piece, _ in pieces[1:])})")


def split_template(node: Node, scene: Scene) -> Edits:
    """Rewrite `` `a${b}c` `` as `` `a${b}` + `c` ``."""
    holes = [child for child in node.named_children if child.type == "template_substitution"]
    if not holes or _is_tagged(node):
        return ()
    at = scene.chance.choice(holes).end_byte
    if at == node.end_byte - 1:
        return ()
    text, cut = text_of(node).encode(), at - node.start_byte
    return ((node.start_byte, node.end_byte, b"(" + text[:cut] + b"` + `" + text[cut:] + b")"),)


def spell_out(node: Node, _: Scene) -> Edits:
    """Rewrite `{ a }` as `{ "a": a }`."""
    name = text_of(node)
    return () if name == "__proto__" else replaced(node, f'"{name}": {name}')


def assign_in_full(node: Node, _: Scene) -> Edits:
    """Rewrite `x += a` as `x = x + a`, for a variable."""
    left, right, sign = field(node, "left"), field(node, "right"), operator(node)
    if left.type != "identifier" or takes_a_name(right):
        return ()
    return replaced(node, f"{text_of(left)} = {text_of(left)} {sign[:-1]} ({text_of(right)})")


def count_in_full(node: Node, scene: Scene) -> Edits:
    """Return `x++`, where nobody looks at its value: `x += 1`, for a variable that only counts."""
    argument, above = field(node, "argument"), node.parent
    alone = above is not None and (
        above.type == "expression_statement"
        or (above.type == "for_statement" and above.child_by_field_name("increment") == node)
    )
    if not alone or text_of(argument) not in counted(scene):
        return ()
    name, sign = text_of(argument), operator(node)[0]
    forms = (f"{name} {sign}= 1", f"{name} = {name} {sign} 1", f"{sign * 2}{name}")
    return replaced(node, scene.chance.choice([form for form in forms if form != text_of(node)]))


def _either_order(left: Node, right: Node, scene: Scene) -> bool:
    known = bindings(scene)
    return (
        is_literal(left) or is_literal(right)
        or (known.settled(left, left.start_byte) and known.settled(right, left.start_byte))
    )  # fmt: skip


def _is_tagged(node: Node) -> bool:
    return node.parent is not None and node.parent.type == "call_expression"


def _inserted(template: Node) -> list[Node]:
    holes = [child for child in template.named_children if child.type == "template_substitution"]
    return [next(child for child in hole.named_children if child.type != "comment") for hole in holes]


def _pieces(template: Node) -> list[tuple[str, bool]]:
    """Return what a template is joined of, and whether it is text."""
    if _is_tagged(template):
        return []
    pieces: list[tuple[str, bool]] = []
    for child in template.named_children:
        if child.type == "template_substitution":
            inner = next(each for each in child.named_children if each.type != "comment")
            pieces.append((f"({text_of(inner)})", False))
        elif pieces and pieces[-1][1]:
            pieces[-1] = (pieces[-1][0][:-1] + text_of(child) + "`", True)
        else:
            pieces.append((f"`{text_of(child)}`", True))
    return pieces


def _unquoted(rewrite: Callable[[Node, Scene], Edits]) -> Callable[[Node, Scene], Edits]:
    return lambda node, scene: () if is_quoted(node) else rewrite(node, scene)


RULES = (
    Rule("swap-equality", frozenset({"binary_expression"}), _unquoted(swap_equality)),
    Rule("mirror-comparison", frozenset({"binary_expression"}), _unquoted(mirror_comparison)),
    Rule("deny-opposite", frozenset({"binary_expression"}), _unquoted(deny_opposite)),
    Rule("de-morgan", frozenset({"binary_expression"}), _unquoted(de_morgan)),
    Rule("choose", frozenset({"binary_expression"}), _unquoted(choose)),
    Rule("choose-by-condition", frozenset({"binary_expression"}), _unquoted(choose_by_condition)),
    Rule("flip-choice", frozenset({"ternary_expression"}), _unquoted(flip_choice)),
    Rule("unfold-not", frozenset({"unary_expression"}), _unquoted(unfold_not)),
    Rule("unfold-truth", frozenset({"true", "false"}), _unquoted(unfold_truth)),
    Rule("unfold-undefined", frozenset({"undefined"}), _unquoted(unfold_undefined)),
    Rule("unfold-number", frozenset({"number"}), _unquoted(unfold_number)),
    Rule("name-in-brackets", frozenset({"member_expression"}), name_in_brackets),
    Rule("name-behind-dot", frozenset({"subscript_expression"}), name_behind_dot),
    Rule("join-template", frozenset({"template_string"}), _unquoted(join_template)),
    Rule("split-template", frozenset({"template_string"}), _unquoted(split_template)),
    Rule("spell-out", frozenset({"shorthand_property_identifier"}), _unquoted(spell_out)),
    Rule("assign-in-full", frozenset({"augmented_assignment_expression"}), _unquoted(assign_in_full)),
    Rule("count-in-full", frozenset({"update_expression"}), _unquoted(count_in_full)),
)
