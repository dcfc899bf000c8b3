"""usage: parse_log.py PARSER STDOUT STDERR OUT NAME...

Runs a published task's parser over a log, and then over what is left of the log behind each line that has one of the
names. OUT is what the parser makes of the whole, with a list `again`: tests that have another status in what is left.
Some parsers keep the first result of a name, so a line that somebody printed beforehand would hide the test's own.
Others keep the last or the worst one: of a test that failed each line is read without the others that have its name,
and `again` says so if one of them has it as passed, beside one for the same words that has it as failed.
"""

import contextlib
import io
import json
import os
import runpy
import sys
import tempfile

MOST_PARTS = 2000
"""Of one log; where more lines have a name, so many of them, evenly spread."""


def parse(parser, stdout, stderr):
    """Return what a parser writes for two texts, as it stands; b"" where it writes nothing."""
    with tempfile.TemporaryDirectory() as scratch:
        names = [os.path.join(scratch, name) for name in ("stdout", "stderr", "parsed.json")]
        for name, text in zip(names, (stdout, stderr)):
            with open(name, "wb") as file:
                file.write(text)
        sys.argv = [parser, *names]
        sys.path.insert(0, os.path.dirname(parser))
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                runpy.run_path(parser, run_name="__main__")
        except SystemExit:
            pass
        except Exception as error:
            print("the task's parser failed:", repr(error), file=sys.stderr)
        finally:
            sys.path.pop(0)
        try:
            with open(names[2], "rb") as file:
                return file.read()
        except OSError:
            return b""


def tests_in(parsed):
    try:
        return {item["name"]: item["status"] for item in reversed(json.loads(parsed)["tests"])}
    except (ValueError, KeyError, TypeError):
        return {}


def ends_of_lines(text, names):
    """Where the lines end that have a name in them."""
    ends, at = [], 0
    for line in text.splitlines(keepends=True):
        at += len(line)
        if any(name in line for name in names):
            ends.append(at)
    step = max(1, -(-len(ends) // MOST_PARTS))
    return ends[::step]


def words_around(line, name):
    """A name with what stands around it up to the next space: what a test is called in a line."""
    at = line.index(name)
    before, after = line[:at].split(b" ")[-1], line[at + len(name) :].split(b" ")[0]
    return (before + name + after).strip()


def also_passed(parser, stdout, stderr, names, failed):
    """Tests among the failed ones that some line has as passed, and another with the same words as failed."""
    found, budget = [], MOST_PARTS
    for name in names:
        if not any(name in os.fsencode(test) for test in failed):
            continue
        lines = [(text, line) for text in (0, 1) for line in (stdout, stderr)[text].splitlines(True) if name in line]
        told = {}
        for text, line in dict.fromkeys(lines):
            budget -= 1
            if budget < 0:
                return found
            alone = parse(
                parser,
                *(without(log, name, line if text == which else None) for which, log in enumerate((stdout, stderr))),
            )
            for test, status in tests_in(alone).items():
                told.setdefault((words_around(line, name), test), set()).add(status.upper())
        found += [test for (_, test), statuses in told.items() if test in failed and {"PASSED", "FAILED"} <= statuses]
    return list(dict.fromkeys(found))


def without(log, name, kept):
    """A log without the lines that have a name, but for the first one that is `kept`."""
    lines = []
    for line in log.splitlines(True):
        if name not in line or line == kept:
            lines.append(line)
            kept = None if line == kept else kept
    return b"".join(lines)


def main():
    parser, out = sys.argv[1], sys.argv[4]
    names = [os.fsencode(name) for name in sys.argv[5:] if name]
    with open(sys.argv[2], "rb") as file:
        stdout = file.read()
    with open(sys.argv[3], "rb") as file:
        stderr = file.read()
    whole = parse(parser, stdout, stderr)
    first, again = tests_in(whole), []
    parts = [(stdout[at:], stderr) for at in ends_of_lines(stdout, names)]
    parts += [(stdout, stderr[at:]) for at in ends_of_lines(stderr, names)]
    for part in parts:
        for name, status in tests_in(parse(parser, *part)).items():
            if first.get(name, status) != status and [name, status] not in again:
                again.append([name, status])
    failed = {test for test, status in first.items() if status.upper() == "FAILED"}
    again += [
        [test, "PASSED"]
        for test in also_passed(parser, stdout, stderr, names, failed)
        if [test, "PASSED"] not in again
    ]
    if again:
        whole = json.dumps(
            {"tests": json.loads(whole)["tests"], "again": [dict(zip(("name", "status"), item)) for item in again]}
        ).encode()
    if whole:
        with open(out, "wb") as file:
            file.write(whole)


main()
