"""Files of a patch that TypeScript imports by names without a known suffix: they run as code all the same. Pure."""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping

from tree_sitter import Node

from harness.judging.languages.typescript.meanings import Meanings
from harness.judging.languages.typescript.means import code_path
from harness.judging.languages.typescript.modules import SUFFIXES, string_of

_STATEMENTS = frozenset({"import_statement", "import_require_clause", "export_statement"})
_NO_CODE = (".json", ".node", ".wasm")
"""Suffixes that mean the same to whatever imports a file."""
_ROOT = re.compile(r"^(?:file://|[@~]?/|#)")


def imported_files(own: Mapping[str, bytes], parse: Callable[[bytes, str], Node]) -> frozenset[str]:
    """Return the files of a patch that other code of it imports by their names, but for those of known suffixes."""
    others: dict[str, set[str]] = {}
    for path in own:
        if not path.endswith((*SUFFIXES, *_NO_CODE)):
            others.setdefault(posixpath.basename(path), set()).add(path)
    waiting = [path for path in own if path.endswith(SUFFIXES)] if others else []
    found = set[str]()
    while waiting:
        path = waiting.pop()
        for name in _code_names(parse(own[path], path)):
            more = _meant(name, path, others.get(posixpath.basename(name), set())) - found
            found |= more
            waiting += more
    return frozenset(found)


def _code_names(root: Node) -> Iterator[str]:
    """Yield the paths of code that a file imports, as far as they are written in it."""
    meanings, calls, waiting = Meanings(), list[Node](), [(root, 0)]
    while waiting:
        node, scope = waiting.pop()
        if node.type in _STATEMENTS:
            is_required = node.type == "import_require_clause"
            yield code_path(string_of(node.child_by_field_name("source")) or "", is_required=is_required)
        elif node.type == "call_expression":
            calls.append(node)
        scope = meanings.look(node, scope)
        waiting += ((child, scope) for child in reversed(node.children))
    for call in calls:
        if module := meanings.module_of(call):
            yield code_path(module, is_required=meanings.requires(call))


def _meant(name: str, importer: str, paths: set[str]) -> set[str]:
    """Return those of some paths that a file means by a name."""
    if name.startswith("."):
        return {posixpath.normpath(posixpath.join(posixpath.dirname(importer), name))} & paths
    plain = _ROOT.sub("", name)
    if plain == name and "/" not in name:
        return set()
    return {path for path in paths if plain.endswith(f"/{path}") or f"/{path}".endswith(f"/{plain}")}
