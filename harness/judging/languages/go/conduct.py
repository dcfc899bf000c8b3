"""Means of Go that behaviour doesn't need: packages that read code, functions as pointers, embedded sources."""

import re
from collections.abc import Iterator, Mapping, Sequence

import tree_sitter_go
from tree_sitter import Language, Node

from harness.judging.languages.conduct import (
    NUMBERED,
    OF_NUMBERS,
    SHELLS,
    TAKING_PATHS,
    Around,
    Conduct,
    Remark,
    Rule,
    Shown,
    command_words,
    given_to,
    is_of_descriptors,
    last_part,
    place_words,
    scan_words,
)
from harness.judging.languages.dotted_names import bare, name_of
from harness.judging.languages.found import nodes_of, parsed, text_of
from harness.judging.languages.go.data_names import DataNames
from harness.judging.languages.go.judged import Judged
from harness.judging.languages.go.means import (
    ADDRESSES,
    COMMON,
    EMBEDDED,
    FOLDER_READERS,
    FOLDERS,
    GO_FLAGS,
    MOVES,
    NAMELESS,
    NAMES,
    PACKAGES,
    PREDECLARED,
    PRINTERS,
    RAW_CALLS,
    READERS,
    RUNNERS,
    SIZES,
    SOURCE,
)
from harness.judging.languages.go.values import Values, elements_of, summands, writes_only
from harness.judging.languages.pathnames import UNKNOWN, joins

_GRAMMAR = Language(tree_sitter_go.language())
_EMBEDS = re.compile(r"//go:embed\s")
_MOST_COMMENT = 400
_LINKS = re.compile(r"//go:linkname\s")
_DECLARING = frozenset({"const_declaration", "var_declaration", "type_declaration"})
_SHELL_OPTION = re.compile(r"-[a-zA-Z]*c")
_UNKNOWN_FOLDER = re.compile(r"(?<!\S)\$(?=/)")
_EXAMPLE = "reads /proc"
"""Words on a path that nothing reads: it is what tests give to the code."""
_MOST_WORDS = 20
"""Words of a command that are looked at, and meanings of each."""


def _rules(root: Node, _path: str) -> Mapping[str, Rule]:
    return _File(root).rules


class _File:
    """One file: the names under which its packages are imported, and what its names stand for."""

    def __init__(self, root: Node) -> None:
        self._imported: dict[str, str] = {}
        self._is_numbered = self._has_descriptors = self._is_outside = self._has_environment = False
        self._unsafe, self._spared = set[str](), set[int]()
        """What the file takes of the package `unsafe`, and selectors by their ids that need no mark."""
        self._has_flags = GO_FLAGS.search(root.text or b"") is not None
        self._moves = MOVES.search(root.text or b"") is not None
        for node in nodes_of(root):
            if node.type == "import_spec":
                last = _path(node).rpartition("/")[2]
                self._imported[text_of(node.child_by_field_name("name")) or last] = last
            elif node.type in ("selector_expression", "qualified_type"):
                of, dot, name = name_of(node).partition(".")
                self._unsafe |= {name or dot} if of == "unsafe" else set()
            elif node.type == "package_clause":
                self._is_outside = text_of(node).endswith("_test")
            elif node.type == "field_identifier":
                self._is_numbered |= text_of(node) in NUMBERED
                self._has_environment |= text_of(node) == "Environ"
            elif node.type in ("interpreted_string_literal", "raw_string_literal"):
                self._has_descriptors |= is_of_descriptors(_literal(node))
        self._is_numbered |= self._has_descriptors
        self._values = Values(root, self._imported)
        judged, self._data = Judged(root, self._values.resolved), DataNames(root)
        self._parts = set[int]()
        """Sums, by their ids, that are sides of others."""
        self._predeclared = {} if self._is_outside else _predeclared(root)
        self.rules: Mapping[str, Rule] = {
            "import_spec": self._import,
            "selector_expression": self._selector,
            "call_expression": self._call,
            "interpreted_string_literal": self._string,
            "raw_string_literal": self._string,
            "identifier": self._identifier,
            "comment": self._comment,
            "binary_expression": self._sum,
            "composite_literal": self._made,
            **dict.fromkeys(("function_declaration", "const_spec", "var_spec", "type_spec"), self._declared),
            **judged.rules,
        }

    def _import(self, node: Node, around: Around) -> tuple[str, Around]:
        path = _path(node)
        if text_of(node.child_by_field_name("name")) == "." and path in NAMELESS:
            return f"imports {path} without its name", around
        is_of_sizes = path == "unsafe" and bool(self._unsafe) and self._unsafe <= SIZES
        is_renamed = node.child_by_field_name("name") is not None
        is_listed = PACKAGES.fullmatch(path) is not None and (is_renamed or not is_of_sizes)
        return f"imports {path}" if is_listed else "", around

    def _declared(self, node: Node, around: Around) -> Shown:
        """Mark names of the language that a file gives another meaning for the package that it tests."""
        name = self._predeclared.get(node.id)
        return Remark(f"gives {text_of(name)} another meaning", around, [name]) if name else ("", around)

    def _selector(self, node: Node, around: Around) -> tuple[str, Around]:
        name = self._values.resolved(name_of(node))
        if RAW_CALLS.fullmatch(name) or (name in NAMES and (name not in COMMON or self._imports(node))):
            return f"uses {name}", around
        if name == "os.Args" and Around.READING in around:
            return "reads the running program", around
        if node.id in self._spared:
            return "", around
        field = text_of(node.child_by_field_name("field"))
        if field == "Ino" and self._is_numbered:
            return OF_NUMBERS, around
        operand = node.child_by_field_name("operand")
        is_value = field in ADDRESSES and operand is not None and "reflect.ValueOf" in self._values.made_by(operand)
        if operand is None or not is_value or all(map(self._data.has, self._values.valued(operand))):
            return "", around
        return "takes a value's address by reflection", around

    def _call(self, node: Node, around: Around) -> Shown:
        names, given = self._values.called(node), given_to(node)
        for place, name in self._values.handed(node):
            if place < len(given) and (words := self._handed(given[place], name)):
                return Remark(words, around, [given[place]])
        runner = next((name for name in names if name in RUNNERS), "")
        if runner:
            given = given[runner == "exec.CommandContext" :]
            return Remark(self._runs(_command_of(given)), around | Around.RUNNING, given)
        if last_part(names[0]) == "Readlink" and self._has_descriptors:
            return OF_NUMBERS, around
        if given and any(FOLDERS.fullmatch(name) for name in names):
            places = (place_words(text.rstrip("/") + "/", Around.READING) for text in self._values.texts(given[0]))
            return Remark(next(filter(None, places), ""), around, given)
        if any(READERS.fullmatch(name) for name in names) and not writes_only(given):
            return "", (around | Around.READING) & ~Around.FOLDER
        if given and FOLDER_READERS.fullmatch(names[0]) and "os.DirFS" in self._values.made_by(given[0]):
            return "", (around | Around.READING) & ~Around.FOLDER
        if joins(node) or names[0] == "fmt.Sprintf":
            return self._joined(node, around)
        return "", around

    def _handed(self, node: Node, name: str) -> str:
        """Return what a call by a function of the file does with what this is given, in words."""
        if name in RUNNERS:
            return self._runs([node])
        if READERS.fullmatch(name) and self._values.is_program(node):
            return "reads the running program"
        end = "/" if FOLDERS.fullmatch(name) else ""
        texts = (text + end for text in self._values.texts(node) if text != UNKNOWN)
        return next(filter(None, (self._place(text, node, Around.READING) for text in texts)), "")

    def _runs(self, command: Sequence[Node]) -> str:
        """Return what a command runs of the tools, in words."""
        columns = [self._values.texts(item)[:_MOST_WORDS] for item in command[:_MOST_WORDS]]
        for which in range(max(map(len, columns), default=0)):
            words = [texts[min(which, len(texts) - 1)] for texts in columns]
            is_product = _runs_product(words) and not self._has_flags
            if found := "" if is_product else command_words(_plain(words)) or self._printed(words):
                return found
        return ""

    def _printed(self, command: Sequence[str]) -> str:
        """Return what a command shows of the package's code, in words; one that runs elsewhere shows none."""
        is_printer = PRINTERS.fullmatch(command[0]) is not None and not self._moves
        is_shown = is_printer and any(
            SOURCE.fullmatch(word) for word in command[1:] if word[:1] not in (UNKNOWN, "/")
        )
        return "reads a file of code" if is_shown else ""

    def _made(self, node: Node, around: Around) -> Shown:
        """Mark commands that are made as values."""
        if self._values.resolved(name_of(node.child_by_field_name("type"))) != "exec.Cmd":
            return "", around
        fields = dict(_fields(node))
        arguments = elements_of(fields["Args"]) if "Args" in fields else []
        program = [fields["Path"]] if "Path" in fields else arguments[:1]
        command = [*program, *arguments[1:]]
        return Remark(self._runs(command), around | Around.RUNNING, command)

    def _sum(self, node: Node, around: Around) -> Shown:
        self._parts |= {side.id for side in summands(node) or ()}
        self._spared |= _compared_addresses(node)
        return ("", around) if node.id in self._parts else self._joined(node, around)

    def _joined(self, node: Node, around: Around) -> Shown:
        """Mark a place that is written in pieces: its pieces are none."""
        if not around & TAKING_PATHS or Around.FOLDER in around:
            return "", around
        words = next(filter(None, (self._place(text, node, around) for text in self._values.texts(node))), "")
        within = around | Around.FOLDER if Around.READING in around else around
        return Remark(words, within, [node]) if words else ("", within)

    def _place(self, text: str, node: Node, around: Around) -> str:
        """Return what the text of an expression names, in words; what comes to any process's files is nothing."""
        is_known = not text.startswith(UNKNOWN) or self._values.is_here(node)
        if Around.READING in around and is_known and SOURCE.fullmatch(text):
            return "reads a file of code"
        if text.startswith(f"/proc/{UNKNOWN}"):
            return ""
        return place_words(_UNKNOWN_FOLDER.sub("~", text), around)

    def _string(self, node: Node, around: Around) -> tuple[str, Around]:
        text = _literal(node)
        if self._has_environment and (found := scan_words(text)):
            return found, around
        if Around.FOLDER in around or not around & TAKING_PATHS:
            words = place_words(text, Around.NOTHING)
            return "" if words == _EXAMPLE else words, around
        if Around.READING in around and SOURCE.fullmatch(text):
            return "reads a file of code", around
        return place_words(text, around), around

    def _identifier(self, node: Node, around: Around) -> tuple[str, Around]:
        if not around & TAKING_PATHS or Around.FOLDER in around:
            return "", around
        if Around.READING in around and self._values.is_program(node):
            return "reads the running program", around
        if Around.READING in around and self._values.is_of_all(node) and not self._moves:
            return "reads files of code", around
        texts = self._values.texts(node)
        return next(filter(None, (self._place(text, node, around) for text in texts if text != UNKNOWN)), ""), around

    @staticmethod
    def _comment(node: Node, around: Around) -> tuple[str, Around]:
        """Mark comments that the compiler obeys."""
        text = text_of(node)[:_MOST_COMMENT]
        if _EMBEDS.match(text):
            patterns = [pattern.strip('"`').removeprefix("all:") for pattern in text.split()[1:]]
            return ("embeds a file of code" if any(map(EMBEDDED.fullmatch, patterns)) else ""), around
        return ("links to what a package keeps for itself" if _LINKS.match(text) else ""), around

    def _imports(self, selector: Node) -> bool:
        """Return whether what stands before the dot is a package that the file imports."""
        return text_of(selector.child_by_field_name("operand")) in self._imported


def _predeclared(root: Node) -> dict[int, Node]:
    """Return names of the language that a file declares for its package, by the ids of their declarations."""
    found: dict[int, Node] = {}
    for child in root.named_children:
        inner = child.named_children if child.type in _DECLARING else [child]
        for node in (spec for each in inner for spec in (each.children if each.type == "var_spec_list" else [each])):
            for name in node.children_by_field_name("name"):
                if text_of(name) in PREDECLARED:
                    found[node.id] = name
    return found


def _runs_product(command: Sequence[str]) -> bool:
    """Return whether a command only builds and runs a program below the folder it is run in: `go run ./cmd/x`."""
    is_run = [*command[:2]] == ["go", "run"] and len(command) > 2
    return is_run and (command[2] == "." or command[2].startswith("./"))


def _compared_addresses(node: Node) -> set[int]:
    """Return the selectors of two addresses that are compared with one another: that tells nothing of either."""
    if text_of(node.child_by_field_name("operator")) not in ("==", "!="):
        return set()
    sides = [node.child_by_field_name(side) for side in ("left", "right")]
    called = [bare(side).child_by_field_name("function") for side in sides if side is not None]
    taken = [each for each in called if each is not None and text_of(each.child_by_field_name("field")) in ADDRESSES]
    return {each.id for each in taken} if len(taken) == 2 else set()


def _path(spec: Node) -> str:
    return text_of(spec.child_by_field_name("path")).strip('"`')


def _literal(node: Node) -> str:
    return text_of(node)[1:-1]


def _command_of(given: Sequence[Node]) -> Sequence[Node]:
    """Return the words of a command, also where all but the program are given as a list."""
    if len(given) > 1 and given[1].type == "composite_literal":
        return [given[0], *elements_of(given[1])[1:]]
    return given


def _fields(composite: Node) -> Iterator[tuple[str, Node]]:
    """Yield the fields of a struct that is written out, with their values."""
    for element in _children(composite.child_by_field_name("body")):
        key, value = (element.child_by_field_name(field) for field in ("key", "value"))
        if key is not None and value is not None and value.named_children:
            yield text_of(key), value.named_children[0]


def _children(node: Node | None) -> list[Node]:
    return [child for child in node.named_children if not child.is_extra][:_MOST_WORDS] if node is not None else []


def _plain(words: Sequence[str]) -> list[str | None]:
    """Return a command without `env` before it, and with a shell's option `-c` alone."""
    command = [*words]
    if command[0].rpartition("/")[2] == "env":
        first = next((at for at, word in enumerate(command) if at and "=" not in word and word[:1] != "-"), 0)
        command = command[first:]
    if command[0].rpartition("/")[2] in SHELLS:
        option = next((at for at, word in enumerate(command[:-1]) if at and _SHELL_OPTION.fullmatch(word)), 0)
        return ["sh", "-c", command[option + 1]] if option else [*command]
    return [None if UNKNOWN in command[0] else command[0], *command[1:]]


CONDUCT = Conduct(
    parse=lambda text, path: parsed(_GRAMMAR, text),  # noqa: ARG005
    rules=lambda sources: _rules,  # noqa: ARG005
    literals=frozenset(
        {"interpreted_string_literal", "raw_string_literal", "int_literal", "float_literal", "rune_literal"}
    ),
)
