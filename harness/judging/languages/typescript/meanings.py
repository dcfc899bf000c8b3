"""Meanings of a TypeScript file's names: modules that it imports in any way, other names, and constants. Pure."""

import re
from collections.abc import Iterable, Iterator

from tree_sitter import Node

from harness.judging.languages.conduct import words_of
from harness.judging.languages.dotted_names import bare
from harness.judging.languages.found import text_of
from harness.judging.languages.pathnames import UNKNOWN, Names, written
from harness.judging.languages.scopes import Scopes
from harness.judging.languages.typescript.calls import FUNCTIONS
from harness.judging.languages.typescript.means import IMPORTERS
from harness.judging.languages.typescript.modules import Chain, From, aliases, chain_of, imported_names, string_of

_PATTERNS = words_of(
    """
    formal_parameters required_parameter optional_parameter object_pattern array_pattern rest_pattern
    assignment_pattern pair_pattern object_assignment_pattern
    """
)
_PARTS = words_of("required_parameter optional_parameter assignment_pattern pair_pattern")
_SCOPES = FUNCTIONS | {"statement_block", "method_definition", "for_in_statement", "for_statement", "catch_clause"}
_IMPORTING = frozenset(name.rpartition(".")[2] for name in IMPORTERS)
_MOST_ALIASES = 10
_GLOBAL = re.compile(r"(?:globalThis|global|window|self)\.")
_NODE = {"fs/promises": "fs", "fs-extra": "fs", "graceful-fs": "fs", "path/posix": "path"}
_NO_PARTS = frozenset({"*", "default", "promises", "posix"})
"""Names of a module's parts that have the same names as the module itself."""


class Meanings:
    """Meanings of names in each block: another name, a module's, or something that nothing is known of."""

    def __init__(self) -> None:
        self.imported: dict[str, From] = {}
        self._scopes = Scopes()
        self._bound: dict[tuple[int, str], Chain | From] = {}
        self._rebound: set[str] = set()
        self._constants: dict[tuple[int, str], str] = {}
        self.names = Names(self._constant, self.whole_name)

    def look(self, node: Node, scope: int) -> int:
        """Take what a node binds in a block, and return the block of its children. Nodes come in the text's order."""
        if node.type == "import_statement":
            self.imported |= dict(imported_names(node))
            self._require(node)
        elif node.type == "variable_declarator":
            self._declare(node, scope)
        elif node.type in ("function_declaration", "class_declaration"):
            self._bind([node.child_by_field_name("name")], scope)
        if node.type in _SCOPES:
            scope = self._scopes.add(node)
            self._bind((node.child_by_field_name(name) for name in ("parameters", "parameter", "left")), scope)
        return scope

    def _require(self, statement: Node) -> None:
        """Take `import name = require("module")`."""
        for clause in statement.named_children:
            if clause.type == "import_require_clause" and clause.named_children:
                source = string_of(clause.child_by_field_name("source"))
                self.imported[text_of(clause.named_children[0])] = From(source or "", "*")

    def _declare(self, node: Node, scope: int) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        self._bind([name], scope)
        if name is None or value is None:
            return
        if name.type == "identifier":
            self._constants[scope, text_of(name)] = written(value, self.names)
        source = self.module_of(value)
        for new, old in _taken(name, source) if source else aliases(node):
            if isinstance(old, tuple | From):
                self._bound[scope, new] = old
        call = bare(value)
        made = self.whole(call.child_by_field_name("function")) if call.type == "call_expression" else ""
        if name.type == "identifier" and made in ("module.createRequire", "util.promisify", "promisify"):
            arguments = call.child_by_field_name("arguments")
            given = chain_of(next(iter(arguments.named_children), None)) if arguments is not None else ()
            self._bound[scope, text_of(name)] = ("require",) if made == "module.createRequire" else given

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
                waiting += [child for child in inner if child][:1] if node.type in _PARTS else node.named_children

    def _constant(self, name: Node) -> str | None:
        text = text_of(name)
        if text not in self._rebound:
            return None
        scope = self._scope_of(name.start_byte, text)
        return self._constants.get((scope, text), UNKNOWN) if scope is not None else None

    def _scope_of(self, place: int, name: str) -> int | None:
        return next((scope for scope in self._scopes.around(place) if (scope, name) in self._bound), None)

    def module_of(self, node: Node) -> str:
        """Return the module that a call imports, as a whole; empty for anything else."""
        node = bare(node)
        if node.type == "await_expression" and node.named_children:
            node = bare(node.named_children[-1])
        arguments = node.child_by_field_name("arguments") if node.type == "call_expression" else None
        if arguments is None or not self.imports(node):
            return ""
        given = next((item for item in arguments.named_children if not item.is_extra), None)
        text = written(given, self.names) if given is not None else UNKNOWN
        return text if UNKNOWN not in text else ""

    def imports(self, call: Node) -> bool:
        """Return whether a call imports the module that it is given."""
        function = call.child_by_field_name("function")
        if function is None or function.type == "import":
            return function is not None
        made = bare(function)
        if made.type == "member_expression" and text_of(made.child_by_field_name("property")) not in _IMPORTING:
            return False
        if made.type == "call_expression":
            return self._whole(self._of_name(made.child_by_field_name("function"))) == "module.createRequire"
        return self._whole(self._of_name(function)) in IMPORTERS

    def requires(self, call: Node) -> bool:
        """Return whether a call that imports a module is one of node's `require`."""
        function = call.child_by_field_name("function")
        made = bare(function) if function is not None else None
        if made is None or made.type == "import":
            return False
        return made.type == "call_expression" or self._whole(self._of_name(made)) in ("require", "module.require")

    def followed(self, node: Node | None) -> tuple[From | None, Chain] | None:
        """Return the import that a dotted name comes from, and what is asked of it; None for what isn't known.

        Where no import has the name, it is one of all files.
        """
        chain = chain_of(node)
        return self._of_chain(node, chain) if node is not None and chain else self._of_call(node)

    def _of_name(self, node: Node | None) -> tuple[From | None, Chain] | None:
        chain = chain_of(node)
        return self._of_chain(node, chain) if node is not None and chain else None

    def _of_chain(self, node: Node, chain: Chain) -> tuple[From | None, Chain] | None:
        for _ in range(_MOST_ALIASES):
            scope = self._scope_of(node.start_byte, chain[0]) if chain[0] in self._rebound else None
            if scope is None:
                break
            meaning = self._bound[scope, chain[0]]
            if isinstance(meaning, From):
                return meaning, chain[1:]
            if not meaning:
                return None
            chain, is_same = (*meaning, *chain[1:]), meaning[0] == chain[0]
            if is_same and len(meaning) > 1:
                return None
            if is_same:
                break
        return self.imported.get(chain[0]), chain if chain[0] not in self.imported else chain[1:]

    def _of_call(self, node: Node | None) -> tuple[From, Chain] | None:
        """Return the module that members are asked of where it is imported in their place."""
        inner, members = bare(node) if node is not None else None, list[str]()
        for _ in range(_MOST_ALIASES):
            if inner is None or inner.type not in ("member_expression", "subscript_expression"):
                break
            member = string_of(inner.child_by_field_name("index")) or text_of(inner.child_by_field_name("property"))
            members.append(member)
            of = inner.child_by_field_name("object")
            inner = bare(of) if of is not None else None
        source = self.module_of(inner) if inner is not None and members else ""
        return (From(source, "*"), (*reversed(members),)) if source else None

    def whole(self, node: Node | None) -> str:
        """Return a dotted name with its module before it; without one it is of all files, and empty if not known."""
        return self._whole(self.followed(node))

    @staticmethod
    def _whole(found: tuple[From | None, Chain] | None) -> str:
        source, rest = found or (None, ())
        return _named(source, rest) if source is not None else _GLOBAL.sub("", ".".join(rest), count=1)

    def whole_name(self, name: str) -> str:
        """Return a dotted name with its module before it, by the file's imports alone."""
        first, *rest = name.split(".")
        return _named(self.imported[first], (*rest,)) if first in self.imported else name


def _named(source: From, rest: Chain) -> str:
    module = source.module.removeprefix("node:")
    parts = [part for part in (source.name, *rest) if part not in _NO_PARTS]
    return ".".join([_NODE.get(module, module), *parts])


def _taken(name: Node, module: str) -> Iterator[tuple[str, From]]:
    """Yield the names that a declaration gives to a module, or to what it takes out of one."""
    if name.type == "identifier":
        yield text_of(name), From(module, "*")
    for item in name.named_children if name.type == "object_pattern" else ():
        if item.type == "shorthand_property_identifier_pattern":
            yield text_of(item), From(module, text_of(item))
        elif item.type == "pair_pattern":
            yield text_of(item.child_by_field_name("value")), From(module, text_of(item.child_by_field_name("key")))
