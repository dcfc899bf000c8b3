"""Means of C that behaviour doesn't need: loading libraries, code read as data, compilers, disassemblers."""

import re
from collections.abc import Mapping

import tree_sitter_c
from tree_sitter import Language, Node

from harness.judging.languages.conduct import (
    Around,
    Conduct,
    Declared,
    Repository,
    Rule,
    command_words,
    proc_words,
    shell_words,
    words_of,
)
from harness.judging.languages.found import name_of, parsed, text_of

_GRAMMAR = Language(tree_sitter_c.language())
_HEADERS = words_of("dlfcn.h elf.h link.h gelf.h libelf.h bfd.h dis-asm.h sys/ptrace.h linux/perf_event.h")
_CALLS = words_of(
    """
    dlopen dlmopen dlsym dlvsym dladdr dladdr1 dlinfo dl_iterate_phdr backtrace backtrace_symbols ptrace
    mincore posix_fadvise readahead preadv2 mprotect process_vm_readv perf_event_open getauxval syscall
    memfd_create
    """
)
_SYMBOLS = words_of(
    """
    etext _etext __etext __executable_start _start _init _fini _DYNAMIC __data_start data_start _edata __bss_start
    __ehdr_start
    """
)
_SHELL = frozenset({"system", "popen"})
_RUNNERS = re.compile(r"exec[lv]p?e?|posix_spawnp?|execvpe")
_READERS = words_of(
    """
    fopen open openat open64 freopen stat lstat fstatat access opendir mmap json_load_file
    """
)
_COPIES = words_of("memcpy memcmp memmove fwrite write bcmp memchr")
_SOURCE = re.compile(r".*\.(c|h|o|a|so|lo|la)(\.\d+)*")
_OTHER_SOURCE = re.compile(r'"(.*/)?(\.\.|src)/.*\.c"|<.*\.c>')
_NO_CODE = re.compile(r'".*(?<!\.c)(?<!\.h)(?<!\.cc)(?<!\.hh)(?<!\.cpp)(?<!\.hpp)"')
"""Files whose content nobody looks at, since by their names they aren't code."""
_DATA = re.compile(r"((const|volatile|(un)?signed) )*(char|void|u?int\d+_t|u?intptr_t|size_t|long|short|int)")
_WORD = re.compile(r"\w+")
_LONGEST_MACRO = 10_000
_BESIDE_CODE = re.compile(rb"/\*.*?\*/|//[^\n]*|^[ \t]*#(?:[^\n\\]|\\.)*", re.DOTALL | re.MULTILINE)
_PROTOTYPE = re.compile(rb"\b([A-Za-z_]\w*)\s*\(")
_VARIABLE = re.compile(rb"\bextern\b[^();{}]*?\b([A-Za-z_]\w*)\s*(?:\[[^;\]]*\]\s*)*[;=]")


def _declares(header: bytes) -> Declared:
    """Return what a header has before a bracket, macros and comments aside: its functions, and what it calls."""
    code = _BESIDE_CODE.sub(b" ", header)
    variables = set(_VARIABLE.findall(code))
    return Declared(frozenset(name.decode() for name in _PROTOTYPE.findall(code) if name not in variables))


def _rules(root: Node, _path: str, repository: Repository) -> Mapping[str, Rule]:
    return _File(root, frozenset[str]().union(*(file.functions for file in repository.values()))).rules


class _File:
    """The names that a file declares and where, and which of the others are functions of the repository."""

    def __init__(self, root: Node, functions: frozenset[str]) -> None:
        self._functions = functions
        self._declared: set[tuple[int, str]] = set()
        """Names of what isn't a function, with where the function begins that they are known in; 0 is the file."""
        self._defined: set[str] = set()
        waiting = [(root, 0)]
        while waiting:
            node, scope = waiting.pop()
            if node.type in ("preproc_def", "preproc_function_def"):
                self._declared.add((0, text_of(node.child_by_field_name("name"))))
                self._defined.add(text_of(node.child_by_field_name("name")))
            if node.type == "function_definition":
                self._defined.add(_named(node))
                scope = node.start_byte + 1
            declarator = node.child_by_field_name("declarator")
            if declarator is not None and declarator.type == "identifier" and node.type != "function_declarator":
                self._declared.add((scope, text_of(declarator)))
            if node.type in ("declaration", "parameter_declaration"):
                self._declared |= {(scope, text_of(child)) for child in node.children if child.type == "identifier"}
            waiting += ((child, scope) for child in node.children)
        self.rules: Mapping[str, Rule] = {
            "preproc_include": self._include,
            "preproc_def": self._macro,
            "preproc_function_def": self._macro,
            "call_expression": self._call,
            "string_literal": self._string,
            "concatenated_string": self._string,
            "cast_expression": self._cast,
            "gnu_asm_expression": lambda node, around: ("has machine code", around),  # noqa: ARG005
            "identifier": self._identifier,
        }

    def _include(self, node: Node, around: Around) -> tuple[str, Around]:
        path = text_of(node.child_by_field_name("path"))
        if path[1:-1] in _HEADERS:
            return f"includes {path[1:-1]}", around
        if _NO_CODE.fullmatch(path):
            return "includes a file that isn't code by its name", around
        return ("includes a second copy of the code" if _OTHER_SOURCE.fullmatch(path) else ""), around

    def _macro(self, node: Node, around: Around) -> tuple[str, Around]:
        """Return a name that is pasted together is that name."""
        value = node.child_by_field_name("value")
        if value is None or value.end_byte - value.start_byte > _LONGEST_MACRO or b"##" not in (value.text or b""):
            return "", around
        pasted = set(_WORD.findall(re.sub(r"\s*##\s*", "", text_of(value))))
        name = next(iter(sorted(pasted & (_CALLS | _SYMBOLS))), "")
        return f"calls {name}" if name else "", around

    def _call(self, node: Node, around: Around) -> tuple[str, Around]:
        name = name_of(node.child_by_field_name("function"))
        if name in _CALLS and name not in self._defined:
            return f"calls {name}", around
        arguments = node.child_by_field_name("arguments")
        given = arguments.named_children[:50] if arguments else []
        if name in _SHELL:
            return shell_words(_literal(given[0]) or "") if given else "", around
        if _RUNNERS.fullmatch(name):
            return command_words([_literal(item) for item in given]), around
        if name in _COPIES and any(self._is_foreign(item) for item in given):
            return "reads a function as data", around
        return "", around | Around.READING if name in _READERS else around

    def _string(self, node: Node, around: Around) -> tuple[str, Around]:
        text = _literal(node) or ""
        if Around.READING in around and _SOURCE.fullmatch(text):
            return "reads a file of code", around
        return proc_words(text, around), around

    def _cast(self, node: Node, around: Around) -> tuple[str, Around]:
        value, kind = node.child_by_field_name("value"), node.child_by_field_name("type")
        plain = text_of(kind).replace("*", "").strip() if kind and kind.end_byte - kind.start_byte < 100 else ""
        is_data = _DATA.fullmatch(plain) is not None
        return "casts a function to data" if is_data and value and self._is_foreign(value) else "", around

    def _identifier(self, node: Node, around: Around) -> tuple[str, Around]:
        name = text_of(node)
        return f"names {name}" if name in _SYMBOLS else "", around

    def _is_foreign(self, node: Node) -> bool:
        """Return whether this is the plain name of a function of the repository, with or without an `&`."""
        if node.type == "pointer_expression":
            node = node.child_by_field_name("argument") or node
        name = text_of(node) if node.type == "identifier" else ""
        if name not in self._functions or name in self._defined:
            return False
        return not {(0, name), (_scope(node), name)} & self._declared


def _scope(node: Node) -> int:
    """Return where the function begins that a node stands in, as `_File` counts; 0 outside of any."""
    while node.parent is not None:
        node = node.parent
        if node.type == "function_definition":
            return node.start_byte + 1
    return 0


def _named(function: Node) -> str:
    """Return the name that a definition defines."""
    node: Node | None = function
    while node is not None and node.type != "identifier":
        node = node.child_by_field_name("declarator")
    return text_of(node)


def _literal(node: Node) -> str | None:
    if node.type == "concatenated_string":
        return "".join(_literal(child) or "" for child in node.named_children)
    if node.type != "string_literal":
        return None
    return "".join(text_of(child) for child in node.named_children)


CONDUCT = Conduct(
    parse=lambda text, path: parsed(_GRAMMAR, text),  # noqa: ARG005
    rules=_rules,
    literals=frozenset({"string_literal", "number_literal", "char_literal", "concatenated_string"}),
    declaring=(".h",),
    declared=_declares,
)
