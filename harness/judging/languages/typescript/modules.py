"""Functions and classes that modules of a repository give, followed through imports and exports.

A name is a function of the repository where its declaration is found in one of its files: nothing is taken from how a
name looks. What a call has made (`const parse = memoized(read)`) isn't known to be one.
"""

import json
import posixpath
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

from tree_sitter import Node

from harness.judging.languages.conduct import Sources
from harness.judging.languages.dotted_names import bare
from harness.judging.languages.escapes import unescaped
from harness.judging.languages.found import text_of

SUFFIXES = (".ts", ".tsx", ".mts", ".cts", ".js", ".mjs", ".cjs", ".jsx")
PACKAGE = "package.json"
_SUFFIX = re.compile(r"\.[cm]?[jt]sx?$")
_FUNCTIONS = frozenset(
    {"function_declaration", "generator_function_declaration", "function_expression", "arrow_function"}
    | {"generator_function", "function_signature"}
)
_CLASSES = frozenset({"class_declaration", "abstract_class_declaration", "class"})
_MOST_KEPT = 2_000_000
"""Bytes of files that are kept as trees: some fifty times as much memory."""
_MOST_STEPS = 500
"""Names that are followed for one."""
_MOST_BETWEEN = 30
"""Modules and names between a name and its declaration."""

Chain = tuple[str, ...]
"""The parts of a dotted name."""
Found = dict[str, "Node | Chain | From"]


@dataclass(frozen=True)
class From:
    """A name of another module; `*` for all that it gives."""

    module: str
    name: str


@dataclass
class Module:
    """Names that a file declares at its top, and those that it passes on."""

    path: str
    names: Found = field(default_factory=dict)
    exports: Found = field(default_factory=dict)
    """Names that aren't the same outside as inside, or are another module's."""
    declared: list[str] = field(default_factory=list)
    """Names that are exported where they are declared."""
    stars: list[str] = field(default_factory=list)


class Modules:
    """A search for declarations. Each file is parsed when it is first asked for."""

    def __init__(self, sources: Sources, others: Collection[str], parse: Callable[[bytes, str], Node]) -> None:
        """Take also the files of the patch that are code though they have no suffix of code."""
        self._own, self._parse = sources.own, parse
        self._texts = {path: text for path, text in sources.repository.items() if path.endswith(SUFFIXES)}
        own = sources.own.items()
        self._texts |= {path: text for path, text in own if path.endswith(SUFFIXES) or path in others}
        self._by_stem: dict[str, str] = {}
        for path in self._texts:
            self._by_stem.setdefault(_SUFFIX.sub("", path), path)
        packages = ((path, text) for path, text in sources.repository.items() if path.endswith(PACKAGE))
        self._packages = {name: posixpath.dirname(path) for path, text in packages if (name := _package_name(text))}
        self._read: dict[str, Module] = {}
        self._kept = self._steps = 0
        self._found: dict[tuple[str, str, Chain], bool] = {}
        self._files: dict[tuple[str, str], list[str]] = {}

    def gives_function(self, importer: str, module: str, chain: Chain) -> bool:
        """Return whether a name that a file imports from a module is a function or class of the repository.

        Args:
            importer: The path of the file.
            module: As the file names it: a path, or a package.
            chain: The imported name and the members that are asked of it; `*` first for the module itself.
        """
        key = (posixpath.dirname(importer), module, chain)
        if key not in self._found:
            self._steps = 0
            files = self._files_of(importer, module)
            if len(files) > 1:
                name = chain[1 if chain[0] == "*" and len(chain) > 1 else 0].encode()
                files = [path for path in files if name in self._texts[path]]
            self._found[key] = any(self._is_function(path, chain, _MOST_BETWEEN) for path in files)
        return self._found[key]

    def gives_any(self, importer: str, module: str) -> bool:
        """Return whether all that a file imports from a module has some function or class of the repository."""
        key = (posixpath.dirname(importer), module, ())
        if key not in self._found:
            self._steps = 0
            files = self._files_of(importer, module)[:1]
            stars = [(path, star) for path in files for star in self._module(path).stars]
            files = [*files, *(other for path, star in stars for other in self._files_of(path, star)[:1])]
            names = (
                (path, name) for path in files for name in (*self._module(path).declared, *self._module(path).exports)
            )
            self._found[key] = any(self._is_function(path, (name,), _MOST_BETWEEN) for path, name in names)
        return self._found[key]

    def is_own(self, importer: str, path: str) -> bool:
        """Return whether what a file reads is a file of the patch beside it, and of no other one's name."""
        name = posixpath.normpath(path)
        beside = posixpath.join(posixpath.dirname(importer), name)
        if "/" in name or beside not in self._own:
            return False
        return not any(f"/{other}".endswith(f"/{name}") for other in self._texts if other not in self._own)

    def _is_function(self, path: str, chain: Chain, left: int) -> bool:
        """Return whether what a file gives by a name is a function that another file than the patch's declares."""
        self._steps += 1
        if left < 0 or self._steps > _MOST_STEPS or not chain:
            return False
        module = self._module(path)
        if chain[0] == "*":
            return self._is_function(path, chain[1:], left - 1)
        found = module.exports.get(chain[0], module.names.get(chain[0]))
        if found is not None:
            return self._stands_for(module, found, chain[1:], left - 1)
        return any(
            self._is_function(other, chain, left - 1) for star in module.stars for other in self._files_of(path, star)
        )

    def _stands_for(self, module: Module, found: "Node | Chain | From", rest: Chain, left: int) -> bool:
        if left < 0:
            return False
        if isinstance(found, From):
            files = self._files_of(module.path, found.module)
            return any(self._is_function(path, (found.name, *rest), left - 1) for path in files)
        if isinstance(found, tuple):
            inner = module.names.get(found[0])
            return inner is not None and self._stands_for(module, inner, (*found[1:], *rest), left - 1)
        if found.type in _FUNCTIONS or found.type == "method_definition":
            return not rest and module.path not in self._own
        if found.type in _CLASSES:
            return self._is_of_class(module, found, rest, left)
        member = _members(found).get(rest[0]) if rest else None
        return member is not None and self._stands_for(module, member, rest[1:], left - 1)

    def _is_of_class(self, module: Module, found: Node, rest: Chain, left: int) -> bool:
        """Return whether a chain names code of a class.

        A class is a function as well, unless it defines its own text.
        """
        static = {name for name, _ in _methods(found, is_static=True)}
        if not rest:
            return "toString" not in static and module.path not in self._own
        is_prototype = rest[0] == "prototype"
        name = rest[1:] if is_prototype else rest
        methods = {name for name, _ in _methods(found, is_static=False)} if is_prototype else static
        if len(name) == 1 and name[0] in methods:
            return module.path not in self._own
        base = _base(found)
        return bool(base) and self._stands_for(module, base, rest, left - 1)

    def _module(self, path: str) -> Module:
        if path not in self._read:
            text = self._texts[path]
            if self._kept + len(text) > _MOST_KEPT:
                self._read, self._kept = {}, 0
            self._kept += len(text)
            self._read[path] = _read(path, self._parse(text, path))
        return self._read[path]

    def _files_of(self, importer: str, module: str) -> list[str]:
        key = (posixpath.dirname(importer) if module.startswith(".") else "", module)
        if key not in self._files:
            self._files[key] = self._look_up(importer, module)
        return self._files[key]

    def _look_up(self, importer: str, module: str) -> list[str]:
        """Return the files that a module may be: one for a path, for a package without a known entry all of it."""
        if module.startswith("."):
            return self._at(posixpath.normpath(posixpath.join(posixpath.dirname(importer), module)))
        for name, folder in sorted(self._packages.items(), reverse=True):
            if module == name or module.startswith(f"{name}/"):
                rest = module[len(name) + 1 :]
                places = (posixpath.normpath(posixpath.join(folder, below, rest)) for below in ("", "src", "lib"))
                found = next((files for place in places if (files := self._at(place))), None)
                return found or [path for path in self._texts if path.startswith(folder) and path not in self._own]
        plain = re.sub(r"^(?:[@~]/|#)", "", module)
        if plain == module and "/" not in module:
            return []
        stem = _SUFFIX.sub("", plain)
        ends = (f"/{stem}", f"/{stem}/index")
        return [path for known, path in self._by_stem.items() if f"/{known}".endswith(ends)]

    def _at(self, place: str) -> list[str]:
        stem = _SUFFIX.sub("", place)
        found = (
            self._by_stem.get(name) for name in (stem, place, posixpath.normpath(posixpath.join(place, "index")))
        )
        return [path for path in found if path is not None][:1]


def _package_name(text: bytes) -> str:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    name = found.get("name") if isinstance(found, dict) else None
    return name if isinstance(name, str) else ""


def _read(path: str, root: Node) -> Module:
    module = Module(path)
    for statement in root.named_children:
        if statement.type == "import_statement":
            module.names.update(imported_names(statement))
        elif statement.type == "export_statement":
            _read_export(module, statement)
        elif statement.type == "expression_statement":
            _read_assignment(module, statement)
        else:
            module.names.update(_declarations(statement))
    return module


def imported_names(statement: Node) -> Iterator[tuple[str, From]]:
    """Yield the names that an import gives to its file, with what they are there."""
    source = string_of(statement.child_by_field_name("source")) or ""
    waiting = [child for child in statement.named_children if child.type == "import_clause"]
    while waiting:
        node = waiting.pop()
        if node.type == "import_specifier":
            name = text_of(node.child_by_field_name("name"))
            yield text_of(node.child_by_field_name("alias")) or name, From(source, name.strip("\"'"))
        elif node.type == "namespace_import":
            yield text_of(node.named_children[-1] if node.named_children else None), From(source, "*")
        elif node.type == "identifier":
            yield text_of(node), From(source, "default")
        else:
            waiting += node.named_children


def _read_export(module: Module, statement: Node) -> None:
    source = string_of(statement.child_by_field_name("source"))
    declaration, value = statement.child_by_field_name("declaration"), statement.child_by_field_name("value")
    if declaration is not None:
        declared = dict(_declarations(declaration))
        module.names.update(declared)
        module.declared += declared
        if declared and any(child.type == "default" for child in statement.children):
            module.exports["default"] = next(iter(declared.values()))
    elif value is not None and (found := _meaning(value)) is not None:
        module.exports["default"] = found
    for child in statement.named_children:
        if child.type == "namespace_export":
            module.exports[text_of(child.named_children[-1])] = From(source or "", "*")
        elif child.type == "export_clause":
            for item in child.named_children:
                name = text_of(item.child_by_field_name("name"))
                outside = text_of(item.child_by_field_name("alias")) or name
                if source is not None or outside != name:
                    module.exports[outside] = From(source, name) if source is not None else (name,)
    if source is not None and any(child.type == "*" for child in statement.children):
        module.stars.append(source)


def _read_assignment(module: Module, statement: Node) -> None:
    """Take what a script gives by `exports.name = ...`; namespaces are statements of the same type."""
    for node in statement.named_children:
        if node.type == "internal_module":
            module.names.update(_declarations(node))
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if node.type == "assignment_expression" and left is not None and right is not None:
            name = text_of(left) if left.end_byte - left.start_byte < 200 else ""
            found = _meaning(right)
            if found is not None and re.fullmatch(r"(module\.)?exports\.\w+", name):
                module.exports[name.rpartition(".")[2]] = found
            elif name == "module.exports" and right.type == "object":
                module.exports.update(_members(right))


def _declarations(statement: Node) -> Iterator[tuple[str, "Node | Chain | From"]]:
    if statement.type in _FUNCTIONS | _CLASSES or statement.type in ("internal_module", "module"):
        yield text_of(statement.child_by_field_name("name")), statement
    elif statement.type in ("lexical_declaration", "variable_declaration"):
        for node in statement.named_children:
            if node.type == "variable_declarator":
                yield from aliases(node)


def aliases(declarator: Node) -> Iterator[tuple[str, "Node | Chain | From"]]:
    """Yield the names that a declaration of a variable makes, with what they stand for."""
    name, value = declarator.child_by_field_name("name"), declarator.child_by_field_name("value")
    found = _meaning(value) if value is not None else None
    if name is None or found is None:
        return
    if name.type == "identifier":
        yield text_of(name), found
    elif name.type == "object_pattern" and isinstance(found, tuple):
        for item in name.named_children:
            if item.type == "shorthand_property_identifier_pattern":
                yield text_of(item), (*found, text_of(item))
            elif item.type == "pair_pattern":
                inside = (*found, text_of(item.child_by_field_name("key")))
                yield text_of(item.child_by_field_name("value")), inside


def chain_of(node: Node | None) -> Chain:
    """Return the parts of a dotted name; empty for anything else."""
    parts: list[str] = []
    while node is not None and len(parts) < _MOST_BETWEEN:
        node = bare(node)
        if node.type in ("identifier", "shorthand_property_identifier"):
            return (text_of(node), *reversed(parts))
        index = string_of(node.child_by_field_name("index")) if node.type == "subscript_expression" else None
        if node.type == "member_expression" or index is not None:
            parts.append(index or text_of(node.child_by_field_name("property")))
            node = node.child_by_field_name("object")
        else:
            return ()
    return ()


def _meaning(node: Node) -> "Node | Chain | None":
    """Return the declaration that a value is, or the name that it stands for; None for what is computed."""
    node = bare(node)
    if node.type in _FUNCTIONS | _CLASSES or node.type == "object":
        return node
    return chain_of(node) or None


def _members(node: Node) -> Found:
    """Return what an object or a namespace has."""
    found: Found = {}
    if node.type in ("internal_module", "module"):
        body = node.child_by_field_name("body")
        for statement in body.named_children if body else ():
            found.update(_declarations(statement.child_by_field_name("declaration") or statement))
    for item in node.named_children if node.type == "object" else ():
        value = item.child_by_field_name("value")
        if item.type == "method_definition":
            found[text_of(item.child_by_field_name("name"))] = item
        elif item.type == "shorthand_property_identifier":
            found[text_of(item)] = (text_of(item),)
        elif item.type == "pair" and value is not None and (meaning := _meaning(value)) is not None:
            found[text_of(item.child_by_field_name("key")).strip("\"'")] = meaning
    return found


def _methods(found: Node, *, is_static: bool) -> Iterator[tuple[str, Node]]:
    body = found.child_by_field_name("body")
    for item in body.named_children if body else ():
        value = item.child_by_field_name("value")
        is_method = item.type == "method_definition" or (value is not None and value.type in _FUNCTIONS)
        if is_method and is_static == any(child.type == "static" for child in item.children):
            yield text_of(item.child_by_field_name("name")), item


def _base(found: Node) -> Chain:
    for heritage in (child for child in found.named_children if child.type == "class_heritage"):
        for clause in heritage.named_children:
            if clause.type == "extends_clause":
                return chain_of(clause.child_by_field_name("value"))
    return ()


def string_of(node: Node | None) -> str | None:
    """Return the text of a string, computed parts of a template as written; None for anything else."""
    if node is None or node.type not in ("string", "template_string"):
        return None
    return unescaped(text_of(node)[1:-1])
