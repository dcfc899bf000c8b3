"""The added files, what is found in them, and what their text says of its lines. Standard library alone, Python 3.8+.

What counts as a name that doesn't exist:

    member     an attribute that its object lacks, a name that a module lacks, a name that is defined nowhere
    module     an import of what isn't there
    parameter  a keyword that the called function doesn't take
    on-mock    a name on a mock without a spec that the suite alone touches, and that no source of the repository has
"""

import ast
import os
import re
import sys

ROOT = os.getcwd() + os.sep
ADDED = {}
FOUND = {}
_scopes = {}
_MOST = 500
_WORDS = 200
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
ERRORS = {
    "AttributeError": ("AttributeError",),
    "ImportError": ("ImportError", "ModuleNotFoundError"),
    "ModuleNotFoundError": ("ImportError", "ModuleNotFoundError"),
    "TypeError": ("TypeError",),
    "NameError": ("NameError", "UnboundLocalError"),
}
MESSAGE_NAME = re.compile(r"(?:has no attribute|name) '(\w+)'")
_GUARDED = {"AttributeError", "ImportError", "ModuleNotFoundError", "NameError", "TypeError"}


def note(file, line, kind, name, evidence):
    if line in ADDED.get(file, ()) and len(FOUND) < _MOST:
        words = _ADDRESS.sub("0x", str(evidence)).splitlines()
        key = (file, line, kind, name)
        FOUND.setdefault(key, words[0][:_WORDS] if words else "")


def site_of(skip=1):
    """Return the nearest place in an added file, or None."""
    frame = sys._getframe(skip)
    while frame is not None:
        if frame.f_code.co_filename in ADDED:
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return None


def scope_of(file):
    if file not in _scopes:
        try:
            with open(file, "rb") as text:
                tree = ast.parse(text.read())
        except (OSError, SyntaxError, ValueError, RecursionError):
            tree = ast.Module(body=[], type_ignores=[])
        _scopes[file] = _Scope(tree)
    return _scopes[file]


class _Scope:
    """Spans of lines in which an error is expected, and what each statement's lines pass and set."""

    def __init__(self, tree):
        self.tree = tree
        self._spans, self._raises, self._keywords, self._stores = [], [], [], []
        for node in ast.walk(tree):
            if isinstance(node, ast.Try):
                caught = {name for each in node.handlers if not _swallows(each) for name in names_of(each.type)}
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
        wanted = ERRORS[error]
        return any(first <= line <= last and names.intersection(wanted) for first, last, names in self._spans)

    def says(self, line, error):
        """Return whether a test says that this error is the behaviour, rather than catching it."""
        wanted = ERRORS[error]
        return any(first <= line <= last and names.intersection(wanted) for first, last, names in self._raises)

    def is_import_expected(self, line, module):
        """Return whether an import may fail here. Of the code under test it may only where the test says so."""
        return self.says(line, "ImportError") if is_repositorys(module) else self.expects(line, "ImportError")

    def keywords(self, line):
        return {name for first, last, name in self._keywords if first <= line <= last}

    def stores(self, line):
        return {name for first, last, name in self._stores if first <= line <= last}


def is_repositorys(module):
    """Return whether a module's package lies in the work tree, beside the suite or below src."""
    top = module.partition(".")[0]
    places = [os.path.join(ROOT, *below, top) for below in ((), ("src",), ("lib",))]
    return bool(top) and any(os.path.isdir(place) or os.path.isfile(place + ".py") for place in places)


def _swallows(handler):
    """Return whether an AttributeError or a NameError is caught and nothing done: no look at what there is."""
    is_empty = all(isinstance(each, (ast.Pass, ast.Continue)) or _is_text(each) for each in handler.body)
    return is_empty and not names_of(handler.type).intersection(("ImportError", "ModuleNotFoundError"))


def _is_text(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def names_of(node):
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
        names = names_of(node.args[0])
        return names if len(names) == 1 else set()
    return set()


def _is_guard(test):
    """Return whether a condition asks what is there: hasattr, a version, a platform, TYPE_CHECKING."""
    for node in ast.walk(test):
        called = getattr(node, "id", None) or getattr(node, "attr", None)
        if called in ("hasattr", "find_spec", "version_info", "platform", "TYPE_CHECKING", "importorskip"):
            return True
    return False
