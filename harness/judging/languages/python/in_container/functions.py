"""Functions of a module by qualified name, and the names that they bind."""

import ast

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (*FUNCTIONS, ast.ClassDef, ast.Lambda, *COMPREHENSIONS)
_PLAIN = {"ctx", "op", "ops", "id", "attr", "kind", "type_comment", "level", "module", "is_async", "conversion"}
"""Fields that hold no node, or an operator or a context, which hold nothing."""


class _Holding(dict):
    """The other fields of each kind of node."""

    def __missing__(self, kind):
        self[kind] = tuple(field for field in kind._fields if field not in _PLAIN)
        return self[kind]


HOLDING = _Holding({ast.Constant: ()})


def walk(node):
    """All nodes of a tree but operators and contexts, in another order than `ast.walk`, in a third of its time."""
    todo = [node]
    while todo:
        node = todo.pop()
        yield node
        todo += children(node)


def children(node):
    """The nodes that one holds, without operators and contexts."""
    held = []
    for field in HOLDING[type(node)]:
        value = getattr(node, field, None)
        if type(value) is list:
            held += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST):
            held.append(value)
    return held


def copied(node):
    """A copy of a tree: what stands in it twice does so in the copy, and contexts are shared."""
    return _copied(node, {})


def _copied(node, known):
    if not isinstance(node, ast.AST) or isinstance(node, ast.expr_context):
        return node
    if id(node) not in known:
        made = known[id(node)] = ast.AST.__new__(type(node))
        for field, value in vars(node).items():
            if isinstance(value, ast.AST):
                value = _copied(value, known)
            elif type(value) is list:
                value = [_copied(item, known) for item in value]
            setattr(made, field, value)
    return known[id(node)]


def functions_of(tree):
    """Functions by qualified name and number among those of that name. What is within a function belongs to it."""
    found = {}

    def look(node, prefix):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, FUNCTIONS):
                name = prefix + child.name
                found[name, sum(known == name for known, _ in found)] = child
            elif isinstance(child, ast.ClassDef):
                look(child, prefix + child.name + ".")
            else:
                look(child, prefix)

    look(tree, "")
    return found


def touched_in(modules):
    """Keys of the functions that aren't the same in all of these modules, each its text and its tree."""
    known = {}
    dumps = []
    for text, tree in modules:
        lines = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        dumps.append({key: _dump(node, lines, known) for key, node in functions_of(tree).items()})
    keys = sorted({key for texts in dumps for key in texts})
    return [key for key in keys if len({texts.get(key) for texts in dumps}) > 1]


def _dump(function, lines, known):
    """`ast.dump`, which takes long, once for each text. `lines` are the module's."""
    first = min(node.lineno for node in (function, *function.decorator_list))
    # In the first two lines it may say how the module is encoded.
    text = (*lines[:2], function.col_offset, *lines[first - 1 : function.end_lineno])
    if text not in known:
        known[text] = ast.dump(function)
    return known[text]


def split(function):
    """A function's docstring, if it has one, and the rest of its body."""
    at = 0 if ast.get_docstring(function, clean=False) is None else 1
    return function.body[:at], function.body[at:]


def parameters(function):
    every = function.args
    named = [*every.posonlyargs, *every.args, *every.kwonlyargs]
    return [arg.arg for arg in [*named, *filter(None, (every.vararg, every.kwarg))]]


def own_nodes(statements):
    """All nodes that run in the scope of these statements: what is within functions, classes, lambdas isn't."""
    todo = list(statements)
    while todo:
        node = todo.pop()
        yield node
        if isinstance(node, FUNCTIONS):
            todo += [*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)]
        elif not isinstance(node, _SCOPES):
            todo += children(node)
        elif isinstance(node, COMPREHENSIONS):
            todo += [inner for inner in walk(node) if isinstance(inner, ast.NamedExpr)]


def bound_by(node):
    """The names that one node binds in its scope."""
    if isinstance(node, ast.Name):
        return [] if isinstance(node.ctx, ast.Load) else [node.id]
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [(alias.asname or alias.name).partition(".")[0] for alias in node.names]
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        return node.names
    names = (getattr(node, "name", None), getattr(node, "rest", None))  # an except clause, a pattern
    return [name for name in names if isinstance(name, str) and not isinstance(node, ast.alias)]


def bound_in(statements):
    return {name for node in own_nodes(statements) for name in bound_by(node)}


def every_name(tree):
    """Every identifier that stands in a tree as a variable, a parameter or something bound."""
    names = set()
    for node in walk(tree):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        else:
            names.update(bound_by(node))
    return names
