"""Syntax trees of Python modules: what is read of them fast is what `ast` itself says."""

import ast
import copy

import pytest

from harness.judging.languages.python.in_container.forms import is_small
from harness.judging.languages.python.in_container.functions import copied, touched_in, walk

TEXT = '''
import functools

@functools.cache
def decorated(a, /, b: int = 1, *rest, c=(2, 3), **more) -> "text":
    """Its docstring."""
    match a:
        case [int(), *others] if b < 3 <= c:
            return {**more, "x": others}
    return [f"{item!r:>{b}}" async for item in rest if not item and (y := -item)]

class Holding:
    @property
    async def method(self):
        async with self.lock as held, other:
            yield lambda: await_of(held)
        global name
        name += 1
'''


def touched(*texts: str) -> list[str]:
    modules = [(text.encode(), ast.parse(text.encode())) for text in texts]
    return [name for name, _ in touched_in(modules)]


def test_a_copy_is_the_same_and_what_is_in_it_can_be_changed() -> None:
    tree = ast.parse(TEXT)
    made = copied(tree)
    assert ast.dump(made, include_attributes=True) == ast.dump(copy.deepcopy(tree), include_attributes=True)
    theirs = {id(node) for node in ast.walk(tree) if not isinstance(node, ast.expr_context)}
    assert theirs.isdisjoint(id(node) for node in ast.walk(made) if not isinstance(node, ast.expr_context))


def test_what_stands_in_a_tree_twice_does_so_in_its_copy() -> None:
    name = ast.Name(id="a", ctx=ast.Load())
    made = copied(ast.BinOp(left=name, op=ast.Add(), right=name))
    assert made.left is made.right is not name


def test_all_nodes_but_operators_and_contexts_are_walked() -> None:
    plain = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)
    wanted = [node for node in ast.walk(ast.parse(TEXT)) if not isinstance(node, plain)]
    assert sorted(map(ast.dump, walk(ast.parse(TEXT)))) == sorted(map(ast.dump, wanted))


@pytest.mark.parametrize(("others", "small"), [(37, True), (38, False)])
def test_a_copy_is_small_up_to_eighty_nodes_whatever_they_are(others: int, small: bool) -> None:
    """A list and its context are two, each name and its context too."""
    node = ast.parse(f"[{'a, ' * others}-1, 1]", mode="eval").body
    assert sum(1 for _ in ast.walk(node)) == 6 + 2 * others
    assert is_small(node) == small


@pytest.mark.parametrize(
    "other",
    [
        TEXT,
        "\n\nlast = 1\n" + TEXT,
        TEXT.replace("\n", "\r\n"),
        TEXT.replace("b < 3", "b  <  3"),
        TEXT.replace("    match a:", "    # a comment\n    match a:"),
    ],
    ids=["the same", "further down", "other line ends", "other spaces", "a comment"],
)
def test_a_function_that_is_written_another_way_is_not_touched(other: str) -> None:
    assert touched(TEXT, other) == []


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("functools.cache\n", "functools.wraps\n", "decorated"),
        ("Its docstring", "A docstring", "decorated"),
        ("name += 1", "name -= 1", "Holding.method"),
        ("    @property\n", "", "Holding.method"),
    ],
)
def test_a_function_that_is_another_one_is_touched(old: str, new: str, name: str) -> None:
    assert touched(TEXT, TEXT.replace(old, new)) == [name]
    assert touched(TEXT, TEXT.replace(name.rpartition(".")[2], "renamed")) == sorted(
        [name, f"{name.rpartition('.')[0]}.renamed".lstrip(".")]
    )
