"""Shims of `unittest.mock` and `monkeypatch`: the targets of patches, and names on mocks without a spec."""

import builtins
import inspect
import os
import re
import sys
import types

from testwright_added import ADDED, note, scope_of, site_of
from testwright_things import has_own_getattr, is_mock, is_suites, name_in, told_of, words_of_sources

_MOCK_FILE = os.sep + os.path.join("unittest", "mock.py")
_touched = {}
_sites = {}


def _absent(target, name):
    """Return whether a name that is set on a target isn't there; builtins may be set on modules."""
    if isinstance(target, types.ModuleType) and hasattr(builtins, name):
        return False
    try:
        if name in dir(target) or has_own_getattr(target) or is_suites(target):
            return False
        return inspect.getattr_static(target, name, _absent) is _absent
    except Exception:
        return False


def _set_on(site, target, name, how):
    if site and isinstance(name, str) and not is_mock(target) and _absent(target, name):
        file, line = site
        if not scope_of(file).expects(line, "AttributeError"):
            note(file, line, "member", name, "%s sets %s, which %s lacks" % (how, name, told_of(target)))


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
                    expected = scope_of(site[0]).expects(site[1], "ImportError")
                    if not expected:
                        note(*site, "module" if thing is None else "member", part, "%s names %s" % (how, path))
                return None
            except Exception:
                return None
        else:
            if site and not is_mock(thing) and _absent(thing, part):
                note(*site, "member", part, "%s names %s" % (how, path))
            return None
        known = dotted
    return thing


def shim_mock():
    import unittest.mock as mock

    patch = mock._patch
    made, entered, copied = patch.__init__, patch.__enter__, patch.copy

    def init(self, *positional, **named):
        made(self, *positional, **named)
        site = site_of(2)
        if site:
            _sites[id(self)] = (self, site)

    def copy(self):
        other = copied(self)
        if id(self) in _sites:
            _sites[id(other)] = (other, _sites[id(self)][1])
        return other

    def enter(self):
        site = _sites.get(id(self), (None, None))[1] or site_of(2)
        if site:
            _patched(site, self)
        return entered(self)

    patch.__init__, patch.__enter__, patch.copy = init, enter, copy
    made_dict = mock._patch_dict.__init__

    def init_dict(self, in_dict, *positional, **named):
        made_dict(self, in_dict, *positional, **named)
        site = site_of(2)
        if site and isinstance(in_dict, str):
            _resolved(site, in_dict, "patch.dict")

    mock._patch_dict.__init__ = init_dict
    _shim_names(mock)


def _patched(site, patch):
    try:
        target = patch.getter()
    except (ImportError, AttributeError) as error:
        name = getattr(error, "name", None) or name_in(error) or str(patch.attribute)
        kind = "module" if isinstance(error, ModuleNotFoundError) else "member"
        if not scope_of(site[0]).expects(site[1], type(error).__name__):
            note(*site, kind, name.rpartition(".")[2], "%s: %s" % (type(error).__name__, error))
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
        if file in ADDED:
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
        site = site_of(2)
        for name in named:
            first = name.partition(".")[0]
            if site and bare(self, first):
                _touched.setdefault(first, [False, {}])[1].setdefault(site)
        return configure(self, **named)

    base.configure_mock = configured


def _is_of_tests(file):
    return (os.sep + "_pytest" + os.sep) in file or (os.sep + "pluggy" + os.sep) in file or file.startswith("<")


def look_at_mocks():
    alone = {name: sites for name, (elsewhere, sites) in _touched.items() if sites and not elsewhere}
    known = words_of_sources() if alone else ()
    for name, sites in alone.items():
        if name in known or not re.match(r"[^\W\d]\w*$", name):
            continue
        for file, line in sites:
            note(file, line, "on-mock", name, "only the suite touches %s on a mock without a spec" % name)


def shim_monkeypatch():
    from _pytest.monkeypatch import MonkeyPatch

    for how in ("setattr", "delattr"):
        setattr(MonkeyPatch, how, _noting(getattr(MonkeyPatch, how), how))


def _noting(done, how):
    def wrapped(self, target, name=None, *positional, **named):
        words = "monkeypatch.%s" % how
        site = site_of(2)
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
