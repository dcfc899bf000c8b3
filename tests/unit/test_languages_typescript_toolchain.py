"""What TypeScript's variants are made of, before they are transpiled."""

from random import Random

import pytest

from harness.languages.registry import LANGUAGES
from harness.languages.rewriting import add_inert_code, rewrite
from harness.languages.typescript.toolchain import FORMS, with_blocks


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("const f = (a) => a + 1;", "const f = (a) => { return (a + 1); };"),
        ("const f = a => b => a;", "const f = a => { return (b => { return (a); }); };"),
        ("const f = () => ({ a: 1 });", "const f = () => { return (({ a: 1 })); };"),
        ("const f = async () => await g();", "const f = async () => { return (await g()); };"),
        ("const f = () => { g(); };", "const f = () => { g(); };"),
        ("type F = (a: string) => number;", "type F = (a: string) => number;"),
    ],
)
def test_an_arrow_function_gets_a_block_on_the_same_lines(text, blocks):
    assert with_blocks(text.encode()).decode() == blocks


def test_a_placebo_of_comments_keeps_the_code_and_no_line_end_breaks_out():
    text = LANGUAGES.get("typescript").code.commented(b"export {};\n", ["a", "b\u2028c()", "d\re()", "*/"])
    assert text == b"export {};\n// a\n// b c()\n// d e()\n// */\n// \n"


@pytest.mark.parametrize(("path", "compiled"), [("a.ts", True), ("a.d.ts", False), ("a.js", False)])
def test_only_sources_are_compiled(path, compiled):
    assert LANGUAGES.get("typescript").code.is_code(path) is compiled


def test_another_body_is_put_into_a_method_or_arrow_where_it_never_runs():
    live = with_blocks(b"class A { m(a: string) { return a; } }\nexport const f = (a: number) => a + 1;\n")
    dead = with_blocks(b"class A { m(a: string) { throw a; } }\nexport const f = (a: number) => a - 1;\n")
    padded = add_inert_code(FORMS, live, dead, "tw1").decode()
    assert padded.count("throw a;") == padded.count("(a - 1)") == 2
    assert padded.count("return a;") == padded.count("(a + 1)") == 1
    assert padded.endswith("var tw1 = 0;\n")


def test_a_rewriting_is_another_one_each_time():
    text = b"export function f() {\n  const a = 1;\n  return a;\n}\n"
    first, second = (rewrite(FORMS, text, [2], Random(seed), "tw1") for seed in (1, 2))
    assert first != second != text
    assert b"tw1 = " in first
