"""Go, as it is registered."""

import re
from pathlib import PurePosixPath

import tree_sitter_go
from tree_sitter import Language as Grammar

from harness.languages.code import Code
from harness.languages.go import discovery
from harness.languages.go.conduct import CONDUCT
from harness.languages.go.toolchain import GoToolchain, is_code
from harness.languages.protocol import IdForm, Language, WorthlessTest
from harness.languages.rewriting_on_disk import Braces, rewriting_in

_WORTHLESS = '\nimport "testing"\n\nfunc TestNothing(t *testing.T) {\n\t_ = t\n}\n'
_PACKAGE = re.compile(r"^package (\w+)", re.MULTILINE)
_ON_DISK = Braces(
    grammar=Grammar(tree_sitter_go.language()),
    functions=frozenset({"function_declaration", "method_declaration", "func_literal"}),
    blocks=frozenset({"block"}),
    declaration="",
    footer="\nvar {name} uint32\n",
    idle="{name} = {number}\n",
)


def test_of(listed: str) -> str:
    """`TestName` of `TestName/subtest`."""
    return listed.partition("/")[0]


def package_of(path: str, text: str) -> str:
    """The package clause of a file's neighbour. A directory has one package, often of another name than its own."""
    found = _PACKAGE.search(text)
    return f"package {found[1] if found else PurePosixPath(path).parent.name}\n"


LANGUAGE = Language(
    title="Go",
    suffixes=(".go",),
    report="go-test",
    ids=IdForm(
        words="`TestFunction`; subtests belong to it and are not listed",
        examples=("TestSomething", "TestSomethingElse"),
        test_of=test_of,
    ),
    discovery=discovery,
    code=Code(is_code=is_code, comment="//", rewrite=rewriting_in(_ON_DISK)),
    toolchain=GoToolchain(),
    worthless=WorthlessTest("testwright_worthless_test.go", "TestNothing", _WORTHLESS, package_of),
    declaration=re.compile(r"\bfunc\s+(\w+)"),
    conduct=CONDUCT,
)
