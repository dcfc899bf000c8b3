"""Rules for `if`, `? :` and what stands behind a return."""

from collections.abc import Sequence

from tree_sitter import Node

from harness.judging.languages.composing import Rule, Scene
from harness.judging.languages.found import text_of
from harness.judging.languages.functions import Edit
from harness.judging.languages.typescript.rewriting.bindings import declared_by, uses
from harness.judging.languages.typescript.rewriting.reading import (
    bare,
    field,
    has,
    in_block,
    inserted,
    inside,
    is_boolean,
    leaves,
    negated,
    operator,
    replaced,
    stated,
    statements,
    takes_a_name,
    value_of,
    wrapped,
)

Edits = Sequence[Edit]
_FEWEST_CASES = 3


def flip_branches(node: Node, scene: Scene) -> Edits:
    """Rewrite `if (c) A else B` as `if (!c) B else A`, with an empty branch where there is none."""
    condition, yes, no = _parts(node)
    if no is None and scene.chance.random() < 0.5:
        return ()
    other = "{ }" if no is None else inside(no)
    return replaced(node, f"if ({negated(condition)}) {other} else {inside(yes)}")


def nest_conditions(node: Node, _: Scene) -> Edits:
    """Rewrite `if (a && b) A` as `if (a) { if (b) A }`."""
    condition, yes, no = _parts(node)
    both = bare(condition)
    if no is not None or both.type != "binary_expression" or operator(both) != "&&":
        return ()
    left, right = text_of(field(both, "left")), text_of(field(both, "right"))
    return replaced(node, f"if ({left}) {{ if ({right}) {inside(yes)} }}")


def join_conditions(node: Node, _: Scene) -> Edits:
    """Rewrite `if (a) { if (b) A }` as `if (a && b) A`."""
    condition, yes, no = _parts(node)
    body = statements(yes)
    if no is not None or len(body) != 1 or body[0].type != "if_statement":
        return ()
    inner, then, otherwise = _parts(body[0])
    if otherwise is not None:
        return ()
    return replaced(node, f"if (({text_of(bare(condition))}) && ({text_of(bare(inner))})) {inside(then)}")


def else_behind_jump(node: Node, _scene: Scene) -> Edits:
    """Rewrite `if (c) { return a; } B` as `if (c) { return a; } else { B }`."""
    _, yes, no = _parts(node)
    if no is not None or not leaves(yes) or not in_block(node) or node.parent is None:
        return ()
    body = statements(node.parent)
    rest = body[body.index(node) + 1 :]
    if not rest or any(each.type in ("function_declaration", "class_declaration") for each in rest):
        return ()
    declared = {text_of(name) for each in rest for name in declared_by(each)}
    before = body[: body.index(node) + 1]
    if any(each.type == "variable_declaration" for each in rest) or any(uses(each) & declared for each in before):
        return ()
    end = rest[-1].end_byte
    return (inserted(node.end_byte, " else {"), inserted(end, " }"))


def rest_without_else(node: Node, _: Scene) -> Edits:
    """Rewrite `if (c) { return a; } else B` as `if (c) { return a; } B`."""
    condition, yes, no = _parts(node)
    if no is None or not leaves(yes) or not in_block(node):
        return ()
    return replaced(node, f"if ({text_of(bare(condition))}) {inside(yes)} {inside(no)}")


def return_by_choice(node: Node, _: Scene) -> Edits:
    """Rewrite `if (c) { return a; } else { return b; }` as `return c ? a : b;`."""
    condition, yes, no = _parts(node)
    values = [_only_return(branch) for branch in (yes, no) if branch is not None]
    if len(values) != 2 or values[0] is None or values[1] is None:
        return ()
    return replaced(node, f"return ({text_of(bare(condition))}) ? {wrapped(values[0])} : {wrapped(values[1])};")


def return_by_branches(node: Node, _: Scene) -> Edits:
    """Rewrite `return c ? a : b;` as `if (c) { return a; } else { return b; }`."""
    value = value_of(node)
    if value is None or bare(value).type != "ternary_expression":
        return ()
    condition, yes, no = (text_of(field(bare(value), part)) for part in ("condition", "consequence", "alternative"))
    return stated(node, f"if ({condition}) {{ return ({yes}); }} else {{ return ({no}); }}")


def declare_by_branches(node: Node, _: Scene) -> Edits:
    """Rewrite `const x = c ? a : b;` as `let x; if (c) { x = a; } else { x = b; }`."""
    listed = [child for child in node.named_children if child.type == "variable_declarator"]
    value = listed[0].child_by_field_name("value") if len(listed) == 1 and in_block(node) else None
    if value is None or bare(value).type != "ternary_expression" or field(listed[0], "name").type != "identifier":
        return ()
    condition, yes, no = (field(bare(value), part) for part in ("condition", "consequence", "alternative"))
    if takes_a_name(yes) or takes_a_name(no):
        return ()
    head = text_of(listed[0])[: value.start_byte - listed[0].start_byte].rstrip().removesuffix("=")
    name = text_of(field(listed[0], "name"))
    yes_text, no_text = f"{{ {name} = ({text_of(yes)}); }}", f"{{ {name} = ({text_of(no)}); }}"
    return replaced(node, f"let {head}; if ({text_of(condition)}) {yes_text} else {no_text}")


def act_by_choice(node: Node, scene: Scene) -> Edits:
    """Rewrite `if (c) { f(); } else { g(); }` as `c ? f() : g();`, and `c && f();` without an else."""
    condition, yes, no = _parts(node)
    acts = [_only_act(branch) for branch in (yes, no) if branch is not None]
    if any(act is None for act in acts) or bare(condition).type == "assignment_expression":
        return ()
    texts = [f"({text_of(act)})" for act in acts]
    if len(texts) == 2:
        return replaced(node, f"({text_of(bare(condition))}) ? {texts[0]} : {texts[1]};")
    sign = scene.chance.choice(("&&", "||"))
    head = f"({text_of(bare(condition))})" if sign == "&&" else negated(condition)
    return replaced(node, f"{head} {sign} {texts[0]};")


def act_by_branches(node: Node, _: Scene) -> Edits:
    """Rewrite `c && f();` as `if (c) { f(); }`, and the like for `||` and `? :`."""
    act = bare(node.named_children[0]) if node.named_child_count else node
    if act.type == "ternary_expression":
        condition, yes, no = (text_of(field(act, part)) for part in ("condition", "consequence", "alternative"))
        return stated(node, f"if ({condition}) {{ ({yes}); }} else {{ ({no}); }}")
    if act.type != "binary_expression" or operator(act) not in ("&&", "||"):
        return ()
    left, right = field(act, "left"), text_of(field(act, "right"))
    condition = text_of(left) if operator(act) == "&&" else negated(left)
    return stated(node, f"if ({condition}) {{ ({right}); }}")


def else_in_block(node: Node, _: Scene) -> Edits:
    """Rewrite `else if (c) A` as `else { if (c) A }`."""
    inner = node.named_children[-1]
    return replaced(inner, f"{{ {text_of(inner)} }}") if inner.type == "if_statement" else ()


def else_without_block(node: Node, _: Scene) -> Edits:
    """Rewrite `else { if (c) A }` as `else if (c) A`."""
    body = statements(node.named_children[-1])
    lone = len(body) == 1 and body[0].type == "if_statement"
    return replaced(node.named_children[-1], text_of(body[0])) if lone else ()


def switch_on_truth(node: Node, _: Scene) -> Edits:
    """Rewrite `if (a) A else if (b) B else C`, of booleans, as `switch (true) { case a: A ... }`."""
    above = node.parent
    if above is not None and above.type == "else_clause":
        return ()
    cases: list[str] = []
    following: Node | None = node
    while following is not None and following.type == "if_statement":
        condition, yes, no = _parts(following)
        if not is_boolean(condition) or has(yes, "break_statement"):
            return ()
        cases.append(f"case {text_of(bare(condition))}: {inside(yes)} break;")
        following = no
    if following is not None:
        if has(following, "break_statement"):
            return ()
        cases.append(f"default: {inside(following)}")
    return replaced(node, f"switch (true) {{ {' '.join(cases)} }}") if len(cases) >= _FEWEST_CASES else ()


def _parts(node: Node) -> tuple[Node, Node, Node | None]:
    """Return condition, branch, and other branch."""
    clause = node.child_by_field_name("alternative")
    return field(node, "condition"), field(node, "consequence"), clause.named_children[-1] if clause else None


def _only_return(branch: Node) -> Node | None:
    body = statements(branch) or [branch]
    return value_of(body[0]) if len(body) == 1 and body[0].type == "return_statement" else None


def _only_act(branch: Node) -> Node | None:
    body = statements(branch) or [branch]
    return body[0].named_children[0] if len(body) == 1 and body[0].type == "expression_statement" else None


_IF, _RETURN = frozenset({"if_statement"}), frozenset({"return_statement"})
_ELSE = frozenset({"else_clause"})
RULES = (
    Rule("flip-branches", _IF, flip_branches),
    Rule("nest-conditions", _IF, nest_conditions),
    Rule("join-conditions", _IF, join_conditions),
    Rule("else-behind-jump", _IF, else_behind_jump),
    Rule("rest-without-else", _IF, rest_without_else),
    Rule("return-by-choice", _IF, return_by_choice),
    Rule("return-by-branches", _RETURN, return_by_branches),
    Rule("declare-by-branches", frozenset({"lexical_declaration"}), declare_by_branches),
    Rule("act-by-choice", _IF, act_by_choice),
    Rule("act-by-branches", frozenset({"expression_statement"}), act_by_branches),
    Rule("else-in-block", _ELSE, else_in_block),
    Rule("else-without-block", _ELSE, else_without_block),
    Rule("switch-on-truth", _IF, switch_on_truth),
)
