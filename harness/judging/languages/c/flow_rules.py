"""Rules for statements in C: branches, loops and switches in another form, and statements that stand twice."""

from collections.abc import Sequence

from tree_sitter import Node

from harness.judging.languages.c.facts import (
    LOOPS,
    STATEMENTS,
    identifiers,
    is_scalar,
    is_whole,
    leaves,
    may_copy,
    names_of,
    pointed_at,
    types_of,
)
from harness.judging.languages.c.value_rules import condition_of, hidden_in
from harness.judging.languages.composing import Hidden, Rule, Scene, condition
from harness.judging.languages.found import text_of
from harness.judging.languages.functions import Edit, below

_LONGEST_COPY = 600
"""Bytes of a statement that may stand twice."""
_CONTINUE, _BREAK = frozenset({"continue_statement"}), frozenset({"break_statement"})
_ENDS = frozenset({"return_statement", "goto_statement", "continue_statement"})
_PLAIN = frozenset({"expression_statement", "return_statement", "if_statement", *LOOPS})


def _instead(node: Node, text: str) -> list[Edit]:
    return [(node.start_byte, node.end_byte, text.encode())]


def _stands_freely(node: Node) -> bool:
    """Return whether a statement is one of a block's, so that there may be two."""
    return node.parent is not None and node.parent.type == "compound_statement" and is_whole(node)


def _flipped(node: Node, scene: Scene) -> Sequence[Edit]:
    """Rewrite `if (c) A else B` as `if (!(c)) B else A`, with a guess which is the likelier one."""
    test, first, second = _parts(node)
    if test is None or first is None or not is_whole(node):
        return ()
    other = text_of(second) if second is not None else ";"
    guess = scene.chance.randint(0, 1)
    return _instead(
        node, f"if (__builtin_expect(!({text_of(test)}), {guess})) {{ {other} }} else {{ {text_of(first)} }}"
    )


def _taken_apart(node: Node, _: Scene) -> Sequence[Edit]:
    """Rewrite `if (a && b) A else B` and `if (a || b) A else B` as two branches, one within the other."""
    test, first, second = _parts(node)
    if test is None or first is None or test.type != "binary_expression" or not is_whole(node):
        return ()
    operator = text_of(test.child_by_field_name("operator"))
    copied = second if operator == "&&" else first
    if operator not in ("&&", "||") or (copied is not None and not _is_short(copied)):
        return ()
    left, right = (text_of(test.child_by_field_name(side)) for side in ("left", "right"))
    then, other = text_of(first), text_of(second) if second is not None else ";"
    if operator == "&&":
        return _instead(node, f"if ({left}) {{ if ({right}) {{ {then} }} else {{ {other} }} }} else {{ {other} }}")
    return _instead(node, f"if ({left}) {{ {then} }} else {{ if ({right}) {{ {then} }} else {{ {other} }} }}")


def _standing_twice(node: Node, scene: Scene) -> Sequence[Edit]:
    """Put a statement into both arms of a branch, so that it doesn't matter which one is taken."""
    if not _is_short(node) or not is_whole(node):
        return ()
    hidden = Hidden.drawn(scene.fresh(), scene.chance)
    test = condition(hidden, scene.chance, bool(scene.chance.randint(0, 1)))
    copy = text_of(node)
    return [*_instead(node, f"{{ if ({test}) {{ {copy} }} else {{ {copy} }} }}"), hidden_in(scene, hidden)]


def _condition_first(node: Node, _: Scene) -> Sequence[Edit]:
    """Rewrite `while (c) B` as `if (c) { do B while (c); }`."""
    test, body = condition_of(node), node.child_by_field_name("body")
    if test is None or body is None or not is_whole(node) or not _is_short(test):
        return ()
    return _instead(node, f"if ({text_of(test)}) {{ do {{ {text_of(body)} }} while ({text_of(test)}); }}")


def _endless(node: Node, scene: Scene) -> Sequence[Edit]:
    """Rewrite `while (c) B` as `for (;;) { if (!(c)) break; B }`; `do B while (c)` likewise."""
    test, body = condition_of(node), node.child_by_field_name("body")
    if test is None or body is None or not is_whole(node):
        return ()
    stop = f"if (!({text_of(test)})) break;"
    head = scene.chance.choice(("for (;;)", "while (1)"))
    if node.type == "while_statement":
        return _instead(node, f"{head} {{ {stop} {text_of(body)} }}")
    if leaves(_held(body), _CONTINUE):
        return ()
    return _instead(node, f"{head} {{ {text_of(body)} {stop} }}")


def _loop_spelled_out(node: Node, scene: Scene) -> Sequence[Edit]:
    """Rewrite `for (a; c; s) B` as `{ a; while (c) { B s; } }`, with a guess how often."""
    body = node.child_by_field_name("body")
    if body is None or not is_whole(node) or leaves(_held(body), _CONTINUE):
        return ()
    first, test, step = (text_of(node.child_by_field_name(part)) for part in ("initializer", "condition", "update"))
    first = first if first.endswith(";") or not first else first + ";"
    likely = scene.chance.randint(0, 1)
    held = f"__builtin_expect(({test or '1'}) != 0, {likely})"
    return _instead(node, f"{{ {first} while ({held}) {{ {text_of(body)} {step}; }} }}")


def _two_rounds(node: Node, _: Scene) -> Sequence[Edit]:
    """Rewrite `while (c) B` as `while (c) { B if (!(c)) break; B }`."""
    test, body = condition_of(node), node.child_by_field_name("body")
    if test is None or body is None or not is_whole(node) or not _is_short(body) or not _is_short(test):
        return ()
    if leaves(_held(body), _CONTINUE):
        return ()
    test_text, round_ = text_of(test), text_of(body)
    return _instead(node, f"while ({test_text}) {{ {{ {round_} }} if (!({test_text})) break; {{ {round_} }} }}")


def _without_switch(node: Node, scene: Scene) -> Sequence[Edit]:
    """Rewrite `switch (v) { case A: ... }` as `if (v == A) ...`, where each case ends for itself."""
    value, body = condition_of(node), node.child_by_field_name("body")
    if value is None or body is None or not is_whole(node):
        return ()
    name = scene.fresh()
    arms: list[tuple[str, str]] = []
    labels: list[str] = []
    cases = [child for child in body.named_children if child.type != "comment"]
    for number, case in enumerate(cases):
        label, statements = _case(case)
        if case.type != "case_statement" or label is None or "..." in text_of(case).partition(":")[0]:
            return ()
        labels.append(label)
        if not statements and number + 1 < len(cases):
            continue
        text = _ended(statements, is_last=number + 1 == len(cases))
        if text is None:
            return ()
        arms.append((" || ".join(f"{name} == ({each})" for each in labels if each), text))
        if "" in labels:
            arms[-1] = ("", text)
            if number + 1 < len(cases):
                return ()
        labels = []
    chain = " else ".join(f"if ({test}) {{ {text} }}" if test else f"{{ {text} }}" for test, text in arms)
    if not arms or chain.startswith("{"):
        return ()
    kept = scene.chance.choice(("__auto_type", "volatile __auto_type"))
    return _instead(node, f"{{ {kept} {name} = +({text_of(value)}); {chain} }}")


def _case(case: Node) -> tuple[str | None, list[Node]]:
    """Return what a case is told by (empty for the default one), and its statements."""
    value = case.child_by_field_name("value")
    if value is None and not (case.children and case.children[0].type == "default"):
        return None, []
    statements = [child for child in case.named_children if child.type != "comment" and child != value]
    return text_of(value), statements


def _ended(statements: list[Node], *, is_last: bool) -> str | None:
    """Return the statements of a case without the `break` at its end; None for one that goes on with the next."""
    if any(statement.type == "declaration" for statement in statements):
        return None
    while len(statements) == 1 and statements[0].type == "compound_statement":
        statements = [child for child in statements[0].named_children if child.type != "comment"]
    last = statements[-1] if statements else None
    if last is not None and last.type == "break_statement":
        statements = statements[:-1]
    elif (last is None or last.type not in _ENDS) and not is_last:
        return None
    for statement in statements:
        if statement.type == "break_statement" or _leaves_switch(statement) or statement.type == "labeled_statement":
            return None
    return "\n".join(text_of(statement) for statement in statements)


def _leaves_switch(statement: Node) -> bool:
    """Return whether a statement holds a `break` of the switch around it."""
    if statement.type in LOOPS or statement.type == "switch_statement":
        return False
    return leaves(statement, _BREAK)


def _unknown(node: Node, scene: Scene) -> Sequence[Edit]:
    """Let the compiler forget, before a statement, what it knows of a variable or of all memory."""
    if not _stands_freely(node):
        return ()
    types, declared = types_of(scene), {name for inner in below(node) for name in _declared_in(inner)}
    known = [
        name for name in dict.fromkeys(identifiers(node)) if is_scalar(types.get(name, "")) and name not in declared
    ]
    forms = ['__asm__ volatile ("" : : : "memory"); ']
    for name in known:
        if "double" in types[name]:
            continue
        forms.append(f'__asm__ volatile ("" : : "r"({name}) : "memory"); ')
        if "const" not in types[name] and "volatile" not in types[name]:
            forms.append(f'__asm__ volatile ("" : "+r"({name})); ')
    return [(node.start_byte, node.start_byte, scene.chance.choice(forms[-6:]).encode())]


def _declared_in(node: Node) -> list[str]:
    if node.type != "declaration":
        return []
    return [name for each in node.children_by_field_name("declarator") for name in identifiers(each)]


def _idle(node: Node, scene: Scene) -> Sequence[Edit]:
    """Compute something before a statement that nothing uses."""
    if not _stands_freely(node):
        return ()
    name, chance = scene.fresh(), scene.chance
    number, other = chance.randint(2, 2**20), chance.randint(2, 60)
    forms = (
        f"{{ volatile unsigned int {name} = {number}u; {name} = {name} * {other}u; }} ",
        f"{{ volatile unsigned char {name}[{other}]; {name}[{other - 1}] = {number & 127}; }} ",
        f"{{ volatile long {name} = {number}; if ({name} == {other}) {name} = 1; }} ",
        f"{{ volatile unsigned int {name}; for ({name} = 0; {name} < {other % 5 + 1}; {name}++) ; }} ",
    )
    return [(node.start_byte, node.start_byte, chance.choice(forms).encode())]


def _kept_in_memory(node: Node, scene: Scene) -> Sequence[Edit]:
    """Return a variable becomes volatile.

    Not one whose address somebody has, whose type would then be another one.
    """
    words = [child for child in node.children if child.type in ("storage_class_specifier", "type_qualifier")]
    if any(child.type == "storage_class_specifier" or child.text == b"volatile" for child in words) or node.has_error:
        return ()
    types, elsewhere = types_of(scene), pointed_at(scene)
    declarators = node.children_by_field_name("declarator")
    places: list[int] = []
    for declarator in declarators:
        inner = declarator.child_by_field_name("declarator") if declarator.type == "init_declarator" else declarator
        while inner is not None and inner.type == "pointer_declarator":
            inner = inner.child_by_field_name("declarator")
        if inner is None or inner.type != "identifier":
            return ()
        name = text_of(inner)
        if name in elsewhere or not is_scalar(types.get(name, "")) or name not in names_of(scene):
            return ()
        places.append(inner.start_byte if "*" in types[name] else -1)
    if all(place >= 0 for place in places):
        at = scene.chance.choice(places)
        return [(at, at, b" volatile ")]
    if all(place < 0 for place in places):
        return [(node.start_byte, node.start_byte, b"volatile ")]
    return ()


def _parts(node: Node) -> tuple[Node | None, Node | None, Node | None]:
    """Return the condition and the two arms of an `if`."""
    other = node.child_by_field_name("alternative")
    if other is not None and other.type == "else_clause":
        other = next((child for child in other.named_children if child.type != "comment"), None)
    return condition_of(node), node.child_by_field_name("consequence"), other


def _held(body: Node) -> Node:
    """Return what holds a loop's body, so that a body which is one statement is looked at too."""
    return body if body.type == "compound_statement" or body.parent is None else body.parent


def _is_short(node: Node) -> bool:
    return node.end_byte - node.start_byte <= _LONGEST_COPY and may_copy(node)


RULES = (
    Rule("flipped", frozenset({"if_statement"}), _flipped),
    Rule("taken apart", frozenset({"if_statement"}), _taken_apart),
    Rule("standing twice", _PLAIN, _standing_twice),
    Rule("condition first", frozenset({"while_statement"}), _condition_first),
    Rule("endless", frozenset({"while_statement", "do_statement"}), _endless),
    Rule("loop spelled out", frozenset({"for_statement"}), _loop_spelled_out),
    Rule("two rounds", frozenset({"while_statement"}), _two_rounds),
    Rule("without switch", frozenset({"switch_statement"}), _without_switch),
    Rule("unknown", STATEMENTS - {"break_statement", "continue_statement"}, _unknown),
    Rule("idle", STATEMENTS, _idle),
    Rule("kept in memory", frozenset({"declaration"}), _kept_in_memory),
)
