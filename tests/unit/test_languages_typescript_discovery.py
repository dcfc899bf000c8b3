import pytest

from harness.judging.languages.found import TestFile
from harness.judging.languages.registry import LANGUAGES
from harness.judging.languages.typescript.discovery import calls, discover, is_test_file, names, reaches_folder

PATH = "src/v4/classic/tests/a.test.ts"


def found(text: str, path: str = PATH) -> list[str]:
    return [test.name for test in discover(text.encode(), path).tests]


def file(text: str) -> TestFile:
    return discover(text.encode(), PATH)


@pytest.mark.parametrize("path", ["a.test.ts", "src/b.spec.ts", "c.test.tsx", "d.test.mts", "e.test.js"])
def test_a_test_file_is_named_so(path):
    assert is_test_file(path)


@pytest.mark.parametrize("path", ["a.ts", "test.ts", "a.test.ts.snap", "tests/helper.ts", "a_test.ts", "a.test.json"])
def test_other_names_are_no_test_files(path):
    assert not is_test_file(path)


def test_names_are_joined_through_describe_blocks():
    text = 'describe("a", () => { suite("b", function () { it("c", () => {}); }); test("d", () => {}); });'
    assert found(text) == ["a > b > c", "a > d"]
    test = file(text).tests[0]
    assert (test.enclosing, test.short) == ("a > b", "c")


@pytest.mark.parametrize(
    "call",
    [
        'test("x", () => {})',
        "it('x', async () => {}, 50)",
        "test(`x`, { retry: 2 }, () => {})",
        'test.only("x", () => {})',
        'it.skip("x")',
        'test.concurrent.fails("x", () => {})',
        'test.skipIf(1 > 2)("x", () => {})',
        'test.each([1, 2])("x", (n) => {})',
        'test.each`a | b\n${1} | ${2}`("x", ({ a, b }) => {})',
        'test.for([1])("x", ([n], { expect }) => {})',
        'it.concurrent.each([1])("x", () => {})',
        'test(/* why */ "x", () => {})',
        'test("\\x78", () => {})',
        'test("\\u{78}", () => {})',
    ],
)
def test_every_way_to_register_a_test_is_found(call):
    assert found(call) == ["x"]


@pytest.mark.parametrize(
    "text",
    [
        'const t = test; t("x", () => {});',
        'export const t = test.extend({ db: 1 }); t("x", ({ db }) => {});',
        'import { test as t } from "vitest"; t("x", () => {});',
        'import * as v from "vitest"; v.test("x", () => {});',
        'import * as v from "vitest"; v.it.each([1])("x", (n) => {});',
        'import * as v from "vitest"; v.test.skipIf(1 > 2)("x", () => {});',
        'import * as v from "vitest"; const t = v.test.extend({ db: 1 }); t("x", ({ db }) => {});',
        'const v = require("vitest"); v.it("x", () => {});',
        'for (const n of [1]) { if (n) test("x", () => {}); }',
        '[1].forEach((n) => test("x", () => {}));',
        '{ test("x", () => {}); }',
    ],
)
def test_a_test_is_found_wherever_a_file_registers_it(text):
    assert found(text) == ["x"]


@pytest.mark.parametrize(
    "text",
    [
        '/a/.test("x");',
        'z.test("x");',
        'import * as z from "zod"; z.test("x");',
        'const z = make("vitest"); z.test("x");',
        "test;",
        "test();",
        'test.extend("x");',
        'test.each("x");',
        'check("x")',
    ],
)
def test_what_registers_nothing_is_no_test(text):
    assert found(text) == []


@pytest.mark.parametrize(
    ("name", "template"),
    [
        ("`${a} of ${b.c}`", "${a} of ${b.c}"),
        ('"is " + n', "is ${n}"),
        ('"a" + "b"', "ab"),
        ("Thing.name", "${Thing.name}"),
        (r'"a\tb\"\'c\\"', "a\tb\"'c\\"),
        ('"costs $5, 100%"', "costs $5, 100%"),
        ("`a\\`b\\${c}`", "a`b${c}"),
    ],
)
def test_what_is_computed_in_a_name_stands_as_in_a_template(name, template):
    assert found(f"test({name}, () => {{}});") == [template]


def test_a_test_is_its_call_with_the_heads_of_the_loops_and_tables_around_it():
    text = 'describe.each([1])("n", () => {\n  for (const n of [1, 2]) {\n    test("x", () => {});\n  }\n});'
    (test,) = file(text).tests
    assert (test.first_line, test.last_line) == (3, 3)
    assert b"describe.each([1])" in test.text
    assert b"for (const n of [1, 2])" in test.text
    assert test.text.endswith(b'test("x", () => {})')


def test_a_test_within_a_test_is_part_of_it():
    assert found('test("a", () => { test("b", () => {}); });') == ["a"]


def test_blocks_and_hooks_of_a_whole_runner_are_its_own():
    text = (
        'import * as v from "vitest"; v.describe("a", () => { v.beforeEach(() => { v.expect(1).toBe(1); });'
        ' v.it("b", () => {}); });'
    )
    [test] = file(text).tests
    assert (test.name, test.assertions, file(text).others) == ("a > b", 1, {"a"})


def test_what_is_yet_to_be_written_is_no_test():
    source = 'it.todo("a"); test.todo("b"); describe("c", () => { it.concurrent.todo("d"); it("e", () => {}); });'
    assert [test.name for test in file(source).tests] == ["c > e"]
    assert [test.name for test in file('describe.todo("c", () => { it("e", () => {}); });').tests] == ["c > e"]


def test_pairs_of_escapes_are_one_character_and_half_a_pair_is_none():
    source = r'it("\ud83d\ude00 and \u00e9"); it(`\ud800 ${x}`); it("a" + "\udc00");'
    names = [test.name for test in file(source).tests]
    assert names == ["\U0001f600 and \u00e9", "\ufffd ${x}", "a\ufffd"]
    assert all(name.encode() for name in names)


def test_a_name_that_stands_twice_is_ambiguous():
    assert file('test("a", () => {}); describe("b", () => { it("a"); it("a"); });').twice == {"b > a"}


def test_blocks_and_functions_are_others():
    assert file('describe("a", () => { it("b"); }); function help() {}').others == {"a", "help"}


def test_names_are_identifiers_properties_and_what_is_imported():
    text = b'import * as z from "zod/v4"; const { a } = z.b.c(); type T = D; test.each([])("n", () => {});'
    assert {"zod/v4", "z", "a", "b", "z.b.c", "T", "D", "each", "test.each"} <= names(text)
    assert "n" not in names(text)


def test_calls_are_as_written():
    assert calls(b"a(); b.c(d()); new E(); f?.()") == {"a", "b.c", "d", "f"}


def test_markup_in_a_test_file_is_read():
    assert found('test("a", () => { render(<b x="1">{c}</b>); }); test("d");', "a.test.tsx") == ["a", "d"]


def test_text_that_does_not_parse_is_searched_all_the_same():
    assert found('test("a", () => { ((( });\ntest("b", () => {});')[:1] == ["a"]
    assert discover(b"\xff\0 test(", PATH).tests == ()


@pytest.mark.parametrize("nest", ["describe('a', () => {", "(", "[", "test(", "a => {", "test('a' + "])
def test_deep_nesting_ends(nest):
    discover(nest.encode() * 20_000, PATH)


def test_no_file_acts_on_others_that_do_not_import_it():
    assert not reaches_folder("src/v4/classic/tests/setup.ts", b"beforeEach(() => {});")


def test_typescript_is_discovered_by_this_module():
    assert LANGUAGES.get("typescript").discovery.FILE_RULE.startswith("its name must end in .test.ts")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("test.describe('a', () => { test('b', async () => {}); });", ["a > b"]),
        ("test.describe.serial('a', () => { test.describe(() => { test('b', f); }); });", ["a > b"]),
        ("test.describe.only('a', () => { test.only('b', f); }); test.describe.fixme('c', () => test('d', f));",
         ["a > b", "c > d"]),
        ("const mine = test.extend({ page: f }); mine.describe('a', () => { mine('b', f); });", ["a > b"]),
        ("test.fixme('a', f); test.fail('b', f); test.skip('c', f);", ["a", "b", "c"]),
        ("test('a', async () => { test.fail(); test.fixme(true, 'why'); await test.step('no test', f); });", ["a"]),
        ("test.fail(); test.fixme(() => slow, 'why'); test.use({ locale: 'de' });", []),
        ("test.describe.configure({ retries: 2 }); test.step('no test', f); test.beforeEach(f);", []),
    ],
)  # fmt: skip
def test_blocks_and_marks_of_playwright_are_understood(text, names):
    assert found(text) == names


def test_hooks_of_playwright_belong_to_the_tests_around_them():
    text = "test.describe('a', () => { test.beforeEach(() => { expect(1).toBe(1); }); test('b', () => {}); });"
    assert file(text).tests[0].assertions == 1


def test_a_test_whose_function_names_nothing_is_empty():
    text = """
test("nothing", () => {});
describe("x", () => {
  it("words", async () => { /* later */ });
  test.each([1])("cases %i", (n) => {});
  test("returns", function () { return; });
  test("option", { timeout: 3 }, () => { true; });
  test("calls", () => check());
  test("checks", () => { expect(1).toBe(1); }, 100);
  test("other", helper);
});
"""
    tests = {test.short.partition(" ")[0]: test.is_empty for test in file(text).tests}
    empty = {"nothing", "words", "cases", "returns", "option"}
    assert tests == {**dict.fromkeys(empty, True), "calls": False, "checks": False, "other": False}
