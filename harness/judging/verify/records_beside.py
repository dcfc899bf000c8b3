"""Records that stand beside the code of a test: in its name, in comments of its file, in what a run must print. Pure.

A test learns its own name from its runner, and reads its own file; a Go example ends with a comment that says what it
must have printed, and a snapshot lies in a file of its own. Takes time linear to the text.
"""

import re
from collections.abc import Callable, Collection, Iterator
from itertools import islice
from typing import Generic, TypeVar

from tree_sitter import Node

from harness.judging.languages.functions import below
from harness.judging.verify.numbers_of_answers import called_name

Scope = TypeVar("Scope")

OWN_TEXTS = re.compile(rb"\b(getdoc|getcomments|getsource\w*|__doc__)\b")
"""By which code reads what stands beside it without any effect."""
OWN_FILE = re.compile(rb"\b(__file__|__FILE__|__filename|runtime\.Caller|import\.meta\.\w+)\b")
_READS = re.compile(rb"read|open|load", re.I)
_OWN_NAME = re.compile(
    rb"\brequest\s*\.\s*node\b|\b(currentTestName|_testMethodName|PYTEST_CURRENT_TEST|__func__|__FUNCTION__)\b"
    rb"|\btask\.(name|fullName|fullTestName)\b|\btest\w*\.__(qual)?name__|(?<![.\w])__name__"
    rb"|\b[tb]\.Name\(\)|\bself\.id\(\)"
)
"""By which a test is told its own name."""
_ASKS = re.compile(
    r"(starts|ends)_?with|has(prefix|suffix)|contains?|includes|tocontain\w*|tomatch|indexof|find|count|strstr|index"
    r"|__contains__",
    re.I,
)
"""Functions that look for one text in another."""
_WITHIN = frozenset({"in", "not in"})
_SNAPSHOTS = re.compile(r"(to)?match\w*snapshot", re.I)
_EXAMPLE, _OUTPUT = b"Example", re.compile(rb"//\s*(unordered )?output:", re.I)
_PRINTS = re.compile(r"F?[Pp]rint(f|ln)?")
_MOST, _MOST_DEEP = 200, 8


class Beside(Generic[Scope]):
    """Comparisons of one text with such records, by the scopes in which they stand."""

    def __init__(self) -> None:
        self._values: dict[bytes, Node | None] = {}
        self._compared: list[tuple[list[Node], Scope]] = []
        self._snapshots: list[tuple[Node, Scope]] = []
        self._printed: list[tuple[Node, Scope]] = []
        self._examples = list[Scope]()
        """The scopes of functions that end by saying what they must have printed."""

    def give(self, names: Collection[bytes], value: Node | None) -> None:
        """Take in that names are given a value; a name with several counts for nothing."""
        for name in names:
            self._values[name] = value if len(names) == 1 and name not in self._values else None

    def look(self, node: Node, sides: list[list[Node]], scope: Scope) -> None:
        """Take a node in, and what it compares."""
        self._compared += ((each, scope) for each in sides)
        if node.type == "comment" and _OUTPUT.match(node.text or b""):
            if len(self._examples) < _MOST and _is_in_example(node):
                self._examples.append(scope)
        elif node.type == "comparison_operator" and any(child.type in _WITHIN for child in node.children):
            self._compared.append(([node.named_children[0], node.named_children[-1]], scope))
        elif node.type in ("call", "call_expression"):
            self._call(node, scope)

    def told(self, is_digest: Callable[[Node, Scope], bool]) -> Iterator[Node]:
        """Yield the values that a digest has a part in and that such a record says, once all has been looked at."""
        for sides, scope in self._compared:
            own = [side for side in sides if self._is_own(side)]
            if own and len(sides) > 1:
                yield from (side for side in sides if side not in own and is_digest(side, scope))
        yield from (side for side, scope in self._snapshots if is_digest(side, scope))
        of_examples = (each for each in self._printed if each[1] in self._examples)
        yield from (side for side, scope in of_examples if is_digest(side, scope))

    def _call(self, call: Node, scope: Scope) -> None:
        function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        if function is None or arguments is None:
            return
        name, given = called_name(function), arguments.named_children
        of = function.child_by_field_name("object") or function.child_by_field_name("operand")
        if _ASKS.fullmatch(name) and given:
            self._compared.append(([*([of] if of is not None else []), *given], scope))
        if _SNAPSHOTS.fullmatch(name):
            self._snapshots += ((each, scope) for each in (of, *given) if each is not None)
        if _PRINTS.fullmatch(name):
            self._printed += ((each, scope) for each in given)

    def _is_own(self, side: Node) -> bool:
        """Return whether a value is made of the test's own name, or of its file's text."""
        node: Node | None = side
        texts = list[bytes]()
        for _ in range(_MOST_DEEP):
            if node is None:
                break
            if node.type != "string" and node.end_byte - node.start_byte <= _MOST:
                texts.append(node.text or b"")
            names = (each for each in (node, *islice(below(node), _MOST)) if each.type == "identifier")
            values = (self._values.get(each.text or b"") for each in names)
            node = next((value for value in values if value is not None), None)
        text = b" ".join(texts)
        is_file = OWN_FILE.search(text) and _READS.search(text)
        return bool(is_file or OWN_TEXTS.search(text) or _OWN_NAME.search(text))


def _is_in_example(comment: Node) -> bool:
    """Return whether a comment is at the end of an example of Go."""
    block = comment.parent
    above = block.parent if block is not None else None
    name = above.child_by_field_name("name") if above is not None and above.type == "function_declaration" else None
    return name is not None and (name.text or b"").startswith(_EXAMPLE)
