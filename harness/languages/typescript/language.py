"""TypeScript, as it is registered. JavaScript is treated the same way."""

import re

from harness.languages.code import Code
from harness.languages.protocol import IdForm, Language, WorthlessTest
from harness.languages.rewriting import rewriting_in
from harness.languages.typescript import discovery
from harness.languages.typescript.toolchain import FORMS, TypeScriptToolchain, is_code

_WORTHLESS = 'import { expect, test } from "vitest";\n\ntest("nothing", () => {\n  expect(true).toBe(true);\n});\n'


def test_of(listed: str) -> str:
    """The id as it is: a title may have any character in it, and its cases are listed by the title's own text."""
    return listed


LANGUAGE = Language(
    title="TypeScript",
    suffixes=(".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"),
    report="vitest",
    ids=IdForm(
        words=(
            "the titles of a test and of the blocks it stands in, outermost first: `describe > it`; a test with"
            " cases is named once, a computed name as the source has it: `adds %i`, `of ${kind}`"
        ),
        examples=("something", "something > does something else"),
        test_of=test_of,
    ),
    discovery=discovery,
    code=Code(is_code=is_code, comment="//", rewrite=rewriting_in(FORMS)),
    toolchain=TypeScriptToolchain(),
    worthless=WorthlessTest("testwright-worthless.test.ts", "nothing", _WORTHLESS),
    declaration=re.compile(r"\b(?:class|function)\s+(\w+)"),
)
