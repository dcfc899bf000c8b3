"""Values of a Python type that mean nothing and are others at each call."""

import re
from collections.abc import Sequence

from tree_sitter import Node

from harness.languages.found import text_of

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
UNKNOWN = "its type isn't known, so it gives a str; write something of its type into the patch"


def garbage_of(
    function: Node, own: Sequence[Node], yields: bool, is_async: bool, chance: str
) -> tuple[list[str], str]:
    """The lines of a body, and a warning. `own` are the nodes of the body that is replaced."""
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
    if "bool" in annotation or known == value_of("bool", chance):
        warning = "it gives True or False by chance; one test in two takes that for right"
    del is_async  # a coroutine returns what another function returns
    return [f"return {known or value_of('str', chance)}"], warning


def value_of(type_: str, chance: str, depth: int = 0) -> str:
    """An expression of an annotated type; empty for one that isn't known."""
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
    """What stands in the brackets of a type, by its commas."""
    inner = type_.partition("[")[2].rpartition("]")[0]
    parts, depth = [""], 0
    for char in inner:
        depth += (char in "[(") - (char in "])")
        if char == "," and not depth:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts] if inner else [""]
