"""Stubs in Go: receivers, type parameters and comments stay, and no import is left without a use.

Values of a Go type that mean nothing and are others at each call.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

import tree_sitter_go
from tree_sitter import Language, Node

from harness.judging.languages.found import parsed, text_of
from harness.judging.languages.functions import Edit, apply, below
from harness.judging.languages.stubbing import MESSAGE, Stubbed, StubChange, StubKind, Target, chosen, refusals

NOTHING = "it does nothing; a test of what is not done, or not changed, takes that for right"
_BY_CHANCE = "it gives true or false in turn; one test in two takes that for right"
_INTEGER = r"u?int(8|16|32|64)?|byte|rune|uintptr"
_DEPTH = 3


class Value(NamedTuple):
    """An expression, and what a test could take for right in it."""

    text: str
    warning: str = ""


class Garbage:
    """Garbage for the functions of one file. Named types are looked up in the file itself."""

    def __init__(self, root: Node, path: str) -> None:
        words = re.findall(r"[A-Za-z0-9]+", PurePosixPath(path).stem)
        self._suffix = "".join(word.capitalize() for word in words)
        self._types = {
            text_of(spec.child_by_field_name("name")): spec.child_by_field_name("type")
            for spec in below(root)
            if spec.type == "type_spec" and spec.child_by_field_name("type_parameters") is None
        }
        self.is_used = False

    @property
    def imports(self) -> str:
        """Return imports under names of their own, which collide with no others."""
        lines = ('chanceAtomic "sync/atomic"', 'chanceTime "time"')
        return "\n\nimport (\n" + "".join(f"\t{line}\n" for line in lines) + ")"

    @property
    def functions(self) -> str:
        """Return what gives a number, and another one each time, and a word with it."""
        number, word, turns = self._number, self._word, f"chanceTurns{self._suffix}"
        return (
            f"\nvar {turns} = uint32(chanceTime.Now().UnixNano())\n"
            f"\nfunc {number}() int {{\n"
            f"\treturn 100003 + int(uint64(chanceAtomic.AddUint32(&{turns}, 1))*48271%899981)\n}}\n"
            f'\nfunc {word}() string {{\n\tword := []byte("word")\n'
            f"\tfor n := {number}(); n > 0; n /= 10 {{\n\t\tword = append(word, byte('0'+n%10))\n\t}}\n"
            "\treturn string(word)\n}\n"
        )

    @property
    def _number(self) -> str:
        return f"chanceNumber{self._suffix}"

    @property
    def _word(self) -> str:
        return f"chanceWord{self._suffix}"

    def value(self, type_: str, depth: int = 0) -> Value:
        """Return a value of a type as it is written in the file."""
        simple = self._simple(type_)
        if simple:
            self.is_used = True
            return simple
        if type_ == "error":
            return Value("nil")
        if depth < _DEPTH and type_.startswith("[]"):
            return Value(f"{type_}{{{self.value(type_[2:], depth + 1).text}}}")
        found = re.fullmatch(r"map\[(\w+)\](.+)", type_)
        if found and depth < _DEPTH:
            key, value = self.value(found[1], depth + 1), self.value(found[2], depth + 1)
            return Value(f"{type_}{{{key.text}: {value.text}}}")
        if depth < _DEPTH and type_.startswith("*") and (inner := self._named(type_[1:], depth)).text.endswith("}"):
            return Value(f"&{inner.text}", inner.warning)
        named = self._named(type_, depth) if depth < _DEPTH else Value("")
        if named.text:
            return named
        if type_.startswith("*"):
            return Value(f"new({type_[1:]})", f"it gives the zero value of {type_[1:]}; a test may expect that")
        return Value(f"*new({type_})", f"it gives the zero value of {type_}; a test may expect that")

    def _simple(self, type_: str) -> Value | None:
        if type_ == "string":
            return Value(f"{self._word}()")
        if type_ == "bool":
            return Value(f"{self._number}()%2 == 0", _BY_CHANCE)
        if re.fullmatch(_INTEGER, type_) or type_ in ("float32", "float64"):
            return Value(f"{self._number}()" if type_ == "int" else f"{type_}({self._number}())")
        if type_ in ("[]byte", "json.RawMessage"):
            return Value(f"{type_}({self._word}())")
        return None

    def _named(self, type_: str, depth: int) -> Value:
        """Return a value of a type of the file: another name for a simple one, a list, or a struct of such fields."""
        defined = self._types.get(type_)
        if defined is None:
            return Value("")
        if defined.type == "struct_type":
            fields = self._fields(defined, depth)
            return Value(f"{type_}{{{', '.join(fields)}}}") if fields else Value("")
        text = text_of(defined)
        simple = self._simple(text)
        if simple:
            self.is_used = True
            return Value(f"{type_}({simple.text})", simple.warning)
        if text.startswith(("[]", "map[")):
            return Value(f"{type_}({self.value(text, depth + 1).text})")
        return Value("")

    def _fields(self, struct: Node, depth: int) -> list[str]:
        found: list[str] = []
        for field in (node for node in below(struct) if node.type == "field_declaration"):
            simple = self._simple(text_of(field.child_by_field_name("type"))) if depth < _DEPTH else None
            owner = field.parent.parent if field.parent else None
            if simple and owner == struct:
                self.is_used = True
                found += [f"{text_of(name)}: {simple.text}" for name in field.children_by_field_name("name")
                          if text_of(name) != "_"]  # fmt: skip
        return found


def results_of(function: Node) -> list[str]:
    """Return the types of a function's results, in order."""
    result = function.child_by_field_name("result")
    if result is None:
        return []
    if result.type != "parameter_list":
        return [text_of(result)]
    types: list[str] = []
    for each in result.named_children:
        if each.type == "parameter_declaration":
            names = each.children_by_field_name("name")
            types += [text_of(each.child_by_field_name("type"))] * max(1, len(names))
    return types


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
    """Return a receiver's type without its pointer and type parameters."""
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


def _change(target: Target, kind: StubKind, garbage: Garbage, source: bytes) -> StubChange:
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
    return StubChange(((target.body.start_byte, target.body.end_byte, body.encode()),), warning)


def _is_free(function: Node, words: Sequence[str]) -> bool:
    """Return whether these words mean in a function what they mean anywhere."""
    body = function.child_by_field_name("body")
    declared = [node for node in below(function) if node.type == "identifier" and node.parent and body
                and node.end_byte <= body.start_byte and node.parent.type == "parameter_declaration"]  # fmt: skip
    return not {text_of(node) for node in declared} & set(words)


def _zero(type_: str) -> str:
    """Return the zero value of any type."""
    simple = {"string": '""', "bool": "false", "error": "nil", "any": "nil"}
    if re.fullmatch(r"u?int(8|16|32|64)?|float(32|64)|byte|rune|uintptr", type_):
        return "0"
    if type_.startswith(("*", "[]", "map[", "chan ", "<-chan ", "func(", "interface")):
        return "nil"
    return simple.get(type_, f"*new({type_})")


def _used(root: Node) -> set[str]:
    """Return names that may be those of packages: what stands before a dot."""
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
    """Rename imports whose last use is gone to `_`: the package stays imported."""
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
    """Return what a package of this path is likely to be called."""
    parts = [part for part in path.split("/") if not re.fullmatch(r"v[0-9]+", part)] or [path]
    last = re.sub(r"\.v[0-9]+$", "", parts[-1])
    bare = re.sub(r"^go-|[-.]go$", "", last)
    return {last, bare, bare.replace("-", "_"), bare.replace("-", ""), bare.rpartition("-")[2]} - {""}


def _last_import(root: Node) -> int:
    """Return where another import may stand."""
    places = [node for node in root.named_children if node.type in ("package_clause", "import_declaration")]
    return places[-1].end_byte if places else 0
