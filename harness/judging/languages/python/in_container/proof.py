"""Runs inside arms under `python -I -S -c`, before any test is loaded.

`PATH...`: prints, for each file, the sha256 of its text and the fingerprint of the code that an import would run now
(of a module; anything else has its text only).
"""

import hashlib
import os
import sys
from importlib.machinery import SourceFileLoader


def fingerprint(code):
    """A hash of what a code object does, the same in every process; where it stands in its file is left out."""
    whole = hashlib.sha256()
    whole.update(code.co_code)
    whole.update(getattr(code, "co_exceptiontable", b""))
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


def prove(paths):
    for path in paths:
        with open(path, "rb") as file:
            text = hashlib.sha256(file.read()).hexdigest()
        module = SourceFileLoader("module", os.path.abspath(path)) if os.path.splitext(path)[1] == ".py" else None
        print("running", path, text, fingerprint(module.get_code("module")) if module else "-")


if __name__ == "__main__":
    prove(sys.argv[1:])
