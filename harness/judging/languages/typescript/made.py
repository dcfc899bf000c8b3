"""Tests that functions of a file register, by what vitest says of them: names, and lines of the test file. Pure."""

from collections.abc import Collection, Iterable, Iterator

import tree_sitter_typescript
from tree_sitter import Language, Node

from harness.judging.languages.found import Start, TestFile, TestFunction, every_node
from harness.judging.languages.read_as_tests import read_as_tests
from harness.judging.languages.title_templates import ByBeginning, Template
from harness.judging.languages.typescript import discovery
from harness.specs.test_results import TestId

_GRAMMAR = Language(tree_sitter_typescript.language_typescript())
_TSX = Language(tree_sitter_typescript.language_tsx())
_NAME = "testwright made {}"


def functions_at(source: bytes, path: str, lines: Collection[int]) -> dict[int, TestFunction]:
    """Return the calls that register tests, by the lines on which vitest sees them: of several the outermost.

    See `Collecting.functions_at`.
    """
    nodes: dict[int, Node] = {}
    for node in every_node(_TSX if path.endswith("x") else _GRAMMAR, source):
        called = node.child_by_field_name("function") if node.type == "call_expression" else None
        if called is not None and called.end_point[0] + 1 in lines:
            nodes.setdefault(called.end_point[0] + 1, node)
    return read_as_tests(source, path, nodes, _NAME, _copy, discovery.discover)


def _copy(source: bytes, node: Node, name: str) -> bytes:
    """Return a test of this name that makes a call, as it would stand behind its file."""
    return b'\n;test("%s", () => {\n%s\n});\n' % (name.encode(), source[node.start_byte : node.end_byte])


def owned(shown: TestFile, starts: Iterable[Start], listed: Iterable[TestId]) -> Iterator[Start]:
    """Yield what vitest reports, each under the name of the test that it is a case of.

    A name that the manifest or the text has is that test's. Else it belongs to the most literal template of the
    manifest that no text shows, if all that this makes is registered on one line, else to the test of the text that
    is registered on its line, else to a template of the text. What is left is a test that no text shows.
    """
    named = [test.name for test in listed]
    known = {*named, *(test.name for test in shown.tests)}
    asked = _templates(name for name in named if not shown.find(name))
    written = _templates(test.name for test in shown.tests)
    places: dict[int, str] = {}
    for test in shown.tests:
        places.update(dict.fromkeys(range(test.first_line, test.last_line + 1), test.name))
    by_template: dict[str, list[Start]] = {}
    for start in starts:
        name = start.test.name
        if name in known:
            yield start
        elif name not in shown.others:  # a test that is only announced
            by_template.setdefault(_of(asked, name), []).append(start)
    for template, made in by_template.items():
        is_whole = template and len({start.line for start in made}) == 1  # in arms a test's cases come of one place
        for start in made:
            name = template if is_whole else places.get(start.line) or _of(written, start.test.name)
            yield start._replace(test=TestId(start.test.file, name or start.test.name))


def _templates(names: Iterable[str]) -> ByBeginning[Template]:
    found = [template for name in names if (template := Template(name)).is_computed]
    return ByBeginning((template, template) for template in found)


def _of(templates: ByBeginning[Template], name: str) -> str:
    """Return the most literal template that makes a name; empty where none does."""
    able = [template for template in templates.of(name) if template.makes(name)]
    return max(able, key=lambda template: template.literal_characters).text if able else ""
