"""Where code says that it stands: in the text on disk, whatever text it was compiled from.

Outside touched functions each statement has the line and column that the same statement has on disk. A touched
function begins where its namesake on disk begins, and so do those within it; its statements have lines that are
drawn from its namesake's, without columns. So tracebacks, warnings and log records name lines of the right function,
and lines say nothing of the code.
"""

import ast
from collections import defaultdict

from .functions import FUNCTIONS, children, functions_of, split, walk

_MAY_HOLD_FUNCTIONS = tuple(
    getattr(ast, kind)
    for kind in ("If", "For", "AsyncFor", "While", "With", "AsyncWith", "Try", "TryStar", "Match")
    if hasattr(ast, kind)
)


class Places:
    """The places of one text on disk; serves any number of trees."""

    def __init__(self, disk):
        self.disk = disk
        self.functions = functions_of(disk)
        self._known = {}

    def put(self, tree, touched, random, known=None):
        """Give all nodes of `tree` a place. `touched` are its touched functions by key.

        `known` is for trees of one text whose touched functions are the same ones: filled by the first, of use to
        the others.
        """
        keys = {} if known is None else known
        self._block(tree.body, self.disk.body, 1, {id(node) for node in touched.values()}, keys)
        for key, function in touched.items():
            _function(function, self.functions.get(key), function.lineno, random)

    def _block(self, block, disk, line, touched, keys):
        known = defaultdict(list)
        for statement in reversed(disk):
            known[_key(statement, self._known)].append(statement)
        for statement in block:
            if id(statement) in touched:
                _everywhere(statement, line)
                continue
            same = known[_key(statement, keys)]
            there = same.pop() if same else None
            if isinstance(statement, ast.ClassDef) and there:
                self._class(statement, there, touched, keys)
            elif there:
                _copy(statement, there)
            else:
                _everywhere(statement, line)
            line = there.lineno if there else line

    def _class(self, node, there, touched, keys):
        body, others = node.body, there.body
        node.body = there.body = []
        if ast.dump(node) == ast.dump(there):
            _copy(node, there)
        else:
            _everywhere(node, there.lineno)
        node.body, there.body = body, others
        self._block(body, others, there.lineno, touched, keys)


def _key(statement, known):
    """Return one key for equal statements. `known` has keys by the place, as long as it's the text's own."""
    if isinstance(statement, ast.ClassDef):
        return "class", statement.name
    if isinstance(statement, _MAY_HOLD_FUNCTIONS):  # one of which may be rewritten
        return ast.dump(statement)
    place = statement.lineno, statement.col_offset
    if place not in known:
        known[place] = ast.dump(statement)
    return known[place]


def _copy(node, there):
    for ours, theirs in zip(walk(node), walk(there)):
        if theirs._attributes:
            ours.lineno, ours.end_lineno = theirs.lineno, theirs.end_lineno
            ours.col_offset, ours.end_col_offset = theirs.col_offset, theirs.end_col_offset


def _everywhere(node, line):
    for inner in walk(node):
        if inner._attributes:
            inner.lineno = inner.end_lineno = line
            inner.col_offset = inner.end_col_offset = -1


def _alone(statement, line):
    """Without statements that it holds, which have lines of their own; those of a function have none yet."""
    if isinstance(statement, FUNCTIONS):
        _everywhere(statement, line)
        return
    todo = [statement]
    while todo:
        node = todo.pop()
        if node._attributes:
            node.lineno = node.end_lineno = line
            node.col_offset = node.end_col_offset = -1
        todo += [inner for inner in children(node) if not isinstance(inner, ast.stmt)]


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
