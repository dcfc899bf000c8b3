"""Modules and functions stay as small as they are: what grows over a limit is taken apart."""

import ast
from collections.abc import Iterator
from pathlib import Path

HARNESS = Path(__file__).parents[2] / "harness"
MODULE, FUNCTION = 350, 48
"""Lines, without those of docstrings; of a function its statements alone: an option of a command is a parameter."""
WHOLE = {
    "plugins/design/reading.py": ["389 lines"],
}
"""Files that are copied into images, each by itself."""


def texts_of(nodes: list[ast.AST]) -> set[int]:
    """Return the lines of docstrings, and of texts that stand behind a constant to say what it is."""
    found = (node for node in nodes if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    return {line for node in found for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


def too_long(text: str) -> Iterator[str]:
    """Yield what of a module is too long: itself, or functions."""
    nodes = [*ast.walk(ast.parse(text))]
    texts = texts_of(nodes)
    lines = set(range(1, len(text.splitlines()) + 1)) - texts
    if len(lines) > MODULE:
        yield f"{len(lines)} lines"
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = set(range(node.body[0].lineno, (node.end_lineno or 0) + 1)) - texts
            if len(body) > FUNCTION:
                yield f"{node.name}: {len(body)} lines"


def test_what_is_too_long_is_found() -> None:
    body = "    pass\n" * (FUNCTION + 1)
    assert list(too_long(f'def f():\n    """Do.\n\n    More.\n    """\n{body}')) == [f"f: {FUNCTION + 1} lines"]
    assert list(too_long("pass\n" * (MODULE + 1))) == [f"{MODULE + 1} lines"]
    assert list(too_long("pass\n" * MODULE)) == []


def test_modules_and_functions_are_short() -> None:
    found = {
        str(path.relative_to(HARNESS)): long
        for path in sorted(HARNESS.rglob("*.py"))
        if (long := list(too_long(path.read_text())))
    }
    assert found == WHOLE
