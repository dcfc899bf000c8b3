"""Discovery of tests in Go, by the rules of `go test`.

Assertions are those of the testing package, testify and similar packages, and functions that get a `*testing.T`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import PurePosixPath

import tree_sitter_go
from tree_sitter import Language, Node, Query, QueryCursor

from harness.judging.languages.assertions import WORDS, Part, Tally, look, sounding
from harness.judging.languages.dotted_names import name_of
from harness.judging.languages.found import (
    FileQuota,
    HelperFunction,
    TestFile,
    TestFunction,
    every_node,
    parsed,
    text_of,
)
from harness.judging.languages.functions import below
from harness.judging.languages.go.whole_package import acts_on_package

_CHECKS_GRAMMAR = Language(tree_sitter_go.language())
_TESTING = re.compile(r"\*?(\w+\.)?(T|B|F|TB|C|TestingT)")
_REPORTS = '"Error" "Errorf" "Fail" "FailNow" "Fatal" "Fatalf"'
_LIBRARY = re.compile(r"(^|/)(assert|require)$")
_PRINTING = frozenset(
    {"bufio", "bytes", "errors", "fmt", "io", "log", "log/slog", "os", "reflect", "strings", "time"}
)
_SOUNDS = sounding(*WORDS)
_USUAL = 200
"""Bytes of all names for which a query is remembered."""
_DECLARATIONS = Query(
    _CHECKS_GRAMMAR,
    """
    (parameter_declaration name: (identifier) @name type: [(pointer_type) (qualified_type) (type_identifier)] @type)
    (field_declaration name: (field_identifier) @name type: [(pointer_type) (qualified_type)] @type)
    (range_clause left: (expression_list (identifier) @other))
    """,
)


class GoChecks:
    """A count of assertions in one file. A loop may give the name of a `*testing.T` to something else."""

    def __init__(self, root: Node, imports: Iterable[tuple[str, str, str]]) -> None:
        self._testing, others = _declared(root)
        known = {name: path for name, path, _ in imports}
        libraries = frozenset(name for name, path in known.items() if _LIBRARY.search(path))
        printing = frozenset(name for name, path in known.items() if path in _PRINTING)
        self._plain = _query(self._testing, self._testing, libraries, printing)
        self._shadowed = _query(self._testing, self._testing - others, libraries, printing)

    def part(self, function: Node) -> Part:
        _, others = _declared(function)
        return look(self._shadowed if others & self._testing else self._plain, function)


def _declared(node: Node) -> tuple[frozenset[str], frozenset[str]]:
    """Return names of what can fail a test, and names that loops give to other things."""
    testing, others = {"t"}, set[str]()
    for _, found in QueryCursor(_DECLARATIONS).matches(node):
        if "type" in found and _TESTING.fullmatch(text_of(found["type"][0])):
            testing |= {text_of(name) for name in found["name"]}
        others |= {text_of(name) for name in found.get("other", ())}
    return frozenset(testing), frozenset(others)


def _query(
    testing: frozenset[str], handed: frozenset[str], libraries: frozenset[str], printing: frozenset[str]
) -> Query:
    """Return a query, remembered for the names that files usually have: hostile text must not fill the memory."""
    usual = sum(len(name) for name in testing | libraries | printing) < _USUAL
    return (_remembered if usual else _made)(testing, handed, libraries, printing)


def _made(
    testing: frozenset[str], handed: frozenset[str], libraries: frozenset[str], printing: frozenset[str]
) -> Query:
    """Return the query for assertions.

    `testing` are names that may stand for a `*testing.T`, `handed` those of them that stand for nothing else.
    `printing` are packages whose functions never fail a test that is handed to them.
    """
    return Query(
        _CHECKS_GRAMMAR,
        f"""
        ((call_expression function: (selector_expression operand: (identifier) @t field: (field_identifier) @check))
            @_ (#any-of? @t {_listed(testing)}) (#any-of? @check {_REPORTS}))
        ((call_expression function: (selector_expression
            operand: (selector_expression field: (field_identifier) @t) field: (field_identifier) @check))
            @_ (#any-of? @t {_listed(testing)}) (#any-of? @check {_REPORTS}))
        ((call_expression function: (selector_expression
            operand: (call_expression function: (selector_expression field: (field_identifier) @t))
            field: (field_identifier) @check)) @_ (#any-of? @t "T" "Require"))
        ((call_expression function: (selector_expression operand: (identifier) @of field: (field_identifier) @check))
            @_ (#any-of? @of {_listed(libraries)}))
        ((call_expression function: (identifier) @check) @_ (#eq? @check "panic"))
        ((call_expression function: (identifier) @call arguments: (argument_list (identifier) @t))
            @_ (#any-of? @t {_listed(handed)}))
        ((call_expression function: (selector_expression operand: (_) @of field: (field_identifier) @method)
            arguments: (argument_list (identifier) @t)) @_ (#any-of? @t {_listed(handed)})
            (#not-any-of? @of {_listed(printing)}))
        ((call_expression function: (identifier) @call) @_ (#match? @call "{_SOUNDS}"))
        ((call_expression function: (selector_expression field: (field_identifier) @method))
            @_ (#match? @method "{_SOUNDS}"))
        (identifier) @name
        (selector_expression field: (field_identifier) @member) @_
        (short_var_declaration left: (expression_list (identifier) @local) right: (expression_list (func_literal)))
        (var_spec name: (identifier) @local value: (expression_list (func_literal)))
        (assignment_statement left: (expression_list (identifier) @local) right: (expression_list (func_literal)))
        """,
    )


_remembered = lru_cache(maxsize=32)(_made)


def _listed(names: frozenset[str]) -> str:
    return " ".join(f'"{name}"' for name in sorted(names)) or '""'


FILE_RULE = "its name must end in _test.go, in a folder that `./...` enters"
_NOT_ENTERED = frozenset({"testdata", "vendor"})
"""Folders that `./...` leaves out, wherever they are."""
_GRAMMAR = Language(tree_sitter_go.language())
_PARAMETER = {"Test": "T", "Fuzz": "F"}
_OUTPUT = re.compile(r"//\s*(unordered )?output:", re.IGNORECASE)
_VERSION = re.compile(r"/v\d+$")
Import = tuple[str, str, str]
"""Its name in the file, its path and its text."""


def is_test_file(path: str) -> bool:
    """Return whether `go test ./...` would build this file; it leaves out folders and files by their names."""
    *folders, name = PurePosixPath(path).parts
    left_out = any(part.startswith((".", "_")) for part in (*folders, name)) or not _NOT_ENTERED.isdisjoint(folders)
    return name.endswith("_test.go") and not left_out


def discover(source: bytes, path: str) -> TestFile:
    """Return `TestX(*testing.T)`, `FuzzX(*testing.F)` and `ExampleX()` with an output; subtests are part of a test.

    Raises:
        TooMuchToRead: The file is larger than anybody would write.
    """
    quota, tally = FileQuota(path, source), Tally()
    tests: list[TestFunction] = []
    others: set[str] = set()
    helpers: list[HelperFunction] = []
    imported = list(imports(source))
    root = parsed(_GRAMMAR, source)
    nodes = root.named_children
    parts, known = _parts(root, nodes, imported)
    for place, node in enumerate(nodes):
        if node.type in ("function_declaration", "method_declaration"):
            name = text_of(node.child_by_field_name("name"))
            assertions = tally.of(parts[node.start_byte], known)
            quota.take(name)
            if node.type == "function_declaration" and _is_test(name, node):
                tests.append(_test(name, node, _first_comment(nodes, place), source, assertions))
            else:
                others.add(name)
                helpers.append(HelperFunction.at(node, name, assertions))
        elif node.type == "type_declaration":
            others |= {text_of(spec.child_by_field_name("name")) for spec in node.named_children}
    counts = Counter(test.name for test in tests)
    twice = frozenset(name for name in counts if counts[name] > 1)
    return TestFile(tuple(tests), frozenset(others), twice, tuple(helpers))


def names(source: bytes) -> frozenset[str]:
    """Return every identifier, qualified name and imported path of a text."""
    kinds = ("identifier", "field_identifier", "type_identifier", "package_identifier")
    nodes = every_node(_GRAMMAR, source)
    found = {name_of(node) for node in nodes if node.type in (*kinds, "selector_expression", "qualified_type")}
    return frozenset(found | {path for _, path, _ in imports(source)})


def calls(source: bytes) -> frozenset[str]:
    """Return what a text calls, as written: `helper`, `time.Sleep`."""
    nodes = (node for node in every_node(_GRAMMAR, source) if node.type == "call_expression")
    return frozenset(name_of(node.child_by_field_name("function")) for node in nodes)


def imports(source: bytes) -> Iterator[Import]:
    """Yield name, path and text of each import; a path that ends in a version is known by the part before it."""
    for node in every_node(_GRAMMAR, source):
        if node.type == "import_spec":
            path = text_of(node.child_by_field_name("path")).strip('"`')
            named = _VERSION.sub("", path).rpartition("/")[2]
            yield text_of(node.child_by_field_name("name")) or named, path, text_of(node)


def reaches_folder(path: str, source: bytes) -> bool:
    """Return whether a test file acts on every test of its package.

    It does by a `TestMain`, an `init`, or anything that runs to give a variable of the package its value, as a
    file without tests, which is built with them all the same, and by what changes the package's own code.
    """
    if not is_test_file(path):
        return False
    found = discover(source, path)
    is_of_all = not found.tests or bool({"TestMain", "init"} & found.others)
    known = {name for name, path, _ in imports(source) if name == path}
    return is_of_all or acts_on_package(parsed(_GRAMMAR, source), known)


def _parts(
    root: Node, nodes: Sequence[Node], imported: Iterable[Import]
) -> tuple[dict[int, Part], dict[str, list[Part]]]:
    """Return what each function does, by where it begins and by how others name it."""
    checks = GoChecks(root, imported)
    parts: dict[int, Part] = {}
    known: dict[str, list[Part]] = {}
    for node in nodes:
        if node.type in ("function_declaration", "method_declaration"):
            part = parts[node.start_byte] = checks.part(node)
            name = text_of(node.child_by_field_name("name"))
            known.setdefault(f".{name}" if node.type == "method_declaration" else name, []).append(part)
        elif node.type == "var_declaration":
            for name, function in _kept_in_variables(node):
                known.setdefault(name, []).append(checks.part(function))
    return parts, known


def _kept_in_variables(declaration: Node) -> Iterator[tuple[str, Node]]:
    """Yield the functions that are values of variables of the package."""
    for node in below(declaration):
        values = node.child_by_field_name("value") if node.type == "var_spec" else None
        pairs = zip(node.children_by_field_name("name"), values.named_children, strict=False) if values else ()
        yield from ((text_of(name), value) for name, value in pairs if value.type == "func_literal")


def _is_test(name: str, node: Node) -> bool:
    """Return whether `go test` takes a function for a test: it asks for a pointer to something that is called T."""
    if node.child_by_field_name("type_parameters") or node.child_by_field_name("result"):
        return False
    parameters = node.child_by_field_name("parameters")
    types = [text_of(item.child_by_field_name("type")) for item in parameters.named_children] if parameters else []
    for prefix, kind in _PARAMETER.items():
        if _has_prefix(name, prefix):
            return len(types) == 1 and re.fullmatch(rf"\*\s*(\w+\s*\.\s*)?{kind}", types[0]) is not None
    return _has_prefix(name, "Example") and not types and _has_output(node)


def _has_prefix(name: str, prefix: str) -> bool:
    """Return whether `go test` sees the prefix in a name: what follows doesn't begin with a small letter."""
    return name.startswith(prefix) and not name[len(prefix) :][:1].islower()


def _has_output(node: Node) -> bool:
    body = node.child_by_field_name("body")
    comments = [child for child in body.named_children if child.type == "comment"] if body else []
    return any(_OUTPUT.match(text_of(comment)) for comment in comments)


def _test(name: str, node: Node, start: Node, source: bytes, assertions: int) -> TestFunction:
    """Return a test function. The output that an example has to print counts as one assertion."""
    total = assertions + _has_output(node)
    first, last = start.start_point[0] + 1, node.end_point[0] + 1
    return TestFunction(name, first, last, source[start.start_byte : node.end_byte], assertions=total)


def _first_comment(nodes: Sequence[Node], place: int) -> Node:
    """Return the first of the comments right above a function, else the function: compiler directives stand there."""
    while place > 0 and nodes[place - 1].type == "comment":
        if nodes[place - 1].end_point[0] + 1 != nodes[place].start_point[0]:
            break
        place -= 1
    return nodes[place]
