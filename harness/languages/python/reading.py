"""What Python's own modules read in a text: its functions and tokens."""

import ast
import io
import tokenize
from collections.abc import Mapping, Sequence
from tokenize import TokenInfo

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


def functions_of(text: bytes) -> Mapping[str, FunctionNode] | None:
    """Those of a module and its classes, by qualified name, the last of each name; None where it can't be read."""
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
    """None where they can't be read, or aren't in UTF-8."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(text).readline)
        found = list(tokenize.tokenize(io.BytesIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return ()
    return found[1:] if encoding == "utf-8" and b"\r" not in text and b"\f" not in text else ()


def rows_within_tokens(text: bytes) -> frozenset[int]:
    """Lines, counted from 0, that begin within a text of several lines; all where nothing can be read."""
    tokens = tokens_of(text)
    if not tokens:
        return frozenset(range(text.count(b"\n") + 1))
    return frozenset(
        row for token in tokens if token.type == tokenize.STRING for row in range(token.start[0], token.end[0])
    )
