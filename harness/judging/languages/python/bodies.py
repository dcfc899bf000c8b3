"""Bodies of two variants in one Python function, of which one runs; see `judging/languages/on_disk.py`.

A body is kept only where its presence changes nothing: it declares no name that the other one reads from elsewhere,
and both are generators or neither is.
"""

import ast
import io
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from tokenize import TokenInfo

from harness.judging.languages.composing import Hidden, condition

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


def functions_of(text: bytes) -> Mapping[str, FunctionNode] | None:
    """Return the functions of a module and its classes by qualified name, the last of each.

    Returns:
        None where it can't be read.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found: dict[str, FunctionNode] = {}
    waiting: list[tuple[str, ast.AST]] = [("", tree)]
    while waiting:
        around, node = waiting.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                found[f"{around}{child.name}"] = child
            elif isinstance(child, ast.ClassDef):
                waiting.append((f"{around}{child.name}.", child))
            elif isinstance(child, ast.If | ast.Try):
                waiting.append((around, child))
    return found


def tokens_of(text: bytes) -> Sequence[TokenInfo]:
    """Return None where they can't be read, or aren't in UTF-8."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(text).readline)
        found = list(tokenize.tokenize(io.BytesIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return ()
    return found[1:] if encoding == "utf-8" and b"\r" not in text and b"\f" not in text else ()


def rows_within_tokens(text: bytes) -> frozenset[int]:
    """Return lines, counted from 0, that begin within a text of several lines; all where nothing can be read."""
    tokens = tokens_of(text)
    if not tokens:
        return frozenset(range(text.count(b"\n") + 1))
    return frozenset(
        row for token in tokens if token.type == tokenize.STRING for row in range(token.start[0], token.end[0])
    )


_FRAMES = frozenset({"locals", "eval", "exec", "vars", "dir"})
"""Read all of a function's own variables."""


def touched(family: Sequence[bytes]) -> list[str]:
    """Return the qualified names of functions that differ between the texts; none where a text can't be read."""
    trees = [functions_of(text) for text in family]
    if any(tree is None for tree in trees):
        return []
    known = [{name: ast.dump(node) for name, node in tree.items()} for tree in trees if tree is not None]
    names = {name for tree in known for name in tree}
    return sorted(name for name in names if len({tree.get(name) for tree in known}) > 1)


def with_inert_bodies(text: bytes, other: bytes, names: Sequence[str], chance: Random) -> bytes:
    """Return the text, its functions of these names with the other text's bodies in them."""
    mine, theirs = functions_of(text) or {}, functions_of(other) or {}
    own, lent = text.decode("utf-8", "surrogateescape").split("\n"), other.decode("utf-8", "surrogateescape")
    kept, lenders = rows_within_tokens(text), (lent.split("\n"), rows_within_tokens(other))
    for name in sorted((name for name in names if name in mine and name in theirs), key=lambda n: -mine[n].lineno):
        found = _joined(mine[name], theirs[name], (own, kept), lenders, chance)
        if found is not None:
            first, last = _rows(mine[name])
            own[first:last] = found
    done = "\n".join(own).encode("utf-8", "surrogateescape")
    return done if functions_of(done) is not None else text


_Lines = tuple[Sequence[str], frozenset[int]]
"""The lines of a text, and which of them begin within a token."""


def _joined(own: FunctionNode, other: FunctionNode, text: _Lines, lent: _Lines, chance: Random) -> list[str] | None:
    """Return the lines of a function's body with both in it; None where that would change something."""
    if not _may_lend(own, other):
        return None
    mine, theirs = _block(own, *text), _block(other, *lent)
    if mine is None or theirs is None or mine[0] != theirs[0]:
        return None
    indent, hidden = mine[0], Hidden.drawn(f"tw{chance.getrandbits(32):08x}", chance)
    first_runs = chance.random() < 0.5
    test = condition(hidden, chance, first_runs)
    blocks = [mine[1], theirs[1]] if first_runs else [theirs[1], mine[1]]
    return [
        f"{indent}{hidden.name} = {hidden.value}",
        f"{indent}if {test}:",
        *blocks[0],
        f"{indent}else:",
        *blocks[1],
    ]


def _may_lend(own: FunctionNode, other: FunctionNode) -> bool:
    if type(own) is not type(other) or _head(own) != _head(other):
        return False
    if _yields(own) != _yields(other):
        return False
    nodes = [node for each in (own, other) for statement in each.body for node in ast.walk(statement)]
    if any(isinstance(node, ast.Global | ast.Nonlocal) for node in nodes):
        return False
    if any(isinstance(node, ast.Name) and node.id in _FRAMES for node in nodes):
        return False
    given = {argument.arg for argument in ast.walk(own.args) if isinstance(argument, ast.arg)}
    return not ((_bound(other) - _bound(own) - given) & _read(own))


def _head(function: FunctionNode) -> str:
    parts = [function.args, *function.decorator_list, *([function.returns] if function.returns else [])]
    return " ".join([function.name, *map(ast.dump, parts)])


def _yields(function: FunctionNode) -> bool:
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting += ast.iter_child_nodes(node)
    return False


def _bound(function: FunctionNode) -> set[str]:
    """Return names that a body binds, those of inner functions too."""
    return {name for statement in function.body for node in ast.walk(statement) for name in _names_bound(node)}


def _names_bound(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.alias(name=name, asname=other):
            yield other or name.partition(".")[0]
        case ast.MatchMapping(rest=str(name)):
            yield name


def _read(function: FunctionNode) -> set[str]:
    nodes = (node for statement in function.body for node in ast.walk(statement))
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def _statements(function: FunctionNode) -> list[ast.stmt]:
    """Return a body without its docstring."""
    return function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body


def _rows(function: FunctionNode) -> tuple[int, int]:
    """Return the lines of a body without its docstring: the first, from 0, and the one behind the last."""
    first = _statements(function)[0]
    decorators = [node.lineno for node in getattr(first, "decorator_list", [])]
    return min([first.lineno, *decorators]) - 1, function.end_lineno or first.lineno


def _block(function: FunctionNode, lines: Sequence[str], kept: frozenset[int]) -> tuple[str, list[str]] | None:
    """Return a body's indentation, and its lines one step further in.

    Returns:
        None where it shares a line with anything else.
    """
    if not _statements(function):
        return None
    first, last = _rows(function)
    before = function.body[0] if _statements(function) is not function.body else None
    line = lines[first]
    indent = line[: len(line) - len(line.lstrip())]
    outer = lines[function.lineno - 1]
    step = indent[len(outer) - len(outer.lstrip()) :]
    if not step or (before and (before.end_lineno or 0) > first) or first < function.lineno or first in kept:
        return None
    if not line.strip() or last > len(lines):
        return None
    body = [
        text if row in kept or not text.strip() else step + text for row, text in enumerate(lines[first:last], first)
    ]
    return indent, body
