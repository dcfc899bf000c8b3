"""Where code says that it stands: in the text on disk, whatever text it was compiled from.

Outside touched functions each statement has the line and column that the same statement has on disk. A touched
function begins where its namesake on disk begins, and so do those within it; its statements have lines that are
drawn from its namesake's, without columns. So tracebacks, warnings and log records name lines of the right function,
and lines say nothing of the code.
"""

import ast
from collections import defaultdict

from .functions import FUNCTIONS, children, functions_of, split, walk

_ATTRIBUTES = ("lineno", "end_lineno", "col_offset", "end_col_offset")


class Places:
    """Of one text on disk; serves any number of trees."""

    def __init__(self, disk):
        self.disk = disk
        self.functions = functions_of(disk)

    def put(self, tree, touched, random):
        """Give all nodes of `tree` a place. `touched` are its touched functions by key."""
        self._block(tree.body, self.disk.body, 1, {id(node) for node in touched.values()})
        for key, function in touched.items():
            _function(function, self.functions.get(key), function.lineno, random)

    def _block(self, block, disk, line, touched):
        known = defaultdict(list)
        for statement in reversed(disk):
            known[_key(statement)].append(statement)
        for statement in block:
            if id(statement) in touched:
                _everywhere(statement, line)
                continue
            same = known[_key(statement)]
            there = same.pop() if same else None
            if isinstance(statement, ast.ClassDef) and there:
                self._class(statement, there, touched)
            elif there:
                _copy(statement, there)
            else:
                _everywhere(statement, line)
            line = there.lineno if there else line

    def _class(self, node, there, touched):
        body, others = node.body, there.body
        node.body = there.body = []
        if ast.dump(node) == ast.dump(there):
            _copy(node, there)
        else:
            _everywhere(node, there.lineno)
        node.body, there.body = body, others
        self._block(body, others, there.lineno, touched)


def _key(statement):
    return ("class", statement.name) if isinstance(statement, ast.ClassDef) else ast.dump(statement)


def _copy(node, there):
    for ours, theirs in zip(ast.walk(node), ast.walk(there)):
        for name in _ATTRIBUTES:
            if hasattr(theirs, name):
                setattr(ours, name, getattr(theirs, name))


def _everywhere(node, line):
    for inner in walk(node):
        _at(inner, line)


def _alone(statement, line):
    """Without statements that it holds, which have lines of their own; those of a function have none yet."""
    if isinstance(statement, FUNCTIONS):
        _everywhere(statement, line)
        return
    todo = [statement]
    while todo:
        node = todo.pop()
        _at(node, line)
        todo += [inner for inner in children(node) if not isinstance(inner, ast.stmt)]


def _at(node, line):
    if "lineno" in node._attributes:
        node.lineno = node.end_lineno = line
        node.col_offset = node.end_col_offset = -1


def _function(function, there, line, random):
    """`line` is where it stands if its namesake isn't there."""
    _everywhere(function, there.lineno if there else line)
    if not there:
        return
    for ours, theirs in zip(function.decorator_list, there.decorator_list):
        _everywhere(ours, theirs.lineno)
    texts, rest = split(there)
    first = rest[0].lineno if rest else there.lineno
    statements, inner = _statements(split(function)[1])
    lines = sorted(random.randint(first, there.end_lineno) for _ in statements)
    for statement, drawn in zip(statements, lines):
        _alone(statement, drawn)
    for text, ours in zip(texts, split(function)[0]):
        _copy(ours, text)
    namesakes = {node.name: node for node in walk(there) if isinstance(node, FUNCTIONS) and node is not there}
    for node in inner:
        _function(node, namesakes.get(node.name), node.lineno, random)


def _statements(block):
    """Statements in their order, those within others behind them; functions among them apart."""
    statements, functions = [], []
    for statement in block:
        statements.append(statement)
        if isinstance(statement, FUNCTIONS):
            functions.append(statement)
            continue
        holders = [statement, *getattr(statement, "handlers", ()), *getattr(statement, "cases", ())]
        for holder in holders:
            for name in ("body", "orelse", "finalbody"):
                inner = getattr(holder, name, None)
                if isinstance(inner, list):
                    more, others = _statements(inner)
                    statements += more
                    functions += others
    return statements, functions
