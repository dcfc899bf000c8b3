"""Records that stand beside the code of a test: in its name, in comments of its file, in what a run must print. Pure.

A test learns its own name from its runner, and reads its own file; a Go example ends with a comment that says what it
must have printed, and a snapshot lies in a file of its own. Takes time linear to the text.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

from tree_sitter import Node

from harness.judging.verify.conduct.assignments import GivenValues
from harness.judging.verify.conduct.compared import part_of
from harness.judging.verify.conduct.numbers_of_answers import called_name

Scope = TypeVar("Scope")

OWN_TEXTS = re.compile(rb"\b(getdoc|getcomments|getsource\w*|__doc__)\b")
"""Names by which a file reads what stands beside its code without any effect."""
_OWN_FILE = re.compile(rb"__file__|__FILE__|__filename|import\.meta\.\w")
_FILE = (
    rb"((\w+\.)*Path\(__file__\)|open\(__file__[^()]*\)|(\w+\.)?getlines?\(__file__[^()]*\)"
    rb"|(\w+\.)?readFileSync\((__filename|import\.meta\.(filename|url)|new URL\(import\.meta\.url\)"
    rb"|fileURLToPath\(import\.meta\.url\))[^()]*\))"
)
_TEXT = rb"(\w+\.)?get(doc|comments|source\w*)\([^()]*\)|[\w.]+\.__doc__"
_NAME = (
    rb"request\s*\.\s*(node|function)|(\w+\.getState\(\)\.)?currentTestName|(\w+\.)?_testMethodName|__func__|__FUNCTION__"
    rb"|(\w+\.)?environ(\.get\(|\[)[\"']PYTEST_CURRENT_TEST[\"'][\])]|task|[tb]+\.Name\(\)|self\.id\(\)|test\w*\.__\w+__"
)
_PART = rb"(\s*\.\s*\w+(\([^()]*\))?|\[[^\[\]]*\])*"
_OWN = re.compile(
    rb"(expect\()?(?P<own>%s|%s|%s|(?P<name>[A-Za-z_]\w*))(?P<rest>%s)( \+ \d+)?\)?" % (_FILE, _TEXT, _NAME, _PART)
)
"""A test's own name, or its file's text, and a part of either."""
_NAMES_OF = re.compile(rb"\b(name|fullName|fullTestName|nodeid|originalname|__name__|__qualname__)\b")
_NEEDS_A_NAME = re.compile(rb"request.*|task", re.DOTALL)
_READS = re.compile(rb"read|open|load|getline", re.I)
_ASKS = re.compile(
    r"(starts|ends)_?with|has(prefix|suffix)|contains?|includes|tocontain\w*|tomatch|indexof|find|findall|count|strstr"
    r"|index|search|match|fullmatch|matchstring|__contains__",
    re.I,
)
"""Functions that look for one text in another."""
_NO_VALUES = frozenset(b"t b tb self cls assert require strings bytes re cmp expect".split())
"""Names beside what a check is given."""
_WITHIN = frozenset({"in", "not in"})
_SNAPSHOTS = re.compile(r"(to)?match\w*snapshot", re.I)
_EXAMPLE, _OUTPUT = b"Example", re.compile(rb"/[/*]\s*(unordered )?output:", re.I)
_DIGITS = re.compile(rb"(?<![0-9a-fA-F])(?=[a-fA-F]*[0-9])[0-9a-fA-F]{4,}")
_PRINTS = re.compile(r"F?[Pp]rint(f|ln)?")
_MOST_CHARS, _MOST_OUTPUT, _MOST_DEEP, _MOST_EXAMPLES, _MOST_GIVEN = 200, 2_000, 8, 200, 8
_CALLS = frozenset({"call", "call_expression"})


def reads_itself(text: bytes) -> bool:
    """Return whether a line of a file reads its own text, or what is beside it."""
    lines = text.splitlines() if _OWN_FILE.search(text) else []
    return any(_OWN_FILE.search(line) and _READS.search(line) for line in lines)


class Beside(Generic[Scope]):
    """Comparisons of one text with such records, by the scopes in which they stand."""

    def __init__(self, values: GivenValues) -> None:
        self._values = values
        self._compared: list[tuple[Sequence[Node], Scope]] = []
        self._snapshots: list[tuple[Node, Scope]] = []
        self._printed: list[tuple[Node, Scope]] = []
        self._examples = set[Scope]()
        """The scopes of functions that end by saying what they must have printed."""
        self._outputs = 0

    def look(self, node: Node, sides: list[list[Node]], scope: Scope) -> None:
        """Take a node in, and what it compares."""
        self._compared += ((each, scope) for each in sides)
        if node.type == "comment" and _OUTPUT.match(node.text or b""):
            self._outputs += 1
            if self._outputs <= _MOST_EXAMPLES and _is_record_of_an_example(node):
                self._examples.add(scope)
        elif node.type == "comparison_operator" and any(child.type in _WITHIN for child in node.children):
            self._compared.append(([node.named_children[0], node.named_children[-1]], scope))
        elif node.type in _CALLS:
            self._call(node, scope)

    def told(
        self, is_digest: Callable[[Node, Scope], bool], is_made: Callable[[Node, Scope], bool]
    ) -> Iterator[Node]:
        """Yield the values that such a record says, once all has been looked at.

        Args:
            is_digest: Whether a digest has a part in a value.
            is_made: Whether a value itself makes one: much may be printed that a digest only went into.
        """
        for sides, scope in self._compared:
            own = {side.id for side in sides if self._is_own(side)}
            others = [side for side in sides if side.id not in own and side.text not in _NO_VALUES] if own else []
            # A check of two values may have the test's name beside them, to be told.
            if len(others) == 1 and is_digest(others[0], scope):
                yield others[0]
        of_examples = (each for each in self._printed if each[1] in self._examples)
        for side, scope in (*self._snapshots, *of_examples):
            value = self._given(side)
            if is_made(side, scope) or (value is not None and is_made(value, scope)):
                yield side

    def _given(self, side: Node) -> Node | None:
        """Return what the name was given that a value is, or a part of one."""
        node: Node | None = side
        for _ in range(_MOST_DEEP):
            if node is None or node.type == "identifier":
                break
            node = part_of(node)
        return self._values.get(node.text or b"") if node is not None else None

    def _call(self, call: Node, scope: Scope) -> None:
        function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        if function is None or arguments is None:
            return
        name, given = called_name(function), arguments.named_children[:_MOST_GIVEN]
        of = function.child_by_field_name("object") or function.child_by_field_name("operand")
        if _ASKS.fullmatch(name) and given:
            self._compared.append(([*([of] if of is not None else []), *given], scope))
        if _SNAPSHOTS.fullmatch(name) and of is not None and of.type in _CALLS:
            expected = of.child_by_field_name("arguments")
            self._snapshots += ((each, scope) for each in (expected.named_children[:1] if expected else ()))
        if _PRINTS.fullmatch(name):
            self._printed += ((each, scope) for each in given)

    def _is_own(self, side: Node) -> bool:
        """Return whether a value is the test's own name or its file's text, or a part of either."""
        node, rest = side, b""
        for _ in range(_MOST_DEEP):
            text = (node.text or b"") if node.end_byte - node.start_byte <= _MOST_CHARS else b""
            found = _OWN.fullmatch(text)
            if found is None:
                return False
            own, rest = found["own"], found["rest"] + rest
            value = self._values.get(found["name"] or b"")
            if value is None or not found["name"]:
                return _is_name_or_text(own, rest)
            node = value
        return False


def _is_name_or_text(own: bytes, rest: bytes) -> bool:
    if re.fullmatch(_FILE, own):
        return _READS.search(own + rest) is not None and b"parent" not in rest
    if _NEEDS_A_NAME.fullmatch(own):
        return _NAMES_OF.search(rest) is not None
    return re.fullmatch(rb"%s|%s" % (_TEXT, _NAME), own) is not None


def _is_record_of_an_example(comment: Node) -> bool:
    """Return whether a comment is at the end of an example of Go, and has digits that may be a digest's."""
    block = comment.parent
    above = block.parent if block is not None else None
    name = above.child_by_field_name("name") if above is not None and above.type == "function_declaration" else None
    if block is None or name is None or not (name.text or b"").startswith(_EXAMPLE):
        return False
    start = comment.start_byte - block.start_byte
    return _DIGITS.search((block.text or b"")[start : start + _MOST_OUTPUT]) is not None
