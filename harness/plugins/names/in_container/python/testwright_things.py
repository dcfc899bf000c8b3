"""Kinds of objects: mocks, the suite's own, of the code under test."""

import enum
import functools
import os
import re
import sys
import types

from testwright_added import ADDED, MESSAGE_NAME, ROOT


def is_suites(thing):
    """Return whether the suite itself says what this object has."""
    kind = thing if isinstance(thing, type) else type(thing)
    if kind in (types.SimpleNamespace, types.FunctionType, types.MethodType, types.LambdaType):
        return True
    if isinstance(thing, types.ModuleType):
        return getattr(thing, "__file__", None) in ADDED or getattr(thing, "__spec__", None) is None
    files = [file_of(each) for each in kind.__mro__ if each not in (object, type)]
    if any("__getattr__" in vars(each) for each in kind.__mro__):
        return True
    files = [each for each in files if each is not None]  # dict, Exception
    return bool(files) and all(each in ADDED for each in files)


def has_suites(kind):
    """Return whether one of the classes of which a class is made is the suite's."""
    return any(file_of(each) in ADDED for each in kind.__mro__)


def file_of(kind):
    module = sys.modules.get(kind.__module__)
    return getattr(module, "__file__", None)


def is_mock(thing):
    mock = sys.modules.get("unittest.mock")
    return mock is not None and isinstance(thing, mock.NonCallableMock)


def has_own_getattr(target):
    if isinstance(target, enum.EnumMeta):
        return False
    kind = target if isinstance(target, type) else type(target)
    if isinstance(target, types.ModuleType):
        return "__getattr__" in vars(target)
    return any("__getattr__" in vars(each) for each in kind.__mro__) and not is_mock(target)


def told_of(thing):
    if isinstance(thing, types.ModuleType):
        return "module %s" % thing.__name__
    kind = thing if isinstance(thing, type) else type(thing)
    return "%s.%s" % (kind.__module__, kind.__qualname__)


def name_in(error):
    found = MESSAGE_NAME.search(str(error))
    return found.group(1) if found else ""


@functools.lru_cache(maxsize=None)
def words_of_sources():
    """Return every word of the repository's sources but the added files."""
    words = set()
    for folder, below, names in os.walk(ROOT):
        below[:] = [name for name in below if name not in (".git", "node_modules", "__pycache__")]
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith((".py", ".pyi")) and path not in ADDED:
                try:
                    with open(path, errors="replace") as text:
                        words.update(re.findall(r"\w+", text.read()))
                except OSError:
                    continue
    return words
