"""Means of Go that behaviour doesn't need: packages that read code, functions as pointers, embedded sources."""

import re
from collections.abc import Mapping

import tree_sitter_go
from tree_sitter import Language, Node

from harness.judging.languages.conduct import (
    NUMBERED,
    OF_NUMBERS,
    TAKING_PATHS,
    Around,
    Conduct,
    Remark,
    Rule,
    Shown,
    command_words,
    given_to,
    is_of_descriptors,
    joined_words,
    last_part,
    place_words,
    words_of,
)
from harness.judging.languages.dotted_names import bare, name_of
from harness.judging.languages.found import parsed, text_of
from harness.judging.languages.pathnames import UNKNOWN, joins, written

_GRAMMAR = Language(tree_sitter_go.language())
_PACKAGES = re.compile(
    r"go/.+|debug/.+|plugin|unsafe|runtime/(trace|pprof|coverage)|internal/.+|golang\.org/x/(tools|arch)/.+"
)
_NAMES = words_of(
    """
    runtime.FuncForPC runtime.CallersFrames runtime.Callers debug.ReadBuildInfo os.Executable syscall.Mmap
    syscall.Syscall syscall.Syscall6 syscall.RawSyscall syscall.RawSyscall6 syscall.PtraceAttach unix.Mmap
    syscall.AllThreadsSyscall syscall.AllThreadsSyscall6 syscall.RawVforkSyscall syscall.PtracePeekText
    unix.RawSyscall unix.RawSyscall6 unix.Syscall6 unix.SyscallNoError unix.Madvise syscall.Madvise
    unix.Mincore unix.Fadvise unix.Preadv2 unix.Syscall unix.PtraceAttach unix.RLIMIT_NPROC
    unix.RLIMIT_SIGPENDING unix.RLIMIT_MSGQUEUE unix.MemfdCreate unix.SO_COOKIE build.Import parser.ParseFile
    """
)
_COMMON = words_of("build.Import parser.ParseFile")
"""Names of the list that variables have as well."""
_NAMELESS = words_of("runtime runtime/debug reflect os os/exec syscall golang.org/x/sys/unix go/build")
"""Packages of the list, whose names tests could use without theirs."""
_ADDRESSES = frozenset({"Pointer", "UnsafePointer", "UnsafeAddr"})
_READERS = re.compile(r"(os|ioutil|fs)\.(ReadFile|Open|OpenFile|Stat|Lstat|ReadDir)|filepath\.(Glob|Walk|WalkDir)")
_RUNNERS = frozenset({"exec.Command", "exec.CommandContext", "exec.LookPath", "os.StartProcess", "syscall.Exec"})
_SOURCE = re.compile(r"(?!(.*/)?testdata/|.*_test\.go).*\.(go|s|a|so|o)")
_EMBEDS = re.compile(r"//go:embed\s+(.*\.(go|s)\b|[*.\"`]+\s*$|all:[*.]+\s*$|.*\*\.?\w*\.go).*")
_MOST_COMMENT = 400
_LINKS = re.compile(r"//go:linkname\s")


def _rules(root: Node, _path: str) -> Mapping[str, Rule]:
    return _File(root).rules


_DECLARES = {
    "const_spec": ("name", "value"),
    "var_spec": ("name", "value"),
    "short_var_declaration": ("left", "right"),
}
"""Types of nodes that give names to values, with the fields of both."""


class _File:
    """One file: the names under which its packages are imported, and its constants."""

    def __init__(self, root: Node) -> None:
        self._imported: dict[str, str] = {}
        self._constants: dict[str, str] = {}
        self._is_numbered = self._has_descriptors = False
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if node.type == "import_spec":
                last = _path(node).rpartition("/")[2]
                self._imported[text_of(node.child_by_field_name("name")) or last] = last
            elif node.type == "field_identifier":
                self._is_numbered |= text_of(node) in NUMBERED
            elif node.type in ("interpreted_string_literal", "raw_string_literal"):
                self._has_descriptors |= is_of_descriptors(_literal(node) or "")
            elif node.type in _DECLARES:
                self._declare(*(node.child_by_field_name(field) for field in _DECLARES[node.type]))
            waiting += node.children
        self._is_numbered |= self._has_descriptors
        self.rules: Mapping[str, Rule] = {
            "import_spec": self._import,
            "selector_expression": self._selector,
            "call_expression": self._call,
            "interpreted_string_literal": self._string,
            "raw_string_literal": self._string,
            "identifier": self._identifier,
            "comment": self._comment,
            "binary_expression": self._joined,
        }

    def _declare(self, left: Node | None, right: Node | None) -> None:
        """Take what is declared for constants, as far as its text is written in the file."""
        names, values = (
            node.named_children if node is not None and node.type == "expression_list" else [node]
            for node in (left, right)
        )
        for name, value in zip(names, values, strict=False):
            text = written(value, self._constants) if value is not None else UNKNOWN
            if UNKNOWN not in text:
                self._constants[text_of(name)] = text

    def _import(self, node: Node, around: Around) -> tuple[str, Around]:
        path = _path(node)
        if text_of(node.child_by_field_name("name")) == "." and path in _NAMELESS:
            return f"imports {path} without its name", around
        return f"imports {path}" if _PACKAGES.fullmatch(path) else "", around

    def _selector(self, node: Node, around: Around) -> tuple[str, Around]:
        name = self._resolved(name_of(node))
        if name in _NAMES and (name not in _COMMON or self._imports(node)):
            return f"uses {name}", around
        if name == "os.Args" and Around.READING in around:
            return "reads the running program", around
        field = text_of(node.child_by_field_name("field"))
        if field == "Ino" and self._is_numbered:
            return OF_NUMBERS, around
        operand = bare(node.child_by_field_name("operand") or node)
        called = operand.child_by_field_name("function") if operand.type == "call_expression" else None
        if field in _ADDRESSES and self._resolved(name_of(called)) == "reflect.ValueOf":
            return "takes a value's address by reflection", around
        return "", around

    def _call(self, node: Node, around: Around) -> Shown:
        name = self._resolved(name_of(node.child_by_field_name("function")))
        if name in _RUNNERS:
            given = given_to(node)[name == "exec.CommandContext" :]
            return Remark(command_words([self._text(item) for item in given]), around | Around.RUNNING, given)
        if last_part(name) == "Readlink" and self._has_descriptors:
            return OF_NUMBERS, around
        if joins(node):
            return self._joined(node, around)
        return "", around | Around.READING if _READERS.fullmatch(name) else around

    def _joined(self, node: Node, around: Around) -> Shown:
        """Mark a place that is written in pieces."""
        return joined_words(node, around, self._constants)

    def _string(self, node: Node, around: Around) -> tuple[str, Around]:
        text = _literal(node) or ""
        if Around.READING in around and _SOURCE.fullmatch(text):
            return "reads a file of code", around
        return place_words(text, around), around

    def _identifier(self, node: Node, around: Around) -> tuple[str, Around]:
        text = self._constants.get(text_of(node), "") if around & TAKING_PATHS else ""
        if Around.READING in around and _SOURCE.fullmatch(text):
            return "reads a file of code", around
        return place_words(text, around) if text else "", around

    @staticmethod
    def _comment(node: Node, around: Around) -> tuple[str, Around]:
        """Mark comments that the compiler obeys."""
        text = text_of(node)[:_MOST_COMMENT]
        if _EMBEDS.match(text):
            return "embeds a file of code", around
        return ("links to what a package keeps for itself" if _LINKS.match(text) else ""), around

    def _resolved(self, name: str) -> str:
        first, dot, rest = name.partition(".")
        return self._imported.get(first, first) + dot + rest

    def _imports(self, selector: Node) -> bool:
        """Return whether what stands before the dot is a package that the file imports."""
        return text_of(selector.child_by_field_name("operand")) in self._imported

    def _text(self, node: Node) -> str | None:
        return self._constants.get(text_of(node)) if node.type == "identifier" else _literal(node)


def _path(spec: Node) -> str:
    return text_of(spec.child_by_field_name("path")).strip('"`')


def _literal(node: Node | None) -> str | None:
    if node is not None and node.type == "expression_list" and len(node.named_children) == 1:
        node = node.named_children[0]
    is_text = node is not None and node.type in ("interpreted_string_literal", "raw_string_literal")
    return text_of(node)[1:-1] if is_text else None


CONDUCT = Conduct(
    parse=lambda text, path: parsed(_GRAMMAR, text),  # noqa: ARG005
    rules=lambda sources: _rules,  # noqa: ARG005
    literals=frozenset(
        {"interpreted_string_literal", "raw_string_literal", "int_literal", "float_literal", "rune_literal"}
    ),
)
