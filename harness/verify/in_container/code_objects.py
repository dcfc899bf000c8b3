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


def with_dead_statements(source, path, lines):
    """The module's syntax tree with a dead assignment in each function that holds one of `lines`."""
    tree = ast.parse(source, path)
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    for line in lines:
        holding = [node for node in functions if _first_line(node) <= line <= node.end_lineno]
        if holding:
            innermost = max(holding, key=_first_line)
            if not getattr(innermost, "has_dead_statement", False):
                innermost.has_dead_statement = True
                _insert(innermost)
    return ast.fix_missing_locations(tree)


def _first_line(node):
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _insert(function):
    body = function.body
    at = 0 if ast.get_docstring(function, clean=False) is None else 1
    target = ast.Name(id="__unused__", ctx=ast.Store())
    dead = ast.Assign(targets=[target], value=ast.Tuple(elts=[], ctx=ast.Load()))
    body.insert(at, ast.copy_location(dead, body[min(at, len(body) - 1)]))


def compile_unit(unit, workdir):
    path = os.path.join(workdir, unit["path"])
    disk, source = base64.b64decode(unit["disk"]), base64.b64decode(unit["code"])
    lines = unit["dead_lines"]
    tree = with_dead_statements(source, path, lines) if lines else source
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
