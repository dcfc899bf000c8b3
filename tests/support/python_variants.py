"""Rewritten Python modules: made in this process from text, as containers make them."""

import ast
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

from harness.judging.languages.python.in_container.compiling import variant_of
from harness.judging.languages.python.in_container.composer import EVERY_RULE
from harness.judging.languages.python.in_container.functions import functions_of
from harness.judging.languages.python.in_container.places import Places
from harness.judging.languages.python.in_container.scopes import Module, ModuleNames


@contextmanager
def _deep() -> Iterator[None]:
    """Rules upon rules make deep trees."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20000)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        sys.setrecursionlimit(limit)


def variant(
    text: str,
    seed: int,
    *,
    touched: list[tuple[str, int]] | None = None,
    inert: tuple[str, ...] = (),
    disk: str | None = None,
    rules: frozenset[Callable[..., Any]] = EVERY_RULE,
) -> tuple[ast.Module, dict[tuple[str, int], int]]:
    """A module's tree with its touched functions rewritten, all of them if none are named; and how many rules."""
    with _deep():
        chance = random.Random(seed)
        tree = ast.parse(text)
        keys = list(functions_of(tree)) if touched is None else touched
        others = [ast.parse(other) for other in inert]
        lenders = [functions_of(other) for other in others]
        module = Module(ModuleNames(tree), [ModuleNames(other) for other in others])
        applied = variant_of(tree, lenders, module, keys, chance, rules)
        functions = functions_of(tree)
        places = Places(ast.parse(text if disk is None else disk))
        places.put(tree, {key: functions[key] for key in keys if key in functions}, chance)
    return tree, applied


def code_of(tree: ast.Module, path: str = "module.py") -> CodeType:
    with _deep():
        return compile(tree, path, "exec", dont_inherit=True)
