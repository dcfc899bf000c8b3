"""Stubs in Go: receivers, type parameters and comments stay, and no import is left without a use."""

import re
from collections.abc import Iterator, Mapping, Sequence

import tree_sitter_go
from tree_sitter import Language, Node

from harness.languages.found import parsed, text_of
from harness.languages.functions import Edit, apply, below
from harness.languages.go.garbage import NOTHING, Garbage, results_of
from harness.languages.stubbing import MESSAGE, Change, Stubbed, StubKind, Target, chosen, refusals

_GRAMMAR = Language(tree_sitter_go.language())
_FUNCTIONS = ("function_declaration", "method_declaration")
_ON_ERROR = "beside the error it gives zero values; a test that only expects an error takes that for right"
COMPILE = 'dirname -- "$@" | sort -u | sed s,^,./, | xargs -d "\\n" go build -o /dev/null'
"""See `Stubs`: the packages of the files."""


def symbols(source: bytes, path: str) -> Mapping[str, str]:  # noqa: ARG001
    """See `Stubs`. A method is `Type.Method`."""
    return refusals(list(_targets(parsed(_GRAMMAR, source))))


def stub(source: bytes, path: str, names: Sequence[str], kind: StubKind) -> Stubbed:
    """See `Stubs`."""
    root = parsed(_GRAMMAR, source)
    targets = chosen(list(_targets(root)), names, path)
    garbage = Garbage(root, path)
    changes = [(target, _change(target, kind, garbage, source)) for target in targets]
    edits = [edit for _, change in changes for edit in change.edits]
    stubbed = apply(source, edits)
    blanked = _blanked(root, _used(root), _used(parsed(_GRAMMAR, stubbed)))
    head = _last_import(root)
    if kind is StubKind.GARBAGE and garbage.is_used:
        edits += [(head, head, garbage.imports.encode()), (len(source), len(source), garbage.functions.encode())]
    elif b"chanceErrors.New(" in stubbed:
        edits.append((head, head, b'\n\nimport chanceErrors "errors"'))
    warnings = tuple(f"{target.name}: {change.warning}" for target, change in changes if change.warning)
    return Stubbed(apply(source, [*edits, *blanked]), warnings)


def _targets(root: Node) -> Iterator[Target]:
    for node in root.named_children:
        if node.type in _FUNCTIONS:
            yield Target(_qualified(node), node, node.child_by_field_name("body"), _refusal(node))


def _qualified(function: Node) -> str:
    """A receiver's type without its pointer and type parameters."""
    name = text_of(function.child_by_field_name("name"))
    receiver = function.child_by_field_name("receiver")
    types = [text_of(node) for node in below(receiver) if node.type == "type_identifier"] if receiver else []
    return f"{types[0]}.{name}" if types else name


def _refusal(function: Node) -> str:
    body, name = function.child_by_field_name("body"), text_of(function.child_by_field_name("name"))
    if function.has_error:
        return "its text isn't Go that can be read"
    if body is None:
        return "its body isn't Go: it is declared here and written elsewhere"
    if function.type == "function_declaration" and name in ("init", "main"):
        return f"{name} runs by itself: without it no test of the package says anything"
    if all(node.type == "comment" for node in body.named_children):
        return "it has no body to take out"
    return ""


def _change(target: Target, kind: StubKind, garbage: Garbage, source: bytes) -> Change:
    assert target.body is not None  # else it is refused
    results = results_of(target.node)
    if kind is StubKind.GARBAGE:
        values = [garbage.value(type_) for type_ in results]
        line = f"return {', '.join(value.text for value in values)}" if results else ""
        doubtful = [value.warning for value in values if value.warning]
        told = [type_ for type_ in results if type_ != "error"]
        warning = next(iter(doubtful), "") if told else NOTHING
    elif results and results[-1] == "error" and _is_free(target.node, ("new", "nil")):
        zeros = [_zero(type_) for type_ in results[:-1]]
        line = f'return {", ".join([*zeros, f"""chanceErrors.New("{MESSAGE}")"""])}'
        warning = _ON_ERROR
    else:
        line, warning = f'panic("{MESSAGE}")', ""
    del source
    body = f"{{\n\t{line}\n}}" if line else "{\n}"
    return Change(((target.body.start_byte, target.body.end_byte, body.encode()),), warning)


def _is_free(function: Node, words: Sequence[str]) -> bool:
    """Whether these words mean in a function what they mean anywhere."""
    body = function.child_by_field_name("body")
    declared = [node for node in below(function) if node.type == "identifier" and node.parent and body
                and node.end_byte <= body.start_byte and node.parent.type == "parameter_declaration"]  # fmt: skip
    return not {text_of(node) for node in declared} & set(words)


def _zero(type_: str) -> str:
    """The zero value of any type."""
    simple = {"string": '""', "bool": "false", "error": "nil", "any": "nil"}
    if re.fullmatch(r"u?int(8|16|32|64)?|float(32|64)|byte|rune|uintptr", type_):
        return "0"
    if type_.startswith(("*", "[]", "map[", "chan ", "<-chan ", "func(", "interface")):
        return "nil"
    return simple.get(type_, f"*new({type_})")


def _used(root: Node) -> set[str]:
    """Names that may be those of packages: what stands before a dot."""
    found: set[str] = set()
    for node in below(root):
        if node.type == "selector_expression":
            operand = node.child_by_field_name("operand")
            if operand is not None and operand.type == "identifier":
                found.add(text_of(operand))
        elif node.type == "package_identifier" and node.parent is not None and node.parent.type != "import_spec":
            found.add(text_of(node))
    return found


def _blanked(root: Node, before: set[str], after: set[str]) -> list[Edit]:
    """Imports whose last use is gone, under the name `_`: the package stays imported."""
    edits: list[Edit] = []
    for spec in (node for node in below(root) if node.type == "import_spec"):
        name, path = spec.child_by_field_name("name"), spec.child_by_field_name("path")
        if path is None or (name is not None and name.type in ("blank_identifier", "dot")):
            continue
        names = {text_of(name)} if name else _package_names(text_of(path).strip('"`'))
        if names & before and not names & after:
            start, end = (name.start_byte, name.end_byte) if name else (path.start_byte, path.start_byte)
            edits.append((start, end, b"_" if name else b"_ "))
    return edits


def _package_names(path: str) -> set[str]:
    """What a package of this path is likely to be called."""
    parts = [part for part in path.split("/") if not re.fullmatch(r"v[0-9]+", part)] or [path]
    last = re.sub(r"\.v[0-9]+$", "", parts[-1])
    bare = re.sub(r"^go-|[-.]go$", "", last)
    return {last, bare, bare.replace("-", "_"), bare.replace("-", ""), bare.rpartition("-")[2]} - {""}


def _last_import(root: Node) -> int:
    """Where another import may stand."""
    places = [node for node in root.named_children if node.type in ("package_clause", "import_declaration")]
    return places[-1].end_byte if places else 0
