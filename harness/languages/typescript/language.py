"""TypeScript, as it is registered. JavaScript is treated the same way."""

import re
from dataclasses import replace

import tree_sitter_typescript
from tree_sitter import Language as TreeSitter

from harness.languages.code import Code
from harness.languages.on_disk.bodies import Lending
from harness.languages.on_disk.braces import Braces, writer_of
from harness.languages.protocol import IdForm, Language, WorthlessTest
from harness.languages.typescript import discovery, mutants, stubs
from harness.languages.typescript.conduct import CONDUCT
from harness.languages.typescript.rewriting.catalogue import GRAMMAR
from harness.languages.typescript.toolchain import TypeScriptToolchain, is_code

_WORTHLESS = 'import { expect, test } from "vitest";\n\ntest("nothing", () => {\n  expect(true).toBe(true);\n});\n'
_ON_DISK = Braces(
    grammar=GRAMMAR,
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
    lending=Lending(
        hidden="let {name} = {value};",
        refused=frozenset({"variable_declaration", "function_declaration", "generator_function_declaration",
                           "labeled_statement", "super"}),
    ),
    values=frozenset({"binary_expression", "call_expression", "identifier", "member_expression", "number"}),
)  # fmt: skip
_WITH_TAGS = replace(_ON_DISK, grammar=replace(GRAMMAR, language=TreeSitter(tree_sitter_typescript.language_tsx())))
"""For files that may have JSX in them."""


def _forms(path: str) -> Braces:
    return _ON_DISK if path.endswith((".ts", ".mts", ".cts")) else _WITH_TAGS


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
    code=Code(is_code=is_code, comment="//", write=writer_of(_forms)),
    toolchain=TypeScriptToolchain(),
    worthless=WorthlessTest("testwright-worthless.test.ts", "nothing", _WORTHLESS),
    declaration=re.compile(r"\b(?:class|function)\s+(\w+)"),
    tests_show=True,
    conduct=CONDUCT,
    stubs=stubs,
    mutation=mutants,
)
