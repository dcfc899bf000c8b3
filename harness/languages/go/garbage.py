"""Values of a Go type that mean nothing and are others at each call."""

import re
from pathlib import PurePosixPath
from typing import NamedTuple

from tree_sitter import Node

from harness.languages.found import text_of
from harness.languages.functions import below

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
        """Under names of their own, so that they are in nobody's way."""
        lines = ('chanceAtomic "sync/atomic"', 'chanceTime "time"')
        return "\n\nimport (\n" + "".join(f"\t{line}\n" for line in lines) + ")"

    @property
    def functions(self) -> str:
        """What gives a number, and another one each time, and a word with it."""
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
        """A value of a type as it is written in the file."""
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
        """Of a type of the file: another name for a simple one, a list, or a struct of such fields."""
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
    """The types of a function's results, in order."""
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
