"""Means of C that behaviour doesn't need: loading libraries, code read as data, compilers, disassemblers."""

import re
from collections.abc import Mapping

from tree_sitter import Node

from harness.judging.languages.c.names import FileNames, FunctionNames
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
    words_of,
)
from harness.judging.languages.dotted_names import name_of
from harness.judging.languages.found import nodes_of, text_of
from harness.judging.languages.pathnames import UNKNOWN, written

_HEADERS = words_of("dlfcn.h elf.h link.h gelf.h libelf.h bfd.h dis-asm.h sys/ptrace.h linux/perf_event.h")
_CALLS = words_of(
    """
    dlopen dlmopen dlsym dlvsym dladdr dladdr1 dlinfo dl_iterate_phdr backtrace backtrace_symbols ptrace
    mincore posix_fadvise readahead preadv2 mprotect process_vm_readv perf_event_open getauxval syscall
    memfd_create sigqueue pthread_sigqueue
    """
)
_ADDRESSES = words_of(
    """
    etext _etext __etext __executable_start _start _init _fini _DYNAMIC __data_start data_start _edata __bss_start
    __ehdr_start
    """
)
"""Addresses of the program."""
_SYMBOLS = _ADDRESSES | words_of("RLIMIT_SIGPENDING RLIMIT_NPROC RLIMIT_MSGQUEUE SIGRTMIN SIGRTMAX SO_COOKIE")
"""Those, and what the kernel counts by user: in one arm it tells of others."""
_ASSEMBLER = words_of("asm __asm __asm__")
_OTHER_NAMES = frozenset(
    {f"{around}{word}{around}" for word in ("weakref", "alias", "ifunc") for around in ("", "__")}
)
"""Attributes by which a name stands for another one."""
_RENAMES = re.compile(r"\s*(redefine_extname|weak)\b")
_PRAGMA = re.compile(r'_Pragma\s*\(\s*L?"\s*(redefine_extname|weak)\b')
_INCLUDES = words_of("include include_next import embed")
_PATH = re.compile(r'\s*("[^"]*"|<[^>]*>)')
_PROTECTIONS = frozenset({"PROT_NONE", "PROT_READ", "PROT_WRITE"})
_PROTECTION = r"PROT_(?:NONE|READ|WRITE)"
_PROTECTS = re.compile(rf"\bmprotect\b(\s*\([^;{{}}]{{0,200}},\s*{_PROTECTION}(\s*\|\s*{_PROTECTION}){{0,2}}\s*\))?")
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
_TEXT = re.compile(r'"([^"\\\n]{1,4096})"')
_PATHS = re.compile(rb'"(/[^"\n]{1,200})"')


def _rules(sources: Sources) -> FileRules:
    functions = FunctionNames(sources)
    return lambda root, path: _File(functions.of_file(root, path), root).rules


class _File:
    """One file, and which of its names are functions of the repository."""

    def __init__(self, names: FileNames, root: Node) -> None:
        self._names, text = names, root.text or b""
        self._constants = _constants(root)
        self._has_descriptors = any(is_of_descriptors(path.decode(errors="replace")) for path in _PATHS.findall(text))
        self._is_numbered = self._has_descriptors or _MAKES.search(text) is not None
        self.rules: Mapping[str, Rule] = {
            "preproc_include": self._include,
            "preproc_call": self._directive,
            "system_lib_string": lambda node, around: (_included(text_of(node)), around),
            "preproc_def": self._macro,
            "preproc_function_def": self._macro,
            "call_expression": self._call,
            "string_literal": self._string,
            "concatenated_string": self._string,
            "cast_expression": self._cast,
            "declaration": self._declaration,
            "gnu_asm_expression": lambda node, around: ("has machine code", around),  # noqa: ARG005
            "attribute": self._attribute,
            "identifier": self._identifier,
            "field_identifier": self._field,
        }

    def _include(self, node: Node, around: Around) -> tuple[str, Around]:
        path = node.child_by_field_name("path")
        is_own_node = path is not None and path.type == "system_lib_string"
        return "" if is_own_node else _included(text_of(path)), around

    def _directive(self, node: Node, around: Around) -> tuple[str, Around]:
        """Mark what the grammar has no form of its own for."""
        directive = text_of(node.child_by_field_name("directive")).lstrip("#").strip()
        argument = text_of(node.child_by_field_name("argument"))
        if directive in _INCLUDES:
            found = _PATH.match(argument)
            return _included(found[1] if found else ""), around
        renames = _RENAMES.match(argument) if directive == "pragma" else None
        return f"gives a name another meaning by {renames[1]}" if renames else "", around

    def _macro(self, node: Node, around: Around) -> tuple[str, Around]:
        """Mark what stands for a means of the list; a name that is pasted together is that name."""
        given = text_of(node.child_by_field_name("value"))
        if _PRAGMA.search(given):
            return "gives a name another meaning by a pragma", around
        value = bare(given)
        words = set(_WORD.findall(value))
        if words & _ASSEMBLER:
            return "has machine code", around
        others = words & _OTHER_NAMES
        if others and ("alias" not in others or value.strip() == "alias" or "__attribute__" in words):
            return "gives a name another meaning by an attribute", around
        name, parameters = (text_of(node.child_by_field_name(field)) for field in ("name", "parameters"))
        listed = (words & (_CALLS | _SYMBOLS)) - set(_WORD.findall(parameters))
        if all(found[1] for found in _PROTECTS.finditer(value)) and not self._defines_protections():
            listed -= {"mprotect"}
        if "##" in value:
            pieces = _WORD.findall("".join(part.strip() for part in value.split("##")))
            listed |= set(pieces) & (_CALLS | _SYMBOLS)
        found = sorted(word for word in listed if word == name or not self._names.has(word))
        return f"names {found[0]}" if found else "", around

    def _call(self, node: Node, around: Around) -> Shown:
        name = name_of(node.child_by_field_name("function"))
        given = given_to(node)
        if name in _CALLS and not self._names.defines(name):
            return "" if name == "mprotect" and self._guards(given) else f"calls {name}", around
        if name in _OTHER_NAMES and _is_attribute(node):
            return f"gives a name another meaning by {name}", around
        if name == "_Pragma" and given and _RENAMES.match(_literal(given[0]) or ""):
            return "gives a name another meaning by a pragma", around
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

    def _guards(self, given: list[Node]) -> bool:
        """Return whether a call of mprotect only takes rights from data, or gives them back."""
        words = [word.strip() for word in text_of(given[2]).split("|")] if len(given) == 3 else ["?"]
        is_plain = set(words) <= _PROTECTIONS and not self._defines_protections()
        return is_plain and not self._names.is_foreign(given[0])

    def _defines_protections(self) -> bool:
        return any(self._names.defines(word) for word in _PROTECTIONS)

    def _attribute(self, node: Node, around: Around) -> tuple[str, Around]:
        name = text_of(node.child_by_field_name("name"))
        return f"gives a name another meaning by {name}" if name in _OTHER_NAMES else "", around

    def _string(self, node: Node, around: Around) -> tuple[str, Around]:
        text = _literal(node) or ""
        if Around.READING in around and _SOURCE.fullmatch(text):
            return "reads a file of code", around
        return place_words(written(node, self._constants), around), around

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
        if name in _CALLS:
            is_marked = not (_is_judged_elsewhere(node) or self._names.defines(name) or self._names.is_own(node))
        else:
            is_marked = name in _SYMBOLS and not (name in _ADDRESSES and self._names.is_own(node))
        if is_marked or not around & TAKING_PATHS:
            return f"names {name}" if is_marked else "", around
        text = written(node, self._constants)
        if Around.READING in around and _SOURCE.fullmatch(text):
            return "reads a file of code", around
        return place_words(text, around), around

    def _field(self, node: Node, around: Around) -> tuple[str, Around]:
        is_number = self._is_numbered and text_of(node) in ("st_ino", "stx_ino")
        return OF_NUMBERS if is_number else "", around


def _constants(root: Node) -> Mapping[str, str]:
    """Return the texts that macros and variables of a file stand for, by their names."""
    found: dict[str, str] = {}
    for node in nodes_of(root):
        if node.type == "preproc_def":
            if given := _TEXT.fullmatch(text_of(node.child_by_field_name("value")).strip()):
                found[text_of(node.child_by_field_name("name"))] = given[1]
        elif node.type == "init_declarator" and (value := node.child_by_field_name("value")):
            text = written(value, found)
            name = node.child_by_field_name("declarator")
            while name is not None and name.type in ("pointer_declarator", "array_declarator"):
                name = name.child_by_field_name("declarator")
            if UNKNOWN not in text:
                found[text_of(name)] = text
    return found


def _included(path: str) -> str:
    """Return what including a path means, in words; one that isn't literal may be any."""
    if path[:1] not in ('"', "<") or not path:
        return "includes a file by a name that is made"
    if path[1:-1] in _HEADERS:
        return f"includes {path[1:-1]}"
    if _NO_CODE.fullmatch(path):
        return "includes a file that isn't code by its name"
    return "includes a second copy of the code" if _OTHER_SOURCE.fullmatch(path) else ""


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
)
