"""A log in which a test has two results: what somebody printed first doesn't hide the test's own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.plugins.published.parsed_log import parsed_tests, read_published

PROGRAM = Path(__file__).parents[2] / "harness" / "plugins" / "published" / "in_container" / "parse_log.py"
BY_LINES = r"""
import json, re, sys
found = {}
for line in open(sys.argv[1]):
    if result := re.match(r"(?:--- )?(PASS|FAIL)(?:ED)?: (\S+)", line):
        found.setdefault(result[2], result[1] + "ED")
json.dump({"tests": [{"name": name, "status": status} for name, status in found.items()]}, open(sys.argv[3], "w"))
print("done")
sys.exit(3)
"""
BY_CONTEXT = r"""
import json, re, sys
found, name = {}, None
for line in open(sys.argv[2]):
    if begin := re.match(r"(\w+) \([\w.]+\)(?: \.\.\. (ok|FAIL)?)?$", line):
        name, word = begin.groups()
    else:
        word = line.strip() if line.strip() in ("ok", "FAIL") else None
    if name and word:
        found.setdefault(name, "PASSED" if word == "ok" else "FAILED")
    if summary := re.match(r"FAIL: (\w+) ", line):
        found.setdefault(summary[1], "FAILED")
json.dump({"tests": [{"name": name, "status": status} for name, status in found.items()]}, open(sys.argv[3], "w"))
"""
LAST_ONE = BY_LINES.replace('found.setdefault(result[2], result[1] + "ED")', 'found[result[2]] = result[1] + "ED"')
CASES = r"""
import json, re, sys
found = {}
for line in open(sys.argv[1]):
    if result := re.match(r"(\S+?)(?:\[.*\])? (PASSED|FAILED)", line):
        found[result[1]] = max(found.get(result[1], "A"), result[2], key=["A", "PASSED", "FAILED"].index)
json.dump({"tests": [{"name": name, "status": status} for name, status in found.items()]}, open(sys.argv[3], "w"))
"""
STARTED = r"""
import json, re, sys
found = {}
for line in open(sys.argv[1]):
    if begin := re.match(r"=== RUN +(\S+)", line):
        found[begin[1]] = "FAILED"
    if result := re.match(r"--- (PASS|FAIL): (\S+)", line):
        found[result[2]] = result[1] + "ED"
json.dump({"tests": [{"name": name, "status": status} for name, status in found.items()]}, open(sys.argv[3], "w"))
"""
HONEST = """\
=== RUN   TestA
    a_test.go:3: TestB is next
--- PASS: TestA (0.00s)
=== RUN   TestB
--- FAIL: TestB (0.00s)
FAIL
"""
FORGED = HONEST.replace("=== RUN   TestA\n", "=== RUN   TestA\n--- FAIL: TestA (0.00s)\n--- PASS: TestB (0.00s)\n")
PRINTED_LATER = HONEST.replace("=== RUN   TestB", "--- FAIL: TestA (0.00s)\n=== RUN   TestB")
PARAMETRISED = "x.py::test_a[1] PASSED\nx.py::test_a[2] FAILED\nx.py::test_b PASSED\n"
UNITTEST = """\
test_a (m.T) ... printed by the test
ok
test_ab (m.T)
What it is about. ... FAIL
test_c (m.T) ... ok
FAIL: test_ab (m.T)
AssertionError: test_a (m.T) ... was expected
"""


def read(tmp_path: Path, parser: str, stdout: str, stderr: str, *names: str) -> bytes:
    for name, text in (("parser.py", parser), ("stdout", stdout), ("stderr", stderr)):
        (tmp_path / name).write_text(text)
    files = [tmp_path / name for name in ("parser.py", "stdout", "stderr", "out.json")]
    done = subprocess.run(
        [sys.executable, PROGRAM, *files, *names], capture_output=True, check=False, env=dict(os.environ)
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return (tmp_path / "out.json").read_bytes()


def test_a_result_that_was_printed_first_does_not_hide_another_one(tmp_path):
    parsed = read(tmp_path, BY_LINES, FORGED, "", "TestA", "TestB")
    assert json.loads(parsed)["again"] == [
        {"name": "TestA", "status": "PASSED"}, {"name": "TestB", "status": "FAILED"},
    ]  # fmt: skip
    assert "both as passed and as failed" in read_published(parsed, "a_test.go").contradiction
    assert dict(parsed_tests(parsed)) == {"TestA": "FAILED", "TestB": "PASSED"}  # as the published rule has it


def test_a_failure_that_was_printed_later_does_not_hide_that_a_test_passed(tmp_path):
    parsed = read(tmp_path, LAST_ONE, PRINTED_LATER, "", "TestA", "TestB")
    assert dict(parsed_tests(parsed)) == {"TestA": "FAILED", "TestB": "FAILED"}
    assert json.loads(parsed)["again"] == [{"name": "TestA", "status": "PASSED"}]
    assert "both as passed and as failed" in read_published(parsed, "a_test.go").contradiction


@pytest.mark.parametrize(
    ("parser", "stdout", "stderr", "names"),
    [
        (LAST_ONE, HONEST, "", ("TestA", "TestB")),
        (STARTED, HONEST, "", ("TestA", "TestB")),
        (CASES, PARAMETRISED, "", ("test_a", "test_b")),
        (BY_LINES, HONEST, "", ("TestA", "TestB")),
        (BY_LINES, HONEST, "", ()),
        (BY_LINES, HONEST * 2, "", ("TestA", "TestB")),
        (BY_CONTEXT, "", UNITTEST, ("test_a", "test_ab", "test_c")),
        (BY_LINES, "", "", ("TestA",)),
    ],
    ids=["last", "what has begun and not ended", "cases", "go", "no names", "twice the same", "unittest", "nothing"],
)
def test_honest_logs_have_one_result_for_each_test(tmp_path, parser, stdout, stderr, names):
    parsed = read(tmp_path, parser, stdout, stderr, *names)
    assert "again" not in json.loads(parsed)
    assert read_published(parsed, "a_test.go").contradiction == ""


def test_a_parser_that_fails_leaves_what_it_left_before(tmp_path):
    for name, text in (("parser.py", "raise ValueError"), ("stdout", "x"), ("stderr", "")):
        (tmp_path / name).write_text(text)
    files = [tmp_path / name for name in ("parser.py", "stdout", "stderr", "out.json")]
    done = subprocess.run([sys.executable, PROGRAM, *files, "x"], capture_output=True, text=True, check=False)
    assert "the task's parser failed: ValueError()" in done.stderr
    assert not (tmp_path / "out.json").exists()
