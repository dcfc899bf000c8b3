"""The functions of a file that a function of it may call: those that it names, and those that they name. Pure."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from tree_sitter import Node

from harness.judging.languages.found import nodes_of
from harness.judging.languages.python.classes import text_of

Hook = tuple[str, Node]
"""A hook's name, and its function, or the assignment that gives it one."""
Functions = Mapping[str, Sequence[Node]]
"""All functions of a file, by name."""
_MOST, _MOST_NODES = 2_000, 1_000_000
"""Functions of one file that are looked at, and their nodes: those of functions within functions count again."""


def reached(
    hooks: Iterable[Hook], functions: Functions, nodes_in: Callable[[Node], Iterable[Node]] = nodes_of
) -> Iterator[tuple[str, list[Node]]]:
    """Yield the nodes of each hook, and of each function that one names, once, with the hook's name if it is one.

    A function within another one is part of that one. A name of a parameter without a default names no
    function.
    `nodes_in` returns those nodes of a function that count.
    """
    seen, named = set[int](), set[str]()
    inner = set[int]()
    left = _MOST_NODES
    waiting = deque(hooks)
    while waiting and len(seen) < _MOST and left > 0:
        hook, function = waiting.popleft()
        if function.id in seen or (not hook and function.id in inner):
            continue
        seen.add(function.id)
        nodes = list(islice(nodes_in(function), left))
        left -= len(nodes)
        yield hook, nodes
        parameters = function.child_by_field_name("parameters")
        plain = parameters.named_children if parameters is not None else []
        given = {text_of(node) for node in plain if node.type == "identifier"}
        for node in nodes:
            if node.type == "function_definition":
                inner.add(node.id)
            elif node.type == "identifier" and (name := text_of(node)) not in named and name not in given:
                named.add(name)
                waiting += [("", each) for each in functions.get(name, ())]
