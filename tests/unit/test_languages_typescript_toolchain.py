"""What TypeScript's variants are made of, before they are transpiled."""

import pytest

from harness.judging.languages.registry import LANGUAGES


def test_a_placebo_of_comments_keeps_the_code_and_no_line_end_breaks_out():
    text = LANGUAGES.get("typescript").code.commented(b"export {};\n", ["a", "b\u2028c()", "d\re()", "*/"])
    assert text == b"export {};\n// a\n// b c()\n// d e()\n// */\n// \n"


@pytest.mark.parametrize(("path", "compiled"), [("a.ts", True), ("a.d.ts", False), ("a.js", False)])
def test_only_sources_are_compiled(path, compiled):
    assert LANGUAGES.get("typescript").code.is_code(path) is compiled
