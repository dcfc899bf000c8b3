"""Python, as it is registered."""

import re

from harness.languages.code import Code
from harness.languages.protocol import IdForm, Language, WorthlessTest
from harness.languages.python import discovery, mutants, stubs
from harness.languages.python.conduct import CONDUCT
from harness.languages.python.on_disk import write
from harness.languages.python.toolchain import PythonToolchain, is_code


def test_of(listed: str) -> str:
    """`Class.test_method` of `Class::test_method[case]`."""
    return listed.partition("[")[0].replace("::", ".")


LANGUAGE = Language(
    title="Python",
    suffixes=(".py",),
    report="junit",
    ids=IdForm(
        words="`test_function` or `Class.test_method`; a parametrised test is named once, without its cases",
        examples=("test_something", "TestSomething.test_something_else"),
        test_of=test_of,
    ),
    discovery=discovery,
    code=Code(is_code=is_code, comment="#", write=write),
    toolchain=PythonToolchain(),
    worthless=WorthlessTest("test_testwright_worthless.py", "test_nothing", "def test_nothing():\n    assert True\n"),
    declaration=re.compile(r"\b(?:def|class)\s+(\w+)"),
    tests_show=True,
    relatives=discovery.PythonRelatives,
    conduct=CONDUCT,
    stubs=stubs,
    mutation=mutants,
)
