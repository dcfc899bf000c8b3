"""C, as it is registered."""

import re

from harness.languages.c import discovery, mutants, stubs
from harness.languages.c.catalogue import GRAMMAR
from harness.languages.c.conduct import CONDUCT
from harness.languages.c.toolchain import CToolchain, is_code
from harness.languages.code import Code
from harness.languages.on_disk.bodies import Lending
from harness.languages.on_disk.braces import Braces, writer_of
from harness.languages.protocol import IdForm, Language, WorthlessTest

_WORTHLESS = "int main(void)\n{\n    return 0;\n}\n"
_ON_DISK = Braces(
    grammar=GRAMMAR,
    functions=frozenset({"function_definition"}),
    blocks=frozenset({"compound_statement"}),
    declaration="static volatile unsigned int {name};\n(void){name};\n",  # a warning may be an error
    footer="",
    idle="{name} = {number}u;\n",
    lending=Lending(
        hidden="static volatile unsigned int {name} = {value}u;",
        refused=frozenset(
            {"labeled_statement", "goto_statement", "gnu_asm_expression", "preproc_def", "preproc_function_def"}
        ),
    ),
    values=frozenset({"binary_expression", "call_expression", "field_expression", "identifier", "number_literal"}),
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
    code=Code(is_code=is_code, comment="//", write=writer_of(lambda _: _ON_DISK)),
    toolchain=CToolchain(),
    worthless=WorthlessTest("test_testwright_worthless.c", "test_testwright_worthless", _WORTHLESS),
    declaration=re.compile(r"\bvoid\s+(\w+)"),
    conduct=CONDUCT,
    stubs=stubs,
    mutation=mutants,
)
