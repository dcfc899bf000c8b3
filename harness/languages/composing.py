"""Many small changes of a function, none of which changes what it does: other text and other code for one behaviour.

A rule makes edits of one node of a syntax tree, or none where it can't tell that they are harmless. They are applied
in rounds, each to what the one before has made, so rules apply to what others made.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random

from tree_sitter import Node

from harness.languages.found import parsed
from harness.languages.functions import Edit, Function, Grammar, Piece, apply, below, functions_in

FEWEST, MOST = 25, 80
"""Rules applied to one function, where it has room for them."""
_PER_ROUND = 20
_GROWTH, _ROOM = 5, 6000
"""A function may become this many times as long as it was, and this many bytes more."""


@dataclass(frozen=True, eq=False)
class Scene:
    """What a rule sees beside its node: the function around it, and where names and numbers are drawn."""

    function: Function
    chance: Random
    fresh: Callable[[], str]
    above: bytes = b""
    """What stands above the function in its file."""

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """All of the function's nodes, its head's too."""
        return tuple(below(self.function.node))

    @cached_property
    def types(self) -> frozenset[str]:
        return frozenset(node.type for node in self.nodes)


@dataclass(frozen=True)
class Rule:
    """`rewrite` gets nodes of these types that stand in a function's body.

    It returns edits within the node, or insertions anywhere else; nothing where a guard refuses. Two rules applied
    in one round get nodes of which neither holds the other.
    """

    name: str
    types: frozenset[str]
    rewrite: Callable[[Node, Scene], Sequence[Edit]]


@dataclass(frozen=True)
class Composed:
    piece: Piece
    applied: tuple[str, ...]
    """The names of the rules, in their order."""


def compose(
    grammar: Grammar, rules: Sequence[Rule], piece: Piece, count: int, fresh: Callable[[], str], chance: Random
) -> Composed:
    """The piece with `count` rules applied to its function, fewer where that has no room for more."""
    applied: list[str] = []
    text, root = piece.text, parsed(grammar.language, piece.text)
    function = functions_in(grammar, root)[piece.name]
    longest = len(function.node.text or b"") * _GROWTH + _ROOM
    faults = _faults(root)
    while len(applied) < count and len(function.node.text or b"") < longest:
        drawn = _drawn(rules, Scene(function, chance, fresh, piece.above), min(_PER_ROUND, count - len(applied)))
        root = parsed(grammar.language, _applied(text, drawn))
        if _faults(root) > faults:
            drawn = [one for one in drawn if _faults(parsed(grammar.language, _applied(text, [one]))) <= faults]
            root = parsed(grammar.language, _applied(text, drawn))
        after = functions_in(grammar, root).get(piece.name)
        if not drawn or after is None or _faults(root) > faults:
            break
        applied += [rule for rule, _ in drawn]
        text, function = _applied(text, drawn), after
    return Composed(replace(piece, text=text), tuple(applied))


def _applied(text: bytes, drawn: Sequence[tuple[str, Sequence[Edit]]]) -> bytes:
    return apply(text, [edit for _, edits in drawn for edit in edits])


def _drawn(rules: Sequence[Rule], scene: Scene, count: int) -> list[tuple[str, Sequence[Edit]]]:
    """Up to `count` rules with their edits; each rule that has a place is as likely as any other."""
    places: dict[str, list[Node]] = {}
    body = scene.function.body
    for node in (body, *below(body)):
        places.setdefault(node.type, []).append(node)
    offers = {rule: [node for kind in sorted(rule.types) for node in places.get(kind, ())] for rule in rules}
    waiting = [rule for rule in rules if offers[rule]]
    chosen: list[tuple[str, Sequence[Edit]]] = []
    spans: list[tuple[int, int]] = []
    while waiting and len(chosen) < count:
        rule = scene.chance.choice(waiting)
        node = offers[rule].pop(scene.chance.randrange(len(offers[rule])))
        if not offers[rule]:
            waiting.remove(rule)
        span = (node.start_byte, node.end_byte)
        if any(_overlap(span, other) for other in spans):
            continue
        edits = rule.rewrite(node, scene)
        if edits and not any(_cuts(edit, other) for edit in edits for _, others in chosen for other in others):
            chosen.append((rule.name, edits))
            spans.append(span)
    return chosen


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _cuts(one: Edit, other: Edit) -> bool:
    """Whether one edit lies within what the other replaces, or both replace something that they share."""
    return one[0] < other[1] and other[0] < one[1]


def _faults(root: Node) -> int:
    """How many errors a tree has: a macro may be one, and stays one."""
    count, waiting = 0, [root]
    while waiting:
        node = waiting.pop()
        if node.has_error:
            count += node.is_error or node.is_missing
            waiting += node.children
    return count
