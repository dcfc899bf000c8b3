"""Go, as it is registered."""

import re
from pathlib import Path, PurePosixPath

import tree_sitter_go
from tree_sitter import Language as TreeSitter
from tree_sitter import Node

from harness.judging.languages.found import text_of
from harness.judging.languages.functions import Grammar
from harness.judging.languages.go import discovery, mutants, stubs
from harness.judging.languages.go.conduct import CONDUCT
from harness.judging.languages.go.toolchain import GoToolchain, is_code, package_command
from harness.judging.languages.on_disk import Braces, Lending, writer_of
from harness.judging.languages.protocol import FuzzSkeleton, IdForm, Language, WholeRun, WorthlessTest
from harness.judging.languages.variant_source import Code
from harness.specs.repo import Drawing, Frame

_WORTHLESS = '\nimport "testing"\n\nfunc TestNothing(t *testing.T) {\n\t_ = t\n}\n'
_PACKAGE = re.compile(r"^package (\w+)", re.MULTILINE)


def _qualified(function: Node) -> str:
    """Return a function's name, of a method with its receiver's type."""
    receiver = text_of(function.child_by_field_name("receiver")).strip("()").split(" ")[-1]
    return f"{receiver}.{text_of(function.child_by_field_name('name'))}"


ON_DISK = Braces(
    grammar=Grammar(
        TreeSitter(tree_sitter_go.language()), frozenset({"function_declaration", "method_declaration"}), _qualified
    ),
    functions=frozenset({"function_declaration", "method_declaration", "func_literal"}),
    blocks=frozenset({"block"}),
    declaration="var {name} uint32\n_ = {name}\n",  # a variable of the package would be a data race
    footer="",
    idle="{name} = {number}\n",
    lending=Lending(hidden="var {name} uint32 = {value}", refused=frozenset({"labeled_statement", "goto_statement"})),
    values=frozenset({"binary_expression", "identifier", "int_literal", "selector_expression"}),
)


def test_of(listed: str) -> str:
    """Return `TestName` of `TestName/subtest`."""
    return listed.partition("/")[0]


def package_of(path: str, text: str) -> str:
    """Return the package clause of a file's neighbour.

    A directory has one package, often of another name than its own.
    """
    found = _PACKAGE.search(text)
    return f"package {found[1] if found else PurePosixPath(path).parent.name}\n"


_OWN_TESTS = """"$library/*_test.go" '/usr/share/go-*/src/*_test.go' '/usr/share/go-*/src/*/testdata/*' \\
        '/usr/share/go-*/test/*'"""
"""Tests of Go and of Debian's libraries, which need no place in an image."""
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
    code=Code(is_code=is_code, comment="//", write=writer_of(lambda _: ON_DISK)),
    toolchain=GoToolchain(),
    worthless=WorthlessTest("testwright_worthless_test.go", "TestNothing", _WORTHLESS, package_of),
    fuzz=FuzzSkeleton(
        "{task}_fuzz_test.go", (Path(__file__).parent / "skeletons" / "fuzz.txt").read_text(), package_of
    ),
    drawing=Drawing(
        "testwright_drawing_test.go",
        (Path(__file__).parent / "in_container" / "drawing.go").read_bytes().removeprefix(b"package drawing\n"),
        used_as=b"drawnInputs(",
        package=lambda fuzz: package_of("", fuzz.decode(errors="replace")).encode(),
    ),
    declaration=re.compile(r"\bfunc\s+(\w+)"),
    packages=package_command,
    whole_run=WholeRun.NONE,
    conduct=CONDUCT,
    stubs=stubs,
    mutation=mutants,
    frame=Frame(
        Path(__file__).parent / "frame",
        {
            "packages": "./...",
            "debian": "",
            "broken": "",
            "not_unpacked": _OWN_TESTS,
            "unpacked_after_all": "",
            "environment": "",
            "built": "./...",
        },
    ),
)
