"""The time of every reader grows with the report and no faster, whatever shape the report has.

A quadratic reader takes 64 times as long for 8 times as much. Processor time is compared with itself in one process,
so a busy machine changes little.
"""

import gc
import json
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import pytest

from harness.judging.testing.readers import reader_of
from harness.specs.repo import REPORT_FORMATS
from harness.specs.test_results import TestId

FACTOR = 8
MOST = 2.5 * FACTOR
TIMES = 3
LOOKS = 3


class Sized(NamedTuple):
    """A report of some size, the file it is of, and the tests that are listed."""

    data: bytes
    file: str
    tests: Sequence[TestId]


def events(*rows: tuple[str, str, str]) -> bytes:
    """`go test -json`: action, test, output."""
    lines = [{"Action": action, "Package": "m/p", "Test": test, "Output": output} for action, test, output in rows]
    end = {"Action": "pass", "Package": "m/p"}
    return b"".join(json.dumps(line).encode() + b"\n" for line in [*lines, end])


def go(names: Sequence[str], output: str = "", repeat: int = 1) -> Sized:
    rows = [("run", name, "") for name in names]
    rows += [("output", name, f"{output}--- FAIL: {name} (0.00s)\n") for name in names]
    rows += [("fail", name, "") for name in names] * repeat
    return Sized(events(*rows), "p/a_test.go", [TestId("p/a_test.go", name.split("/")[0]) for name in names])


def junit(names: Sequence[str], output: str = "") -> Sized:
    failure = f'<failure message="assert 1">{output}</failure>' if output else ""
    cases = "".join(f'<testcase classname="t" name="{name}" time="0.1">{failure}</testcase>' for name in names)
    data = f"<testsuites><testsuite>{cases}</testsuite></testsuites>".encode()
    return Sized(data, "t.py", [TestId("t.py", name.partition("[")[0]) for name in names])


def vitest(names: Sequence[str], listed: Sequence[str], output: str = "") -> Sized:
    results = [
        {
            "ancestorTitles": ["suite"], "title": name, "status": "failed" if output else "passed",
            "failureMessages": [output] if output else [], "location": {"line": number, "column": 1},
        }
        for number, name in enumerate(names)
    ]  # fmt: skip
    whole = {"testResults": [{"name": "/app/a.test.ts", "status": "passed", "assertionResults": results}]}
    tests = [TestId("a.test.ts", f"suite > {name}") for name in listed]
    return Sized(json.dumps(whole).encode(), "a.test.ts", tests)


def playwright(names: Sequence[str], listed: Sequence[str], output: str = "", depth: int = 1) -> Sized:
    status = "failed" if output else "passed"
    result = {"status": status, "duration": 1, "errors": [{"message": output}] if output else []}
    test = {"projectName": "", "expectedStatus": "passed", "results": [result]}
    specs = [{"title": name, "line": number, "column": 1, "tests": [test]} for number, name in enumerate(names)]
    suite = {"title": "suite", "specs": specs}
    for _ in range(depth - 1):
        suite = {"title": "suite", "specs": [], "suites": [suite]}
    top = {"title": "a.spec.ts", "file": "a.spec.ts", "specs": [], "suites": [suite]}
    data = json.dumps({"config": {"rootDir": "/app"}, "suites": [top], "errors": []}).encode()
    return Sized(data, "a.spec.ts", [TestId("a.spec.ts", f"{'suite > ' * depth}{name}") for name in listed])


def published(names: Sequence[str], listed: Sequence[str], file: str = "t.py") -> Sized:
    data = {"tests": [{"name": name, "status": "PASSED"} for name in names]}
    return Sized(json.dumps(data).encode(), file, [TestId(file, name) for name in listed])


def tap(output: str) -> Sized:
    body = "".join(f"    {line}\n" for line in output.split("\n"))
    head = "TAP version 14\n1..1\nnot ok 1 - p\n  ---\n  ended: signal 6\n  seconds: 0.100000\n  output: |\n"
    return Sized(f"{head}{body}  ...\n".encode(), "p.c", [TestId("p.c", "p")])


def automake(results: str) -> Sized:
    head = ":global-test-result: PASS\n:recheck: no\n:copy-in-global-log: no\n"
    return Sized(f"{head}{results}".encode(), "p.c", [TestId("p.c", "p")])


def some(size: int, text: str = "test_{}") -> list[str]:
    return [text.format(number) for number in range(size)]


SHAPES: dict[str, dict[str, tuple[int, Callable[[int], Sized]]]] = {
    "go-test": {
        "many tests": (400, lambda size: go(some(size, "Test{}"))),
        "many subtests of one test": (400, lambda size: go(["Test", *some(size, "Test/case_{}")])),
        "subtests below subtests": (60, lambda size: go(["/".join(["T"] * depth) for depth in range(1, size)][::8])),
        "names of many parts": (1500, lambda size: go(["T" + "/x" * size])),
        "long names": (4_000, lambda size: go(some(20, "Test{}" + "x" * size))),
        "long outputs": (4_000, lambda size: go(some(20, "Test{}"), output="panic \n" * size)),
        "one test that ends again and again": (400, lambda size: go(["Test"], repeat=size)),
    },
    "junit": {
        "many tests": (400, lambda size: junit(some(size))),
        "many cases of one test": (400, lambda size: junit(some(size, "test_a[{}]"))),
        "long names": (20_000, lambda size: junit(some(20, "test_{}" + "x" * size))),
        "long outputs": (5_000, lambda size: junit(some(20), output="assert 1\n" * size)),
    },
    "vitest": {
        "many tests": (400, lambda size: vitest(some(size), some(size))),
        "many cases of one test": (400, lambda size: vitest(some(size, "adds {}"), ["adds %i"])),
        "many tables": (200, lambda size: vitest(some(size, "table {} adds"), some(size, "table {} %s"))),
        "long names": (20_000, lambda size: vitest(some(20, "{}" + "x" * size), some(20, "{}" + "x" * size + "%s"))),
        "long outputs": (5_000, lambda size: vitest(some(20), some(20), output="Error: x\n" * size)),
    },
    "playwright-json": {
        "many tests": (400, lambda size: playwright(some(size), some(size))),
        "many cases of one test": (400, lambda size: playwright(some(size, "adds {}"), ["adds ${n}"])),
        "blocks within blocks": (10, lambda size: playwright(some(20), some(20), depth=size)),
        "long names": (20_000, lambda size: playwright(some(20, "{}" + "x" * size), some(20, "{}" + "x" * size))),
        "long outputs": (5_000, lambda size: playwright(some(20), some(20), output="Error: x\n" * size)),
    },
    "published": {
        "many tests": (400, lambda size: published(some(size), some(size))),
        "many classes with a test of the same name": (
            400, lambda size: published(some(size, "t.py::Test{}::test_a"), some(size, "Test{}.test_a"))
        ),
        "many names that could be of any of many tests": (
            400, lambda size: published(["test_a"] * size, some(size, "Test{}.test_a"))
        ),
        "many cases of one test": (400, lambda size: published(some(size, "test_a[{}]"), ["test_a"])),
        "many tables": (
            200, lambda size: published(some(size, "table {} adds"), some(size, "table {} %s"), "a.test.ts")
        ),
        "long names": (20_000, lambda size: published(some(20, "test_{}" + "x" * size), some(20))),
        "names of many parts": (2_000, lambda size: published(["::".join(["T"] * size)] * 5, [".".join("T" * size)])),
    },
    "tap": {
        "empty lines": (2_000, lambda size: tap("\n" * size)),
        "many lines": (500, lambda size: tap("p: f.c:1: f: Assertion `x'\n" * size)),
        "one long line": (500, lambda size: tap("p: f: Assertion `x' " * size)),
    },
    "automake": {
        "many results": (900, lambda size: automake(":test-result: PASS 1 - a\n" * size)),
        "one long line": (10_000, lambda size: automake(f":test-result: PASS {'x ' * size}\n" )),
    },
}  # fmt: skip
CASES = [(kind, shape) for kind in REPORT_FORMATS.names for shape in SHAPES.get(kind, {"no sizes are known": 0})]


def cpu_seconds(kind: str, sized: Sized) -> float:
    """The least of several, since whatever else happens only adds to it."""
    reader = reader_of(kind)
    found = []
    gc.collect()
    gc.disable()
    try:
        for _ in range(TIMES):
            began = time.thread_time()
            report = reader.name_cases(reader.read(sized.data, sized.file), sized.tests)
            found.append(time.thread_time() - began)
            assert report.cases
    finally:
        gc.enable()
    return min(found)


@pytest.mark.long
@pytest.mark.parametrize(("kind", "shape"), CASES, ids=map(": ".join, CASES))
def test_eight_times_as_much_takes_about_eight_times_as_long(kind, shape):
    size, sized = SHAPES[kind][shape]
    # The smaller ones take parts of a millisecond, which others can double; what isn't linear stays so.
    took = []
    for _ in range(LOOKS):
        small, large = cpu_seconds(kind, sized(size)), cpu_seconds(kind, sized(FACTOR * size))
        took.append(f"{small * 1000:.1f} ms, then {large * 1000:.1f} ms")
        if large < MOST * small:
            return
    pytest.fail("; ".join(took))
