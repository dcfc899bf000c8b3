"""Maps names from a log parser to tests: parsers write names as their tools print them."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from harness.specs.ids import TestId
from harness.specs.results import CaseResult
from harness.testing.computed_names import ByBeginning, Template
from harness.testing.report import Report

_IDENTIFIERS = re.compile(r"\w+(?:\.\w+)+")
_ENOUGH = 2
_UNITTEST = re.compile(r"(?P<test>\w+) \((?P<place>[\w.]+)\)(?P<doc>\s.*)?", re.DOTALL)


def attributed(report: Report, tests: Sequence[TestId]) -> Report:
    """The same report, each case given to the listed test that its name means; to none where several could be meant.

    A name means a test when the parts of one end with all parts of the other, and no file is named but the test's.
    """
    by_file: dict[str, list[TestId]] = defaultdict(list)
    for test in tests:
        by_file[test.file].append(test)
    listed = {file: _Listed(mine) for file, mine in by_file.items()}
    return replace(report, cases=tuple(_attributed(case, listed) for case in report.cases))


def means(name: str, test: TestId) -> bool:
    """Whether a parsed name can be that of a test."""
    return _Listed([test]).owner(name, test.file) == test


def _attributed(case: CaseResult, listed: Mapping[str, "_Listed"]) -> CaseResult:
    known = listed.get(case.test.file)
    owner = known.owner(case.test.name, case.test.file) if known else None
    return case.model_copy(update={"test": owner, "case": case.test.name}) if owner else case


@dataclass
class _Node:
    """Listed tests by the parts of their names, last part first. `below` holds two at most: more say no more."""

    children: dict[str, "_Node"] = field(default_factory=dict)
    test: TestId | None = None
    below: list[TestId] = field(default_factory=list)


class _Listed:
    """The listed tests of one file. A name is looked up in time linear to it, however many tests there are."""

    def __init__(self, tests: Iterable[TestId]) -> None:
        self._root = _Node()
        computed: list[tuple[Template, tuple[TestId, tuple[Template, ...]]]] = []
        tests = list(tests)
        self._exact = {test.name: test for test in tests}
        for test in tests:
            parts = tuple(map(Template, _of(test)))
            if any(part.is_computed for part in parts):
                computed.append((parts[-1], (test, parts)))
            self._add(test)
        self._computed = ByBeginning(computed)

    def owner(self, name: str, file: str) -> TestId | None:
        """The test that a name of `file` means; None where it means none or could mean several."""
        if not is_of(name, file):
            return None
        place = file_of(name)
        if exact := self._exact.get(" ".join(name[len(place) :].removeprefix("::").split())):
            return exact
        parts = _parts(name, file)
        found, is_exact = self._named(parts)
        if not is_exact:
            found = [*found, *(test for test in self._templated(parts) if test not in found)]
        return found[0] if len(found) == 1 else None

    def _add(self, test: TestId) -> None:
        node = self._root
        for part in reversed(_of(test)):
            node = node.children.setdefault(part, _Node())
            if len(node.below) < _ENOUGH:
                node.below.append(test)
        node.test = test

    def _named(self, parts: Sequence[str]) -> tuple[list[TestId], bool]:
        """Tests whose parts end these or end with these, and whether it is the one with just these parts."""
        node = self._root
        found: list[TestId] = []
        for part in reversed(parts):
            child = node.children.get(part)
            if child is None:
                return found, False
            node = child
            if node.test:
                found.append(node.test)
        if node.test:
            return [node.test], True
        return [*found, *node.below], False

    def _templated(self, parts: Sequence[str]) -> Iterator[TestId]:
        for test, templates in self._computed.of(parts[-1]):
            both = min(len(parts), len(templates))
            if all(map(_same, parts[-both:], templates[-both:])):
                yield test


def file_of(name: str) -> str:
    """The file that a name begins with (`tests/test_x.py::TestY::test_z`), empty where it names none."""
    head, separator, _ = name.partition("::")
    return head.removeprefix("./") if separator and PurePosixPath(head).suffix and " " not in head else ""


def is_of(name: str, file: str) -> bool:
    """Whether a parsed name can be that of a test of this file."""
    place = file_of(name)
    return not place or f"/{file}".endswith(f"/{place}")


def _same(parsed: str, listed: Template) -> bool:
    return parsed == listed.text or listed.makes(parsed)


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
