"""Which test a name means that a log parser has found: parsers write names as their tools print them."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from harness.specs.ids import TestId
from harness.specs.results import CaseResult
from harness.testing.computed_names import follows, literals
from harness.testing.report import Report

_IDENTIFIERS = re.compile(r"\w+(?:\.\w+)+")
_UNITTEST = re.compile(r"(?P<test>\w+) \((?P<place>[\w.]+)\)(?P<doc>\s.*)?", re.DOTALL)


def attributed(report: Report, tests: Sequence[TestId]) -> Report:
    """The same report, each case given to the listed test that its name means; to none where several could be meant.

    A name means a test when the parts of one end with all parts of the other, and no file is named but the test's.
    """
    return replace(report, cases=tuple(_attributed(case, tests) for case in report.cases))


def _attributed(case: CaseResult, tests: Sequence[TestId]) -> CaseResult:
    mine = [test for test in tests if test.file == case.test.file and means(case.test.name, test)]
    exact = [test for test in mine if _parts(case.test.name, test.file) == _of(test)]
    owners = exact or mine
    if len(owners) != 1:
        return case
    return case.model_copy(update={"test": owners[0], "case": case.test.name})


def means(name: str, test: TestId) -> bool:
    """Whether a parsed name can be that of a test."""
    place = file_of(name)
    if place and not (test.file == place or f"/{test.file}".endswith(f"/{place}")):
        return False
    parsed, listed = _parts(name, test.file), _of(test)
    both = min(len(parsed), len(listed))
    return both > 0 and all(map(_same, parsed[-both:], listed[-both:]))


def file_of(name: str) -> str:
    """The file that a name begins with (`tests/test_x.py::TestY::test_z`), empty where it names none."""
    head, separator, _ = name.partition("::")
    return head.removeprefix("./") if separator and PurePosixPath(head).suffix and " " not in head else ""


def _same(parsed: str, listed: str) -> bool:
    return parsed == listed or (len(literals(listed)) > 1 and follows(parsed, listed))


def _of(test: TestId) -> tuple[str, ...]:
    return tuple(test.name.split("." if test.file.endswith(".py") else " > "))


def _parts(name: str, file: str) -> tuple[str, ...]:
    """A name's classes or blocks and the test's own, without file and case."""
    text = " ".join(name.split())
    if place := file_of(text):
        text = text[len(place) :].lstrip("./:")
    if unittest := _UNITTEST.fullmatch(text):
        return (*unittest["place"].removesuffix(f".{unittest['test']}").split("."), unittest["test"])
    if file.endswith(".py"):
        text = text.partition(" - ")[0].partition("[")[0]
    elif file.endswith(".go"):
        text = text.partition("/")[0]
    for separator in (" | ", " > ", "::"):
        if separator in text:
            return tuple(text.split(separator))
    return tuple(text.split(".")) if _IDENTIFIERS.fullmatch(text) else (text,)
