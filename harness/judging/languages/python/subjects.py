"""Subjects of tests: whether a test uses anything that it could be about. Pure.

A test says nothing if all names in it are of Python itself, of what tests are made with, of its cases, or of
functions and values of the patch that use nothing else either. What nobody knows (a fixture of the repository) is
something.
"""

import builtins
import re
import sys
from collections.abc import Iterator
from functools import lru_cache

import tree_sitter_python
from tree_sitter import Language, Node

from harness.judging.languages.conduct import words_of
from harness.judging.languages.found import nodes_of, parsed
from harness.judging.languages.python.calls import first_named, literal
from harness.judging.languages.python.classes import text_of, with_short_comments
from harness.judging.languages.python.imports import imports_of

_GRAMMAR = Language(tree_sitter_python.language())
_TOOLS = sys.stdlib_module_names | words_of("pytest _pytest hypothesis mock pluggy typing_extensions")
"""Modules that no test is about, but for those of Python's own tests."""
_FIXTURES = words_of(
    """
    request tmp_path tmp_path_factory tmpdir tmpdir_factory capsys capsysbinary capfd capfdbinary caplog cache
    monkeypatch recwarn record_property record_testsuite_property pytestconfig doctest_namespace mocker
    """
)
"""Fixtures of pytest itself."""
_PLAIN = words_of("self cls __file__") | frozenset(dir(builtins)) | _FIXTURES
_CHECKS = re.compile(r"assert\w*|fail\w*|skip\w*|subTest|_?set_?up\w*|_?tear_?down\w*", re.IGNORECASE)
"""Members of a test case that are no subject."""
_BINDS = {
    "assignment": "left",
    "augmented_assignment": "left",
    "for_statement": "left",
    "for_in_clause": "left",
    "named_expression": "name",
}
"""Types of nodes that give names a value, with the field that has the names."""
_PATTERNS = words_of("pattern_list tuple_pattern list_pattern list_splat_pattern tuple list expression_list")
_DEFINES = frozenset({"function_definition", "lambda", "class_definition"})
_NOBODY = "?"
"""Name of what a test may be about."""
_MOST_DECORATION = 200
"""Characters of a decorator in which its name is looked for."""


def says_nothing(test: bytes, own: tuple[bytes, ...]) -> bool:
    """Return whether a test uses nothing that it could be about, from its text and the patch's texts."""
    known = _defined(own)
    return all(known.get(name, name in _PLAIN) for name in _used(_parsed(test)))


@lru_cache(2)
def _defined(texts: tuple[bytes, ...]) -> dict[str, bool]:
    """Return by the names of functions, values and imports of texts whether they say nothing, either."""
    uses: dict[str, set[str]] = {}
    for root in map(_parsed, texts):
        for node in nodes_of(root):
            if node.type in ("import_statement", "import_from_statement"):
                for _, name, whole in imports_of(node):
                    is_tool = whole.partition(".")[0] in _TOOLS
                    uses.setdefault(name, set()).update([] if is_tool else [_NOBODY])
        for statement in _statements(root):
            used = _used(statement)
            for name in _names_of(statement):
                uses.setdefault(name, set()).update(used)
    users: dict[str, list[str]] = {}
    for name, others in uses.items():
        for other in others:
            users.setdefault(other, []).append(name)
    waiting = [name for name in users if name not in uses and name not in _PLAIN]
    speaking = set(waiting)
    while waiting:
        new = set(users.get(waiting.pop(), ())) - speaking
        speaking |= new
        waiting += new
    return {name: name not in speaking for name in uses}


def _parsed(text: bytes) -> Node:
    return parsed(_GRAMMAR, with_short_comments(text))


def _statements(root: Node) -> Iterator[Node]:
    """Yield the functions of a file, those of classes as well, and the assignments outside of them."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type in ("function_definition", "assignment", "decorated_definition"):
            inner = node.child_by_field_name("definition")
            if inner is None or inner.type != "class_definition":
                yield node
                continue
        waiting += node.named_children


def _names_of(statement: Node) -> set[str]:
    definition = statement.child_by_field_name("definition") or statement
    if definition.type == "function_definition":
        return {text_of(definition.child_by_field_name("name"))}
    return _identifiers(definition.child_by_field_name("left"))


def _used(root: Node) -> set[str]:
    """Return the names that a piece of code takes from elsewhere, and members of its own class."""
    bound, used, apart = set[str](), set[str](), set[int]()
    outer = _outer(root)
    for node in nodes_of(root):
        name = node.child_by_field_name("name")
        if node.type in _DEFINES and (outer is None or node.id != outer.id):
            bound |= {text_of(name), *_parameters(node)}
        elif node.type in _BINDS:
            bound |= _identifiers(node.child_by_field_name(_BINDS[node.type]))
        elif node.type == "as_pattern_target":
            bound |= _identifiers(next(iter(node.named_children), None))
        elif node.type in ("import_statement", "import_from_statement"):
            apart |= {each.id for each in nodes_of(node)}
        elif node.type == "keyword_argument" and name is not None:
            apart.add(name.id)
        elif node.type == "attribute" and (member := node.child_by_field_name("attribute")) is not None:
            apart.add(member.id)
            is_own = text_of(node.child_by_field_name("object")) in ("self", "cls")
            used |= {text_of(member)} if is_own and not _CHECKS.fullmatch(text_of(member)) else set()
        elif node.type == "decorator":
            bound |= set(_cases(node))
        elif node.type == "identifier" and node.id not in apart:
            used.add(text_of(node))
    return used - bound


def _outer(root: Node) -> Node | None:
    """Return the test or fixture that a piece of code is: what it takes are fixtures. None for other functions."""
    first = next((child for child in root.named_children if not child.is_extra), root)
    whole = first if root.type == "module" else root
    function = whole.child_by_field_name("definition") or whole
    decorators = [text_of(child)[:_MOST_DECORATION] for child in whole.children if child.type == "decorator"]
    is_test = text_of(function.child_by_field_name("name")).startswith("test")
    return function if is_test or any("fixture" in each for each in decorators) else None


def _identifiers(target: Node | None) -> set[str]:
    """Return the names that a target sets: not those of which it sets a part."""
    found, waiting = set[str](), [target] if target is not None else []
    while waiting:
        node = waiting.pop()
        found |= {text_of(node)} if node.type == "identifier" else set()
        waiting += node.named_children if node.type in _PATTERNS else []
    return found


def _parameters(function: Node) -> Iterator[str]:
    parameters = function.child_by_field_name("parameters")
    for child in parameters.named_children if parameters is not None else ():
        name = child.child_by_field_name("name") or (child if child.type == "identifier" else None)
        yield text_of(name or next(iter(child.named_children), None)).lstrip("*")


def _cases(decorator: Node) -> Iterator[str]:
    """Yield the names that `parametrize` gives values."""
    call = next(iter(decorator.named_children), decorator)
    if "parametrize" in text_of(call.child_by_field_name("function"))[-_MOST_DECORATION:]:
        for node in first_named(call.child_by_field_name("arguments"))[:1]:
            for part in nodes_of(node):
                yield from re.findall(r"\w+", literal(part))
