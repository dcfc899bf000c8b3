"""Rubric criteria that are read off the submission's text: a closed list of checks."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import assert_never

import tree_sitter_python
from tree_sitter import Language, Node, Parser

from harness.specs.globs import matches
from harness.specs.ids import TestId
from harness.specs.rubric import Quantifier, StaticCheck, StaticKind
from harness.submission.discovery import discover
from harness.verify.intake import FileChange


def holds(check: StaticCheck, tests: Sequence[TestId], changes: Sequence[FileChange]) -> bool:
    """Whether a check holds over the listed tests. False where there is none.

    What upstream had in a file before says nothing about a submission: names and calls are looked for in the
    listed tests, and in the rest of a file only where the submission made that file.
    """
    combine = all if check.of is Quantifier.ALL else any
    files = {change.path: change for change in changes}
    answers = [_answer(check, test, files[test.file]) for test in tests if test.file in files]
    return bool(answers) and combine(answers)


def _answer(check: StaticCheck, test: TestId, file: FileChange) -> bool:
    found = discover(file.new or b"").find(test.name)
    if found is None:
        return False
    written = found.text if file.old is not None else file.new or b""
    match check.check:
        case StaticKind.FILE_MATCHES:
            return matches(test.file, [check.value])
        case StaticKind.TEST_NAMED:
            return bool(re.search(check.value, test.name.rpartition(".")[2]))
        case StaticKind.USES_NAME:
            return check.value in _names(written)
        case StaticKind.INSIDE:
            return bool(re.search(check.value, found.enclosing))
        case StaticKind.CALL_ABSENT:
            return check.value not in _calls(written)
        case _:
            assert_never(check.check)


@cache
def _names(source: bytes) -> frozenset[str]:
    """Every identifier and dotted name of a file, imported or used."""
    nodes = [node for node in _nodes(source) if node.type in ("identifier", "dotted_name", "attribute")]
    return frozenset(_text(node) for node in nodes)


@cache
def _calls(source: bytes) -> frozenset[str]:
    """What a file calls, as written: `sleep`, `time.sleep`."""
    functions = [node.child_by_field_name("function") for node in _nodes(source) if node.type == "call"]
    return frozenset(_text(function) for function in functions if function)


def _nodes(source: bytes) -> Iterator[Node]:
    waiting = [Parser(Language(tree_sitter_python.language())).parse(source).root_node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.children


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
