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


class Disguise(ast.NodeTransformer):
    """Other generated code for the same behaviour, spread over a whole function.

    A dead assignment before each statement, constants and attribute names put together at run time: neither a
    hash nor a search for names, constants or a stretch of instructions finds what it found before.
    """

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
        middle = (len(text) + 1) // 2
        pieces = [self.at(node, ast.Constant(value=piece)) for piece in (text[:middle], text[middle:])]
        empty = self.at(node, ast.Constant(value=text[:0]))
        join = self.at(node, ast.Attribute(value=empty, attr="join", ctx=ast.Load()))
        items = self.at(node, ast.List(elts=pieces, ctx=ast.Load()))
        return self.at(node, ast.Call(func=join, args=[items], keywords=[]))

    def call(self, node, builtin, *arguments):
        name = self.at(node, ast.Name(id=builtin, ctx=ast.Load()))
        return self.at(node, ast.Call(func=name, args=list(arguments), keywords=[]))

    def spread(self, block):
        return [item for statement in block for item in (self.dead(statement), statement)]

    def dead(self, statement):
        target = ast.Name(id="__unused__", ctx=ast.Store())
        return self.at(statement, ast.Assign(targets=[target], value=ast.Tuple(elts=[], ctx=ast.Load())))

    def at(self, node, made):
        return ast.fix_missing_locations(ast.copy_location(made, node))


def disguised(source, path, lines):
    """The module's syntax tree with every function that holds one of `lines` in other generated code."""
    tree = ast.parse(source, path)
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    outermost = set()
    for line in lines:
        holding = [node for node in functions if _first_line(node) <= line <= node.end_lineno]
        outermost.update([min(holding, key=_first_line)] if holding else [])
    for function in outermost:
        _disguise(function)
    return ast.fix_missing_locations(tree)


def _first_line(node):
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _disguise(function):
    """Names that the function binds itself (`getattr`, `int`) would be taken for the builtins: then leave it."""
    bound = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    disguise = Disguise()
    texts = function.body[:1] if ast.get_docstring(function, clean=False) is not None else []
    rest = function.body[len(texts) :]
    if not bound & {"getattr", "int"}:
        rest = [disguise.visit(statement) for statement in rest]
    function.body = texts + (disguise.spread(rest) or [disguise.dead(function)])


def compile_unit(unit, workdir):
    path = os.path.join(workdir, unit["path"])
    disk, source = base64.b64decode(unit["disk"]), base64.b64decode(unit["code"])
    lines = unit["disguised_lines"]
    tree = disguised(source, path, lines) if lines else source
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
