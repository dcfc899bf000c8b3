"""Other generated code for the same behaviour, in languages whose functions have bodies in braces.

Works on text, by tree-sitter. Two changes, and every changed function of a variant gets one of them or both:

- inert code is the body of another text, put into a function on both sides of its own, where it never runs: what is
  looked for at the start, at the end or anywhere in the code of one variant is then found in the others as well;
- rewriting puts statements without effect between a function's own, other ones each time.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tree_sitter import Language, Node

from harness.languages.found import every_node
from harness.languages.variant_source import VariantSource

_NEVER, _ALWAYS_OTHER = 0x9E3779B9, 0x7F4A7C15
_SPREAD = 0.7
"""The share of statements that get one without effect before them."""


@dataclass(frozen=True)
class Braces:
    """A language's forms. `{name}` is a variable of ours that is always 0 as far as anybody can know.

    `declaration` stands at the start of a function that uses it, `footer` at the end of the file. `idle` changes
    it and nothing else, in a way that no compiler takes out; `{number}` is below 2**31.
    """

    grammar: Language
    functions: frozenset[str]
    blocks: frozenset[str]
    labels: frozenset[str]
    declaration: str
    footer: str
    idle: str
    parentheses: tuple[str, str] = ("(", ")")
    """Around a condition."""


@dataclass(frozen=True)
class _Function:
    node: Node
    body: Node

    @property
    def head(self) -> bytes:
        whole = self.node.text or b""
        return whole[: self.body.start_byte - self.node.start_byte]


Edit = tuple[int, int, bytes]
"""Replace the bytes from the first offset up to the second."""


def running_text(forms: Braces, source: VariantSource, path: str, chance: random.Random) -> bytes:
    """The text that what runs of `path` is compiled from: a variant's code, rewritten and padded as it asks."""
    text = source.code[path]
    if lines := source.rewritten_lines.get(path):
        text = rewrite(forms, text, lines, chance, fresh_name(chance))
    if dead := source.dead.get(path):
        text = add_inert_code(forms, text, dead, fresh_name(chance))
    return text


def fresh_name(chance: random.Random) -> str:
    return f"tw{chance.getrandbits(32):08x}"


def add_inert_code(forms: Braces, live: bytes, dead: bytes, name: str) -> bytes:
    """`live` with the bodies of `dead` in those of its functions that differ from them, where they never run."""
    edits = [_with_inert_code(forms, ours, theirs, name) for ours, theirs in _differing(forms, live, dead)]
    return _with_footer(forms, _apply(live, edits), name) if edits else live


def rewrite(forms: Braces, text: bytes, lines: Sequence[int], chance: random.Random, name: str) -> bytes:
    """`text` with statements without effect in every function that holds one of `lines` (counted from 1)."""
    edits: dict[int, Edit] = {}
    for function in _functions(forms, text):
        first, last = function.node.start_point[0] + 1, function.node.end_point[0] + 1
        if function.body.type in forms.blocks and any(first <= line <= last for line in lines):
            edits |= {edit[0]: edit for edit in _spread(forms, function.body, chance, name)}
    return _with_footer(forms, _apply(text, list(edits.values())), name) if edits else text


def rewriting_in(forms: Braces) -> Callable[[bytes, Sequence[int], random.Random], bytes]:
    """What `Code.rewrite` is in a language of these forms."""
    return lambda text, lines, chance: rewrite(forms, text, lines, chance, fresh_name(chance))


def _with_inert_code(forms: Braces, ours: _Function, theirs: _Function, name: str) -> Edit:
    def branch(function: _Function, label: str) -> bytes:
        return b" {\n" + _statements(forms, function.body, label) + b"\n}"

    opening, closing = forms.parentheses
    never = f"if {opening}{name} == {_NEVER}{closing}".encode()
    always = f" else if {opening}{name} != {_ALWAYS_OTHER}{closing}".encode()
    parts = [
        b"{\n",
        forms.declaration.format(name=name).encode(),
        never + branch(theirs, f"_{name}a"),
        always + branch(ours, ""),
        b" else" + branch(theirs, f"_{name}b"),
        b"\n}",
    ]
    return ours.body.start_byte, ours.body.end_byte, b"".join(parts)


def _statements(forms: Braces, body: Node, label: str) -> bytes:
    """What stands in a body, its labels renamed; an expression that is a body becomes a return of it."""
    whole = _relabelled(forms, body, label)
    return whole[1:-1] if body.type in forms.blocks else b"return (" + whole + b");"


def _relabelled(forms: Braces, body: Node, label: str) -> bytes:
    start = body.start_byte
    edits = [
        (node.end_byte - start, node.end_byte - start, label.encode())
        for node in _below(body)
        if label and node.type in forms.labels
    ]
    return _apply(body.text or b"", edits)


def _spread(forms: Braces, body: Node, chance: random.Random, name: str) -> Iterator[Edit]:
    start = body.start_byte + 1
    yield start, start, ("\n" + forms.declaration.format(name=name) + _idle(forms, chance, name)).encode()
    listed = next((node for node in body.named_children if node.type == "statement_list"), body)  # Go's grammar
    statements = [node for node in listed.named_children if "comment" not in node.type]
    for before, statement in pairwise(statements):
        # A macro that heads a loop looks like a statement without its semicolon: nothing may come behind it.
        if not before.has_error and chance.random() < _SPREAD:
            yield statement.start_byte, statement.start_byte, _idle(forms, chance, name).encode()


def _idle(forms: Braces, chance: random.Random, name: str) -> str:
    return forms.idle.format(name=name, number=chance.randint(1, 2**31 - 1))


def _differing(forms: Braces, live: bytes, dead: bytes) -> Iterator[tuple[_Function, _Function]]:
    """Pairs of functions of the same head and another body, the innermost ones that hold all of the difference."""
    ours, theirs = list(_functions(forms, live)), list(_functions(forms, dead))
    if len(ours) != len(theirs):
        ours, theirs = _by_head(ours, theirs)
    pairs = [(a, b) for a, b in zip(ours, theirs, strict=True) if a.head == b.head and a.body.text != b.body.text]
    chosen: list[Node] = []
    for pair in sorted(pairs, key=lambda pair: pair[0].node.start_byte):
        node = pair[0].node
        inner = [other for other in pairs if _within(other[0].node, node)]
        if not any(_within(node, outer) for outer in chosen) and not (inner and _explains(pair, inner)):
            chosen.append(node)
            yield pair


def _explains(outer: tuple[_Function, _Function], inner: Sequence[tuple[_Function, _Function]]) -> bool:
    """Whether two bodies are the same but for the inner functions that differ."""

    def without(function: _Function, parts: Sequence[_Function]) -> bytes:
        start = function.body.start_byte
        holes = [(part.body.start_byte - start, part.body.end_byte - start, b"") for part in parts]
        outermost = [hole for hole in holes if not any(o[0] < hole[0] and hole[1] < o[1] for o in holes)]
        return _apply(function.body.text or b"", outermost)

    return without(outer[0], [a for a, _ in inner]) == without(outer[1], [b for _, b in inner])


def _by_head(ours: list[_Function], theirs: list[_Function]) -> tuple[list[_Function], list[_Function]]:
    """Functions whose head is the only one of its kind on both sides."""

    def unique(functions: list[_Function]) -> dict[bytes, _Function]:
        heads = [function.head for function in functions]
        return {function.head: function for function in functions if heads.count(function.head) == 1}

    mine, others = unique(ours), unique(theirs)
    both = [head for head in mine if head in others]
    return [mine[head] for head in both], [others[head] for head in both]


def _functions(forms: Braces, text: bytes) -> Iterator[_Function]:
    for node in every_node(forms.grammar, text):
        body = node.child_by_field_name("body") if node.type in forms.functions else None
        if body is not None:
            yield _Function(node, body)


def _within(inner: Node, outer: Node) -> bool:
    return outer.start_byte <= inner.start_byte and inner.end_byte <= outer.end_byte and inner != outer


def _below(node: Node) -> Iterator[Node]:
    for child in node.children:
        yield child
        yield from _below(child)


def _apply(text: bytes, edits: Sequence[Edit]) -> bytes:
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _with_footer(forms: Braces, text: bytes, name: str) -> bytes:
    return text.rstrip(b"\n") + b"\n" + forms.footer.format(name=name).encode()
