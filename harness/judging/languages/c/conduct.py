"""Means of C that behaviour doesn't need: loading libraries, code read as data, compilers, disassemblers."""

import re
from collections.abc import Mapping, Sequence

from tree_sitter import Node

from harness.judging.languages.c.includes import Includes, included, literal_path
from harness.judging.languages.c.means import (
    ADDRESSES,
    ASSEMBLER,
    CALLS,
    COPIES,
    FOLDERS,
    FORMATS,
    OPENERS,
    OTHER_NAMES,
    READERS,
    RENAMES,
    RUNNERS,
    SHELL,
    SHELL_SOURCE,
    SOURCE,
    SYMBOLS,
    WRITING,
)
from harness.judging.languages.c.names import FileNames, FunctionNames
from harness.judging.languages.c.types import ByteViews, data_types, is_data
from harness.judging.languages.c.values import Values
from harness.judging.languages.c.written import bare, read
from harness.judging.languages.conduct import (
    NUMBERED,
    OF_NUMBERS,
    TAKING_PATHS,
    Around,
    Conduct,
    FileRules,
    Remark,
    Rule,
    Shown,
    Sources,
    command_words,
    given_to,
    is_of_descriptors,
    place_words,
    shell_words,
    sights,
    words_of,
)
from harness.judging.languages.dotted_names import name_of
from harness.judging.languages.found import text_of
from harness.judging.languages.pathnames import UNKNOWN

_PRAGMA = re.compile(r'_Pragma\s*\(\s*L?"\s*(?:redefine_extname\b|weak\s+\w+\s*=)')
_INCLUDES = words_of("include include_next import embed")
_PROTECTIONS = frozenset({"PROT_NONE", "PROT_READ", "PROT_WRITE"})
_PROTECTION = r"PROT_(?:NONE|READ|WRITE)"
_PROTECTS = re.compile(rf"\bmprotect\b(\s*\([^;{{}}]{{0,200}},\s*{_PROTECTION}(\s*\|\s*{_PROTECTION}){{0,2}}\s*\))?")
_WORD = re.compile(r"\w+")
_MAKES = re.compile(rf"\b({'|'.join(sorted(NUMBERED))})\s*\(".encode())
_EXAMPLE = "reads /proc"
"""Words on a path that nothing reads: it is what tests give to the code."""
_MOST_WORDS = 20
"""Words of a command that are looked at."""
_MOST_COMMAND = 2_000
"""Characters of a command line that are looked at."""
_PATHS = re.compile(rb'"(/[^"\n]{1,200})"')


def _rules(sources: Sources) -> FileRules:
    others = included(sources.own)
    functions = FunctionNames(sources, others)

    def rules(root: Node, path: str) -> Mapping[str, Rule]:
        return _File(functions.of_file(root, path), root, path, includes).rules

    def inspects(text: bytes, path: str) -> bool:
        root = read(text, path)
        words = _WORD.findall(bare(text_of(root)))
        return not (CALLS | SYMBOLS | ASSEMBLER).isdisjoint(words) or any(sights(root, rules(root, path)))

    includes = Includes(sources, others, inspects)
    return rules


class _File:
    """One file, and which of its names are functions of the repository."""

    def __init__(self, names: FileNames, root: Node, path: str, includes: Includes) -> None:
        self._names, self._path, self._includes, text = names, path, includes, root.text or b""
        self._values, self._types, self._views = Values(root), data_types(root), ByteViews(root)
        self._has_descriptors = any(is_of_descriptors(path.decode(errors="replace")) for path in _PATHS.findall(text))
        self._is_numbered = self._has_descriptors or _MAKES.search(text) is not None
        self.rules: Mapping[str, Rule] = {
            "preproc_include": self._include,
            "preproc_call": self._directive,
            "system_lib_string": lambda node, around: (self._included(text_of(node)), around),
            "preproc_def": self._macro,
            "preproc_function_def": self._macro,
            "call_expression": self._call,
            "string_literal": self._string,
            "concatenated_string": self._string,
            "cast_expression": self._cast,
            "declaration": self._declaration,
            "assignment_expression": self._assigned,
            "compound_literal_expression": self._made,
            "gnu_asm_expression": lambda node, around: ("has machine code", around),  # noqa: ARG005
            "attribute": self._attribute,
            "identifier": self._identifier,
            "field_identifier": self._field,
        }

    def _include(self, node: Node, around: Around) -> tuple[str, Around]:
        path = node.child_by_field_name("path")
        is_own_node = path is not None and path.type == "system_lib_string"
        return "" if is_own_node else self._included(text_of(path)), around

    def _included(self, path: str) -> str:
        return self._includes.words(path, self._path)

    def _directive(self, node: Node, around: Around) -> tuple[str, Around]:
        """Mark what the grammar has no form of its own for."""
        directive = text_of(node.child_by_field_name("directive")).lstrip("#").strip()
        argument = text_of(node.child_by_field_name("argument"))
        if directive in _INCLUDES:
            is_code = directive != "embed"
            return self._includes.words(literal_path(argument), self._path, is_code=is_code), around
        renames = RENAMES.match(bare(argument).replace("\\\n", " ")) if directive == "pragma" else None
        return f"gives a name another meaning by {renames[1] or renames[2]}" if renames else "", around

    def _macro(self, node: Node, around: Around) -> tuple[str, Around]:
        """Mark what stands for a means of the list; a name that is pasted together is that name."""
        given = text_of(node.child_by_field_name("value"))
        if _PRAGMA.search(given):
            return "gives a name another meaning by a pragma", around
        value = bare(given)
        words = set(_WORD.findall(value))
        if words & ASSEMBLER:
            return "has machine code", around
        others = words & OTHER_NAMES
        if others and ("alias" not in others or value.strip() == "alias" or "__attribute__" in words):
            return "gives a name another meaning by an attribute", around
        name, parameters = (text_of(node.child_by_field_name(field)) for field in ("name", "parameters"))
        listed = (words & (CALLS | SYMBOLS)) - set(_WORD.findall(parameters))
        if all(found[1] for found in _PROTECTS.finditer(value)) and not self._defines_protections():
            listed -= {"mprotect"}
        if "##" in value:
            pieces = _WORD.findall("".join(part.strip() for part in value.split("##")))
            listed |= set(pieces) & (CALLS | SYMBOLS)
        found = sorted(word for word in listed if word == name or not self._names.has(word))
        return f"names {found[0]}" if found else "", around

    def _call(self, node: Node, around: Around) -> Shown:
        name, given = name_of(node.child_by_field_name("function")), given_to(node)
        if name in CALLS and not self._names.defines(name):
            return "" if name == "mprotect" and self._guards(given) else f"calls {name}", around
        if name in OTHER_NAMES and _is_attribute(node):
            return f"gives a name another meaning by {name}", around
        if name == "_Pragma" and given and RENAMES.match(_literal(given[0]) or ""):
            return "gives a name another meaning by a pragma", around
        pasted = sorted(self._values.pasted(name, [text_of(item) for item in given if item.type == "identifier"]))
        if found := [word for word in pasted if word in CALLS | SYMBOLS and not self._names.defines(word)]:
            return Remark(f"names {found[0]}", around, given)
        for place, called in self._values.handed(name):
            shown = self._used([called], [given[place]] * 2, around) if place < len(given) else ("", around)
            texts = self._values.texts(given[place]) if shown[1] != around else []
            words = [shown[0], *(self._place(text, shown[1]) for text in texts)]
            if any(words):
                return Remark(next(filter(None, words)), around, [given[place]])
        return self._used(self._values.called(name), given, around)

    def _used(self, names: Sequence[str], given: Sequence[Node], around: Around) -> Shown:
        """Return what a call of one of some names does with what it is given."""
        if given and not SHELL.isdisjoint(names):
            words = next(filter(None, map(_shell, self._values.texts(given[0]))), "")
            return Remark(words, around | Around.RUNNING, given)
        if runner := next(filter(RUNNERS.fullmatch, names), ""):
            return Remark(
                self._runs(given[runner.startswith(("posix", "execveat")) :]), around | Around.RUNNING, given
            )
        if self._has_descriptors and not {"readlink", "readlinkat"}.isdisjoint(names):
            return OF_NUMBERS, around
        if given and not FOLDERS.isdisjoint(names):
            places = (place_words(text.rstrip("/") + "/", Around.READING) for text in self._values.texts(given[0]))
            return Remark(next(filter(None, places), ""), around, given)
        if copies := [name for name in names if COPIES.fullmatch(name)]:
            data = given[:2] if "bsearch" in copies else given
            if any(self._names.is_foreign(item) for item in data):
                return Remark("reads a function as data", around, given)
        if not FORMATS.keys().isdisjoint(names) and any(map(self._names.is_foreign, given)):
            is_address = any("%p" in text for item in given for text in self._values.texts(item))
            return Remark("reads a function as data" if is_address else "", around, given)
        if READERS.isdisjoint(names) or self._writes(given):
            return "", around
        is_program = not OPENERS.isdisjoint(names) and any(map(self._values.is_program, given))
        return Remark("reads the running program" if is_program else "", around | Around.READING, given)

    def _writes(self, given: Sequence[Node]) -> bool:
        """Return whether a call that opens a file can't read it."""
        return len(given) > 1 and WRITING.issuperset(self._values.texts(given[1]))

    def _runs(self, command: Sequence[Node]) -> str:
        """Return what a command runs of the tools, in words."""
        columns = [self._values.texts(item) for item in command[:_MOST_WORDS]]
        for which in range(max(map(len, columns), default=0)):
            program, *others = [texts[min(which, len(texts) - 1)] for texts in columns]
            if found := command_words([None if UNKNOWN in program else program, *others]):
                return found
        return ""

    def _guards(self, given: list[Node]) -> bool:
        """Return whether a call of mprotect only takes rights from data, or gives them back."""
        words = [word.strip() for word in text_of(given[2]).split("|")] if len(given) == 3 else ["?"]
        is_plain = set(words) <= _PROTECTIONS | {"0"} and not self._defines_protections()
        return is_plain and not self._names.is_foreign(given[0])

    def _defines_protections(self) -> bool:
        return any(self._names.defines(word) for word in _PROTECTIONS)

    def _attribute(self, node: Node, around: Around) -> tuple[str, Around]:
        name = text_of(node.child_by_field_name("name"))
        return f"gives a name another meaning by {name}" if name in OTHER_NAMES else "", around

    def _string(self, node: Node, around: Around) -> tuple[str, Around]:
        return next(filter(None, (self._place(text, around) for text in self._values.texts(node))), ""), around

    @staticmethod
    def _place(text: str, around: Around) -> str:
        """Return what a text names, in words."""
        if Around.READING in around and SOURCE.fullmatch(text):
            return "reads a file of code"
        words = place_words(text, around)
        return words if around & TAKING_PATHS or words != _EXAMPLE else ""

    def _cast(self, node: Node, around: Around) -> tuple[str, Around]:
        value, kind = node.child_by_field_name("value"), node.child_by_field_name("type")
        if kind is None or value is None or not self._names.is_foreign(value):
            return "", around
        is_data_ = is_data(kind, kind.child_by_field_name("declarator"), self._types)
        return "casts a function to data" if is_data_ else "", around

    def _declaration(self, node: Node, around: Around) -> tuple[str, Around]:
        """Mark data of another file that is declared with a function's name: that is the function's code."""
        if self._names.functions_as_data(node):
            return "declares a function as data", around
        is_view = self._views.has_type(node)
        for declarator in node.children_by_field_name("declarator"):
            inner, value = (declarator.child_by_field_name(field) for field in ("declarator", "value"))
            if is_view and value is not None and self._has_foreign(value):
                return "takes a function for data", around
            if inner is None or value is None or inner.type != "pointer_declarator":
                continue
            if self._names.is_foreign(value) and is_data(node, inner, self._types):
                return "takes a function for data", around
        return "", around

    def _assigned(self, node: Node, around: Around) -> tuple[str, Around]:
        """Mark a function that is put into a union which shows it as bytes."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        field = text_of(left.child_by_field_name("field")) if left is not None else ""
        is_taken = field in self._views.fields and right is not None and self._names.is_foreign(right)
        return "takes a function for data" if is_taken else "", around

    def _made(self, node: Node, around: Around) -> tuple[str, Around]:
        kind, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        is_view = kind is not None and self._views.has_type(kind)
        return "takes a function for data" if is_view and self._has_foreign(value) else "", around

    def _has_foreign(self, value: Node | None) -> bool:
        """Return whether a list that a union is made of has a function of the repository."""
        items = value.named_children[:_MOST_WORDS] if value is not None and value.type == "initializer_list" else []
        return any(self._names.is_foreign(item.child_by_field_name("value") or item) for item in items)

    def _identifier(self, node: Node, around: Around) -> tuple[str, Around]:
        name = text_of(node)
        if name in CALLS:
            is_marked = not (_is_judged_elsewhere(node) or self._names.defines(name) or self._names.is_own(node))
        else:
            is_marked = name in SYMBOLS and not (name in ADDRESSES and self._names.is_own(node))
        if is_marked or not around & TAKING_PATHS:
            return f"names {name}" if is_marked else "", around
        return self._string(node, around)

    def _field(self, node: Node, around: Around) -> tuple[str, Around]:
        is_number = self._is_numbered and text_of(node) in ("st_ino", "stx_ino")
        return OF_NUMBERS if is_number else "", around


def _shell(command: str) -> str:
    """Return what a command line for a shell runs or reads, in words."""
    return shell_words(command) or ("reads a file of code" if SHELL_SOURCE.search(command[:_MOST_COMMAND]) else "")


def _is_judged_elsewhere(name: Node) -> bool:
    """Return whether a name is that of a call or of a macro, or of a macro's parameter."""
    around = name.parent
    if around is not None and around.type == "call_expression":
        return around.child_by_field_name("function") == name
    return around is not None and around.type in ("preproc_def", "preproc_function_def", "preproc_params")


def _is_attribute(call: Node) -> bool:
    around = call.parent.parent if call.parent is not None else None
    return around is not None and around.type == "attribute_specifier"


def _literal(node: Node) -> str | None:
    if node.type == "concatenated_string":
        return "".join(_literal(child) or "" for child in node.named_children)
    if node.type != "string_literal":
        return None
    return "".join(text_of(child) for child in node.named_children if text_of(child) != "\\\n")


CONDUCT = Conduct(
    parse=read,
    rules=_rules,
    literals=frozenset({"string_literal", "number_literal", "char_literal", "concatenated_string"}),
    declaring=(".h", ".c"),
    included=included,
)
