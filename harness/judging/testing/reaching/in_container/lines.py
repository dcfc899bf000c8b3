"""Notes which lines of the work tree each Python process runs. Lies first on PYTHONPATH, beside no other file."""

import atexit
import json
import os
import sys
import threading

_root = os.getcwd() + os.sep
_seen = {}


def _line(frame, event, _argument):
    if event == "line":
        _seen.setdefault(frame.f_code.co_filename, set()).add(frame.f_lineno)
    return _line


def _call(frame, _event, _argument):
    return _line if frame.f_code.co_filename.startswith(_root) else None


def _write():
    sys.settrace(None)
    lines = {path[len(_root) :]: sorted(numbers) for path, numbers in _seen.items()}
    name = "reached-%d.json" % os.getpid()
    with open(os.path.join(os.environ["TESTWRIGHT_REACHED"], name), "w") as file:
        json.dump(lines, file)


threading.settrace(_call)
sys.settrace(_call)
atexit.register(_write)
