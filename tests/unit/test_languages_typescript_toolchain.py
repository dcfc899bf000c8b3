"""What TypeScript's variants are made of, before they are transpiled."""

import re
from random import Random

import pytest

from harness.languages.registry import LANGUAGES


def test_a_placebo_of_comments_keeps_the_code_and_no_line_end_breaks_out():
    text = LANGUAGES.get("typescript").code.commented(b"export {};\n", ["a", "b\u2028c()", "d\re()", "*/"])
    assert text == b"export {};\n// a\n// b c()\n// d e()\n// */\n// \n"


@pytest.mark.parametrize(("path", "compiled"), [("a.ts", True), ("a.d.ts", False), ("a.js", False)])
def test_only_sources_are_compiled(path, compiled):
    assert LANGUAGES.get("typescript").code.is_code(path) is compiled


def test_text_on_disk_is_rewritten_another_way_each_time():
    text = b"export function f() {\n  const a = 1;\n  return a;\n}\n"
    made = [LANGUAGES.get("typescript").code.rewrite(text, [2], Random(seed)) for seed in (1, 2)]
    names = [re.findall(rb"^var (\w+) = 0;\n\Z", each, re.MULTILINE)[0] for each in made]
    first, second = (each.replace(name, b"own") for each, name in zip(made, names, strict=True))
    assert first != second != text
    assert b"own = " in first
