"""Reading a file of tests takes time linear to its size, in each language and for every shape that was ever slow."""

import gc
import time
from collections import deque
from collections.abc import Callable, Iterator

import pytest

from harness.judging.languages.conduct import Sources, sights
from harness.judging.languages.found import MAX_FUNCTIONS, TooMuchToRead
from harness.judging.languages.registry import LANGUAGES

Shape = Callable[[int], str]
SMALL, TIMES, MOST = 400, 4, 6.0
"""A text of TIMES the size may take MOST times the time."""
NOISE_SECONDS = 0.02
FILES = {"python": "tests/test_x.py", "go": "x/x_test.go", "c": "test/test_x.c", "typescript": "src/x.test.ts"}


def lines(line: str, before: str = "", behind: str = "") -> Shape:
    """`line` again and again, `@` its number and `^` the next one."""
    return lambda n: (
        before + "".join(line.replace("@", str(i)).replace("^", str(i + 1)) + "\n" for i in range(n)) + behind
    )


def nested(opening: str, closing: str, before: str, behind: str) -> Shape:
    return lambda n: before + opening * n + closing * n + behind


GO: str = 'package x\nimport "testing"\n'
SHAPES: dict[str, dict[str, Shape]] = {
    "python": {
        "classes": lines("class Test@:\n    def test_a(self):\n        assert 1\n"),
        "classes that inherit": lines("class Test^(Test@):\n    def test_a(self):\n        assert 1\n"),
        "classes of one base": lines(
            "class Test@(Base):\n    x = 1\n", "class Base:\n    def test_a(self): assert 1\n"
        ),
        "functions": lines("def test_@():\n    assert 1\n"),
        "functions of one name": lines("def test_a():\n    assert 1\n"),
        "methods": lines("    def test_@(self):\n        assert 1\n", "class TestA:\n"),
        "nested functions": lines("    def inner_@():\n        assert 1\n", "def test_a():\n"),
        "cases": lines("    (@, 'a'),", "@pytest.mark.parametrize('a', [\n", "])\ndef test_a(a):\n    assert a\n"),
        "comments": lines("# comment @", "def test_a():\n    assert 1\n"),
        "comments within": lines("    # comment @", "def test_a():\n", "    assert 1\n"),
        "a chain of names": lines(".a@", "def test_a():\n    (x", ")\n"),
        "a chain of names with spaces": lines(" . a", "def test_a():\n    (x", ")\n"),
        "brackets in brackets": lambda n: f"x = {'(' * n}b{').a' * n}\n",
        "calls in calls": lambda n: f"x = {'f(g' * n}{' .run([1]) .__code__)' * n}\n",
        "files that are read": nested("open(", ")", "x = ", "\n"),
        "commands": lines("run(['sh', '-c', 'a=@;a=@;'])", "from subprocess import run\n"),
        "hooks": lines("def pytest_@(item):\n    item.obj = swap_@(item)\ndef swap_@(item):\n    swap_^(item.obj)\n"),
        "hooks that name one function": lines("def swap(i): i.obj = swap\ndef pytest_a(i): swap(i)\n"),
        "attempts in a hook": lines(
            "    try:\n        yield\n    except E:\n        pass\n", "def pytest_runtest_call(item):\n"
        ),
        "results in results": nested("x.force_result(", ")", "def pytest_a(x):\n    ", "\n"),
        "results of results": lines(".force_result(1)\\", "def pytest_a(x):\n    x\\\n", "\n"),
        "sets in sets": nested('setattr(x, "obj", ', ")", "def pytest_a(x):\n    ", "\n"),
        "replaced names": lines("pytest.raises = unittest.TestCase.assertEqual = a@", "import pytest, unittest\n"),
        "replacing in replacing": nested("setattr(pytest, 'raises', ", ")", "import pytest\n", "\n"),
        "choices in choices": nested("(request.config.args if ", " else 1)", "def test_a(request):\n    x = ", "\n"),
        "names of the run": lines("    a@ = request.config.a^\n    if a^: f()", "def test_a(request):\n"),
        "examples": lines("    >>> f(@)\n    ... .__code__\n", 'import doctest\ndef f():\n    """\n', '    """\n'),
        "values of values": lines("V^ = V@ + 1\ndef test_@():\n    assert V@\n", "V0 = 1\n"),
        "numbers of files": lines("assert a.stat().st_ino == b.stat().st_ino\n", "import socket\n"),
        "garbage": lines("def def ( class }"),
    },
    "go": {
        "guards in guards": nested(
            "if !testing.Verbose() { return }; if x {", "}", f"{GO}func TestA(t *testing.T) {{", "}\n"
        ),
        "values of values": nested("reflect.ValueOf(len(a), ", ").Pointer()", f"{GO}func F() {{ x := ", "}\n"),
        "first words": nested("os.ReadFile(a[0][", "])", f"{GO}func F() {{ a := ", "}\n"),
        "functions": lines("func Test@(t *testing.T) { t.Fatal(1) }", GO),
        "nested functions": nested("{ func() ", "{} () }", f"{GO}func TestA(t *testing.T) ", "\n"),
        "subtests": lines(
            't.Run("@", func(t *testing.T) { t.Fatal(@) })', f"{GO}func TestA(t *testing.T) {{\n", "}\n"
        ),
        "cases": lines("@,", f"{GO}func TestA(t *testing.T) {{ for _, c := range []int{{\n", "} { t.Fatal(c) } }\n"),
        "comments": lines("// comment @", GO, "func TestA(t *testing.T) { t.Fatal(1) }\n"),
        "names of the testing package": lines(
            'import a@ "testing"\nfunc Test@(t *a@.T) { t.Fatal(1) }', "package x\n"
        ),
        "names of what can fail": lines("func h@(t@ *testing.T) { t@.Fatal() }", GO),
        "a chain of names": lines(".a@", f"{GO}func TestA(t *testing.T) {{ x", "}\n"),
        "a chain of names with spaces": lines(". a.", f"{GO}func TestA(t *testing.T) {{ x", "b }\n"),
        "brackets in brackets": lambda n: f"{GO}var x = {'(' * n}b{').a' * n}\n",
        "flags": lines('a@ := !a^ && flag.Lookup("test.v").Value.String() == ""', f"{GO}func a() {{\n", "}\n"),
        "flags in flags": nested('if strings.Contains(os.Args[1], "-test.v") {', "}", f"{GO}func TestA() {{", "}\n"),
        "garbage": lines("func func ( } type"),
    },
    "c": {
        "unions in unions": nested("union { unsigned char *b; ", "} u; ", "", "void f(void) { u.b = x; }\n"),
        "texts of texts": nested('sprintf(x, "%s%p", ', ", g)", "void f(void) { ", "; }\n"),
        "first words": nested("argv[0][", "]", "int main(int n, char **argv) { x = fopen(", "); }\n"),
        "functions": lines("static void f@(void) { exit(1); }", "", "int main(void) { return 1; }\n"),
        "checks": lines("assert(x == @);", "int main(void) {\n", "return 1; }\n"),
        "nested blocks": nested("if (x) {", "}", "int main(void) {", "}\n"),
        "macros": lines("#define M@(x) do { if (!(x)) exit(@); } while (0)", "", "int main(void) { return 1; }\n"),
        "conditions": nested("#ifdef A\n", "#endif\n", "", "int main(void) { return 1; }\n"),
        "cases": lines("@,", "int t[] = {\n", "};\nint main(void) { return t[0]; }\n"),
        "comments": lines("/* comment @ */", "", "int main(void) { return 1; }\n"),
        "a chain of names": lines("->a@", "int main(void) { return x", "; }\n"),
        "a chain of names with spaces": lines(" -> a", "int main(void) { return x", "; }\n"),
        "brackets in brackets": lambda n: f"int x = {'(' * n}b{').a' * n};\n",
        "garbage": lines("int ( } struct"),
    },
    "typescript": {
        "guards in guards": nested("if (!process.env.CI) { return; } {", "}", "test('a', () => {", "});\n"),
        "choices in choices": nested("if (process.env.CI) { expect(1); } else {", "}", "test('a', () => {", "});\n"),
        "conditions": lines("const a@ = !a^ && process.env.CI;"),
        "lists of lists": nested("[parse].map(String, ", ")", 'import { parse } from "./x";\n', "\n"),
        "tests": lines("test('a@', () => { expect(1).toBe(1); });"),
        "blocks": lines("describe('d@', () => { it('a', () => { expect(1).toBe(1); }); });"),
        "blocks with hooks": lines("describe('d@', () => { beforeEach(() => {}); it('a', () => {}); });"),
        "nested blocks": nested("describe('d', () => {", "});", "", "\n"),
        "nested functions": nested("f(() => {", "})", "test('a', () => {", "});\n"),
        "cases": lines("[@, 1],", "test.each([\n", "])('a %i', (a) => { expect(a).toBe(1); });\n"),
        "loops": lines("for (const a of [1, 2]) { test(`a${a} @`, () => { expect(1).toBe(1); }); }"),
        "a chain of calls": lines(".then(() => { f(@); })", "test('a', () => { x", "});\n"),
        "comments": lines("// comment @", "", "test('a', () => { expect(1).toBe(1); });\n"),
        "a chain of names": lines(".a@", "test('a', () => { x", "});\n"),
        "a chain of names with spaces": lines(" ?. a", "test('a', () => { x", "});\n"),
        "brackets in brackets": lambda n: f"x = {'(' * n}b{').a' * n};\n",
        "casts": lines(" as any", "x = y", ";\n"),
        "garbage": lines("function ( } => class"),
    },
}


def shapes() -> Iterator[tuple[str, str]]:
    yield from ((language, name) for language in LANGUAGES.names for name in SHAPES[language])


def seconds(language: str, text: str) -> float:
    """Of processor time, the least of two, without the garbage collector.

    What else runs on the machine doesn't count, and neither does what else the process holds.
    """
    discovery, conduct, source = LANGUAGES.get(language).discovery, LANGUAGES.get(language).conduct, text.encode()
    replacing = LANGUAGES.get(language).replacing
    assert conduct

    def once() -> float:
        start = time.thread_time()
        discovery.discover(source, FILES[language])
        discovery.names(source)
        discovery.calls(source)
        root, rules = conduct.parse(source, FILES[language]), conduct.rules(Sources())
        deque(sights(root, rules(root, FILES[language])), maxlen=0)
        for inner in conduct.inner({FILES[language]: source}).get(FILES[language], ()):
            inner_root = conduct.parse(inner.text, FILES[language])
            deque(sights(inner_root, rules(inner_root, FILES[language])), maxlen=0)
        if replacing:
            replacing.hooks({FILES[language]: source})
            replacing.says_nothing(source, (bytes(bytearray(source)),))
        return time.thread_time() - start

    gc.collect()
    gc.disable()
    try:
        return min(once() for _ in range(2))
    finally:
        gc.enable()


@pytest.mark.long
@pytest.mark.parametrize(("language", "shape"), [*shapes()])
def test_a_file_of_four_times_the_size_takes_about_four_times_as_long(language: str, shape: str) -> None:
    make = SHAPES[language][shape]
    for size in (SMALL, 2 * SMALL, 4 * SMALL):  # what looks steep while it is small gets another chance while large
        small, large = seconds(language, make(size)), seconds(language, make(TIMES * size))
        if large <= MOST * small + NOISE_SECONDS:
            return
    pytest.fail(f"{small:.3f} s became {large:.3f} s")


@pytest.mark.long
@pytest.mark.parametrize(
    ("language", "text"),
    [
        # Where each reaches all others, the lookups are limited for the whole file.
        ("python", lines("def test_@():\n    help_@()\ndef help_@():\n    help_^()")(6_000)),
        ("python", lines("@fixture(autouse=True)\ndef f_@():\n    assert 1\ndef test_@():\n    assert 1")(6_000)),
        ("go", lines("func Test@(t *testing.T) { h@(t) }\nfunc h@(t *testing.T) { h^(t) }", GO)(6_000)),
        ("typescript", lines("function f@() { f^(); }\ntest('a@', f@);")(6_000)),
        ("typescript", lines("beforeEach(() => { expect(1); });\ntest('a@', () => { expect(1).toBe(1); });")(4_000)),
    ],
)
def test_functions_that_all_reach_one_another_are_read_in_seconds(language: str, text: str) -> None:
    start = time.thread_time()
    assert LANGUAGES.get(language).discovery.discover(text.encode(), FILES[language]).tests
    assert time.thread_time() - start < 20


@pytest.mark.long
@pytest.mark.parametrize(
    ("language", "text"),
    [
        (
            "python",
            lines("class Test@(Base):\n    x = 1", lines("    def test_@(self): assert 1", "class Base:\n")(200)),
        ),
        ("python", lines("    def test_@(self): pass", f"class Test{'x' * 500_000}:\n")),
        ("typescript", lines("it('a@', () => {});", f"describe('{'x' * 500_000}', () => {{\n", "});\n")),
        ("typescript", lines("it('a@', () => {});", f"for (const a of [{'1,' * 250_000}]) {{\n", "}\n")),
    ],
)
def test_few_lines_that_make_more_tests_than_anybody_could_list_are_refused(language: str, text: Shape) -> None:
    with pytest.raises(TooMuchToRead, match=f"^{FILES[language]}: more than"):
        LANGUAGES.get(language).discovery.discover(text(MAX_FUNCTIONS // 100).encode(), FILES[language])
