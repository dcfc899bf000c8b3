"""Runs inside containers under `python -I -S -c`, with nothing but the standard library.

`compile REQUEST OUTPUT`: compiles each unit of a request into an unchecked-hash .pyc whose recorded source
hash is that of the file on disk, so that neither time stamps nor the source decide what runs.
`prove PATH...`: prints, for each file, the sha256 of its text and the fingerprint of the code that an import
would run now (of a module; anything else has its text only).
"""

import ast
import base64
import hashlib
import importlib._bootstrap_external as machinery
import importlib.util
import json
import os
import random
import sys
from importlib.machinery import SourceFileLoader


def fingerprint(code):
    """A hash of what a code object does, the same in every process; where it stands in its file is left out."""
    whole = hashlib.sha256()
    whole.update(code.co_code)
    for part in (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_name):
        whole.update(repr(part).encode())
    whole.update(repr((code.co_argcount, code.co_kwonlyargcount, code.co_posonlyargcount, code.co_flags)).encode())
    whole.update("|".join(_constant(constant) for constant in code.co_consts).encode())
    return whole.hexdigest()


def _constant(value):
    if hasattr(value, "co_code"):
        return fingerprint(value)
    if isinstance(value, frozenset):
        return "frozenset(" + ",".join(sorted(map(_constant, value))) + ")"
    if isinstance(value, tuple):
        return "(" + ",".join(map(_constant, value)) + ")"
    return type(value).__name__ + repr(value)


class Rewriting(ast.NodeTransformer):
    """Other generated code for the same behaviour, spread over a whole function.

    A dead assignment before each statement, constants and attribute names put together at run time: neither a
    hash nor a search for names, constants or a stretch of instructions finds what it found before.
    """

    def __init__(self, random):
        self.random = random
        self.unused = "__unused_%08x__" % random.getrandbits(32)

    def visit(self, node):
        if isinstance(node, (ast.JoinedStr, ast.pattern, ast.Global, ast.Nonlocal)):
            return node
        node = super().visit(node)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                setattr(node, name, self.spread(block))
        return node

    def visit_FunctionDef(self, node):
        """A function within: its body only, since its defaults, decorators and annotations run elsewhere."""
        node.body = [self.visit(statement) for statement in node.body]
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node):
        return node

    def visit_Expr(self, node):
        is_text = isinstance(node.value, ast.Constant)
        return node if is_text else self.generic_visit(node)

    def visit_AnnAssign(self, node):
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_Attribute(self, node):
        node.value = self.visit(node.value)
        if not isinstance(node.ctx, ast.Load) or node.attr.startswith("__"):
            return node
        return self.call(node, "getattr", node.value, self.joined(node, node.attr))

    def visit_Constant(self, node):
        if type(node.value) in (str, bytes) and len(node.value) > 1:
            return self.joined(node, node.value)
        if type(node.value) is int:
            return self.call(node, "int", self.joined(node, str(node.value)))
        return node

    def joined(self, node, text):
        """An expression that puts a text together, of pieces that the compiler can't join."""
        middle = self.random.randint(0, len(text))
        pieces = [self.at(node, ast.Constant(value=piece)) for piece in (text[:middle], text[middle:])]
        empty = self.at(node, ast.Constant(value=text[:0]))
        join = self.at(node, ast.Attribute(value=empty, attr="join", ctx=ast.Load()))
        items = self.at(node, ast.List(elts=pieces, ctx=ast.Load()))
        return self.at(node, ast.Call(func=join, args=[items], keywords=[]))

    def call(self, node, builtin, *arguments):
        name = self.at(node, ast.Name(id=builtin, ctx=ast.Load()))
        return self.at(node, ast.Call(func=name, args=list(arguments), keywords=[]))

    def spread(self, block):
        """A dead assignment before most statements, the first one always."""
        spread = []
        for statement in block:
            if not spread or self.random.random() < 0.7:
                spread.append(self.dead(statement))
            spread.append(statement)
        return spread

    def dead(self, statement):
        target = ast.Name(id=self.unused, ctx=ast.Store())
        return self.at(statement, ast.Assign(targets=[target], value=ast.Tuple(elts=[], ctx=ast.Load())))

    def at(self, node, made):
        return ast.fix_missing_locations(ast.copy_location(made, node))


def functions_of(tree):
    """Functions by dotted name, those within functions left out: they come and go with their owner."""
    found = {}

    def look(node, prefix):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found[prefix + child.name] = child
            elif isinstance(child, ast.ClassDef):
                look(child, prefix + child.name + ".")
            else:
                look(child, prefix)

    look(tree, "")
    return found


def add_inert_code(live, dead):
    """Put the bodies of `dead` into the functions of `live` that differ from them, where they never run.

    What is looked for in the generated code of one tree is then found in the other's as well.
    """
    others = functions_of(dead)
    for name, function in functions_of(live).items():
        other = others.get(name)
        if other is not None and ast.dump(other) != ast.dump(function) and _can_hold(function, other):
            texts, rest = _split(function)
            never = ast.parse("if ''.__len__(): pass").body[0]
            never.body = _split(other)[1] or [ast.Pass()]
            function.body = [*texts, never, *rest]
    return ast.fix_missing_locations(live)


def _can_hold(function, other):
    """Whether a function still does the same with the other's body in it: names keep their scope, no new yield."""
    if type(function) is not type(other):
        return False
    nodes, others = list(ast.walk(function)), list(ast.walk(other))
    if any(isinstance(node, (ast.Global, ast.Nonlocal)) for node in nodes + others):
        return False
    if _yields(others) and not _yields(nodes):
        return False
    read = {node.id for node in nodes if isinstance(node, ast.Name)}
    return not (_bound(other) - _bound(function)) & read


def _yields(nodes):
    return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in nodes)


def _bound(function):
    """Names that a function binds, or some function within it."""
    names = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            names.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            names.add(node.rest)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node is not function:
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
    return names


def _split(function):
    """A function's docstring, if it has one, and the rest of its body."""
    at = 0 if ast.get_docstring(function, clean=False) is None else 1
    return function.body[:at], function.body[at:]


def rewritten(tree, lines, random):
    """A module's syntax tree with every function that holds one of `lines` in other generated code."""
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    outermost = []
    for line in lines:
        holding = [node for node in functions if _first_line(node) <= line <= node.end_lineno]
        if holding and min(holding, key=_first_line) not in outermost:
            outermost.append(min(holding, key=_first_line))
    for function in outermost:
        _rewrite(function, Rewriting(random))
    return ast.fix_missing_locations(tree)


def _first_line(node):
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _rewrite(function, rewriting):
    """Names that the function binds itself (`getattr`, `int`) would be taken for the builtins: then leave it."""
    texts, rest = _split(function)
    if not _bound(function) & {"getattr", "int"}:
        rest = [rewriting.visit(statement) for statement in rest]
    function.body = texts + (rewriting.spread(rest) or [rewriting.dead(function)])


def compile_unit(unit, workdir):
    path = os.path.join(workdir, unit["path"])
    disk = base64.b64decode(unit["disk"])
    tree = ast.parse(base64.b64decode(unit["code"]), path)
    lines = unit["rewritten_lines"]
    if unit["dead"]:
        tree = add_inert_code(tree, ast.parse(base64.b64decode(unit["dead"]), path))
    if lines:
        # Written out and read again, so that lines and columns are others too.
        tree = ast.parse(ast.unparse(rewritten(tree, lines, random.Random(unit["seed"]))), path)
    code = compile(tree, path, "exec", dont_inherit=True, optimize=-1)
    pyc = machinery._code_to_hash_pyc(code, importlib.util.source_hash(disk), False)
    return {
        "variant": unit["variant"],
        "path": unit["path"],
        "pyc_path": importlib.util.cache_from_source(unit["path"]),
        "pyc": base64.b64encode(pyc).decode(),
        "fingerprint": fingerprint(code),
    }


def main(arguments):
    if arguments[0] == "compile":
        with open(arguments[1]) as file:
            request = json.load(file)
        units = [compile_unit(unit, request["workdir"]) for unit in request["units"]]
        with open(os.path.join(arguments[2], "units.json"), "w") as file:
            json.dump(units, file)
    else:
        for path in arguments[1:]:
            with open(path, "rb") as file:
                text = hashlib.sha256(file.read()).hexdigest()
            module = SourceFileLoader("module", os.path.abspath(path)) if path.endswith(".py") else None
            print("running", path, text, fingerprint(module.get_code("module")) if module else "-")


main(sys.argv[1:])
