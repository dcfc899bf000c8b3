"""Stubs in TypeScript: overloads, types, decorators and comments stay."""

import re
from collections.abc import Iterator, Mapping, Sequence

import tree_sitter_typescript
from tree_sitter import Language, Node

from harness.judging.languages.found import parsed, text_of
from harness.judging.languages.functions import apply
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
from harness.judging.languages.typescript.rewriting.catalogue import is_constructor, names_around
from harness.judging.languages.typescript.rewriting.reading import FUNCTIONS

_GRAMMAR = Language(tree_sitter_typescript.language_typescript())
_WITH_TAGS = Language(tree_sitter_typescript.language_tsx())
_SIMPLE = {
    "string": "`value ${Math.floor(Math.random() * 1e6)}`",
    "number": "Math.floor(Math.random() * 1e6)",
    "boolean": "Math.random() < 0.5",
    "bigint": "BigInt(Math.floor(Math.random() * 1e6))",
    "Date": "new Date(Math.floor(Math.random() * 1e12))",
}
_NOTHING = "it does nothing; a test of what is not done, or not changed, takes that for right"
_UNKNOWN = "its type isn't known, so it gives an object; write something of its type into the patch"
_BY_CHANCE = "it gives true or false by chance; one test in two takes that for right"
COMPILE = """node -e '
const { readFileSync } = require("node:fs");
const { transformSync } = require("/node_modules/esbuild");
const options = { loader: "ts", target: "esnext", tsconfigRaw: "{}", logLevel: "silent" };
for (const path of process.argv.slice(1)) transformSync(readFileSync(path, "utf8"), options);' "$@"\n"""
"""See `Stubs`: esbuild, as the run script has it. It checks no types."""


def symbols(source: bytes, path: str) -> Mapping[str, str]:
    """See `Stubs`. `Class.method`, `constant`, `constant.key`."""
    return refusals(list(_targets(_root(source, path))))


def stub(source: bytes, path: str, names: Sequence[str], kind: StubKind) -> Stubbed:
    """See `Stubs`."""
    targets = chosen(list(_targets(_root(source, path))), names, path)
    changes = [(target, _change(source, target, kind)) for target in targets]
    edits = [edit for _, change in changes for edit in change.edits]
    warnings = tuple(f"{target.name}: {change.warning}" for target, change in changes if change.warning)
    return Stubbed(apply(source, edits), warnings)


def _root(source: bytes, path: str) -> Node:
    return parsed(_GRAMMAR if path.endswith((".ts", ".mts", ".cts")) else _WITH_TAGS, source)


def _targets(root: Node) -> Iterator[Target]:
    """Yield outermost functions that have a name; one within a function is part of that function."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        body = node.child_by_field_name("body")
        if node.type in FUNCTIONS and body is not None and (name := names_around(node)):
            yield Target(name, node, body, _refusal(node, body))
            continue
        waiting += reversed(node.children)


def _refusal(function: Node, body: Node) -> str:
    if function.has_error:
        return "its text isn't TypeScript that can be read"
    if body.type == "statement_block" and all(node.type == "comment" for node in body.named_children):
        return "it has no body to take out"
    return ""


def _change(source: bytes, target: Target, kind: StubKind) -> StubChange:
    body = target.body
    assert body is not None  # else it is refused
    if kind is StubKind.REFUSES:
        line, warning = f'throw new Error("{MESSAGE}");', ""
    elif is_constructor(target.node):
        return StubChange((), "its body stays: what it sets is what the others give garbage of")
    else:
        line, warning = _garbage(target.node, body)
    indent = indent_of(source, target.node.start_byte)
    text = f"{{\n{indent}  {line}\n{indent}}}" if line else "{}"
    return StubChange(((body.start_byte, body.end_byte, text.encode()),), warning)


def _garbage(function: Node, body: Node) -> tuple[str, str]:
    annotation = text_of(function.child_by_field_name("return_type")).lstrip(":").strip()
    is_generator = any(child.type == "*" for child in function.children)
    if is_generator:
        return f"yield {_SIMPLE['string']} as any;", "what it yields isn't known; it yields one string"
    if text_of(function.child_by_field_name("name")) and any(child.type == "set" for child in function.children):
        return "", _NOTHING
    if re.match(r"asserts\b", annotation) or annotation in ("void", "Promise<void>", "never", "undefined"):
        return "", _NOTHING
    if re.search(r"^\w+ is ", annotation):
        return f"return {_SIMPLE['boolean']};", _BY_CHANCE
    if annotation:
        value = value_of(annotation)
    else:
        value = _like(body)
        if not value and body.type == "statement_block" and not _returns(body):
            return "", _NOTHING
    warning = _BY_CHANCE if value == _SIMPLE["boolean"] else "" if value else _UNKNOWN
    return f"return {value or f'{{ [{_STRING}]: {_STRING} }}'} as any;", warning


_STRING = _SIMPLE["string"]


def _returns(body: Node) -> list[Node]:
    """Return what a function returns, those within it left out."""
    found, waiting = [], list(reversed(body.children))
    while waiting:
        node = waiting.pop()
        if node.type == "return_statement" and node.named_children:
            found.append(node.named_children[0])
        elif node.type not in FUNCTIONS:
            waiting += reversed(node.children)
    return found


def _like(body: Node) -> str:
    """Return a value of the type that the body itself gives, where its text shows which."""
    shown = {"string": "string", "template_string": "string", "number": "number", "true": "boolean",
             "false": "boolean", "array": "unknown[]"}  # fmt: skip
    for node in _returns(body) if body.type == "statement_block" else [body]:
        if node.type in shown:
            return value_of(shown[node.type])
        operator = text_of(node.child_by_field_name("operator"))
        if node.type in ("binary_expression", "unary_expression") and re.fullmatch(r"[!=<>]=*|instanceof", operator):
            return _SIMPLE["boolean"]
    return ""


def value_of(type_: str) -> str:
    """Return an expression of an annotated type; empty for one that isn't known."""
    type_ = type_.strip()
    if type_ in _SIMPLE:
        return _SIMPLE[type_]
    if found := re.fullmatch(r"(?:Promise|Readonly|NonNullable|Awaited)<(.*)>", type_, re.DOTALL):
        return value_of(found[1])
    if re.fullmatch(r"(?:readonly )?[^|]*\[\]|(?:Readonly)?Array<.*>", type_, re.DOTALL):
        inner = re.sub(r"^readonly ", "", type_).removesuffix("[]")
        inner = re.sub(r"^(Readonly)?Array<(.*)>$", r"\2", inner, flags=re.DOTALL)
        return f"[{value_of(inner) or _STRING}]"
    if found := re.fullmatch(r"Record<\s*string\s*,(.*)>", type_, re.DOTALL):
        return f"{{ [{_STRING}]: {value_of(found[1]) or _STRING} }}"
    if "|" in type_ and "<" not in type_ and "(" not in type_:
        return next(filter(None, map(value_of, type_.split("|"))), "")
    return _STRING if re.fullmatch(r"""["'`].*["'`]""", type_) else ""
