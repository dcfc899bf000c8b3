"""The runner's word on a file's tests, held against what its text shows."""

import time
from collections.abc import Mapping

import pytest

from harness.judging.languages.found import MAX_NAME, Start, TestFile, TestFunction, TooMuchToRead
from harness.judging.languages.python.made import functions_at
from harness.judging.languages.registry import LANGUAGES
from harness.judging.verify.collected import CollectedTests, MadeTests, as_collected, made_tests
from harness.judging.verify.intake import FileChange
from harness.specs.test_results import TestId

PYTHON = LANGUAGES.get("python")
FILE, HELPER, OTHER = "tests/test_x.py", "tests/cases.py", "tests/test_y.py"
TEXT = """\
from cases import Cases


def made(value):
    @decorated(
        1,
    )
    def test():
        assert value

    return test


def test_shown():
    assert 1


test_alias = test_shown
short = lambda: None
for name in "ab":
    globals()[f"test_{name}"] = made(name)
"""
CASES = "class Cases:\n    def test_case(self):\n        assert 1\n"


def function(name: str, text: bytes = b"") -> TestFunction:
    return TestFunction(name, 1, 2, text)


@pytest.mark.parametrize(
    ("made", "uncollected", "tests", "hidden"),
    [
        ([], set(), ["test_a", "test_b"], set()),
        (["test_a", "test_b"], set(), ["test_a", "test_b"], set()),
        (["test_a"], {"test_b"}, ["test_a"], set()),
        (["test_c"], set(), ["test_a", "test_b", "test_c"], {"test_c"}),
        (["helper"], {"test_a", "test_b", "test_x"}, ["helper"], {"helper"}),
    ],
)
def test_a_file_has_the_tests_that_are_collected(
    made: list[str], uncollected: set[str], tests: list[str], hidden: set[str]
) -> None:
    shown = TestFile((function("test_a", b"a"), function("test_b", b"b")), frozenset({"helper"}))
    found = as_collected(shown, map(function, made), uncollected)
    assert [test.name for test in found.tests] == tests
    assert set(found.hidden) == hidden
    assert set(found.uncollected) == uncollected - {"test_x"}
    assert set(found.others) == ({"helper"} | found.uncollected) - hidden
    assert all(test.text for test in found.tests if test.name in ("test_a", "test_b"))


def made_of(
    starts: dict[str, tuple[str, int]], text: str = TEXT, old: str | None = None, before: str = ""
) -> MadeTests:
    """What is known of a file when tests that begin on these lines are collected, and these before the patch."""
    change = FileChange(FILE, None if old is None else old.encode(), text.encode())
    helper = FileChange(HELPER, None, CASES.encode())
    other = FileChange(OTHER, None, CASES.replace("Cases", "TestCases").encode())
    after = {FILE: frozenset(Start(TestId(FILE, name), *start) for name, start in starts.items())}
    were = {FILE: frozenset(Start(TestId(FILE, name), FILE, 1) for name in before.split())}
    return made_tests([change], [change, helper, other], were, after, PYTHON)[FILE]


def test_a_made_test_has_the_text_that_begins_on_its_line() -> None:
    made = made_of({"test_a": (FILE, 5), "test_alias": (FILE, 14), "test_s": (FILE, 19), "test_shown": (FILE, 14)})
    found = {test.name: test for test in made.after}
    text = found["test_a"].text.decode()
    assert text.startswith("@decorated(")
    assert text.endswith("assert value")
    assert (found["test_a"].first_line, found["test_a"].last_line, found["test_a"].assertions) == (5, 9, 1)
    assert found["test_alias"].text.decode() == "def test_shown():\n    assert 1"
    assert (found["test_s"].text, found["test_s"].assertions) == (b"lambda: None", 0)
    assert {test.origin for test in made.after} == {""}
    assert "test_shown" not in found


@pytest.mark.parametrize(
    ("text", "line", "assertions"),
    [
        ("def made():\n    def test(\n        a,\n    ):\n        assert a\n", 2, 1),
        ('def made():\n    def test():\n        text = """\nat the left\n"""\n        assert text\n', 2, 1),
        ("def made():\n    def test():\n        a = 1\n# at the left\n        assert a\n", 2, 1),
        ("def made():\n\tdef test():\n\t\tassert 1\n", 2, 1),
        ("async def test():\n    assert 1\n", 1, 1),
        ("class A:\n    @staticmethod\n    def test():\n        assert 1\n", 2, 1),
        ("x = '\x0c\u2028'\nmade = lambda self: self.assertEqual(1, 1)\n", 2, 1),
        ("def check_it(value):\n    pass\n\n\ndef made():\n    def test():\n        check_it(1)\n", 6, 0),
        ("def check_it(value):\n    assert value\n\n\ndef made():\n    def test():\n        check_it(1)\n", 6, 1),
        ("made = lambda: None\n", 1, 0),
        ("@decorated\nclass A:\n    pass\n", 1, None),
        ("x = 1\n", 1, None),
    ],
)
def test_a_function_is_found_by_its_line(text: str, line: int, assertions: int | None) -> None:
    found = functions_at(text.encode(), FILE, {line})
    assert {at: test.assertions for at, test in found.items()} == ({} if assertions is None else {line: assertions})


@pytest.mark.parametrize(
    ("start", "origin"),
    [((HELPER, 2), HELPER), (("../lib/cases.py", 7), "../lib/cases.py"), (("", 0), "")],
    ids=["a helper of the patch", "somebody else's", "not told"],
)
def test_a_made_test_may_come_from_another_file(start: tuple[str, int], origin: str) -> None:
    [test] = made_of({"TestCases.test_case": start}).after
    assert (test.origin, test.enclosing) == (origin, "TestCases")
    assert (test.assertions > 0) == (start[0] == HELPER)


def test_a_test_of_another_test_file_of_the_patch_needn_t_be_listed_here_as_well() -> None:
    [test] = made_of({"TestCases.test_case": (OTHER, 2)}).after
    assert (test.origin, test.is_shared) == (OTHER, True)


@pytest.mark.parametrize("name", ["test_v1.2", "test_½", "test_a b"])
def test_a_name_that_no_manifest_can_have_needn_t_be_listed(name: str) -> None:
    assert made_of({name: (FILE, 5)}).after == ()


def test_what_was_there_before_is_kept_and_what_has_lost_its_text_is_gone() -> None:
    old = "def test_old():\n    assert 1\n\n\ntest_more = made()\n"
    new = "test_old = test_more = made()\n\n\ndef test_new():\n    assert 1\n"
    made = made_of({"test_old": (FILE, 1), "test_more": (FILE, 1)}, new, old, "test_old test_more")
    assert [test.name for test in made.before] == [test.name for test in made.after] == ["test_more"]
    assert made.before == made.after
    assert made.uncollected == {"test_new"}


def test_an_old_test_that_the_run_leaves_out_is_held_as_its_text_shows() -> None:
    """As where a repository deselects it: with the patch it must still be there."""
    old = "def test_old():\n    assert 1\n"
    made = made_of({"test_new": (FILE, 5)}, f"{old}\n\ndef test_new():\n    assert 1\n", old)
    discovery = CollectedTests(PYTHON.discovery, {FILE: made})
    assert discovery.discover(old.encode(), FILE).find("test_old")
    assert not made.uncollected


def test_a_made_test_is_found_in_a_text_that_is_joined_with_others() -> None:
    """What a suite's functions check is looked for in all files that a test's file names, as one text."""
    discovery = CollectedTests(PYTHON.discovery, {FILE: made_of({"test_a": (FILE, 5)})})
    assert discovery.discover(TEXT.encode() + b"\n\ndef more():\n    pass\n", FILE).find("test_a")
    assert not discovery.discover(TEXT.encode(), OTHER).find("test_a")


def test_names_that_nobody_writes_are_too_much_to_read() -> None:
    with pytest.raises(TooMuchToRead, match="longer than"):
        made_of({"test_" + "x" * MAX_NAME: (FILE, 5)})


@pytest.mark.dear("thousands of tests, each of which is looked for in a large text")
def test_thousands_of_made_tests_are_read_in_linear_time() -> None:
    def seconds(count: int) -> float:
        text = "".join(f"test_{n} = lambda: {n}\n" for n in range(count))
        began = time.process_time()
        made_of({f"test_{n}": (FILE, n + 1) for n in range(count)}, text)
        return time.process_time() - began

    seconds(100)
    assert seconds(8_000) < 8 * max(seconds(2_000), 0.05)


TS_FILE = "src/a.test.ts"
TS_TEXT = """\
import { cases } from "./cases";

function check(word: string) {
  it(`reads ${word}`, () => expect(word).toBe(1));
}

describe("block", () => {
  check("x");
  check("y");
});
it.each([
  1,
  2,
])(
  "adds %i",
  (n) => expect(n).toBe(n),
);
describe("more", () => cases("beta"));
if (never) test("never", () => {});
"""
CASES_OF_VITEST = {
    "block > reads x": 4, "block > reads y": 4, "adds 1": 14, "adds 2": 14, "more > beta 1": 18, "more > beta 2": 18,
}  # fmt: skip


def made_of_vitest(*listed: str, cases: Mapping[str, int] = CASES_OF_VITEST) -> MadeTests:
    change = FileChange(TS_FILE, None, TS_TEXT.encode())
    after = {TS_FILE: frozenset(Start(TestId(TS_FILE, name), TS_FILE, line) for name, line in cases.items())}
    ids = [TestId(TS_FILE, name) for name in listed]
    return made_tests([change], [change], {}, after, LANGUAGES.get("typescript"), ids)[TS_FILE]


@pytest.mark.parametrize(
    ("listed", "made", "uncollected"),
    [
        ([], ["more > beta 1", "more > beta 2"], ["never"]),
        (["reads ${word}", "adds %i"], ["more > beta 1", "more > beta 2"], ["never"]),
        (["block > reads x"], ["block > reads x", "more > beta 1", "more > beta 2"], ["never"]),
        (
            ["block > reads ${w}", "more > beta ${n}"], ["block > reads ${w}", "more > beta ${n}"],
            ["never", "reads ${word}"],
        ),
        (["more > ${all}", "more > beta ${n}"], ["more > beta ${n}"], ["never"]),
        (["${all} ${n}"], ["more > beta 1", "more > beta 2"], ["never"]),
    ],
    ids=["none", "as written", "as reported", "as a template", "most literal", "of two places"],
)  # fmt: skip
def test_what_vitest_reports_belongs_to_tests_of_the_text_and_of_the_manifest(
    listed: list[str], made: list[str], uncollected: list[str]
) -> None:
    found = made_of_vitest(*listed)
    assert [test.name for test in found.after] == made
    assert sorted(found.uncollected) == uncollected


def test_a_test_that_a_function_registers_has_the_call_on_its_line() -> None:
    found = {test.name: test for test in made_of_vitest("block > reads x").after}
    called, made = found["block > reads x"], found["more > beta 1"]
    assert called.text.decode() == "it(`reads ${word}`, () => expect(word).toBe(1))"
    assert (called.enclosing, called.short, called.assertions) == ("block", "reads x", 1)
    assert made.text.decode() == 'describe("more", () => cases("beta"))'
    assert (made.enclosing, made.first_line, made.last_line, made.assertions) == ("more", 18, 18, 0)


def test_a_title_with_dots_and_without_a_place_stands_in_no_block() -> None:
    [test] = made_of_vitest(cases={"reads ${word}": 4, "adds 1": 14, "never": 19, "v1.2 is read": 0}).after
    assert (test.name, test.enclosing, test.text) == ("v1.2 is read", "", b"")


def test_a_test_that_was_reported_before_is_no_new_one_by_another_name() -> None:
    old = TS_TEXT.replace('  check("y");\n', "")
    change = FileChange(TS_FILE, old.encode(), TS_TEXT.encode())
    were, are = (
        {TS_FILE: frozenset(Start(TestId(TS_FILE, f"block > reads {word}"), TS_FILE, 4) for word in words)}
        for words in ("x", "xy")
    )
    ids = [TestId(TS_FILE, f"block > reads {word}") for word in "xy"]
    [made] = made_tests([change], [change], were, are, LANGUAGES.get("typescript"), ids)[TS_FILE].after
    assert made.name == "block > reads y"


def test_a_test_that_is_only_announced_needn_t_be_listed() -> None:
    text = 'describe("block", () => {\n  it.todo("later");\n  cases();\n});\n'
    change = FileChange(TS_FILE, None, text.encode())
    after = {
        TS_FILE: frozenset(
            Start(TestId(TS_FILE, f"block > {name}"), TS_FILE, line) for name, line in (("later", 2), ("one", 3))
        )
    }
    [made] = made_tests([change], [change], {}, after, LANGUAGES.get("typescript"))[TS_FILE].after
    assert made.name == "block > one"
