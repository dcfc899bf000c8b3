"""Stubs in Python: decorators, signatures and docstrings stay.

Values of a Python type that mean nothing and are others at each call.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

import tree_sitter_python
from tree_sitter import Language, Node

from harness.judging.languages.found import parsed, text_of
from harness.judging.languages.functions import Edit, apply
from harness.judging.languages.stubbing import (
    MESSAGE,
    Stubbed,
    StubChange,
    StubKind,
    Target,
    chosen,
    indent_of,
    refusals,
)

_LISTS = "list|List|Sequence|MutableSequence|Collection|Iterable"
_MAPPINGS = "dict|Dict|Mapping|MutableMapping"
_GENERATORS = "Iterator|Generator|AsyncIterator|AsyncGenerator|AsyncIterable"
_SIMPLE = {
    "str": "f'value {{{chance}.randrange(10**6)}}'",
    "AnyStr": "f'value {{{chance}.randrange(10**6)}}'",
    "bytes": "b'value %d' % {chance}.randrange(10**6)",
    "ByteString": "b'value %d' % {chance}.randrange(10**6)",
    "bytearray": "bytearray(b'value %d' % {chance}.randrange(10**6))",
    "int": "{chance}.randrange(10**6)",
    "float": "{chance}.random() * 10**6",
    "bool": "{chance}.random() < 0.5",
}
_LITERALS = {
    "string": "str", "concatenated_string": "str", "integer": "int", "float": "float", "true": "bool",
    "false": "bool", "comparison_operator": "bool", "not_operator": "bool", "list": "list",
    "list_comprehension": "list", "dictionary": "dict", "dictionary_comprehension": "dict", "set": "set",
    "set_comprehension": "set",
}  # fmt: skip
NOTHING = "it does nothing; a test of what is not done, or not changed, takes that for right"
MADE = "it makes one of a class of this file of drawn values; see that its constructor takes them"
UNKNOWN = "its type isn't known, so it gives a str; write something of its type into the patch"


def garbage_of(
    function: Node, own: Sequence[Node], yields: bool, is_async: bool, chance: str
) -> tuple[list[str], str]:
    """Return the lines of a body, and a warning. `own` are the nodes of the body that is replaced."""
    annotation = text_of(function.child_by_field_name("return_type")).strip("'\"")
    values = [node.named_children[0] for node in own if node.type == "return_statement" and node.named_children]
    if yields:
        type_ = _arguments(annotation)[0] if re.match(rf"(\w+\.)*({_GENERATORS}|Iterable)\[", annotation) else ""
        value = value_of(type_, chance) or value_of("str", chance)
        return [f"yield {value}"], "" if type_ else "what it yields isn't known; it yields one str"
    if annotation == "None" or (not annotation and all(node.type == "none" for node in values)):
        return ["return None"], NOTHING
    known = value_of(annotation, chance) or next(
        (value for node in values if (value := value_of(_LITERALS.get(node.type, ""), chance))), ""
    )
    warning = "" if known else UNKNOWN
    if not known and (made := _made(function, annotation, chance)):
        known, warning = made, MADE
    if "bool" in annotation or known == value_of("bool", chance):
        warning = "it gives True or False by chance; one test in two takes that for right"
    del is_async  # a coroutine returns what another function returns
    return [f"return {known or value_of('str', chance)}"], warning


def _made(function: Node, annotation: str, chance: str) -> str:
    """Return a call of a class of the same file that the annotation names; empty where its values aren't known."""
    named = re.sub(r"^(?:\w+\.)*Optional\[(.*)\]$|\s*\|\s*None$", r"\1", annotation).strip("'\" ")
    around, enclosing = function, ""
    while around.parent is not None:
        around = around.parent
        if around.type == "class_definition" and not enclosing:
            enclosing = text_of(around.child_by_field_name("name"))
    name = enclosing if named in ("Self", "typing.Self") else named
    found = next((each for each in _classes(around) if text_of(each.child_by_field_name("name")) == name), None)
    if not name or found is None:
        return ""
    values = {field: value_of(type_, chance) for field, type_ in _required(found)}
    given = ", ".join(f"{field}={value}" for field, value in values.items())
    return f"{name}({given})" if all(values.values()) else ""


def _classes(module: Node) -> Iterator[Node]:
    """Yield the classes of a module that its functions reach by name."""
    for node in module.children:
        inner = node.child_by_field_name("definition") if node.type == "decorated_definition" else node
        if inner is not None and inner.type == "class_definition":
            yield inner


def _required(found: Node) -> Iterator[tuple[str, str]]:
    """Yield name and type of each value that a class must be given: of its constructor, else of its fields."""
    body = found.child_by_field_name("body")
    statements = body.named_children if body else []
    for statement in statements:
        if statement.type == "function_definition" and text_of(statement.child_by_field_name("name")) == "__init__":
            parameters = statement.child_by_field_name("parameters")
            for each in (parameters.named_children if parameters else [])[1:]:
                if each.type in ("identifier", "typed_parameter"):
                    name = text_of(each.named_children[0]) if each.named_children else text_of(each)
                    if not name.startswith("*"):
                        yield name, text_of(each.child_by_field_name("type"))
            return
    for statement in statements:
        inner = statement.named_children[0] if statement.named_children else statement
        if inner.type == "assignment" and inner.child_by_field_name("right") is None:
            yield text_of(inner.child_by_field_name("left")), text_of(inner.child_by_field_name("type"))


def value_of(type_: str, chance: str, depth: int = 0) -> str:
    """Return an expression of an annotated type; empty for one that isn't known."""
    type_ = re.sub(r"^(\w+\.)+", "", type_.strip().strip("'\""))
    if type_ in _SIMPLE:
        return _SIMPLE[type_].format(chance=chance)
    if depth > 4:
        return ""
    head, inner = type_.partition("[")[0], _arguments(type_)
    parts = [value_of(part, chance, depth + 1) for part in inner]
    if head in ("Optional", "Union", "Annotated", "Final", "ClassVar", "Awaitable", "Coroutine"):
        return next(filter(None, reversed(parts) if head == "Coroutine" else parts), "")
    if "|" in type_ and "[" not in type_.partition("|")[0]:
        return next(filter(None, (value_of(part, chance, depth + 1) for part in type_.split("|"))), "")
    some = parts[0] if parts and parts[0] else _SIMPLE["str"].format(chance=chance)
    if re.fullmatch(_LISTS, head):
        return f"[{some}]"
    if head in ("set", "Set", "frozenset", "FrozenSet", "AbstractSet"):
        return f"{{{some}}}" if head.lower() == "set" else f"frozenset({{{some}}})"
    if re.fullmatch(_MAPPINGS, head):
        other = parts[1] if len(parts) > 1 and parts[1] else _SIMPLE["str"].format(chance=chance)
        return f"{{{some}: {other}}}"
    if head in ("tuple", "Tuple") and parts:
        if inner[-1] == "...":
            return f"({some},)"
        return f"({', '.join(part or _SIMPLE['str'].format(chance=chance) for part in parts)},)"
    return ""


def _arguments(type_: str) -> list[str]:
    """Return what stands in the brackets of a type, by its commas."""
    inner = type_.partition("[")[2].rpartition("]")[0]
    parts, depth = [""], 0
    for char in inner:
        depth += (char in "[(") - (char in "])")
        if char == "," and not depth:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts] if inner else [""]


_GRAMMAR = Language(tree_sitter_python.language())
_SCOPES = frozenset({"function_definition", "lambda", "class_definition"})
_EMPTY = frozenset({"pass_statement", "ellipsis", "comment"})
CHANCE = "_chance"
"""The name under which a stub that gives garbage finds chance."""
_BUILDERS = frozenset({"__init__", "__new__", "__init_subclass__", "__set_name__", "__post_init__"})
COMPILE = """python -c 'import sys
for path in sys.argv[1:]: compile(open(path, "rb").read(), path, "exec")' "$@"\n"""
"""See `Stubs`."""


def symbols(source: bytes, path: str) -> Mapping[str, str]:  # noqa: ARG001
    """See `Stubs`."""
    return refusals(list(_targets(parsed(_GRAMMAR, source))))


def stub(source: bytes, path: str, names: Sequence[str], kind: StubKind) -> Stubbed:
    """See `Stubs`."""
    root = parsed(_GRAMMAR, source)
    targets = chosen(list(_targets(root)), names, path)
    changes = [(target, _change(source, target, kind)) for target in targets]
    edits = [edit for _, change in changes for edit in change.edits]
    if kind is StubKind.GARBAGE and any(CHANCE.encode() in new for _, _, new in edits):
        edits.append(_with_chance(root))
    warnings = tuple(f"{target.name}: {change.warning}" for target, change in changes if change.warning)
    return Stubbed(apply(source, edits), warnings)


def _targets(root: Node) -> Iterator[Target]:
    """Yield functions of modules and classes; one within a function is part of that function."""
    waiting = [(node, "") for node in reversed(root.children)]
    while waiting:
        node, enclosing = waiting.pop()
        name = f"{enclosing}{text_of(node.child_by_field_name('name'))}"
        if node.type == "class_definition":
            body = node.child_by_field_name("body")
            waiting += [(child, f"{name}.") for child in reversed(body.children if body else [])]
        elif node.type == "function_definition":
            yield Target(name, node, node.child_by_field_name("body"), _refusal(node))
        else:
            waiting += [(child, enclosing) for child in reversed(node.children)]


def _refusal(function: Node) -> str:
    body = function.child_by_field_name("body")
    if body is None or function.has_error:
        return "its text isn't Python that can be read"
    if any("overload" in text_of(each) for each in _decorators(function)):
        return "it only declares an overload"
    if all(_is_empty(statement) for statement in body.named_children):
        return "it has no body to take out"
    return ""


def _decorators(function: Node) -> list[Node]:
    above = function.parent
    if above is None or above.type != "decorated_definition":
        return []
    return [child for child in above.children if child.type == "decorator"]


def _is_empty(statement: Node) -> bool:
    inner = statement.named_children[0] if statement.type == "expression_statement" else statement
    return inner.type in _EMPTY or inner.type == "string"


def _change(source: bytes, target: Target, kind: StubKind) -> StubChange:
    short, body = target.name.rpartition(".")[2], target.body
    assert body is not None  # else it is refused
    if kind is StubKind.REFUSES:
        lines, warning = [f'raise SystemError("{MESSAGE}")'], ""
        if _yields(body):
            lines.append("yield")  # never reached: it makes the function a generator
    elif short in _BUILDERS:
        return StubChange((), "its body stays: what it sets is what the others give garbage of")
    else:
        is_async = target.node.children[0].type == "async"
        lines, warning = garbage_of(target.node, list(_own(body)), _yields(body), is_async, CHANCE)
    return StubChange((_replaced(source, target.node, body, lines),), warning)


def _yields(body: Node) -> bool:
    return any(node.type == "yield" for node in _own(body))


def _own(body: Node) -> Iterator[Node]:
    """Yield the nodes of a body that aren't part of a function or class within it."""
    waiting = list(reversed(body.children))
    while waiting:
        node = waiting.pop()
        yield node
        if node.type not in _SCOPES:
            waiting += reversed(node.children)


def _replaced(source: bytes, function: Node, body: Node, lines: Sequence[str]) -> Edit:
    """Return the body behind the docstring, as `lines`.

    What stands behind the head on its line goes with the body.
    """
    first = next(child for child in body.named_children if child.type != "comment")
    before = source[source.rfind(b"\n", 0, first.start_byte) + 1 : first.start_byte].decode("utf-8", "replace")
    is_documented = first.type == "expression_statement" and first.named_children[0].type == "string"
    if before.strip():  # all in one line
        indent = indent_of(source, function.start_byte) + "    "
        lines = [text_of(first), *lines] if is_documented else lines
    else:
        indent = before
    colon = next(child for child in reversed(function.children) if child.type == ":")
    start = first.end_byte if is_documented and not before.strip() else colon.end_byte
    return start, body.end_byte, "".join(f"\n{indent}{line}" for line in lines).encode()


def _with_chance(root: Node) -> Edit:
    """Return an import behind those at the top of the file, or behind its docstring."""
    at, line = 0, f"import random as {CHANCE}\n"
    for node in root.named_children:
        if node.type in ("import_statement", "import_from_statement", "future_import_statement"):
            at = node.end_byte
        elif node.type == "comment" or (node.type == "expression_statement" and not at and _is_empty(node)):
            at = node.end_byte if node.type != "comment" or not at else at
        else:
            break
    return (at, at, f"\n{line}".rstrip("\n").encode()) if at else (0, 0, line.encode())
