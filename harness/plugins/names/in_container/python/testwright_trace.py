"""A trace of added files: errors that are raised in their lines.

An error counts when it is raised in a line of an added file, not below it: what `__getattr__` or a library raises is
behaviour. It doesn't count where the test says that it expects just this error.
"""

import builtins
import os
import re

from testwright_added import ADDED, ERRORS, note, scope_of
from testwright_things import is_mock, is_suites, name_in

_KEYWORD = re.compile(r"unexpected keyword argument '(\w+)'|'(\w+)' is an invalid keyword argument")
_TOOLS = tuple(
    os.path.join(*parts)
    for parts in (
        ("importlib", "__init__.py"), ("enum.py",), ("unittest", "mock.py"), ("pytest_mock", "plugin.py"),
        ("_pytest", "monkeypatch.py"),
    )
)  # fmt: skip


def call(frame, _event, _argument):
    if frame.f_code.co_filename in ADDED:
        frame.f_trace_lines = False
        return _event_in_suite
    return None


def _event_in_suite(frame, event, argument):
    if event == "exception":
        try:
            _raised(frame, argument[1], argument[2])
        except Exception as error:  # a signal is never worth a test's result
            note(frame.f_code.co_filename, 0, "member", "", error)
    return _event_in_suite


def _raised(frame, error, trace):
    name = type(error).__name__
    if name not in ERRORS or not isinstance(error, (AttributeError, ImportError, TypeError, NameError)):
        return
    file, line = frame.f_code.co_filename, frame.f_lineno
    own = _is_own(trace)
    if isinstance(error, TypeError):
        found = _KEYWORD.search(str(error))
        keyword = found and (found.group(1) or found.group(2))
        if (
            keyword
            and (own or keyword in scope_of(file).keywords(line))
            and not scope_of(file).expects(line, "TypeError")
        ):
            note(file, line, "parameter", keyword, "TypeError: %s" % error)
        return
    if isinstance(error, ImportError):
        if own and not scope_of(file).is_import_expected(line, error.name or ""):
            _import_failed(file, line, error)
        return
    if not own or scope_of(file).expects(line, name):
        return
    if isinstance(error, AttributeError):
        _attribute_failed(file, line, error)
    elif not isinstance(error, UnboundLocalError):
        said = getattr(error, "name", None) or name_in(error)
        if said and not hasattr(builtins, said):
            note(file, line, "member", said, "NameError: %s" % error)


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
    name = getattr(error, "name", None) or name_in(error)
    missing = object()
    thing = getattr(error, "obj", missing)
    if not name or (name.startswith("__") and name.endswith("__")):
        return
    if thing is missing or is_mock(thing):
        note(file, line, "member", name, "AttributeError: %s" % error)
    elif thing is not None and not is_suites(thing):
        if name in _stored(file, line):
            return  # refused to set what may well be there: slots, frozen, a property
        note(file, line, "member", name, "AttributeError: %s" % error)


def _stored(file, line):
    return scope_of(file).stores(line)


def _import_failed(file, line, error):
    name, message = error.name or "", str(error)
    member = getattr(error, "name_from", None)
    said = re.match(r"cannot import name '([^']+)' from", message)
    member = member or (said.group(1) if said else None)
    if member and "partially initialized" not in message:
        note(file, line, "member", member, "ImportError: %s" % message)
    elif isinstance(error, ModuleNotFoundError):
        note(file, line, "module", name, "ModuleNotFoundError: %s" % message)
