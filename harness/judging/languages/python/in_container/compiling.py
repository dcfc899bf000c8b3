"""Compiles each unit of a request into an unchecked-hash .pyc.

Its recorded source hash is that of the file on disk, so that neither time stamps nor the source decide what runs.
"""

import ast
import base64
import gc
import importlib._bootstrap_external as machinery
import importlib.util
import json
import os
import random
import sys
import warnings

from .composer import EVERY_RULE, counters_of, rewrite
from .functions import copied, functions_of, split, touched_in
from .inert import embedded, fitted
from .places import Places
from .proof import fingerprint
from .scopes import Module, ModuleNames, Scope


class Texts:
    """The texts of a request by their digest, and what several units ask of them."""

    def __init__(self, texts):
        self._texts = {digest: base64.b64decode(text) for digest, text in texts.items()}
        self._places, self._touched, self._names, self._functions, self._keys = {}, {}, {}, {}, {}

    def __getitem__(self, digest):
        return self._texts[digest]

    def tree(self, digest, path):
        """A tree of one's own."""
        return ast.parse(self._texts[digest], path)

    def places(self, digest, path):
        if digest not in self._places:
            self._places[digest] = Places(self.tree(digest, path))
        return self._places[digest]

    def names(self, digest, path):
        if digest not in self._names:
            self._names[digest] = ModuleNames(self.tree(digest, path))
        return self._names[digest]

    def touched(self, digests, path):
        if digests not in self._touched:
            self._touched[digests] = touched_in([(self[digest], self.tree(digest, path)) for digest in digests])
        return self._touched[digests]

    def lent(self, digest, path, keys):
        """Functions of one's own, those of these keys."""
        if digest not in self._functions:
            self._functions[digest] = functions_of(self.tree(digest, path))
        functions = self._functions[digest]
        return {key: copied(functions[key]) for key in keys if key in functions}

    def statements(self, digest):
        """Return what `Places.put` knows of the statements of trees of this text."""
        return self._keys.setdefault(digest, {})


def variant_of(tree, lenders, module, touched, chance, rules=EVERY_RULE):
    """Rewrite the touched functions of a module in place. How many rules were applied, by key of the function.

    `lenders` are functions by key, for each module that lends bodies to those of the same key; they are changed.
    `module` has the names of all the modules.
    """
    functions = functions_of(tree)
    applied = {}
    for key in touched:
        if key in functions:
            lent = [lender[key] for lender in lenders if key in lender]
            applied[key] = _rewrite_function(functions[key], lent, module, chance, rules)
    return applied


def _rewrite_function(function, lent, module, chance, rules):
    texts, live = split(function)
    scope = Scope(function, module, chance)
    inert = fitted(function, lent, scope.fresh)
    function.body = [*texts, *live, *(statement for block in inert for statement in block)]
    scope = Scope(function, module, chance)
    live = live or [ast.Pass()]
    applied = rewrite(scope, live, rules)
    for block in inert:
        rewrite(scope, block, rules)
    live = embedded(scope, live, inert)
    function.body = [*texts, *counters_of(scope), *live]
    return applied


def compile_unit(unit, texts, workdir):
    path = os.path.join(workdir, unit["path"])
    tree = texts.tree(unit["code"], path)
    if unit["seed"] is not None:
        chance = random.Random("%s %s" % (unit["seed"], unit["path"]))
        keys = texts.touched(tuple(sorted({unit["code"], *unit["family"]})), path)
        module = Module(texts.names(unit["code"], path), [texts.names(digest, path) for digest in unit["inert"]])
        variant_of(tree, [texts.lent(digest, path, keys) for digest in unit["inert"]], module, keys, chance)
        functions = functions_of(tree)
        touched = {key: functions[key] for key in keys if key in functions}
        texts.places(unit["disk"], path).put(tree, touched, chance, texts.statements(unit["code"]))
    code = compile(tree, path, "exec", dont_inherit=True, optimize=-1)
    pyc = machinery._code_to_hash_pyc(code, importlib.util.source_hash(texts[unit["disk"]]), False)
    return {
        "variant": unit["variant"],
        "path": unit["path"],
        "pyc_path": importlib.util.cache_from_source(unit["path"]),
        "pyc": base64.b64encode(pyc).decode(),
        "fingerprint": fingerprint(code),
    }


def main(request, output):
    sys.setrecursionlimit(20000)
    gc.disable()  # nothing of hundreds of thousands of nodes is garbage before the end
    warnings.simplefilter("ignore")  # of the compiler, about code that never runs
    texts = Texts(request["texts"])
    units = [compile_unit(unit, texts, request["workdir"]) for unit in request["units"]]
    with open(os.path.join(output, "units.json"), "w") as file:
        json.dump(units, file)
