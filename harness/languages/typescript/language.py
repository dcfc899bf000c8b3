"""TypeScript, as it is registered. JavaScript is treated the same way."""

import re

import tree_sitter_typescript
from tree_sitter import Language as Grammar

from harness.languages.code import Code
from harness.languages.protocol import IdForm, Language, WorthlessTest
from harness.languages.rewriting_on_disk import Braces, rewriting_in
from harness.languages.typescript import discovery
from harness.languages.typescript.conduct import CONDUCT
from harness.languages.typescript.toolchain import TypeScriptToolchain, is_code

_WORTHLESS = 'import { expect, test } from "vitest";\n\ntest("nothing", () => {\n  expect(true).toBe(true);\n});\n'
_ON_DISK = Braces(
    grammar=Grammar(tree_sitter_typescript.language_typescript()),
    functions=frozenset(
        {
            "function_declaration", "function_expression", "generator_function", "generator_function_declaration",
            "arrow_function", "method_definition",
        }
    ),
    blocks=frozenset({"statement_block"}),
    declaration="",
    footer="var {name} = 0;\n",
    idle="{name} = {number};\n",
)  # fmt: skip


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
    code=Code(is_code=is_code, comment="//", rewrite=rewriting_in(_ON_DISK)),
    toolchain=TypeScriptToolchain(),
    worthless=WorthlessTest("testwright-worthless.test.ts", "nothing", _WORTHLESS),
    declaration=re.compile(r"\b(?:class|function)\s+(\w+)"),
    tests_show=True,
    conduct=CONDUCT,
)
