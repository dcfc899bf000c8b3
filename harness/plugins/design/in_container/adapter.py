"""Plays designed cases on `subject.py`, each on a fresh object with a virtual clock, and reports JUnit.

A case is lines of fields with tabs between them, percent-encoded: see `harness/plugins/design/played.py`.
"""

import os
import sys
from pathlib import Path
from urllib.parse import quote, unquote
from xml.sax.saxutils import quoteattr

from subject import Subject

_READ = {"t": str, "i": int, "f": lambda text: text == "true"}


class Clock:
    """Virtual time: milliseconds since the case began."""

    def __init__(self):
        self.ms = 0


def told(value):
    if isinstance(value, bool):
        return f"f:{str(value).lower()}"
    return f"i:{value}" if isinstance(value, int) else f"t:{quote(str(value), safe='')}"


def tokens(outcome):
    name, fields = outcome if isinstance(outcome, tuple) else (outcome, {})
    return {name, *(f"{key}={told(value)}" for key, value in fields.items())}


def act(subject, clock, line):
    ms, name, *fields = line
    clock.ms = int(ms)
    values = {}
    for field in fields:
        key, _, (kind, text) = *field.partition("=")[:2], field.partition("=")[2].split(":", 1)
        values[key] = _READ[kind](unquote(text))
    return getattr(subject, name)(**values)


def play(lines):
    """Return what is wrong; empty where the case passes."""
    clock = Clock()
    subject = Subject(clock)
    outcome = None
    try:
        for kind, *line in lines:
            if kind == "then":
                got = tokens(outcome)
                if not set(line) <= got:
                    return f"AssertionError: expected {' '.join(line)}, got {' '.join(sorted(got))}"
            else:
                outcome = act(subject, clock, line)
    except Exception as error:  # whatever the implementation raises is what the case has found
        return f"{type(error).__name__}: {error}"
    return ""


def main(ids):
    cases, name = {}, ""
    for line in (Path(__file__).parent / "cases").read_text().splitlines():
        kind, *rest = line.split("\t")
        if kind == "case":
            name = rest[0]
            cases[name] = []
        else:
            cases[name].append((kind, *rest))
    entries, failed = [], False
    for test in ids:
        file, _, name = test.partition("::")
        words = play(cases[name])
        failed = failed or bool(words)
        fault = f"<failure message={quoteattr(words)}/>" if words else ""
        entries.append(
            f"<testcase classname={quoteattr(file.replace('/', '.'))} name={quoteattr(name)}>{fault}</testcase>"
        )
    report = Path(os.environ["TESTWRIGHT_REPORT_DIR"]) / "1.xml"
    report.write_text(f"<testsuite>{''.join(entries)}</testsuite>\n", encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
