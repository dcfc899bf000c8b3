"""Names that the text alone settles, also where no run came by."""

import ast
import builtins
import enum
import functools
import inspect
import os
import re
import sys
import types

from testwright_added import ADDED, ROOT, is_repositorys, note, scope_of
from testwright_things import has_own_getattr, has_suites, is_mock, is_suites, told_of, words_of_sources


def look_at_text():
    for file in ADDED:
        scope = scope_of(file)
        imported = _imports(file, scope)
        rebound = _rebound(scope.tree, imported)
        for node in ast.walk(scope.tree):
            if isinstance(node, ast.Attribute):
                _static_member(file, scope, node, imported, rebound)
            elif isinstance(node, ast.Call) and node.keywords:
                _static_keywords(file, scope, node, imported, rebound)
        _static_instances(file, scope, imported, rebound)
        _static_overrides(file, scope, imported, rebound)
        _static_stubs(file, scope)


_unknown = object()


def _imports(file, scope):
    """Return name -> object of what the file imports at its top or in functions. Notes what isn't there."""
    package = os.path.dirname(file[len(ROOT) :]).replace(os.sep, ".")
    found = {}
    for node in ast.walk(scope.tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                module = _module(each.name)
                if module is None:
                    if not scope.is_import_expected(node.lineno, each.name):
                        note(file, node.lineno, "module", each.name, "there is no module %s" % each.name)
                elif module is not _unknown:
                    top = each.name if each.asname else each.name.partition(".")[0]
                    found[each.asname or top] = sys.modules.get(top, module)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            above = parts[: len(parts) - node.level + 1] if node.level else []
            name = ".".join([*above, *([node.module] if node.module else [])])
            module = _module(name)
            if module is None:
                if not scope.is_import_expected(node.lineno, name):
                    note(file, node.lineno, "module", name, "there is no module %s" % name)
            elif module is not _unknown:
                for each in node.names:
                    if each.name == "*":
                        continue
                    thing = getattr(module, each.name, _unknown)
                    if thing is _unknown:
                        thing = _module(name + "." + each.name) or _unknown
                    if thing is not _unknown:
                        found[each.asname or each.name] = thing
                    elif "__getattr__" not in vars(module) and not scope.is_import_expected(node.lineno, name):
                        line = getattr(each, "lineno", node.lineno)
                        note(file, line, "member", each.name, "module %s has no %s" % (name, each.name))
    return found


def _module(name):
    """Return a module, None where there is none, `_unknown` where it can't be loaded."""
    if name in sys.modules:
        return sys.modules[name] or _unknown
    try:
        __import__(name)
        return sys.modules[name]
    except ModuleNotFoundError as error:
        missing = getattr(error, "name", "") or ""
        return None if name == missing or name.startswith(missing + ".") else _unknown
    except BaseException:
        return _unknown


def _rebound(tree, imported):
    """Return imported names that the file also binds otherwise: nothing is said of them."""
    bound = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            bound.add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            bound.add(node.name)
    return bound.intersection(imported)


def _static_instances(file, scope, imported, rebound):
    """Note members of what a function makes of a class of the code: `x = Class(...)`, once, then `x.name`."""
    for function in ast.walk(scope.tree):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            made = _made_once(function, imported, rebound)
            for node in ast.walk(function) if made else ():
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in made:
                    kind, line = made[node.value.id], node.end_lineno
                    if _lacks(kind, node.attr) and not scope.expects(line, "AttributeError"):
                        note(file, line, "member", node.attr, "%s has no %s" % (told_of(kind), node.attr))


def _made_once(function, imported, rebound):
    """Return name -> class of local names that are bound once, to an instance of a class of the repository."""
    bound, made = {}, {}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            bound[node.id] = bound.get(node.id, 0) + 1
        elif isinstance(node, ast.arg):
            bound[node.arg] = bound.get(node.arg, 0) + 1
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            if isinstance(node.value, ast.Call):
                kind = _chain(node.value.func, imported, rebound)
                if isinstance(kind, type) and is_repositorys(kind.__module__) and not has_suites(kind):
                    made[node.targets[0].id] = kind
    return {name: kind for name, kind in made.items() if bound.get(name) == 1}


def _lacks(kind, name):
    """Return whether neither a class nor the sources that it is made of have a name."""
    if name.startswith("__") or name in dir(kind) or name in _annotated(kind) or has_own_getattr(kind):
        return False
    if "__new__" in vars(kind) or type(kind) is not type and type(kind).__name__ != "ABCMeta":
        return False
    return name not in words_of_sources()


def _static_overrides(file, scope, imported, rebound):
    """Note methods of the suite's classes that override nothing and that nobody calls."""
    said = _said(scope.tree)
    for node in ast.walk(scope.tree):
        if not isinstance(node, ast.ClassDef):
            continue
        bases = [_chain(each, imported, rebound) for each in node.bases]
        if not any(isinstance(base, type) and is_repositorys(base.__module__) for base in bases):
            continue
        for each in node.body:
            if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)) and not each.name.startswith(("_", "test")):
                plain = not each.decorator_list and each.name not in said
                if plain and not any(hasattr(base, each.name) for base in bases) and not _is_dispatched(each.name):
                    note(file, each.lineno, "member", each.name, "it overrides nothing, and nobody calls it")


def _said(tree):
    """Return the names that a text reads or calls, and the words of its literals."""
    said = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            said.update(re.findall(r"\w+", node.value))
        else:
            said.add(getattr(node, "attr", None) or getattr(node, "id", None))
    return said


def _is_dispatched(name):
    """Return whether some source has the name, or a part of it up to an underscore by which it may be looked up."""
    words = words_of_sources()
    parts = name.split("_")
    begins = ["_".join(parts[:count]) + "_" for count in range(1, len(parts))]
    ends = ["_" + "_".join(parts[count:]) for count in range(1, len(parts))]
    return name in words or any(part in words for part in (*begins, *ends))


def _static_stubs(file, scope):
    """Note modules of the code under test that a suite puts into sys.modules and that aren't there."""
    for node in ast.walk(scope.tree):
        keys = []
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and _is_sys_modules(node.value):
            keys = [node.slice]
        elif isinstance(node, ast.Call) and node.args and _is_sys_modules(node.args[0]):
            second = node.args[1] if len(node.args) > 1 else None
            keys = second.keys if isinstance(second, ast.Dict) else [second]
        for key in keys:
            key = getattr(key, "value", key) if type(key).__name__ == "Index" else key
            name = key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""
            if is_repositorys(name) and _module(name) is None:
                note(file, key.lineno, "module", name, "there is no module %s" % name)


def _is_sys_modules(node):
    if isinstance(node, ast.Constant):
        return node.value == "sys.modules"
    return isinstance(node, ast.Attribute) and node.attr == "modules" and getattr(node.value, "id", "") == "sys"


def _chain(node, imported, rebound):
    """Return what `a.b.c` names in the container, and whether all but its last part was there."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id in rebound or node.id not in imported:
        return _unknown
    thing = imported[node.id]
    for name in reversed(names):
        if not isinstance(thing, (types.ModuleType, type)):
            return _unknown
        try:
            thing = getattr(thing, name)
        except Exception:
            return _unknown
    return thing


def _static_member(file, scope, node, imported, rebound):
    thing = _chain(node.value, imported, rebound)
    if thing is _unknown or not isinstance(thing, (types.ModuleType, type)) or is_mock(thing):
        return
    line, name = node.end_lineno, node.attr
    if hasattr(thing, name) or has_own_getattr(thing) or is_suites(thing) or scope.expects(line, "AttributeError"):
        return
    dynamic = isinstance(thing, type) and not isinstance(thing, enum.EnumMeta) and hasattr(type(thing), "__getattr__")
    if dynamic or (isinstance(thing, type) and name in _annotated(thing)):
        return  # an instance's own
    if isinstance(thing, types.ModuleType):
        if hasattr(builtins, name) or _module(thing.__name__ + "." + name) is not None:
            return
    note(file, line, "member", name, "%s has no %s" % (told_of(thing), name))


def _annotated(kind):
    return {name for each in kind.__mro__ for name in getattr(each, "__annotations__", {})}


def _static_keywords(file, scope, node, imported, rebound):
    called = _chain(node.func, imported, rebound)
    if called is functools.partial and node.args:
        called = _chain(node.args[0], imported, rebound)
    if called is _unknown or not (isinstance(called, type) or inspect.isroutine(called)) or is_mock(called):
        return
    if scope.expects(node.lineno, "TypeError") or getattr(called, "__module__", "") in ("unittest.mock", "typing"):
        return
    try:
        parameters = inspect.signature(called).parameters.values()
    except (TypeError, ValueError):
        return
    if any(each.kind is each.VAR_KEYWORD for each in parameters) or _has_own_new(called):
        return
    known = {each.name for each in parameters if each.kind is not each.POSITIONAL_ONLY}
    for keyword in node.keywords:
        if keyword.arg and keyword.arg not in known:
            line = getattr(keyword, "lineno", node.lineno)
            note(file, line, "parameter", keyword.arg, "%s takes no %s" % (_name_of(called), keyword.arg))


def _has_own_new(called):
    """Return whether a class decides by itself what its call takes: a metaclass's __call__."""
    return isinstance(called, type) and type(called) is not type and "__call__" in vars(type(called))


def _name_of(called):
    return getattr(called, "__qualname__", None) or getattr(called, "__name__", "it")
