"""Functions of a module by qualified name, and the names that they bind."""

import ast

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (*FUNCTIONS, ast.ClassDef, ast.Lambda, *COMPREHENSIONS)


def walk(node):
    """All nodes of a tree, like `ast.walk` in another order, in half its time."""
    todo = [node]
    while todo:
        node = todo.pop()
        yield node
        todo += children(node)


def children(node):
    """The nodes that one holds."""
    held = []
    for field in node._fields:
        value = getattr(node, field, None)
        if isinstance(value, ast.AST):
            held.append(value)
        elif isinstance(value, list):
            held += [item for item in value if isinstance(item, ast.AST)]
    return held


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


def touched_in(trees):
    """Keys of the functions that aren't the same in all of these modules."""
    dumps = [{key: ast.dump(node) for key, node in functions_of(tree).items()} for tree in trees]
    keys = sorted({key for texts in dumps for key in texts})
    return [key for key in keys if len({texts.get(key) for texts in dumps}) > 1]


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
