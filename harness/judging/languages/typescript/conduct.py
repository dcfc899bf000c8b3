"""Means of TypeScript that behaviour doesn't need: function text, sources, other tools' copies, the debugger."""

import re
from collections.abc import Mapping

import tree_sitter_typescript
from tree_sitter import Language, Node

from harness.judging.languages.conduct import (
    MOST_GIVEN,
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
    is_source,
    last_part,
    place_words,
    scan_words,
    shell_words,
)
from harness.judging.languages.dotted_names import bare, name_of
from harness.judging.languages.found import parsed, text_of
from harness.judging.languages.marked import with_found
from harness.judging.languages.pathnames import joins, written
from harness.judging.languages.typescript.harmless import harmless, is_set
from harness.judging.languages.typescript.imports import imported_files
from harness.judging.languages.typescript.judged import Judged
from harness.judging.languages.typescript.meanings import Meanings
from harness.judging.languages.typescript.means import (
    ENGINE_FLAG,
    GLOBALS,
    LAST_NAMES,
    LISTERS,
    MADE_CODE,
    MADE_OF_TEXT,
    MAPPERS,
    NAMES,
    NUMBERED,
    OF_STRINGS,
    PLAIN_READERS,
    PRINTERS,
    READERS,
    RUNNERS,
    SOURCE,
    TEXTS,
    TO_TEXT,
    module_words,
)
from harness.judging.languages.typescript.modules import PACKAGE, SUFFIXES, Modules, imported_names, string_of
from harness.judging.languages.typescript.noted_failures import noted_failures

_GRAMMAR = Language(tree_sitter_typescript.language_typescript())
_TSX = Language(tree_sitter_typescript.language_tsx())
_SHORT = frozenset({"identifier", "member_expression", "string", "template_string", "array"})
_OTHERWISE = re.compile(r"(.+)\.(?:call|apply)")
"""Calls of a function that are given something else before its arguments."""
_OPENING = Around.READING | Around.LISTING
_ESCAPE = re.compile(r"\\u(?:([0-9a-fA-F]{4})|\{([0-9a-fA-F]{1,400})\})")


def _parsed(text: bytes, path: str) -> Node:
    return parsed(_TSX if path.endswith("x") else _GRAMMAR, text)


def _imported(own: Mapping[str, bytes]) -> frozenset[str]:
    return imported_files(own, _parsed)


def _rules(sources: Sources) -> FileRules:
    modules = Modules(sources, _imported(sources.own), _parsed)
    return lambda root, path: _File(root, path, modules).rules


class _File:
    """One file: what it imports and from where, which of its names are called, and its constants."""

    def __init__(self, root: Node, path: str, modules: Modules) -> None:
        self._path, self._modules = path, modules
        self._meanings = Meanings()
        self._judged, self._spared = Judged(self._meanings), set[int]()
        self._is_numbered = self._has_descriptors = self._has_environment = False
        waiting = [(root, 0)]
        while waiting:
            node, scope = waiting.pop()
            if node.type in ("import_statement", "import_require_clause"):
                self._is_numbered |= _is_numbered(string_of(node.child_by_field_name("source")))
            elif node.type == "call_expression":
                self._is_numbered |= _is_numbered(self._meanings.module_of(node))
            elif node.type in ("string", "template_string"):
                self._has_descriptors |= is_of_descriptors(_plain_text(node))
            elif node.type in ("property_identifier", "shorthand_property_identifier_pattern"):
                self._has_environment |= text_of(node) == "env"
            self._judged.look(node)
            scope = self._meanings.look(node, scope)
            waiting += ((child, scope) for child in reversed(node.children))
        self._is_numbered |= self._has_descriptors
        rules: Mapping[str, Rule] = {
            "import_statement": self._import,
            "import_require_clause": self._import,
            "export_statement": self._import,
            "member_expression": self._member,
            "subscript_expression": self._subscript,
            "binary_expression": self._added,
            "augmented_assignment_expression": self._grown,
            "call_expression": self._call,
            "new_expression": self._new,
            "string": self._string,
            "template_string": self._template,
            "pair_pattern": self._taken,
            "shorthand_property_identifier_pattern": self._taken,
            "template_substitution": self._written,
            "computed_property_name": self._written,
            "identifier": self._identifier,
            "property_identifier": _escaped,
            "shorthand_property_identifier": _escaped,
            **self._judged.rules,
        }
        noted = noted_failures(root, self._meanings.whole)
        self.rules = with_found(rules, noted, ("call_expression", "assignment_expression"))

    def _import(self, node: Node, around: Around) -> Shown:
        """Mark an import, or an export of what another module gives."""
        is_type = any(child.type == "type" for child in node.children)
        source = node.child_by_field_name("source")
        if source is None or is_type:
            return "", around
        module = string_of(source) or ""
        taken = dict(imported_names(node)) if node.type == "import_statement" else {}
        words = module_words(module, frozenset(found.name for found in taken.values()))
        listed = next((whole for name in taken if (whole := self._meanings.whole_name(name)) in NAMES), "")
        return Remark(words or (f"imports {listed}" if listed else ""), around, [source])

    def _member(self, node: Node, around: Around) -> tuple[str, Around]:
        member, whole = text_of(node.child_by_field_name("property")), node.child_by_field_name("object")
        if node.id in self._spared:
            return "", around
        if member in LAST_NAMES and (
            (name := name_of(node)) in NAMES or (name := self._meanings.whole(node)) in NAMES
        ):
            return f"uses {name}", around
        if GLOBALS.fullmatch(member):
            return f"uses {member}", around
        if member == "meta" and name_of(whole).rpartition(".")[2] == "task":  # the runner notes there how far it came
            return "uses task.meta", around
        if member == "startJSCoverage":
            return "asks the browser's Profiler", around
        if member == "ino" and self._is_numbered:
            return OF_NUMBERS, around
        is_text = member in TEXTS and self._is_function(whole)
        if member in (*TEXTS, "join") and whole is not None and whole.type == "array":
            is_text = self._has_function(whole)
        return "reads the text of a function" if is_text else "", around

    def _subscript(self, node: Node, around: Around) -> tuple[str, Around]:
        """Mark `object["name"]` where `object.name` is marked."""
        whole, member = node.child_by_field_name("object"), string_of(node.child_by_field_name("index")) or ""
        if member in LAST_NAMES:
            names = (f"{name_of(whole)}.{member}", self._meanings.whole(node))
            if found := next((name for name in names if name in NAMES), ""):
                return f"uses {found}", around
        if GLOBALS.fullmatch(member):
            return f"uses {member}", around
        if member == "ino" and self._is_numbered:
            return OF_NUMBERS, around
        is_text = member in TEXTS and self._is_function(whole)
        return "reads the text of a function" if is_text else "", around

    def _added(self, node: Node, around: Around) -> Shown:
        """Mark a function that is added to a string: there it becomes its text."""
        sides = [child for child in node.named_children if child.type in _SHORT]  # a long sum's left side is long
        texts = [text for side in sides if (text := string_of(side)) is not None]
        if words := self._judged.operation_words(node):
            return Remark(words, around, [node.named_children[0]])
        is_sum = bool(texts) and any(child.type == "+" for child in node.children)
        if is_sum and any(self._has_function(side) for side in sides):
            return "reads the text of a function", around
        return self._joined(node, around)

    def _joined(self, node: Node, around: Around) -> Shown:
        """Mark what is written in pieces: then its pieces alone are no paths."""
        if Around.PIECE in around or not around & TAKING_PATHS:
            return "", around
        return Remark(self._text_words(node, around), around & ~_OPENING | Around.PIECE, [node])

    def _text_words(self, node: Node, around: Around) -> str:
        """Return in words what the text names that an expression comes to."""
        text = written(node, self._meanings.names)
        if Around.READING in around and is_source(text, SOURCE) and not self._modules.is_own(self._path, text):
            return "reads a file of code"
        return place_words(text, around) if not text.startswith("/proc/$") else ""

    def _call(self, node: Node, around: Around) -> Shown:
        called, given = node.child_by_field_name("function"), given_to(node)
        function = bare(called) if called is not None else None
        whole, around = self._meanings.whole(function), around & ~Around.PIECE
        name = whole or name_of(function)
        self._spared |= harmless(function, name, given)
        if words := self._judged.call_words(node, given):
            return Remark(words, around, given[:1])
        if self._meanings.imports(node) and given:
            return Remark(module_words(self._meanings.module_of(node)), around, given[:1])
        if found := _OTHERWISE.fullmatch(name):
            name, given = found[1], given[1:]
        if name in MADE_CODE:
            return f"runs text as code by {name}", around
        if name in NAMES and function is not None and function.type == "identifier":
            return f"uses {name}", around
        asked = string_of(given[1]) or "" if name == "Reflect.get" and len(given) > 1 else ""
        if GLOBALS.fullmatch(asked):
            return f"uses {asked}", around
        if name == "Reflect.construct" and given and self._meanings.whole(given[0]) in MADE_CODE:
            return Remark("runs text as code by Function", around, given[:1])
        if name in TO_TEXT and given and self._has_function(given[0]):
            return Remark("reads the text of a function", around, given[:1])
        last = last_part(name)
        if name == f"child_process.{last}" and RUNNERS.fullmatch(last):
            return Remark(self._runs(last, given), around | Around.RUNNING, given)
        if last in ("readlink", "readlinkSync") and self._has_descriptors:
            return OF_NUMBERS, around
        if joins(node, self._meanings.whole_name):
            return self._joined(node, around)
        if last in OF_STRINGS and self._is_joined(function, given):
            return Remark("reads the text of a function", around, given)
        if last in MAPPERS and given and self._meanings.whole(given[0]) in TO_TEXT and self._is_listed(function):
            return Remark("reads the text of a function", around, given[:1])
        if name in PRINTERS and any(self._is_of_processors(item) for item in given):
            return Remark("uses os.cpus", around, given[:1])
        return "", around | self._reading(function, name, is_known=bool(whole))

    def _reading(self, function: Node | None, name: str, *, is_known: bool) -> Around:
        """Return what a call reads by its name: of members of unknown objects only what leads out of a container."""
        last = last_part(name)
        is_plain = PLAIN_READERS.fullmatch(name if is_known else last) is not None
        is_of_fs = name == f"fs.{last}" or (is_plain and is_known and self._is_anybodys(function))
        if is_of_fs and READERS.fullmatch(last):
            return Around.READING
        is_listed = READERS.fullmatch(last) or LISTERS.fullmatch(last)
        return Around.LISTING if (is_of_fs or (is_plain and not is_known)) and is_listed else Around.NOTHING

    def _is_joined(self, function: Node | None, given: list[Node]) -> bool:
        """Return whether a function of the repository is added to a string by a method of it."""
        of = function.child_by_field_name("object") if function is not None else None
        return string_of(of) is not None and any(self._has_function(item) for item in given)

    def _is_listed(self, function: Node | None) -> bool:
        """Return whether a method is one of a list of functions: written out, or all that a module gives."""
        of = function.child_by_field_name("object") if function is not None else None
        if of is None:
            return False
        if of.type == "call_expression" and name_of(of.child_by_field_name("function")) == "Object.values":
            source, rest = next((self._meanings.followed(item) for item in given_to(of)), None) or (None, ())
            is_whole = source is not None and source.name == "*" and not rest
            return source is not None and is_whole and self._modules.gives_any(self._path, source.module)
        return of.type == "array" and self._has_function(of)

    def _is_of_processors(self, node: Node) -> bool:
        """Return whether an expression is the list of processors, with the times of the whole machine in it."""
        function = node.child_by_field_name("function") if node.type == "call_expression" else None
        return function is not None and self._meanings.whole(function) == "os.cpus"

    def _grown(self, node: Node, around: Around) -> Shown:
        """Mark a function that is added to a variable: there it becomes its text."""
        right, operator = node.child_by_field_name("right"), text_of(node.child_by_field_name("operator"))
        is_text = operator == "+=" and right is not None and self._has_function(right)
        return Remark("reads the text of a function" if is_text else "", around, [right or node])

    def _is_anybodys(self, function: Node | None) -> bool:
        """Return whether a file doesn't say whose a name is."""
        found = self._meanings.followed(function)
        return found is not None and found[0] is None

    def _new(self, node: Node, around: Around) -> Shown:
        constructor, given = node.child_by_field_name("constructor"), given_to(node)
        name = self._meanings.whole(constructor)
        if name in MADE_CODE and given:
            return f"runs text as code by {name}", around
        if name in MADE_OF_TEXT and given and self._has_function(given[0]):
            return Remark("reads the text of a function", around, given[:1])
        is_code = name == "worker_threads.Worker" and len(given) > 1 and is_set(given[1], "eval")
        return Remark("runs text as code by Worker" if is_code else "", around, given)

    def _string(self, node: Node, around: Around) -> tuple[str, Around]:
        text = string_of(node) or ""
        if Around.READING in around and is_source(text, SOURCE) and not self._modules.is_own(self._path, text):
            return "reads a file of code", around
        if ENGINE_FLAG.match(text):
            return "asks the engine for its code", around
        words = scan_words(text) if self._has_environment else ""
        return words or place_words(text, around), around

    def _template(self, node: Node, around: Around) -> tuple[str, Around]:
        if around & TAKING_PATHS:
            return self._text_words(node, around), around
        return place_words(_plain_text(node), around), around

    def _taken(self, node: Node, around: Around) -> tuple[str, Around]:
        """Mark a global or a number of a file's status that is taken out of its object, and a name that is hidden."""
        name = node.child_by_field_name("key") if node.type == "pair_pattern" else node
        if GLOBALS.fullmatch(text_of(name).strip("\"'")):
            return f"uses {text_of(name)}", around
        if self._is_numbered and text_of(name) == "ino":
            return OF_NUMBERS, around
        return _escaped(node, around) if name == node else ("", around)

    def _written(self, node: Node, around: Around) -> tuple[str, Around]:
        is_text = any(self._has_function(child) for child in node.named_children)
        return "reads the text of a function" if is_text else "", around

    def _identifier(self, node: Node, around: Around) -> tuple[str, Around]:
        name = text_of(node)
        if GLOBALS.fullmatch(name):
            return f"uses {name}", around
        if "\\" in name:
            return _escaped(node, around)
        return self._text_words(node, around) if around & TAKING_PATHS else "", around

    def _is_function(self, node: Node | None) -> bool:
        """Return whether a name stands for a function of the repository, followed to its declaration."""
        found = self._meanings.followed(node)
        if found is None or found[0] is None:
            return False
        return self._modules.gives_function(self._path, found[0].module, (found[0].name, *found[1]))

    def _has_function(self, node: Node) -> bool:
        """Return whether an expression is a function of the repository, or a list that has one."""
        items = node.named_children[:MOST_GIVEN] if node.type == "array" else [node]
        return any(self._is_function(item) for item in items)

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


def _is_numbered(module: str | None) -> bool:
    return NUMBERED.fullmatch(module or "") is not None


def _escaped(node: Node, around: Around) -> tuple[str, Around]:
    r"""Mark a name with a plain letter written as `\u0053`: nobody does that but to hide the name."""
    name = text_of(node)
    hides = "\\" in name and any(int(found[1] or found[2], 16) < 128 for found in _ESCAPE.finditer(name))
    return ("writes a name by escapes" if hides else ""), around


CONDUCT = Conduct(
    parse=_parsed,
    rules=_rules,
    literals=frozenset({"string", "string_fragment", "number", "regex", "true", "false", "null"}),
    declaring=(*SUFFIXES, PACKAGE),
    included=_imported,
)
