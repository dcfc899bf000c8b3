"""Means of TypeScript that behaviour doesn't need: function text, sources, other tools' copies, the debugger."""

import re
from collections.abc import Iterable, Iterator, Mapping

import tree_sitter_typescript
from tree_sitter import Language, Node

from harness.judging.languages.conduct import (
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
    joined_words,
    last_part,
    place_words,
    shell_words,
    words_of,
)
from harness.judging.languages.dotted_names import name_of
from harness.judging.languages.found import parsed, text_of
from harness.judging.languages.pathnames import UNKNOWN, joins, written
from harness.judging.languages.typescript.calls import FUNCTIONS
from harness.judging.languages.typescript.modules import (
    PACKAGE,
    SUFFIXES,
    Chain,
    From,
    Modules,
    aliases,
    chain_of,
    imported_names,
    string_of,
)

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
_PATTERNS = words_of(
    """
    formal_parameters required_parameter optional_parameter object_pattern array_pattern rest_pattern
    assignment_pattern pair_pattern object_assignment_pattern
    """
)
_NUMBERED = re.compile(r"(node:)?(net|dgram|child_process|https?)")
"""Modules whose pipes and sockets the kernel numbers from one counter for all arms."""
_ESCAPE = re.compile(r"\\u(?:([0-9a-fA-F]{4})|\{([0-9a-fA-F]{1,400})\})")
_MOST_ALIASES = 10
_MOST_SCOPES = 200
"""Blocks around a name that are looked at."""
_SCOPES = FUNCTIONS | {"statement_block", "method_definition", "for_in_statement", "for_statement", "catch_clause"}


def _parsed(text: bytes, path: str) -> Node:
    return parsed(_TSX if path.endswith("x") else _GRAMMAR, text)


def _rules(sources: Sources) -> FileRules:
    modules = Modules(sources, _parsed)
    return lambda root, path: _File(root, path, modules).rules


class _File:
    """One file: what it imports and from where, which of its names are called, and its constants."""

    def __init__(self, root: Node, path: str, modules: Modules) -> None:
        self._path, self._modules = path, modules
        self._imported: dict[str, From] = {}
        self._constants: dict[str, str] = {}
        self._bound: dict[tuple[int, str], Chain] = {}
        """What names stand for in a block: another name, or something that isn't known to be a function. 0 is all."""
        self._rebound: set[str] = set()
        self._is_numbered = self._has_descriptors = False
        waiting = [(root, 0)]
        while waiting:
            node, scope = waiting.pop()
            if node.type == "import_statement":
                self._imported |= dict(imported_names(node))
                self._is_numbered |= _is_numbered(node.child_by_field_name("source"))
            elif node.type == "call_expression" and name_of(node.child_by_field_name("function")) in _IMPORTERS:
                arguments = node.child_by_field_name("arguments")
                self._is_numbered |= any(
                    _is_numbered(item) for item in (arguments.named_children[:1] if arguments else [])
                )
            elif node.type in ("string", "template_string"):
                self._has_descriptors |= is_of_descriptors(_plain_text(node))
            elif node.type == "variable_declarator":
                self._declare(node, scope)
            elif node.type in ("function_declaration", "class_declaration"):
                self._bind([node.child_by_field_name("name")], scope)
            if node.type in _SCOPES:
                scope = node.start_byte + 1
                self._bind((node.child_by_field_name(name) for name in ("parameters", "parameter", "left")), scope)
            waiting += ((child, scope) for child in node.children)
        self._is_numbered |= self._has_descriptors
        self.rules: Mapping[str, Rule] = {
            "import_statement": self._import,
            "member_expression": self._member,
            "subscript_expression": self._subscript,
            "binary_expression": self._added,
            "call_expression": self._call,
            "new_expression": self._new,
            "string": self._string,
            "template_string": self._template,
            "pair_pattern": self._taken,
            "shorthand_property_identifier_pattern": self._taken,
            "template_substitution": self._written,
            "identifier": self._identifier,
            "property_identifier": _escaped,
            "shorthand_property_identifier": _escaped,
        }

    def _declare(self, node: Node, scope: int) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        text = written(value, self._constants) if value is not None else UNKNOWN
        if name is not None and UNKNOWN not in text:
            self._constants[text_of(name)] = text
        self._bind([name], scope)
        self._bound |= {(scope, new): old for new, old in aliases(node) if isinstance(old, tuple)}

    def _bind(self, patterns: Iterable[Node | None], scope: int) -> None:
        """Take the names of patterns for something that nothing is known of."""
        waiting = [node for node in patterns if node is not None]
        while waiting:
            node = waiting.pop()
            if node.type in ("identifier", "type_identifier", "shorthand_property_identifier_pattern"):
                self._bound.setdefault((scope, text_of(node)), ())
                self._rebound.add(text_of(node))
            elif node.type in _PATTERNS:
                inner = [node.child_by_field_name(name) for name in ("pattern", "left", "value")]
                is_part = node.type in (
                    "required_parameter",
                    "optional_parameter",
                    "assignment_pattern",
                    "pair_pattern",
                )
                waiting += [child for child in inner if child][:1] if is_part else node.named_children

    def _import(self, node: Node, around: Around) -> Shown:
        is_type = any(child.type == "type" for child in node.children)
        source = node.child_by_field_name("source")
        return Remark(
            _module_words(string_of(source) or "") if not is_type else "", around, [source] if source else []
        )

    def _member(self, node: Node, around: Around) -> tuple[str, Around]:
        name = name_of(node)
        if name in _NAMES:
            return f"uses {name}", around
        member, whole = text_of(node.child_by_field_name("property")), node.child_by_field_name("object")
        if member == "startJSCoverage":
            return "asks the browser's Profiler", around
        if member == "ino" and self._is_numbered:
            return OF_NUMBERS, around
        is_text = member == "toString" and self._is_function(whole)
        if member in ("toString", "join") and whole is not None and whole.type == "array":
            is_text = any(self._is_function(item) for item in whole.named_children[:50])
        return "reads the text of a function" if is_text else "", around

    def _subscript(self, node: Node, around: Around) -> tuple[str, Around]:
        """Mark `object["name"]` where `object.name` is marked."""
        whole, member = node.child_by_field_name("object"), string_of(node.child_by_field_name("index")) or ""
        if f"{name_of(whole)}.{member}" in _NAMES:
            return f"uses {name_of(whole)}.{member}", around
        if _GLOBALS.fullmatch(member):
            return f"uses {member}", around
        if member == "ino" and self._is_numbered:
            return OF_NUMBERS, around
        is_text = member == "toString" and self._is_function(whole)
        return "reads the text of a function" if is_text else "", around

    def _added(self, node: Node, around: Around) -> Shown:
        """Mark a function that is added to a string: there it becomes its text."""
        sides = [child for child in node.named_children if child.type in _SHORT]  # a long sum's left side is long
        texts = [text for side in sides if (text := string_of(side)) is not None]
        is_sum = bool(texts) and any(child.type == "+" for child in node.children)
        if is_sum and any(self._is_function(side) for side in sides):
            return "reads the text of a function", around
        return joined_words(node, around, self._constants)

    def _call(self, node: Node, around: Around) -> Shown:
        name = name_of(_last_of_sequence(node.child_by_field_name("function")))
        given = given_to(node)
        if name in _IMPORTERS and given:
            return Remark(_module_words(string_of(given[0]) or ""), around, given[:1])
        if name in _MADE_CODE:
            return f"runs text as code by {name}", around
        if name == "String" and given and self._is_function(given[0]):
            return Remark("reads the text of a function", around, given[:1])
        last = last_part(name)
        if _RUNNERS.fullmatch(last) and self._is_of(name, "child_process"):
            return Remark(self._runs(last, given), around | Around.RUNNING, given)
        if last in ("readlink", "readlinkSync") and self._has_descriptors:
            return OF_NUMBERS, around
        if joins(node):
            return joined_words(node, around, self._constants)
        return "", around | Around.READING if _READERS.fullmatch(last) else around

    def _is_of(self, name: str, module: str) -> bool:
        found = self._imported.get(name.partition(".")[0])
        return found is not None and module in found.module

    def _new(self, node: Node, around: Around) -> tuple[str, Around]:
        name = name_of(node.child_by_field_name("constructor"))
        return f"runs text as code by {name}" if name in _MADE_CODE else "", around

    def _string(self, node: Node, around: Around) -> tuple[str, Around]:
        text = string_of(node) or ""
        if Around.READING in around and _SOURCE.fullmatch(text):
            return "reads a file of code", around
        if _ENGINE_FLAG.match(text):
            return "asks the engine for its code", around
        return place_words(text, around), around

    def _template(self, node: Node, around: Around) -> tuple[str, Around]:
        text = written(node, self._constants) if around & TAKING_PATHS else _plain_text(node)
        return place_words(text, around), around

    def _taken(self, node: Node, around: Around) -> tuple[str, Around]:
        """Mark a number that is taken out of a file's status."""
        name = node.child_by_field_name("key") if node.type == "pair_pattern" else node
        return (OF_NUMBERS if self._is_numbered and text_of(name) == "ino" else ""), around

    def _written(self, node: Node, around: Around) -> tuple[str, Around]:
        is_text = any(self._is_function(child) for child in node.named_children)
        return "reads the text of a function" if is_text else "", around

    def _identifier(self, node: Node, around: Around) -> tuple[str, Around]:
        name = text_of(node)
        if _GLOBALS.fullmatch(name):
            return f"uses {name}", around
        if "\\" in name:
            return _escaped(node, around)
        text = self._constants.get(name, "") if around & TAKING_PATHS else ""
        if Around.READING in around and _SOURCE.fullmatch(text):
            return "reads a file of code", around
        return place_words(text, around) if text else "", around

    def _is_function(self, node: Node | None) -> bool:
        """Return whether a name stands for a function of the repository, followed to its declaration."""
        chain = chain_of(node)
        for _ in range(_MOST_ALIASES):
            if node is None or not chain:
                return False
            if chain[0] not in self._rebound:
                break
            scope = next((scope for scope in _scopes_of(node) if (scope, chain[0]) in self._bound), None)
            if scope is None:
                break
            meaning = self._bound[scope, chain[0]]
            if not meaning or meaning[0] == chain[0]:
                return False
            chain = (*meaning, *chain[1:])
        found = self._imported.get(chain[0])
        return found is not None and self._modules.gives_function(self._path, found.module, (found.name, *chain[1:]))

    @staticmethod
    def _runs(runner: str, given: list[Node]) -> str:
        texts = [string_of(item) for item in given]
        if runner in ("exec", "execSync"):
            return shell_words(texts[0] or "") if texts else ""
        listed = given[1].named_children[:50] if len(given) > 1 and given[1].type == "array" else []
        return command_words([*texts[:1], *(string_of(item) for item in listed)])


def _plain_text(node: Node) -> str:
    """Return the text of a string, `$` for what a template computes."""
    return "".join("$" if child.type == "template_substitution" else text_of(child) for child in node.children[1:-1])


def _is_numbered(module: Node | None) -> bool:
    return _NUMBERED.fullmatch(string_of(module) or "") is not None


def _escaped(node: Node, around: Around) -> tuple[str, Around]:
    r"""Mark a name with a plain letter written as `\u0053`: nobody does that but to hide the name."""
    name = text_of(node)
    hides = "\\" in name and any(int(found[1] or found[2], 16) < 128 for found in _ESCAPE.finditer(name))
    return ("writes a name by escapes" if hides else ""), around


def _last_of_sequence(node: Node | None) -> Node | None:
    """Return what is called by `(0, eval)("1")`: brackets and all before the last comma say nothing."""
    for _ in range(_MOST_ALIASES):
        if node is None or node.type not in ("parenthesized_expression", "sequence_expression"):
            break
        named = [child for child in node.named_children[-3:] if child.type != "comment"]
        node = named[-1] if named else None
    return node


def _module_words(module: str) -> str:
    return f"imports {module}" if _MODULES.fullmatch(module) else ""


def _scopes_of(node: Node) -> Iterator[int]:
    """Yield where the blocks begin that a node stands in, the inner ones first; 0 for the file."""
    count, parent = 0, node.parent
    while parent is not None and count < _MOST_SCOPES:
        if parent.type in _SCOPES:
            count += 1
            yield parent.start_byte + 1
        parent = parent.parent
    yield 0


CONDUCT = Conduct(
    parse=_parsed,
    rules=_rules,
    literals=frozenset({"string", "string_fragment", "number", "regex", "true", "false", "null"}),
    declaring=(*SUFFIXES, PACKAGE),
)
