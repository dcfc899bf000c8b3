"""Means of Python that behaviour doesn't need: code objects, sources, bytecode, the import machinery, tracing."""

import re
from collections.abc import Mapping

import tree_sitter_python
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
    is_of_descriptors,
    joined_words,
    last_part,
    place_words,
    shell_words,
    sights,
    words_of,
)
from harness.judging.languages.dotted_names import bare
from harness.judging.languages.found import nodes_of, parsed
from harness.judging.languages.found import text_of as text_as_written
from harness.judging.languages.pathnames import joins, written
from harness.judging.languages.python.classes import name_of, text_of, with_short_comments
from harness.judging.languages.python.imports import Imports, imports_of
from harness.judging.languages.python.running import RUNNING, OwnNames, is_looked_up

_GRAMMAR = Language(tree_sitter_python.language())
_ATTRIBUTES = words_of(
    """
    __code__ __loader__ __spec__ __cached__ func_code gi_code cr_code ag_code f_code tb_lasti f_lasti
    co_code co_consts co_names co_varnames co_lines co_linetable co_lnotab co_firstlineno co_exceptiontable
    co_positions co_stacksize co_freevars co_cellvars co_argcount co_nlocals co_flags co_filename
    co_qualname get_code source_to_code SourceFileLoader SourcelessFileLoader MAGIC_NUMBER RWF_NOWAIT
    """
)
_MODULES = re.compile(
    r"(dis|marshal|ctypes|cffi|opcode|py_compile|compileall|zipimport|linecache|symtable|bytecode|bdb|trace|cProfile"
    r"|importlib\.(machinery|_bootstrap\w*|abc)|_pytest\.(timing|junitxml))(\..*)?"
)
_NAMES = words_of(
    """
    inspect.getsource inspect.getsourcelines inspect.getsourcefile inspect.getfile inspect.findsource
    inspect.getblock gc.get_referrers gc.get_referents sys.settrace sys.setprofile
    sys.monitoring sys.meta_path sys.path_hooks sys.path_importer_cache threading.settrace
    threading.setprofile os.posix_fadvise os.memfd_create resource.RLIMIT_SIGPENDING resource.RLIMIT_NPROC
    resource.RLIMIT_MSGQUEUE signal.SIGRTMIN signal.SIGRTMAX importlib.util.spec_from_file_location
    importlib.util.spec_from_loader importlib.util.module_from_spec importlib.util.cache_from_source
    importlib.util.source_from_cache importlib.util.source_hash types.CodeType runpy.run_path
    code.InteractiveInterpreter code.InteractiveConsole code.compile_command code.interact codeop.compile_command
    codeop.CommandCompiler codeop.Compile profile.run profile.runctx profile.Profile pdb.run pdb.runeval pdb.runctx
    """
)
_COMMON = words_of("run runctx runeval interact Profile Compile")
"""Last parts of these names that many other things have too."""
_RUNNERS = re.compile(
    r"subprocess\.(run|Popen|call|check_call|check_output|getoutput|getstatusoutput)|os\.(system|popen|exec\w+|spawn\w+"
    r"|posix_spawnp?)|asyncio\.(subprocess\.)?create_subprocess_(exec|shell)|pty\.spawn"
)
_NUMBERS = frozenset({"st_ino", "ST_INO"})
"""Names of a number in a file's status."""
_STATUS = re.compile(r"[fl]?stat")
_READERS = words_of("open read_text read_bytes get_data stat lstat glob rglob iglob getsize getmtime")
_MOST_RUNNING = 500
"""Names of builtins that run text: in a file with more of them, none is taken for the file's own."""
_MEMBERS = {"attribute": "attribute", "keyword_argument": "name"}
"""Fields whose names are no variables."""
_TIMERS = words_of("timeit.timeit timeit.repeat timeit.Timer")
"""They run text as code where they are given some."""
_BY_NAME = words_of("getattr hasattr operator.attrgetter operator.methodcaller")
_FOLDERS = words_of("parent parents dirname with_name")
_ENCODING = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_PLAIN_ENCODING = re.compile(
    r"utf[-_]?8([-_](sig|unix|dos|mac))?|(us[-_])?ascii|latin[-_]?1|iso[-_]?8859[-_]\d+|cp125\d", re.I
)
"""Encodings in which Python reads the text that the grammar reads."""
_SOURCE = re.compile(r".*\.(py|pyc|pyo|so)")
_PYTHON = re.compile(r"(.*/)?python[\d.]*")


def _rules(root: Node, _path: str) -> Mapping[str, Rule]:
    return _File(root).rules


class _File:
    """Meanings of a file's names: those that it imports, and constants."""

    def __init__(self, root: Node) -> None:
        self._constants: dict[str, Node] = {}
        self._is_numbered = self._has_descriptors = False
        running, members, imports = list[Node](), set[int](), list[Node]()
        for node in nodes_of(root):
            if node.type in ("import_statement", "import_from_statement"):
                imports.append(node)
            elif node.type == "identifier":
                self._is_numbered |= text_of(node) in NUMBERED
                running += [node] if text_of(node) in RUNNING and node.id not in members else []
            elif node.type in _MEMBERS and (member := node.child_by_field_name(_MEMBERS[node.type])):
                members |= {member.id} if text_of(member) in RUNNING else set()
            elif node.type == "string":
                self._has_descriptors |= is_of_descriptors(_literal(node) or "")
            elif node.type == "assignment" and (right := node.child_by_field_name("right")):
                self._constants[name_of(node.child_by_field_name("left"))] = right
        self._is_numbered |= self._has_descriptors
        self._imports = Imports(imports, _NAMES, _COMMON)
        self._members = members
        self._is_full = len(running) > _MOST_RUNNING
        self._own = OwnNames(running[:_MOST_RUNNING], is_sure=not (self._imports.has_stars or self._is_full))
        self.rules: Mapping[str, Rule] = {
            "import_statement": self._import,
            "import_from_statement": self._import,
            "attribute": self._attribute,
            "call": self._call,
            "subscript": self._subscript,
            "assignment": self._assignment,
            "string": self._string,
            "identifier": self._identifier,
            "comment": self._comment,
            "binary_operator": self._joined,
            "concatenated_string": self._joined,
        }

    def _import(self, node: Node, around: Around) -> Shown:
        module = [node.child_by_field_name("module_name")]
        imported = list(imports_of(node))
        if self._is_numbered and any(name == "stat.ST_INO" for _, _, name in imported):
            return OF_NUMBERS, around
        found = [(name, item) for item, _, name in imported if _MODULES.fullmatch(name) or name in _NAMES]
        by = [item for item in (*(item for _, item in found), *module) if item is not None]
        return Remark(f"imports {found[0][0]}" if found else "", around, by)

    def _attribute(self, node: Node, around: Around) -> tuple[str, Around]:
        name = text_of(node.child_by_field_name("attribute"))
        if name in _FOLDERS:
            around |= Around.FOLDER
        if name in _ATTRIBUTES:
            return f"looks at {name}", around
        is_called = node.parent is not None and node.parent.type == "call"
        if self._is_numbered and (name in _NUMBERS or (name == "inode" and is_called)):
            return OF_NUMBERS, around
        if name == "__file__" and Around.FOLDER not in around:
            return "looks for a module's file", around
        whole = self._imports.resolved(in_full := name_of(node))
        whole = self._imports.member(in_full.rpartition(".")[0], name) or whole
        is_named = whole in _NAMES or (whole in RUNNING and self._is_taken(node))
        return (f"uses {whole}" if is_named else ""), around

    def _call(self, node: Node, around: Around) -> Shown:
        function = node.child_by_field_name("function")
        name = self._imports.resolved(callee := name_of(function))
        if function is not None and callee in RUNNING and self._own.has(function):
            return "", around
        if name in ("exec", "compile", "types.FunctionType") or (name == "eval" and not self._is_of_repr(node)):
            return f"calls {name}", around
        if name in _TIMERS and any(self._value(item).type == "string" for item in _given(node)):
            return Remark(f"runs text as code by {name}", around, _given(node))
        if name in _BY_NAME and (found := self._named_by_text(name, _given(node))):
            return Remark(found, around, _given(node))
        if _RUNNERS.fullmatch(name):
            return Remark(self._runs(node), around | Around.RUNNING, _given(node))
        last = last_part(name) or last_part(text_of(_member(node)))
        if last == "readlink" and self._has_descriptors:
            return OF_NUMBERS, around
        if last in ("realpath", "resolve"):
            around |= Around.FOLLOWING
        if last == "dirname":
            around |= Around.FOLDER
        elif last in _READERS and not (name == "open" and _writes(node)):
            around |= Around.READING
        elif last in ("import_module", "__import__", "find_spec") and callee:
            around |= Around.LOADING
        return self._joined(node, around) if joins(node) else ("", around)

    def _subscript(self, node: Node, around: Around) -> tuple[str, Around]:
        """Mark the second of a status' parts, which is the number."""
        part, whole = node.child_by_field_name("subscript"), node.child_by_field_name("value")
        is_second = part is not None and part.end_byte - part.start_byte <= 2 and text_of(part) in ("1", "-9")
        is_number = self._is_numbered and is_second and whole is not None and self._is_status(whole)
        return (OF_NUMBERS if is_number else ""), around

    def _assignment(self, node: Node, around: Around) -> tuple[str, Around]:
        """Mark a status that is taken apart."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        is_apart = left is not None and left.type in ("pattern_list", "tuple_pattern", "list_pattern")
        is_number = self._is_numbered and is_apart and right is not None and self._is_status(right)
        return (OF_NUMBERS if is_number else ""), around

    def _is_status(self, node: Node) -> bool:
        """Return whether an expression is what a file's status is asked by."""
        found = self._value(node)
        if name_of(found.child_by_field_name("function")) in ("tuple", "list") and (given := _given(found)):
            found = self._value(given[0])
        called = found.child_by_field_name("function") if found.type == "call" else None
        return (
            called is not None
            and _STATUS.fullmatch(last_part(name_of(called)) or text_of(_member(found))) is not None
        )

    def _string(self, node: Node, around: Around) -> tuple[str, Around]:
        if node.parent is not None and node.parent.type == "expression_statement":
            return "", around
        text = _literal(node) or ""
        if text in _ATTRIBUTES - {"SourceFileLoader"}:
            return f"names {text}", around
        if Around.LOADING in around and _MODULES.fullmatch(text):
            return f"imports {text}", around
        if Around.READING in around and _SOURCE.fullmatch(text):
            return "reads a file of code", around
        return place_words(self._path(node) if around & TAKING_PATHS else text, around), around

    def _joined(self, node: Node, around: Around) -> Shown:
        """Mark a place that is written in pieces."""
        return joined_words(node, around, self._constants)

    def _path(self, node: Node) -> str:
        """Return a path as the file writes it; empty for one of any process, which tests may look at."""
        text = written(node, self._constants)
        return "" if text.startswith("/proc/$") else text

    def _identifier(self, node: Node, around: Around) -> tuple[str, Around]:
        name = text_of(node)
        if (whole := self._imports.resolved(name)) in RUNNING and self._is_taken(node):
            return f"takes {whole}", around
        if (starred := self._imports.starred(name)) and is_looked_up(node, or_called=True):
            return f"uses {starred}", around
        text = self._path(node) if around and name in self._constants else ""
        if Around.READING in around and _SOURCE.fullmatch(text):
            return "reads a file of code", around
        return place_words(text, around) if text and around & TAKING_PATHS else "", around

    def _is_taken(self, node: Node) -> bool:
        """Return whether the value of a builtin is taken; where such names are many, nobody asks whose each is."""
        if self._is_full:
            return node.type == "attribute" or node.id not in self._members
        return is_looked_up(node) and not (node.type == "identifier" and self._own.has(node))

    @staticmethod
    def _comment(node: Node, around: Around) -> tuple[str, Around]:
        """Mark an unusual encoding: in it a comment may hold lines that run."""
        found = _ENCODING.match(text_of(node)) if node.start_point[0] < 2 else None
        hides = found is not None and not _PLAIN_ENCODING.fullmatch(found[1])
        return (f"is written in {found[1]}" if found and hides else ""), around

    def _named_by_text(self, function: str, given: list[Node]) -> str:
        """Return what a literal does that names an attribute, as the attribute itself would."""
        texts = [text for node in given if (text := _literal(self._value(node))) is not None]
        if found := next((part for text in texts for part in text.split(".") if part in _ATTRIBUTES), ""):
            return f"names {found}"
        if self._is_numbered and any(part in _NUMBERS for text in texts for part in text.split(".")):
            return OF_NUMBERS
        whole = f"{self._imports.resolved(name_of(given[0]))}.{texts[0]}" if given and texts else ""
        if function in ("getattr", "hasattr") and whole.removeprefix("builtins.") in ("eval", "exec", "compile"):
            return f"names {whole}"
        if given and texts:
            whole = self._imports.member(name_of(given[0]), texts[0]) or whole
        return f"uses {whole}" if function == "getattr" and whole in _NAMES else ""

    @staticmethod
    def _is_of_repr(call: Node) -> bool:
        given = _given(call)
        return bool(given) and given[0].type == "call" and name_of(given[0].child_by_field_name("function")) == "repr"

    def _runs(self, call: Node) -> str:
        given = [self._value(node) for node in _given(call)]
        if given and given[0].type == "string":
            text = _literal(given[0]) or ""
            if found := shell_words(text):
                return found
        whole = [*given[0].named_children, *given[1:]] if given and given[0].type in ("list", "tuple") else given
        nodes = [self._value(node) for node in whole[:50]]
        words = [_literal(node) for node in nodes]
        program = self._imports.resolved(name_of(nodes[0])) if nodes else ""
        if nodes and (program == "sys.executable" or _PYTHON.fullmatch(words[0] or "")):
            return self._runs_python(words[1:])
        return command_words(words)

    @staticmethod
    def _runs_python(words: list[str | None]) -> str:
        """Return what a command line runs by `python`: its code is looked at."""
        option = next((place for place, word in enumerate(words) if word in ("-c", "-m")), None)
        given = words[option + 1] if option is not None and option + 1 < len(words) else None
        if option is None or given is None:
            return ""
        if words[option] == "-m":
            return f"runs python -m {given}" if _MODULES.fullmatch(given) else ""
        root = _parsed(given.encode())
        found = next(sights(root, _File(root).rules), None)
        return f"runs python -c, which {found.words}" if found else ""

    def _value(self, node: Node) -> Node:
        """Return what a constant of the file was set to, else the node itself."""
        return self._constants.get(text_of(node), node) if node.type == "identifier" else node


def _parsed(text: bytes, path: str = "") -> Node:  # noqa: ARG001
    return parsed(_GRAMMAR, with_short_comments(text))


def _writes(call: Node) -> bool:
    """Return whether a call of `open` makes a file by a literal mode."""
    arguments = call.child_by_field_name("arguments")
    nodes = arguments.named_children if arguments else []
    if any(node.type in ("list_splat", "dictionary_splat") for node in nodes):
        return False
    plain = [node for node in nodes if node.type not in ("keyword_argument", "comment")]
    named = {text_of(node.child_by_field_name("name")): node.child_by_field_name("value") for node in nodes}
    mode = plain[1] if len(plain) > 1 else named.get("mode")
    return mode is not None and re.fullmatch(r"[wx][bt]?", _literal(mode) or "") is not None


def _given(call: Node) -> list[Node]:
    """Return what a call is given, but for keywords other than `args`."""
    arguments = call.child_by_field_name("arguments")
    nodes = arguments.named_children if arguments else []
    plain = [bare(node) for node in nodes if node.type != "keyword_argument" and not node.is_extra]
    named = [node for node in nodes if text_of(node.child_by_field_name("name")) == "args"]
    return [*plain, *(bare(value) for node in named if (value := node.child_by_field_name("value")))]


def _member(call: Node) -> Node | None:
    function = call.child_by_field_name("function")
    return bare(function).child_by_field_name("attribute") if function else None


def _literal(node: Node) -> str | None:
    """Return the text of a string without anything computed in it; else None."""
    if node.type != "string":
        return None
    return "".join(text_as_written(child) for child in node.children if child.type == "string_content")


CONDUCT = Conduct(
    parse=_parsed,
    rules=lambda sources: _rules,  # noqa: ARG005
    literals=frozenset({"string", "integer", "float", "true", "false", "none"}),
)
