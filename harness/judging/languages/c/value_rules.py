"""Rules for expressions in C. Each is evaluated as often as before, at the same place and in the same order.

At -O1 most changes of syntax give the very same machine code. So each rule keeps the compiler from seeing something:
by what is `volatile`, by a function that it may not inline, by a number that it can't know.
"""

from collections.abc import Sequence
from functools import lru_cache

import tree_sitter_c
from tree_sitter import Language, Node

from harness.judging.languages.c.facts import (
    identifiers,
    is_conditional,
    is_scalar,
    is_value,
    is_whole,
    names_of,
    pointed_at,
    return_type,
    types_of,
)
from harness.judging.languages.composing import Hidden, Rule, Scene
from harness.judging.languages.found import parsed, text_of
from harness.judging.languages.functions import Edit, below

_C = Language(tree_sitter_c.language())
_CONDITIONS = frozenset({"if_statement", "while_statement", "do_statement", "for_statement"})
_LARGEST_NUMBER = 2**30
_LIBRARY = frozenset(
    {
        "memcpy", "memset", "memcmp", "memmove", "memchr", "strlen", "strcmp", "strncmp", "strchr", "strrchr",
        "strtol", "strdup", "strndup", "strcpy", "strncpy", "strcat", "strstr", "strtod", "malloc", "calloc",
        "realloc", "free", "qsort", "fopen", "fclose", "fread", "fwrite", "fputs", "read", "write", "snprintf",
    }
)  # fmt: skip
"""Functions of the C library whose addresses are those of functions."""
_HELPERS = ("noinline", "noinline, noclone", "noipa", "noinline, cold", "noinline, noclone, cold")


def hidden_in(scene: Scene, hidden: Hidden) -> Edit:
    """Return the declaration of a variable of fixed value, at the start of the function."""
    at = scene.function.body.start_byte + 1
    return at, at, f"\nstatic volatile unsigned int {hidden.name} = {hidden.value}u;".encode()


def condition_of(node: Node) -> Node | None:
    """Return the condition of an `if` or a loop, without its parentheses."""
    found = node.child_by_field_name("condition")
    while found is not None and found.type == "parenthesized_expression" and found.named_child_count == 1:
        if found.named_children[0].type == "compound_statement":  # `({ ... })`
            return found
        found = found.named_children[0]
    return found


def _kept_for_a_moment(node: Node, scene: Scene) -> Sequence[Edit]:
    """Rewrite `E` as `({ volatile __auto_type t = (E); t; })`."""
    if node.type == "identifier" and not _is_scalar_name(node, scene):
        return ()
    if not is_value(node, scene):
        return ()
    name = scene.fresh()
    before, after = f"({{ volatile __auto_type {name} = (", f"); {name}; }})"
    return _around(node, before, after)


def _read_again(node: Node, scene: Scene) -> Sequence[Edit]:
    """Read a variable from its place in memory: `x` -> `(*(volatile __typeof__(x) *)&x)`."""
    if not is_value(node, scene) or not _is_scalar_name(node, scene) or "register" in text_of(scene.function.body):
        return ()
    name = text_of(node)
    return [(node.start_byte, node.end_byte, f"(*(volatile __typeof__({name}) *)&{name})".encode())]


def _number_made_up(node: Node, scene: Scene) -> Sequence[Edit]:
    """Rewrite `4` as a number that is 4, as only whoever knows two others can tell."""
    value = _number(node)
    if value is None or not is_value(node, scene):
        return ()
    hidden = Hidden.drawn(scene.fresh(), scene.chance)
    forms = (
        f"((int)({hidden.name} ^ {(hidden.value ^ value) & 0xFFFFFFFF}u))",
        f"((int)({hidden.name} - {(hidden.value - value) & 0xFFFFFFFF}u))",
        f"((int)({hidden.name} + {(value - hidden.value) & 0xFFFFFFFF}u))",
        f"((int)({(hidden.value + value) & 0xFFFFFFFF}u - {hidden.name}))",
    )
    return [(node.start_byte, node.end_byte, scene.chance.choice(forms).encode()), hidden_in(scene, hidden)]


def _held_condition(node: Node, scene: Scene) -> Sequence[Edit]:
    """Store a condition's outcome before it is looked at."""
    test = condition_of(node)
    if test is None or not is_value(test, scene):
        return ()
    name, kind = scene.fresh(), scene.chance.choice(("int", "unsigned char", "unsigned int", "long"))
    chosen = scene.chance.choice(
        (
            (f"({{ volatile {kind} {name} = !(", f"); !{name}; }})"),
            (f"({{ volatile {kind} {name} = ((", f") != 0); {name} != 0; }})"),
            (f"({{ volatile {kind} {name} = ((", f") ? 1 : 2); {name} == 1; }})"),
        )
    )
    return _around(test, *chosen)


def _expected(node: Node, scene: Scene) -> Sequence[Edit]:
    """Say which way a branch is expected to go, which moves the compiler's blocks about."""
    test = condition_of(node)
    if test is None or not is_value(test, scene) or b"__builtin_expect" in (test.text or b""):
        return ()
    return _around(test, "__builtin_expect((", f") != 0, {scene.chance.randint(0, 1)})")


def _condition_in_function(node: Node, scene: Scene) -> Sequence[Edit]:
    """Return a condition becomes a function of its own, that is never inlined."""
    test = condition_of(node)
    if test is None or not is_value(test, scene):
        return ()
    return _in_function(test, "int", "(%s) != 0", scene)


def _result_in_function(node: Node, scene: Scene) -> Sequence[Edit]:
    """Rewrite `return E;` as `return f(x);`."""
    result = node.named_children[0] if node.named_children else None
    if result is None or result.type == "identifier" or not is_value(result, scene) or not return_type(scene):
        return ()
    return _in_function(result, return_type(scene), "%s", scene)


def _in_function(node: Node, returns: str, form: str, scene: Scene) -> Sequence[Edit]:
    types, own = types_of(scene), names_of(scene)
    used = list(dict.fromkeys(name for name in identifiers(node) if name in own))
    inner = [each.type for each in below(node)]
    called = text_of(scene.function.node.child_by_field_name("declarator")).partition("(")[0].strip("* \n")
    if any(each == "call_expression" for each in (node.type, *inner)) and not pointed_at(scene).isdisjoint(used):
        return ()
    if any(name not in types for name in used) or called in identifiers(node) or b"#" in (node.text or b""):
        return ()
    if (
        is_conditional(node)
        or _changes_locals(node)
        or "compound_statement" in inner
        or node.type == "string_literal"
    ):
        return ()
    helper = scene.fresh()
    parameters = ", ".join(f"{types[name]} {name}" for name in used) or "void"
    head = f"static __attribute__(({scene.chance.choice(_HELPERS)})) {returns} {helper}({parameters})"
    text = f"{head}\n{{\n    return {form % text_of(node)};\n}}\n\n"
    at = scene.function.node.start_byte
    return [(at, at, text.encode()), (node.start_byte, node.end_byte, f"{helper}({', '.join(used)})".encode())]


def _changes_locals(node: Node) -> bool:
    for each in (node, *below(node)):
        if each.type in ("assignment_expression", "update_expression", "gnu_asm_expression"):
            return True
        if each.type == "pointer_expression" and text_of(each.child_by_field_name("operator")) == "&":
            return True
    return False


def _called_by_address(node: Node, scene: Scene) -> Sequence[Edit]:
    """Rewrite `f(x)` as a call of what a pointer that may change points at."""
    function = node.child_by_field_name("function")
    if function is None or function.type != "identifier" or not _may_be_called(node):
        return ()
    name = text_of(function)
    if name in names_of(scene) or not (name in _LIBRARY or name in _defined_before(scene)):
        return ()
    pointer = scene.fresh()
    text = f"({{ volatile __auto_type {pointer} = &{name}; {pointer}; }})"
    return [(function.start_byte, function.end_byte, text.encode())]


def _may_be_called(node: Node) -> bool:
    """Return whether a call is no macro's, nor within one's arguments, nor what a macro that heads a loop repeats.

    Behind such a macro, parentheses in the place of the function's name would look like those of a call.
    """
    above: Node | None = node
    while above is not None and not above.type.endswith("statement"):
        if above.has_error or above.type in ("sizeof_expression", "initializer_list", "type_descriptor"):
            return False
        above = above.parent
    if above is None or above.type != "expression_statement":
        return above is not None
    return not above.has_error and (above.start_byte < node.start_byte or is_whole(above))


def _defined_before(scene: Scene) -> frozenset[str]:
    """Return the functions that the file declares or defines above this one, and the function itself."""
    declared = frozenset[str]().union(*map(_functions_declared, scene.above))
    return declared | {scene.function.name.partition("#")[0]}


@lru_cache(maxsize=512)
def _functions_declared(text: bytes) -> frozenset[str]:
    found: set[str] = set()
    for node in parsed(_C, text).children:
        declarator = node.child_by_field_name("declarator")
        while declarator is not None and declarator.type == "pointer_declarator":
            declarator = declarator.child_by_field_name("declarator")
        if declarator is not None and declarator.type == "function_declarator":
            found.add(text_of(declarator.child_by_field_name("declarator")))
    return frozenset(found)


def _both_compared(node: Node, scene: Scene) -> Sequence[Edit]:
    """Rewrite `a && b` of comparisons that can't go wrong so that both are made, in place of a branch."""
    operator = text_of(node.child_by_field_name("operator"))
    sides = [node.child_by_field_name(side) for side in ("left", "right")]
    if operator not in ("&&", "||") or not is_value(node, scene):
        return ()
    for side in sides:
        if side is None or not _is_comparison(side, scene):
            return ()
    left, right = (text_of(side) for side in sides)
    text = f"((int)(({left}) != 0) {operator[0]} (int)(({right}) != 0))"
    return [(node.start_byte, node.end_byte, text.encode())]


def _is_comparison(node: Node, scene: Scene) -> bool:
    """Return whether a comparison is of variables and numbers only: of no memory that a pointer leads to."""
    while node.type == "parenthesized_expression" and node.named_child_count == 1:
        node = node.named_children[0]
    if node.type != "binary_expression" or text_of(node.child_by_field_name("operator")) not in _COMPARING:
        return False
    return all(
        side is not None and (side.type in ("number_literal", "char_literal") or _is_scalar_name(side, scene))
        for side in (node.child_by_field_name("left"), node.child_by_field_name("right"))
    )


_COMPARING = frozenset({"==", "!=", "<", ">", "<=", ">="})


def _is_scalar_name(node: Node, scene: Scene) -> bool:
    return node.type == "identifier" and is_scalar(types_of(scene).get(text_of(node), ""))


def _number(node: Node) -> int | None:
    """Return the value of a plain number or character; none of 0, which may be a pointer, or of a large one."""
    text = text_of(node)
    try:
        value = int(text, 0) if node.type == "number_literal" else ord(text[1:-1])
    except (ValueError, TypeError):
        return None
    if node.type == "char_literal" and not 32 <= value < 127:
        return None
    return value if 0 < abs(value) < _LARGEST_NUMBER else None


def _around(node: Node, before: str, after: str) -> list[Edit]:
    return [(node.start_byte, node.start_byte, before.encode()), (node.end_byte, node.end_byte, after.encode())]


_VALUES = frozenset(
    {
        "identifier", "call_expression", "binary_expression", "conditional_expression", "string_literal",
        "concatenated_string", "number_literal", "unary_expression",
    }
)  # fmt: skip
RULES = (
    Rule("kept for a moment", _VALUES, _kept_for_a_moment),
    Rule("read again", frozenset({"identifier"}), _read_again),
    Rule("number made up", frozenset({"number_literal", "char_literal"}), _number_made_up),
    Rule("held condition", _CONDITIONS, _held_condition),
    Rule("expected", _CONDITIONS, _expected),
    Rule("condition in a function", _CONDITIONS, _condition_in_function),
    Rule("result in a function", frozenset({"return_statement"}), _result_in_function),
    Rule("called by address", frozenset({"call_expression"}), _called_by_address),
    Rule("both compared", frozenset({"binary_expression"}), _both_compared),
)
