"""Means of TypeScript that behaviour doesn't need: function text, sources, other tools' copies, the debugger."""

import posixpath
import re
from collections.abc import Iterator, Mapping

import tree_sitter_typescript
from tree_sitter import Language, Node

from harness.judging.languages.conduct import (
    Around,
    Conduct,
    Declared,
    Repository,
    Rule,
    command_words,
    last_part,
    proc_words,
    shell_words,
    words_of,
)
from harness.judging.languages.found import name_of, parsed, text_of

_GRAMMAR = Language(tree_sitter_typescript.language_typescript())
_TSX = Language(tree_sitter_typescript.language_tsx())
_MODULES = re.compile(
    r"(node:)?(inspector(/promises)?|module|trace_events|vm)|esbuild|typescript|vite|vite-node(/.*)?|tsx(/.*)?|tinypool|rollup"
    r"|@?babel(/.*)?|acorn(-.*)?|@?swc(/.*)?|magic-string|source-map(-.*)?|.*\?(raw|url|inline|worker)(&.*)?"
)
_NAMES = words_of(
    """
    Function.prototype Function.prototype.toString process.binding process.dlopen process.report require.cache
    module.children
    Error.prepareStackTrace import.meta.glob import.meta.resolve v8.getHeapSnapshot v8.writeHeapSnapshot
    v8.takeCoverage v8.cachedDataVersionTag v8.startupSnapshot
    """
)
_IMPORTERS = frozenset({"require", "import", "process.getBuiltinModule"})
_MADE_CODE = words_of("eval Function globalThis.eval globalThis.Function")
_GLOBALS = re.compile(r"__vite_\w+__|__vitest_\w+__|__coverage__|__v8_coverage__|__vite_ssr_\w+")
_SHORT = frozenset({"identifier", "member_expression", "string", "template_string"})
_READERS = re.compile(r"(readFile|open|stat|lstat|readdir|createReadStream|access|glob|watch)(Sync)?")
_RUNNERS = re.compile(r"(exec|execFile|spawn|fork)(Sync)?")
_SOURCE = re.compile(r"(?!.*(fixtures?|testdata)/|.*\.(test|spec)\.).*\.([cm]?[jt]sx?|map|node)")
_ENGINE_FLAG = re.compile(r"--(allow.natives.syntax|print.(opt.|wasm.)?(bytecode|code|ast)|inspect\b).*")
_DECLARES = re.compile(
    rb"\bfunction\s*\*?\s*([_a-z]\w*)\s*[(<]"
    rb"|\b(?:const|let|var)\s+([_a-z]\w*)\s*"
    rb"(?::\s*\((?:[^=\n]|=>){0,400}=>"  # by its type
    rb"|(?::[^=\n]{0,300})?=\s*(?:async\s*)?(?:function\b|\w+\s*=>|\([^()]{0,300}\)\s*(?::[^={\n]{0,300})?=>|<\w))"
)
_PASSES_ON = re.compile(rb"^\s*export\s*(?:type\s*)?(?:\*|\{[^}]*\}\s*from\b)", re.MULTILINE)
_MODULE_SUFFIX = re.compile(r"\.[cm]?[jt]sx?$")


def _declares(text: bytes) -> Declared:
    """Return a module's functions by their declarations: what a call has made isn't known to be one."""
    names = {(name or constant).decode() for name, constant in _DECLARES.findall(text)}
    return Declared(frozenset(names), _PASSES_ON.search(text) is not None)


def _rules(root: Node, path: str, repository: Repository) -> Mapping[str, Rule]:
    return _File(root, path, repository).rules


class _File:
    """Knows what a file imports and from where, which of its names are called, and its constants."""

    def __init__(self, root: Node, path: str, repository: Repository) -> None:
        self._folder, self._repository = posixpath.dirname(path), repository
        self._all = frozenset[str]().union(*(file.functions for file in repository.values()))
        self._imported: dict[str, str] = {}
        self._constants: dict[str, str] = {}
        self._called: set[str] = set()
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if node.type == "import_statement":
                self._imported |= dict.fromkeys(_bound(node), _module(node))
            elif node.type == "variable_declarator":
                self._declare(node)
            elif node.type == "call_expression":
                self._called.add(name_of(node.child_by_field_name("function")))
            waiting += node.children
        self.rules: Mapping[str, Rule] = {
            "import_statement": self._import,
            "member_expression": self._member,
            "subscript_expression": self._subscript,
            "binary_expression": self._added,
            "call_expression": self._call,
            "new_expression": self._new,
            "string": self._string,
            "template_substitution": self._written,
            "identifier": self._identifier,
        }

    def _declare(self, node: Node) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is not None and value is not None and value.type == "string":
            self._constants[text_of(name)] = _literal(value) or ""

    def _import(self, node: Node, around: Around) -> tuple[str, Around]:
        is_type = any(child.type == "type" for child in node.children)
        return _module_words(_module(node)) if not is_type else "", around

    def _member(self, node: Node, around: Around) -> tuple[str, Around]:
        name = name_of(node)
        if name in _NAMES:
            return f"uses {name}", around
        member, whole = text_of(node.child_by_field_name("property")), node.child_by_field_name("object")
        is_text = member == "toString" and self._is_function(whole, known=True)
        if member in ("toString", "join") and whole is not None and whole.type == "array":
            is_text = any(self._is_function(item, known=True) for item in whole.named_children[:50])
        return "reads the text of a function" if is_text else "", around

    def _subscript(self, node: Node, around: Around) -> tuple[str, Around]:
        """`object["name"]` is what `object.name` is."""
        whole, member = node.child_by_field_name("object"), _literal(node.child_by_field_name("index")) or ""
        if f"{name_of(whole)}.{member}" in _NAMES:
            return f"uses {name_of(whole)}.{member}", around
        if _GLOBALS.fullmatch(member):
            return f"uses {member}", around
        is_text = member == "toString" and self._is_function(whole, known=True)
        return "reads the text of a function" if is_text else "", around

    def _added(self, node: Node, around: Around) -> tuple[str, Around]:
        """Beside a string that is added to it a function becomes its text."""
        sides = [child for child in node.named_children if child.type in _SHORT]  # a long sum's left side is long
        texts = [text for side in sides if (text := _literal(side)) is not None]
        is_sum = bool(texts) and any(child.type == "+" for child in node.children)
        is_text = is_sum and any(self._is_function(side, known=texts == [""]) for side in sides)
        return "reads the text of a function" if is_text else "", around

    def _call(self, node: Node, around: Around) -> tuple[str, Around]:
        name = name_of(node.child_by_field_name("function"))
        arguments = node.child_by_field_name("arguments")
        given = arguments.named_children[:50] if arguments else []
        if name in _IMPORTERS and given:
            return _module_words(_literal(given[0]) or ""), around
        if name in _MADE_CODE:
            return f"runs text as code by {name}", around
        if name == "String" and given and self._is_function(given[0]):
            return "reads the text of a function", around
        last = last_part(name)
        if _RUNNERS.fullmatch(last) and "child_process" in self._imported.get(name.partition(".")[0], ""):
            return self._runs(last, given), around
        return "", around | Around.READING if _READERS.fullmatch(last) else around

    def _new(self, node: Node, around: Around) -> tuple[str, Around]:
        name = name_of(node.child_by_field_name("constructor"))
        return f"runs text as code by {name}" if name in _MADE_CODE else "", around

    def _string(self, node: Node, around: Around) -> tuple[str, Around]:
        text = _literal(node) or ""
        if Around.READING in around and _SOURCE.fullmatch(text):
            return "reads a file of code", around
        if _ENGINE_FLAG.match(text):
            return "asks the engine for its code", around
        return proc_words(text, around), around

    def _written(self, node: Node, around: Around) -> tuple[str, Around]:
        is_text = any(self._is_function(child) for child in node.named_children)
        return "reads the text of a function" if is_text else "", around

    def _identifier(self, node: Node, around: Around) -> tuple[str, Around]:
        name = text_of(node)
        if _GLOBALS.fullmatch(name):
            return f"uses {name}", around
        text = self._constants.get(name, "") if Around.READING in around else ""
        return "reads a file of code" if _SOURCE.fullmatch(text) else "", around

    def _is_function(self, node: Node | None, known: bool = False) -> bool:
        """Return whether a plain name stands for an imported function of the repository; where that isn't `known`,
        the file has to call it.
        """
        name = name_of(node)
        if not re.fullmatch(r"\w+(\.\w+)*", name) or name.partition(".")[0] not in self._imported:
            return False
        if ".prototype." in name:
            return known or name in self._called
        functions = self._given_by(self._imported[name.partition(".")[0]])
        return last_part(name) in functions and (known or name in self._called)

    def _given_by(self, module: str) -> frozenset[str]:
        """Return the functions that a module of the repository gives; by other names than a path's, any of them."""
        if not module.startswith("."):
            return self._all
        plain = _MODULE_SUFFIX.sub("", posixpath.normpath(posixpath.join(self._folder, module)))
        for suffix in (".ts", ".tsx", ".mts", ".js", ".mjs"):
            found = self._repository.get(plain + suffix)
            if found is not None:
                return self._all if found.passes_on else found.functions
        return self._all

    @staticmethod
    def _runs(runner: str, given: list[Node]) -> str:
        texts = [_literal(item) for item in given]
        if runner in ("exec", "execSync"):
            return shell_words(texts[0] or "") if texts else ""
        listed = given[1].named_children[:50] if len(given) > 1 and given[1].type == "array" else []
        return command_words([*texts[:1], *(_literal(item) for item in listed)])


def _module_words(module: str) -> str:
    return f"imports {module}" if _MODULES.fullmatch(module) else ""


def _module(statement: Node) -> str:
    return _literal(statement.child_by_field_name("source")) or ""


def _bound(statement: Node) -> Iterator[str]:
    """Yield the names that an import gives to the file."""
    waiting = [child for child in statement.named_children if child.type == "import_clause"]
    while waiting:
        node = waiting.pop()
        if node.type == "import_specifier":
            yield text_of(node.child_by_field_name("alias") or node.child_by_field_name("name"))
        elif node.type == "identifier":
            yield text_of(node)
        else:
            waiting += node.named_children


def _literal(node: Node | None) -> str | None:
    if node is None or node.type not in ("string", "template_string"):
        return None
    return text_of(node)[1:-1]


CONDUCT = Conduct(
    parse=lambda text, path: parsed(_TSX if path.endswith("x") else _GRAMMAR, text),
    rules=_rules,
    literals=frozenset({"string", "number", "regex", "true", "false", "null"}),
    declaring=(".ts", ".tsx", ".mts", ".js", ".mjs"),
    declared=_declares,
)
