"""Begins the trace of added files and the shims of mocks, and writes what they found. `sitecustomize.py` calls it."""

import atexit
import json
import os
import sys
import threading

from testwright_added import ADDED, FOUND, ROOT
from testwright_mocks import look_at_mocks, shim_mock
from testwright_static import look_at_text
from testwright_trace import call


def begin():
    for path, lines in json.loads(os.environ["TESTWRIGHT_ADDED"]).items():
        ADDED[ROOT + path] = frozenset(lines)
    atexit.register(_write)
    shim_mock()
    threading.settrace(call)
    sys.settrace(call)


def _write():
    sys.settrace(None)
    threading.settrace(None)
    for look in (look_at_mocks, look_at_text):
        try:
            look()
        except Exception as error:
            sys.stderr.write("testwright names: %s\n" % error)
    told = [
        {"file": file[len(ROOT) :], "line": line, "kind": kind, "name": name, "evidence": words}
        for (file, line, kind, name), words in FOUND.items()
    ]
    path = os.path.join(os.environ["TESTWRIGHT_NAMES"], "names-%d.json" % os.getpid())
    with open(path, "w") as report:
        json.dump(told, report)
