"""C, as it is registered."""

import re

import tree_sitter_c
from tree_sitter import Language as Grammar

from harness.languages.c import discovery
from harness.languages.c.conduct import CONDUCT
from harness.languages.c.toolchain import CToolchain, is_code
from harness.languages.code import Code
from harness.languages.protocol import IdForm, Language, WorthlessTest
from harness.languages.rewriting_on_disk import Braces, rewriting_in

_WORTHLESS = "int main(void)\n{\n    return 0;\n}\n"
_ON_DISK = Braces(
    grammar=Grammar(tree_sitter_c.language()),
    functions=frozenset({"function_definition"}),
    blocks=frozenset({"compound_statement"}),
    declaration="static volatile unsigned int {name};\n",
    footer="",
    idle="{name} = {number}u;\n",
)


def test_of(listed: str) -> str:
    """The program of `program/case` and `program[case]`: names of programs have neither."""
    return listed.partition("[")[0].partition("/")[0]


LANGUAGE = Language(
    title="C",
    suffixes=(".c", ".h", ".cc", ".cpp", ".hpp"),
    report="tap",
    ids=IdForm(
        words="the names of test programs: a file's name without `.c`",
        examples=("test_something",),
        test_of=test_of,
    ),
    discovery=discovery,
    code=Code(is_code=is_code, comment="//", rewrite=rewriting_in(_ON_DISK)),
    toolchain=CToolchain(),
    worthless=WorthlessTest("test_testwright_worthless.c", "test_testwright_worthless", _WORTHLESS),
    declaration=re.compile(r"\bvoid\s+(\w+)"),
    conduct=CONDUCT,
)
