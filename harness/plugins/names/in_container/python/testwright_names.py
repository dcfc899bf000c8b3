"""A trace of added files and shims of mocks, begun by `sitecustomize.py`. Standard library alone, Python 3.8+.

What counts as a name that doesn't exist:

    member     an attribute that its object lacks, a name that a module lacks, a name that is defined nowhere
    module     an import of what isn't there
    parameter  a keyword that the called function doesn't take
    on-mock    a name on a mock without a spec that the suite alone touches, and that no source of the repository has

An error counts when it is raised in a line of an added file, not below it: what `__getattr__` or a library raises is
behaviour. It doesn't count where the test says that it expects just this error.
"""

import ast
import atexit
import builtins
import enum
import functools
import inspect
import json
import os
import re
import sys
import threading
import types

_root = os.getcwd() + os.sep
_added = {}
_found = {}
_scopes = {}
_sources = {}
_touched = {}
_sites = {}
_ERRORS = {
    "AttributeError": ("AttributeError",),
    "ImportError": ("ImportError", "ModuleNotFoundError"),
    "ModuleNotFoundError": ("ImportError", "ModuleNotFoundError"),
    "TypeError": ("TypeError",),
    "NameError": ("NameError", "UnboundLocalError"),
}
_KEYWORD = re.compile(r"unexpected keyword argument '(\w+)'|'(\w+)' is an invalid keyword argument")
_MESSAGE_NAME = re.compile(r"(?:has no attribute|name) '(\w+)'")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_MOCK_FILE = os.sep + os.path.join("unittest", "mock.py")
_TOOLS = tuple(
    os.path.join(*parts)
    for parts in (
        ("importlib", "__init__.py"), ("enum.py",), ("unittest", "mock.py"), ("pytest_mock", "plugin.py"),
        ("_pytest", "monkeypatch.py"),
    )
)  # fmt: skip
_MOST = 500
_WORDS = 200


def begin():
    for path, lines in json.loads(os.environ["TESTWRIGHT_ADDED"]).items():
        _added[_root + path] = frozenset(lines)
    atexit.register(_write)
    _shim_mock()
    threading.settrace(_call)
    sys.settrace(_call)


def _note(file, line, kind, name, evidence):
    if line in _added.get(file, ()) and len(_found) < _MOST:
        words = _ADDRESS.sub("0x", str(evidence)).splitlines()
        key = (file, line, kind, name)
        _found.setdefault(key, words[0][:_WORDS] if words else "")


# A trace of added files: errors that are raised in their lines.


def _call(frame, _event, _argument):
    if frame.f_code.co_filename in _added:
        frame.f_trace_lines = False
        return _event_in_suite
    return None


def _event_in_suite(frame, event, argument):
    if event == "exception":
        try:
            _raised(frame, argument[1], argument[2])
        except Exception as error:  # a signal is never worth a test's result
            _note(frame.f_code.co_filename, 0, "member", "", error)
    return _event_in_suite


def _raised(frame, error, trace):
    name = type(error).__name__
    if name not in _ERRORS or not isinstance(error, (AttributeError, ImportError, TypeError, NameError)):
        return
    file, line = frame.f_code.co_filename, frame.f_lineno
    own = _is_own(trace)
    if isinstance(error, TypeError):
        found = _KEYWORD.search(str(error))
        keyword = found and (found.group(1) or found.group(2))
        if (
            keyword
            and (own or keyword in _scope(file).keywords(line))
            and not _scope(file).expects(line, "TypeError")
        ):
            _note(file, line, "parameter", keyword, "TypeError: %s" % error)
        return
    if isinstance(error, ImportError):
        if own and not _scope(file).is_import_expected(line, error.name or ""):
            _import_failed(file, line, error)
        return
    if not own or _scope(file).expects(line, name):
        return
    if isinstance(error, AttributeError):
        _attribute_failed(file, line, error)
    elif not isinstance(error, UnboundLocalError):
        said = getattr(error, "name", None) or _name_in(error)
        if said and not hasattr(builtins, said):
            _note(file, line, "member", said, "NameError: %s" % error)


def _is_own(trace):
    """Return whether a line of the suite raised, or the import machinery for it."""
    deepest = trace
    while deepest.tb_next is not None:
        deepest = deepest.tb_next
        if not _is_of_tools(deepest.tb_frame.f_code.co_filename):
            return False
    return True


def _is_of_tools(file):
    """Return whether a file only looks names up for its caller: imports, enumerations, mocks and their plugins."""
    return file.startswith("<frozen importlib") or file.endswith(_TOOLS)


def _attribute_failed(file, line, error):
    name = getattr(error, "name", None) or _name_in(error)
    missing = object()
    thing = getattr(error, "obj", missing)
    if not name or (name.startswith("__") and name.endswith("__")):
        return
    if thing is missing or _is_mock(thing):
        _note(file, line, "member", name, "AttributeError: %s" % error)
    elif thing is not None and not _is_suites(thing):
        if name in _stored(file, line):
            return  # refused to set what may well be there: slots, frozen, a property
        _note(file, line, "member", name, "AttributeError: %s" % error)


def _stored(file, line):
    return _scope(file).stores(line)


def _name_in(error):
    found = _MESSAGE_NAME.search(str(error))
    return found.group(1) if found else ""


def _is_suites(thing):
    """Return whether the suite itself says what this object has."""
    kind = thing if isinstance(thing, type) else type(thing)
    if kind in (types.SimpleNamespace, types.FunctionType, types.MethodType, types.LambdaType):
        return True
    if isinstance(thing, types.ModuleType):
        return getattr(thing, "__file__", None) in _added or getattr(thing, "__spec__", None) is None
    files = [_file_of(each) for each in kind.__mro__ if each not in (object, type)]
    if any("__getattr__" in vars(each) for each in kind.__mro__):
        return True
    files = [each for each in files if each is not None]  # dict, Exception
    return bool(files) and all(each in _added for each in files)


def _has_suites(kind):
    """Return whether one of the classes of which a class is made is the suite's."""
    return any(_file_of(each) in _added for each in kind.__mro__)


def _file_of(kind):
    module = sys.modules.get(kind.__module__)
    return getattr(module, "__file__", None)


def _import_failed(file, line, error):
    name, message = error.name or "", str(error)
    member = getattr(error, "name_from", None)
    said = re.match(r"cannot import name '([^']+)' from", message)
    member = member or (said.group(1) if said else None)
    if member and "partially initialized" not in message:
        _note(file, line, "member", member, "ImportError: %s" % message)
    elif isinstance(error, ModuleNotFoundError):
        _note(file, line, "module", name, "ModuleNotFoundError: %s" % message)


# What the text of a file says of its lines.


_GUARDED = {"AttributeError", "ImportError", "ModuleNotFoundError", "NameError", "TypeError"}


class _Scope:
    """Spans of lines in which an error is expected, and what each statement's lines pass and set."""

    def __init__(self, tree):
        self.tree = tree
        self._spans, self._raises, self._keywords, self._stores = [], [], [], []
        for node in ast.walk(tree):
            if isinstance(node, ast.Try):
                caught = {name for each in node.handlers if not _swallows(each) for name in _names_of(each.type)}
                self._span(node.body, caught)
            elif isinstance(node, (ast.With, ast.AsyncWith)):
                for item in node.items:
                    self._span(node.body, _expected(item.context_expr))
                    self._raises.append((node.lineno, node.end_lineno, _expected(item.context_expr)))
            elif isinstance(node, ast.Call):
                names = _expected(node)
                if names and len(node.args) > 1:
                    self._spans.append((node.lineno, node.end_lineno, names))
                for keyword in node.keywords:
                    if keyword.arg:
                        self._keywords.append((node.lineno, node.end_lineno, keyword.arg))
                    elif isinstance(keyword.value, ast.Dict):
                        for key in keyword.value.keys:
                            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                                self._keywords.append((node.lineno, node.end_lineno, key.value))
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, (ast.Store, ast.Del)):
                self._stores.append((node.lineno, node.end_lineno, node.attr))
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                if any(_is_guard(each) for each in node.decorator_list):
                    self._span(node.body, _GUARDED)
            elif isinstance(node, (ast.If, ast.IfExp)) and _is_guard(node.test):
                body = node.body if isinstance(node.body, list) else [node.body]
                other = node.orelse if isinstance(node.orelse, list) else [node.orelse]
                self._span([*body, *other], _GUARDED)

    def _span(self, body, names):
        if names and body:
            self._spans.append((body[0].lineno, body[-1].end_lineno, names))

    def expects(self, line, error):
        wanted = _ERRORS[error]
        return any(first <= line <= last and names.intersection(wanted) for first, last, names in self._spans)

    def says(self, line, error):
        """Return whether a test says that this error is the behaviour, rather than catching it."""
        wanted = _ERRORS[error]
        return any(first <= line <= last and names.intersection(wanted) for first, last, names in self._raises)

    def is_import_expected(self, line, module):
        """Return whether an import may fail here. Of the code under test it may only where the test says so."""
        return self.says(line, "ImportError") if _is_repositorys(module) else self.expects(line, "ImportError")

    def keywords(self, line):
        return {name for first, last, name in self._keywords if first <= line <= last}

    def stores(self, line):
        return {name for first, last, name in self._stores if first <= line <= last}


def _is_repositorys(module):
    """Return whether a module's package lies in the work tree, beside the suite or below src."""
    top = module.partition(".")[0]
    places = [os.path.join(_root, *below, top) for below in ((), ("src",), ("lib",))]
    return bool(top) and any(os.path.isdir(place) or os.path.isfile(place + ".py") for place in places)


def _swallows(handler):
    """Return whether an AttributeError or a NameError is caught and nothing done: no look at what there is."""
    is_empty = all(isinstance(each, (ast.Pass, ast.Continue)) or _is_text(each) for each in handler.body)
    return is_empty and not _names_of(handler.type).intersection(("ImportError", "ModuleNotFoundError"))


def _is_text(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _names_of(node):
    """Return the last parts of the classes that an expression names."""
    if node is None:
        return set()
    nodes = node.elts if isinstance(node, ast.Tuple) else [node]
    return {getattr(each, "attr", None) or getattr(each, "id", "") for each in nodes}


def _expected(node):
    """Return the error that `pytest.raises(E)` or `assertRaises(E)` says. Several are a guess."""
    if not isinstance(node, ast.Call) or not node.args:
        return set()
    called = getattr(node.func, "attr", None) or getattr(node.func, "id", "")
    if called in ("raises", "assertRaises", "assertRaisesRegex", "assertRaisesRegexp"):
        names = _names_of(node.args[0])
        return names if len(names) == 1 else set()
    return set()


def _is_guard(test):
    """Return whether a condition asks what is there: hasattr, a version, a platform, TYPE_CHECKING."""
    for node in ast.walk(test):
        called = getattr(node, "id", None) or getattr(node, "attr", None)
        if called in ("hasattr", "find_spec", "version_info", "platform", "TYPE_CHECKING", "importorskip"):
            return True
    return False


def _scope(file):
    if file not in _scopes:
        try:
            with open(file, "rb") as text:
                tree = ast.parse(text.read())
        except (OSError, SyntaxError, ValueError, RecursionError):
            tree = ast.Module(body=[], type_ignores=[])
        _scopes[file] = _Scope(tree)
    return _scopes[file]


# Mocks: the targets of patches, and names on mocks without a spec.


def _site(skip=1):
    """Return the nearest place in an added file, or None."""
    frame = sys._getframe(skip)
    while frame is not None:
        if frame.f_code.co_filename in _added:
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return None


def _absent(target, name):
    """Return whether a name that is set on a target isn't there; builtins may be set on modules."""
    if isinstance(target, types.ModuleType) and hasattr(builtins, name):
        return False
    try:
        if name in dir(target) or _has_own_getattr(target) or _is_suites(target):
            return False
        return inspect.getattr_static(target, name, _absent) is _absent
    except Exception:
        return False


def _has_own_getattr(target):
    if isinstance(target, enum.EnumMeta):
        return False
    kind = target if isinstance(target, type) else type(target)
    if isinstance(target, types.ModuleType):
        return "__getattr__" in vars(target)
    return any("__getattr__" in vars(each) for each in kind.__mro__) and not _is_mock(target)


def _is_mock(thing):
    mock = sys.modules.get("unittest.mock")
    return mock is not None and isinstance(thing, mock.NonCallableMock)


def _set_on(site, target, name, how):
    if site and isinstance(name, str) and not _is_mock(target) and _absent(target, name):
        file, line = site
        if not _scope(file).expects(line, "AttributeError"):
            _note(file, line, "member", name, "%s sets %s, which %s lacks" % (how, name, _told(target)))


def _told(thing):
    if isinstance(thing, types.ModuleType):
        return "module %s" % thing.__name__
    kind = thing if isinstance(thing, type) else type(thing)
    return "%s.%s" % (kind.__module__, kind.__qualname__)


def _resolved(site, path, how):
    """Return what a dotted path names; None where a part of it isn't there, which is noted."""
    parts = path.split(".")
    thing, known = None, ""
    for part in parts:
        dotted = known + "." + part if known else part
        if thing is not None and hasattr(thing, part):
            thing = getattr(thing, part)
        elif thing is None or isinstance(thing, types.ModuleType):
            try:
                __import__(dotted)
                thing = sys.modules[dotted]
            except ImportError as error:
                if site and getattr(error, "name", None) == dotted:
                    expected = _scope(site[0]).expects(site[1], "ImportError")
                    if not expected:
                        _note(*site, "module" if thing is None else "member", part, "%s names %s" % (how, path))
                return None
            except Exception:
                return None
        else:
            if site and not _is_mock(thing) and _absent(thing, part):
                _note(*site, "member", part, "%s names %s" % (how, path))
            return None
        known = dotted
    return thing


def _shim_mock():
    import unittest.mock as mock

    patch = mock._patch
    made, entered, copied = patch.__init__, patch.__enter__, patch.copy

    def init(self, *positional, **named):
        made(self, *positional, **named)
        site = _site(2)
        if site:
            _sites[id(self)] = (self, site)

    def copy(self):
        other = copied(self)
        if id(self) in _sites:
            _sites[id(other)] = (other, _sites[id(self)][1])
        return other

    def enter(self):
        site = _sites.get(id(self), (None, None))[1] or _site(2)
        if site:
            _patched(site, self)
        return entered(self)

    patch.__init__, patch.__enter__, patch.copy = init, enter, copy
    made_dict = mock._patch_dict.__init__

    def init_dict(self, in_dict, *positional, **named):
        made_dict(self, in_dict, *positional, **named)
        site = _site(2)
        if site and isinstance(in_dict, str):
            _resolved(site, in_dict, "patch.dict")

    mock._patch_dict.__init__ = init_dict
    _shim_names(mock)


def _patched(site, patch):
    try:
        target = patch.getter()
    except (ImportError, AttributeError) as error:
        name = getattr(error, "name", None) or _name_in(error) or str(patch.attribute)
        kind = "module" if isinstance(error, ModuleNotFoundError) else "member"
        if not _scope(site[0]).expects(site[1], type(error).__name__):
            _note(*site, kind, name.rpartition(".")[2], "%s: %s" % (type(error).__name__, error))
    except Exception:
        return
    else:
        _set_on(site, target, patch.attribute, "mock.patch")


def _shim_names(mock):
    """Note who touches which name on mocks without a spec."""
    base = mock.NonCallableMock
    read, write = base.__getattribute__, base.__setattr__
    api = frozenset(name for each in vars(mock).values() if isinstance(each, type) for name in dir(each))

    def bare(self, name):
        own = object.__getattribute__(self, "__dict__")
        # A spec that is a list of names is the suite's own word.
        return name not in api and not name.startswith(("_", "assert")) and own.get("_spec_class") is None

    def touch(self, name):
        frame = sys._getframe(2)
        file = frame.f_code.co_filename
        if file.endswith(_MOCK_FILE):
            return
        if file in _added:
            _touched.setdefault(name, [False, {}])[1].setdefault((file, frame.f_lineno))
        elif not _is_of_tests(file):
            _touched.setdefault(name, [False, {}])[0] = True

    def getattribute(self, name):
        if bare(self, name):
            touch(self, name)
        return read(self, name)

    def setattribute(self, name, value):
        if bare(self, name):
            touch(self, name)
        return write(self, name, value)

    base.__getattribute__, base.__setattr__ = getattribute, setattribute
    configure = base.configure_mock

    def configured(self, **named):
        site = _site(2)
        for name in named:
            first = name.partition(".")[0]
            if site and bare(self, first):
                _touched.setdefault(first, [False, {}])[1].setdefault(site)
        return configure(self, **named)

    base.configure_mock = configured


def _is_of_tests(file):
    return (os.sep + "_pytest" + os.sep) in file or (os.sep + "pluggy" + os.sep) in file or file.startswith("<")


@functools.lru_cache(maxsize=None)
def _words_of_sources():
    """Return every word of the repository's sources but the added files."""
    words = set()
    for folder, below, names in os.walk(_root):
        below[:] = [name for name in below if name not in (".git", "node_modules", "__pycache__")]
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith((".py", ".pyi")) and path not in _added:
                try:
                    with open(path, errors="replace") as text:
                        words.update(re.findall(r"\w+", text.read()))
                except OSError:
                    continue
    return words


def _names_on_mocks():
    alone = {name: sites for name, (elsewhere, sites) in _touched.items() if sites and not elsewhere}
    known = _words_of_sources() if alone else ()
    for name, sites in alone.items():
        if name in known or not re.match(r"[^\W\d]\w*$", name):
            continue
        for file, line in sites:
            _note(file, line, "on-mock", name, "only the suite touches %s on a mock without a spec" % name)


# pytest's own patches; testwright_plugin.py begins this.


def shim_monkeypatch():
    from _pytest.monkeypatch import MonkeyPatch

    for how in ("setattr", "delattr"):
        setattr(MonkeyPatch, how, _noting(getattr(MonkeyPatch, how), how))


def _noting(done, how):
    def wrapped(self, target, name=None, *positional, **named):
        words = "monkeypatch.%s" % how
        site = _site(2)
        if site and "TESTWRIGHT_NAMES" in os.environ:
            # By path: setattr("a.b.c", value), delattr("a.b.c").
            path = target if isinstance(target, str) else None
            if path and "." in path:
                above, _, last = path.rpartition(".")
                thing = _resolved(site, above, words)
                if thing is not None:
                    _set_on(site, thing, last, words)
            elif path is None and not (how == "delattr" and named.get("raising") is False):
                _set_on(site, target, name, words)
        if name is None and not positional and how == "delattr":
            return done(self, target, **named)
        return done(self, target, name, *positional, **named)

    return wrapped


# What no run reached: names that the text alone settles.


def _static():
    for file in _added:
        scope = _scope(file)
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


def _imports(file, scope):
    """Return name -> object of what the file imports at its top or in functions. Notes what isn't there."""
    package = os.path.dirname(file[len(_root) :]).replace(os.sep, ".")
    found = {}
    for node in ast.walk(scope.tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                module = _module(each.name)
                if module is None:
                    if not scope.is_import_expected(node.lineno, each.name):
                        _note(file, node.lineno, "module", each.name, "there is no module %s" % each.name)
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
                    _note(file, node.lineno, "module", name, "there is no module %s" % name)
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
                        _note(file, line, "member", each.name, "module %s has no %s" % (name, each.name))
    return found


_unknown = object()


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
                        _note(file, line, "member", node.attr, "%s has no %s" % (_told(kind), node.attr))


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
                if isinstance(kind, type) and _is_repositorys(kind.__module__) and not _has_suites(kind):
                    made[node.targets[0].id] = kind
    return {name: kind for name, kind in made.items() if bound.get(name) == 1}


def _lacks(kind, name):
    """Return whether neither a class nor the sources that it is made of have a name."""
    if name.startswith("__") or name in dir(kind) or name in _annotated(kind) or _has_own_getattr(kind):
        return False
    if "__new__" in vars(kind) or type(kind) is not type and type(kind).__name__ != "ABCMeta":
        return False
    return name not in _words_of_sources()


def _static_overrides(file, scope, imported, rebound):
    """Note methods of the suite's classes that override nothing and that nobody calls."""
    said = _said(scope.tree)
    for node in ast.walk(scope.tree):
        if not isinstance(node, ast.ClassDef):
            continue
        bases = [_chain(each, imported, rebound) for each in node.bases]
        if not any(isinstance(base, type) and _is_repositorys(base.__module__) for base in bases):
            continue
        for each in node.body:
            if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)) and not each.name.startswith(("_", "test")):
                plain = not each.decorator_list and each.name not in said
                if plain and not any(hasattr(base, each.name) for base in bases) and not _is_dispatched(each.name):
                    _note(file, each.lineno, "member", each.name, "it overrides nothing, and nobody calls it")


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
    words = _words_of_sources()
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
            if _is_repositorys(name) and _module(name) is None:
                _note(file, key.lineno, "module", name, "there is no module %s" % name)


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
    if thing is _unknown or not isinstance(thing, (types.ModuleType, type)) or _is_mock(thing):
        return
    line, name = node.end_lineno, node.attr
    if hasattr(thing, name) or _has_own_getattr(thing) or _is_suites(thing) or scope.expects(line, "AttributeError"):
        return
    dynamic = isinstance(thing, type) and not isinstance(thing, enum.EnumMeta) and hasattr(type(thing), "__getattr__")
    if dynamic or (isinstance(thing, type) and name in _annotated(thing)):
        return  # an instance's own
    if isinstance(thing, types.ModuleType):
        if hasattr(builtins, name) or _module(thing.__name__ + "." + name) is not None:
            return
    _note(file, line, "member", name, "%s has no %s" % (_told(thing), name))


def _annotated(kind):
    return {name for each in kind.__mro__ for name in getattr(each, "__annotations__", {})}


def _static_keywords(file, scope, node, imported, rebound):
    called = _chain(node.func, imported, rebound)
    if called is functools.partial and node.args:
        called = _chain(node.args[0], imported, rebound)
    if called is _unknown or not (isinstance(called, type) or inspect.isroutine(called)) or _is_mock(called):
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
            _note(file, line, "parameter", keyword.arg, "%s takes no %s" % (_name_of(called), keyword.arg))


def _has_own_new(called):
    """Return whether a class decides by itself what its call takes: a metaclass's __call__."""
    return isinstance(called, type) and type(called) is not type and "__call__" in vars(type(called))


def _name_of(called):
    return getattr(called, "__qualname__", None) or getattr(called, "__name__", "it")


def _write():
    sys.settrace(None)
    threading.settrace(None)
    for look in (_names_on_mocks, _static):
        try:
            look()
        except Exception as error:
            sys.stderr.write("testwright names: %s\n" % error)
    told = [
        {"file": file[len(_root) :], "line": line, "kind": kind, "name": name, "evidence": words}
        for (file, line, kind, name), words in _found.items()
    ]
    path = os.path.join(os.environ["TESTWRIGHT_NAMES"], "names-%d.json" % os.getpid())
    with open(path, "w") as report:
        json.dump(told, report)
