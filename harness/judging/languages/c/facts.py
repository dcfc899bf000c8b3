"""Facts that a rule may rely on in C: where an expression is a value, a statement whole, and the type of a name.

There is no preprocessor here: a name may be a macro of a header that nobody has read. What could be one is left alone
where that would matter.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from tree_sitter import Node

from harness.judging.languages.composing import Scene
from harness.judging.languages.found import text_of
from harness.judging.languages.functions import Function, below

STATEMENTS = frozenset(
    {
        "expression_statement", "if_statement", "for_statement", "while_statement", "do_statement",
        "switch_statement", "return_statement", "compound_statement", "break_statement", "continue_statement",
    }
)  # fmt: skip
LOOPS = frozenset({"for_statement", "while_statement", "do_statement"})
_BINDING = re.compile(
    r"__builtin_(?!expect)\w+|_*setjmp|sigsetjmp|longjmp|siglongjmp|v?fork|alloca|strdupa|strndupa|dlsym|__func__|__FUNCTION__"
)
"""Names that depend on the function in which they stand."""
_MACRO = re.compile(
    r"__\w+|[A-Z][A-Z0-9_]*|\w*(?:foreach|for_each|container_of|offsetof)\w*|va_\w+|assert\w*|static_\w+"
)
_DEFINED = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)\(", re.MULTILINE)
_NO_VALUE = frozenset(
    {
        "sizeof_expression", "alignof_expression", "offsetof_expression", "generic_expression", "gnu_asm_expression",
        "array_declarator", "enumerator", "bitfield_clause", "attribute_specifier", "type_descriptor",
        "subscript_designator", "field_designator", "initializer_list", "preproc_if", "preproc_def", "preproc_call",
        "preproc_elif", "preproc_ifdef", "gnu_asm_output_operand", "gnu_asm_input_operand", "attribute_declaration",
        "compound_literal_expression",
    }
)  # fmt: skip
_AROUND_A_BLOCK = frozenset({"parenthesized_expression", "argument_list"})
_HOLDING = frozenset({"if_statement", "for_statement", "while_statement", "do_statement", "switch_statement"})
_SCALAR = re.compile(
    r"(?:(?:const|volatile) )*"
    r"(?:(?:unsigned|signed|long|short|int|char|double)(?: (?:unsigned|signed|long|short|int|char))*"
    r"|u?int(?:8|16|32|64|ptr|max)_t|s?size_t|ptrdiff_t|json_int_t|off_t|_?[Bb]ool)(?: (?:const|volatile))*"
)


def may_change(function: Function) -> bool:
    """Return whether a function may be rewritten at all: its frame and registers must not matter."""
    for node in below(function.node):
        if node.type in ("gnu_asm_expression", "ms_asm_block", "declaration") and node.parent == function.node:
            return False  # a declaration between head and body: parameters of the old kind
        if node.type in ("gnu_asm_expression", "ms_asm_block") or node.is_error:
            return False  # an error: a condition of the preprocessor that cuts a statement, say
        if node.type == "identifier" and _BINDING.fullmatch(text_of(node)):
            return False
    return True


def is_whole(node: Node) -> bool:
    """Return whether a statement can be put between braces where it stands, and something before it.

    A macro that heads a loop looks like a statement without its semicolon: nothing may come behind it.
    """
    before = node.prev_sibling
    while before is not None and before.type == "comment":
        before = before.prev_sibling
    while before is not None and before.children:
        before = before.children[-1]
    if _is_a_blocks_value(node):
        return False
    return not node.has_error and b"#" not in (node.text or b"") and not (before is not None and before.is_missing)


def _is_a_blocks_value(node: Node) -> bool:
    """Return whether a statement is the last one of an expression's block: `({ ...; x; })`, `WRAP({ x; })`."""
    block = node.parent
    if block is None or block.parent is None or block.parent.type not in _AROUND_A_BLOCK:
        return False
    return block.type == "compound_statement" and block.named_children[-1] == node


def may_copy(node: Node) -> bool:
    """Return whether a whole statement can stand in a function twice: it has no labels and no lasting variables."""
    return is_whole(node) and not any(
        inner.type in ("labeled_statement", "storage_class_specifier") for inner in below(node)
    )


def leaves(body: Node, kinds: frozenset[str]) -> bool:
    """Return whether a loop's or switch's body has a `break` or `continue` (`kinds`) of its own."""
    for child in body.children:
        if child.type in kinds:
            return True
        closed = LOOPS if child.type in LOOPS else {"switch_statement"} if child.type == "switch_statement" else ()
        inner = kinds if not closed else kinds - {"break_statement"} if closed is not LOOPS else frozenset()
        if inner and leaves(child, inner):
            return True
    return False


def is_value(node: Node, scene: Scene) -> bool:
    """Return whether an expression is computed at run time for its value, and is neither void nor a place."""
    return _is_wanted(node, scene) and not _is_place(node) and _is_computed(node, _macros(scene.above))


def _is_wanted(node: Node, scene: Scene) -> bool:
    parent = node.parent
    if parent is None:
        return False
    field = next((parent.field_name_for_child(i) for i, child in enumerate(parent.children) if child == node), None)
    match parent.type:
        case "parenthesized_expression":
            above = parent.parent
            if above is not None and above.type in ("if_statement", "while_statement", "do_statement"):
                return True
            return _is_wanted(parent, scene)
        case "conditional_expression":
            return field == "condition" or _is_wanted(parent, scene)
        case "return_statement":
            return not returns_nothing(scene)
        case "init_declarator":
            return field == "value" and not any(
                inner.type == "array_declarator" for inner in below(parent) if inner.end_byte <= node.start_byte
            )
        case "assignment_expression":
            return field == "right"
        case "subscript_expression":
            return field == "index"
        case "argument_list" | "binary_expression" | "unary_expression":
            return True
        case "for_statement":
            return field == "condition"
    return False


def _is_place(node: Node) -> bool:
    """Return whether a node is what is assigned to or pointed at."""
    parent = node.parent
    if parent is None:
        return False
    if parent.type == "assignment_expression":
        return parent.child_by_field_name("left") == node
    if parent.type == "pointer_expression":
        return text_of(parent.child_by_field_name("operator")) == "&"
    return parent.type == "update_expression" or (parent.type == "parenthesized_expression" and _is_place(parent))


def _is_computed(node: Node, macros: frozenset[str]) -> bool:
    """Return whether a node runs: it is in no constant expression and in no argument of a possible macro."""
    inner: Node = node
    above = node.parent
    while above is not None and inner.type not in STATEMENTS:
        if above.type in _NO_VALUE or (
            above.type == "case_statement" and above.child_by_field_name("value") == inner
        ):
            return False
        if above.type == "call_expression" and _may_be_macro(above, node, macros):
            return False
        if above.type == "declaration" and any(
            child.type == "storage_class_specifier" and child.text != b"auto" for child in above.children
        ):
            return False
        if above.type != "compound_statement" and above.type not in _HOLDING and above.has_error:
            return False
        inner, above = above, above.parent
    return inner.type in STATEMENTS and _has_no_error_itself(inner)


def _may_be_macro(call: Node, node: Node, macros: frozenset[str]) -> bool:
    """Return whether a call may be a macro's to which more matters than the value of `node`."""
    name, arguments = text_of(call.child_by_field_name("function")), call.child_by_field_name("arguments")
    if name == "__builtin_expect" and arguments is not None and arguments.named_children:
        return node.end_byte > arguments.named_children[0].end_byte
    return name in macros or _MACRO.fullmatch(name) is not None


@lru_cache(maxsize=64)
def _macros(texts: tuple[bytes, ...]) -> frozenset[str]:
    """Return the function-like macros that texts define: to some it matters how an argument is spelled."""
    return frozenset(name for text in texts for name in _defined(text))


@lru_cache(maxsize=512)
def _defined(text: bytes) -> frozenset[str]:
    return frozenset(name.decode() for name in _DEFINED.findall(text))


def _has_no_error_itself(statement: Node) -> bool:
    return statement.type in _HOLDING or statement.type == "compound_statement" or not statement.has_error


def is_conditional(node: Node) -> bool:
    """Return whether a node stands under a condition of the preprocessor within its function."""
    above = node.parent
    while above is not None and above.type != "function_definition":
        if above.type.startswith("preproc_"):
            return True
        above = above.parent
    return False


def returns_nothing(scene: Scene) -> bool:
    """Return whether the function around a node returns void."""
    return return_type(scene).split()[-1:] in ([], ["void"])


@lru_cache(maxsize=4)  # two judgings' scenes may be worked at side by side
def return_type(scene: Scene) -> str:
    """Return the type as text; empty where it is more than words and stars."""
    node = scene.function.node
    declarator, stars = node.child_by_field_name("declarator"), ""
    while declarator is not None and declarator.type == "pointer_declarator":
        declarator, stars = declarator.child_by_field_name("declarator"), stars + " *"
    if declarator is None or declarator.type != "function_declarator" or declarator.parent is None:
        return ""
    return _specifiers(node) + stars


def _declarations(scene: Scene) -> list[Node]:
    return [*scene.of_type("declaration"), *scene.of_type("parameter_declaration")]


@lru_cache(maxsize=4)  # two judgings' scenes may be worked at side by side
def types_of(scene: Scene) -> dict[str, str]:
    """Return the types of variables that are scalars, pointers or named types, by name; none that has two types."""
    found: dict[str, set[str]] = {}
    for node in _declarations(scene):
        words = _specifiers(node)
        for declarator in node.children_by_field_name("declarator"):
            name, stars = _declared(declarator)
            found.setdefault(name, set()).add(words + stars if words and stars is not None else "")
    return {name: next(iter(types)) for name, types in found.items() if len(types) == 1 and "" not in types}


@lru_cache(maxsize=4)  # two judgings' scenes may be worked at side by side
def names_of(scene: Scene) -> frozenset[str]:
    """Return all that is declared in a function: parameters, variables, arrays."""
    return frozenset(
        _declared(declarator)[0]
        for node in _declarations(scene)
        for declarator in node.children_by_field_name("declarator")
    )


@lru_cache(maxsize=4)  # two judgings' scenes may be worked at side by side
def pointed_at(scene: Scene) -> frozenset[str]:
    """Return names whose address is taken: somebody else may change what they hold."""
    return frozenset(
        name
        for node in scene.of_type("pointer_expression")
        if text_of(node.child_by_field_name("operator")) == "&"
        for name in identifiers(node)
    )


def is_scalar(type_: str) -> bool:
    """Return whether a type is one of numbers or a pointer."""
    return "*" in type_ or _SCALAR.fullmatch(type_) is not None


def identifiers(node: Node) -> Iterator[str]:
    """Yield the identifiers in a node, in their order."""
    yield from (text_of(inner) for inner in (node, *below(node)) if inner.type == "identifier")


def _declared(declarator: Node) -> tuple[str, str | None]:
    """Return a declarator's name, and its stars; None for an array, a function or a pointer to one."""
    stars, plain = "", True
    while declarator.type != "identifier":
        if declarator.type == "pointer_declarator":
            qualifiers = [text_of(child) for child in declarator.children if child.type == "type_qualifier"]
            stars += " ".join([" *", *qualifiers])
        elif declarator.type != "init_declarator":
            plain = False
        inner = declarator.child_by_field_name("declarator")
        if inner is None:
            inner = next((child for child in declarator.named_children if "declarator" in child.type), None)
        if inner is None:
            return text_of(declarator), None
        declarator = inner
    return text_of(declarator), stars if plain else None


def _specifiers(node: Node) -> str:
    """Return the words before a declarator; empty where they hold more than a type that the whole file knows."""
    words: list[str] = []
    for child in node.children:
        named = child.type == "struct_specifier" and child.child_by_field_name("body") is None
        if named or child.type in ("type_qualifier", "primitive_type", "sized_type_specifier", "type_identifier"):
            words.append(" ".join(text_of(child).split()))
        elif child.type == "storage_class_specifier":
            if child.text != b"static" or node.type != "function_definition":
                return ""
        elif "declarator" in child.type or child.type in ("identifier", ",", ";", "=", "compound_statement"):
            continue
        else:
            return ""
    return "" if "__auto_type" in words else " ".join(words)
