"""Notes names that don't exist, where added test files use them. Lies first on PYTHONPATH.

Reads TESTWRIGHT_NAMES (a directory for reports) and TESTWRIGHT_ADDED (JSON: path below the work tree -> added lines),
and leaves `names-PID.json`: a list of findings, each `{file, line, kind, name, evidence}`.
"""

import os

if "TESTWRIGHT_NAMES" in os.environ:
    import testwright_names

    testwright_names.begin()
