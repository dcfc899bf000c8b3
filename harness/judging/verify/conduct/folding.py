"""Functions that fold data to a digest: given to `reduce`, calling themselves, or called for each piece. Pure."""

from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import islice

from tree_sitter import Node

from harness.judging.languages.conduct import callee, last_part
from harness.judging.languages.functions import below
from harness.judging.verify.conduct.digit_readers import keeps_digits
from harness.judging.verify.conduct.numbers_of_answers import folds_sums, sums_by_place
from harness.judging.verify.conduct.rolling import multiplies, operator_of, sums_up, words_below

UNNAMED = frozenset({"lambda", "arrow_function", "function_expression", "func_literal"})
_FOLDS = frozenset({"reduce", "reduceRight", "fold", "foldl", "accumulate", "Reduce", "Fold"})
"""Functions that call one they are given with what came of the data so far, first, and with more data."""
_BOUNDS = frozenset({"%", "&", "^"})
_MOST_NODES = 200


@dataclass
class Functions:
    """A file's functions by their names, as their first text has them; each is looked at once."""

    texts: dict[bytes, Node] = field(default_factory=dict)
    _folding: dict[bytes, bool] = field(default_factory=dict)

    def folds(self, name: bytes) -> bool:
        """Return whether a function folds what it is given next to what it is given first, within a bound."""
        if name not in self._folding:
            text = self.texts.get(name)
            self._folding[name] = text is not None and is_bounded(text) and _multiplies_first(text, has_long=False)
        return self._folding[name]


def folds(call: Node, functions: Functions, has_long: bool) -> bool:
    """Return whether a call folds data to a digest, or sums it by places.

    Args:
        call: A call.
        functions: The file's.
        has_long: Whether the file has a long number: what reads digits folds only then.
    """
    if sums_by_place(call) or functions.folds(callee(call).encode()):
        return True
    given = _arguments(call) if last_part(callee(call)) in _FOLDS else []
    steps = [functions.texts.get(each.text or b"", each) if "identifier" in each.type else each for each in given]
    return any(_multiplies_first(step, has_long) for step in steps) or folds_sums(given)


def feeds_itself(call: Node, names: Collection[bytes]) -> bool:
    """Return whether a function of these names calls itself with a name multiplied and data added to it."""
    if callee(call).encode() not in names:
        return False
    summed = [(given, {*words_below(given)}) for given in _arguments(call) if sums_up(given)]
    return any(multiplies(given, name) for given, words in summed if len(words) > 1 for name in words)


def is_bounded(value: Node) -> bool:
    """Return whether anything in a value keeps numbers small, or mixes bits, as digests need it."""
    return any(operator_of(node) in _BOUNDS for node in (value, *islice(below(value), _MOST_NODES)))


def _arguments(call: Node) -> list[Node]:
    given = call.child_by_field_name("arguments")
    return given.named_children if given is not None else []


def _multiplies_first(function: Node, has_long: bool) -> bool:
    """Return whether a function multiplies its first parameter and adds to it."""
    body = function.child_by_field_name("body")
    parameters = _parameters(function)
    if body is None or parameters is None:
        return False
    alone = not parameters.named_children
    first = {*words_below(parameters if alone else parameters.named_children[0])}
    if not any(multiplies(body, name) for name in first) or not sums_up(body):
        return False
    return has_long or not keeps_digits(body, first)


def _parameters(function: Node) -> Node | None:
    """Return a function's parameters; those of C stand in its declarator."""
    node: Node | None = function
    while node is not None:
        found = node.child_by_field_name("parameters") or node.child_by_field_name("parameter")
        if found is not None:
            return found
        node = node.child_by_field_name("declarator")
    return None
