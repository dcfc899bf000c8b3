"""Means of C that behaviour doesn't need: loading libraries, code read as data, compilers, disassemblers."""

import re
from collections.abc import Mapping

from tree_sitter import Node

from harness.judging.languages.c.names import GRAMMAR, FileNames, FunctionNames
from harness.judging.languages.conduct import (
    NUMBERED,
    OF_NUMBERS,
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
    words_of,
)
from harness.judging.languages.dotted_names import name_of
from harness.judging.languages.found import parsed, text_of

_HEADERS = words_of("dlfcn.h elf.h link.h gelf.h libelf.h bfd.h dis-asm.h sys/ptrace.h linux/perf_event.h")
_CALLS = words_of(
    """
    dlopen dlmopen dlsym dlvsym dladdr dladdr1 dlinfo dl_iterate_phdr backtrace backtrace_symbols ptrace
    mincore posix_fadvise readahead preadv2 mprotect process_vm_readv perf_event_open getauxval syscall
    memfd_create sigqueue pthread_sigqueue
    """
)
_SYMBOLS = words_of(
    """
    etext _etext __etext __executable_start _start _init _fini _DYNAMIC __data_start data_start _edata __bss_start
    __ehdr_start RLIMIT_SIGPENDING RLIMIT_NPROC RLIMIT_MSGQUEUE SIGRTMIN SIGRTMAX SO_COOKIE
    """
)
"""Addresses of the program, and what the kernel counts by user: in one arm it tells of others."""
_SHELL = frozenset({"system", "popen"})
_RUNNERS = re.compile(r"exec[lv]p?e?|posix_spawnp?|execvpe")
_READERS = words_of(
    """
    fopen open openat open64 freopen stat lstat fstatat statx access opendir mmap json_load_file
    """
)
_COPIES = words_of("memcpy memcmp memmove fwrite write bcmp memchr")
_SOURCE = re.compile(r".*\.(c|h|o|a|so|lo|la)(\.\d+)*")
_OTHER_SOURCE = re.compile(r'"(.*/)?(\.\.|src)/.*\.c"|<.*\.c>')
_NO_CODE = re.compile(r'".*(?<!\.c)(?<!\.h)(?<!\.cc)(?<!\.hh)(?<!\.cpp)(?<!\.hpp)"')
"""Files whose content nobody looks at, since by their names they aren't code."""
_DATA = re.compile(r"((const|volatile|(un)?signed) )*(char|void|u?int\d+_t|u?intptr_t|size_t|long|short|int)")
_WORD = re.compile(r"\w+")
_MAKES = re.compile(rf"\b({'|'.join(sorted(NUMBERED))})\s*\(".encode())
_PATHS = re.compile(rb'"(/[^"\n]{1,200})"')
_LONGEST_MACRO = 10_000


def _rules(sources: Sources) -> FileRules:
    functions = FunctionNames(sources)
    return lambda root, path: _File(functions.of_file(root, path), root.text or b"").rules


class _File:
    """One file, and which of its names are functions of the repository."""

    def __init__(self, names: FileNames, text: bytes) -> None:
        self._names = names
        self._has_descriptors = any(is_of_descriptors(path.decode(errors="replace")) for path in _PATHS.findall(text))
        self._is_numbered = self._has_descriptors or _MAKES.search(text) is not None
        self.rules: Mapping[str, Rule] = {
            "preproc_include": self._include,
            "preproc_def": self._macro,
            "preproc_function_def": self._macro,
            "call_expression": self._call,
            "string_literal": self._string,
            "concatenated_string": self._string,
            "cast_expression": self._cast,
            "declaration": self._declaration,
            "gnu_asm_expression": lambda node, around: ("has machine code", around),  # noqa: ARG005
            "identifier": self._identifier,
            "field_identifier": self._field,
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

    def _call(self, node: Node, around: Around) -> Shown:
        name = name_of(node.child_by_field_name("function"))
        if name in _CALLS and not self._names.defines(name):
            return f"calls {name}", around
        given = given_to(node)
        if name in _SHELL:
            words = shell_words(_literal(given[0]) or "") if given else ""
            return Remark(words, around | Around.RUNNING, given)
        if _RUNNERS.fullmatch(name):
            return Remark(command_words([_literal(item) for item in given]), around | Around.RUNNING, given)
        if name in ("readlink", "readlinkat") and self._has_descriptors:
            return OF_NUMBERS, around
        if name in _COPIES and any(self._names.is_foreign(item) for item in given):
            return Remark("reads a function as data", around, given)
        return "", around | Around.READING if name in _READERS else around

    def _string(self, node: Node, around: Around) -> tuple[str, Around]:
        text = _literal(node) or ""
        if Around.READING in around and _SOURCE.fullmatch(text):
            return "reads a file of code", around
        return place_words(text, around), around

    def _cast(self, node: Node, around: Around) -> tuple[str, Around]:
        value, kind = node.child_by_field_name("value"), node.child_by_field_name("type")
        plain = text_of(kind).replace("*", "").strip() if kind and kind.end_byte - kind.start_byte < 100 else ""
        is_data = _DATA.fullmatch(plain) is not None
        return "casts a function to data" if is_data and value and self._names.is_foreign(value) else "", around

    def _declaration(self, node: Node, around: Around) -> tuple[str, Around]:
        """Mark data of another file that is declared with a function's name: that is the function's code."""
        return "declares a function as data" if self._names.functions_as_data(node) else "", around

    def _identifier(self, node: Node, around: Around) -> tuple[str, Around]:
        name = text_of(node)
        return f"names {name}" if name in _SYMBOLS else "", around

    def _field(self, node: Node, around: Around) -> tuple[str, Around]:
        is_number = self._is_numbered and text_of(node) in ("st_ino", "stx_ino")
        return OF_NUMBERS if is_number else "", around


def _literal(node: Node) -> str | None:
    if node.type == "concatenated_string":
        return "".join(_literal(child) or "" for child in node.named_children)
    if node.type != "string_literal":
        return None
    return "".join(text_of(child) for child in node.named_children)


CONDUCT = Conduct(
    parse=lambda text, path: parsed(GRAMMAR, text),  # noqa: ARG005
    rules=_rules,
    literals=frozenset({"string_literal", "number_literal", "char_literal", "concatenated_string"}),
    declaring=(".h", ".c"),
)
