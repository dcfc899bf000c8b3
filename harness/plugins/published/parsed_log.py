"""Results of a published task's parser: `{"tests": [{"name", "status"}]}`, names as it finds them.

Maps names from a log parser to tests: parsers write names as their tools print them.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import PurePosixPath
from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from harness.judging.languages.title_templates import ByBeginning, Template
from harness.judging.testing.readers import Reader, Report, ReportError, bare, has_titles, is_prose
from harness.plugins.published.campaigns import is_counts
from harness.specs.test_results import CaseResult, Outcome, Quality, TestId

_IDENTIFIERS = re.compile(r"\w+(?:\.\w+)+")
_BLOCKS = re.compile(r" > | \| ")
"""Separators of blocks and titles, which may stand in a title as well."""
_ENOUGH = 2
_UNITTEST = re.compile(r"(?P<test>\w+) \((?P<place>[\w.]+)\)(?P<doc>\s.*)?", re.DOTALL)


def attributed(report: Report, tests: Sequence[TestId]) -> Report:
    """Return the report with each case given to the listed test that its name means, and to none of several.

    A name means a test when the parts of one end with all parts of the other, and no file is named but the test's.
    """
    by_file: dict[str, list[TestId]] = defaultdict(list)
    for test in tests:
        by_file[test.file].append(test)
    listed = {file: _Listed(mine) for file, mine in by_file.items()}
    return replace(report, cases=tuple(_attributed(case, listed) for case in report.cases))


def means(name: str, test: TestId) -> bool:
    """Return whether a parsed name can be that of a test."""
    return _Listed([test]).owner(name, test.file) == test


def _attributed(case: CaseResult, listed: Mapping[str, "_Listed"]) -> CaseResult:
    known = listed.get(case.test.file)
    owner = known.owner(case.test.name, case.test.file) if known else None
    return case.model_copy(update={"test": owner, "case": case.test.name}) if owner else case


@dataclass
class _Node:
    """Listed tests by the parts of their names, last part first. Two at most are kept: more say no more."""

    children: dict[str, "_Node"] = field(default_factory=dict)
    tests: list[TestId] = field(default_factory=list)
    below: list[TestId] = field(default_factory=list)


class _Names:
    """Names of tests, looked up by their parts in time linear to these, however many tests there are."""

    def __init__(self, names: Iterable[tuple[TestId, tuple[str, ...]]]) -> None:
        self._root = _Node()
        computed: list[tuple[Template, tuple[TestId, tuple[Template, ...]]]] = []
        for test, parts in names:
            templates = tuple(map(Template, parts))
            if any(part.is_computed for part in templates):
                computed.append((templates[-1], (test, templates)))
            self._add(test, parts)
        self._computed = ByBeginning(computed)

    def whole(self, parts: Sequence[str]) -> list[TestId]:
        """Return the tests with just these parts."""
        node: _Node | None = self._root
        for part in reversed(parts):
            node = node.children.get(part) if node else None
        return node.tests if node else []

    def ending(self, parts: Sequence[str]) -> list[TestId]:
        """Return the tests whose parts end these or end with these, templates included."""
        return list(dict.fromkeys([*self._named(parts), *self._templated(parts)]))

    def _add(self, test: TestId, parts: Sequence[str]) -> None:
        node = self._root
        for part in reversed(parts):
            node = node.children.setdefault(part, _Node())
            if test not in node.below and len(node.below) < _ENOUGH:
                node.below.append(test)
        if test not in node.tests and len(node.tests) < _ENOUGH:
            node.tests.append(test)

    def _named(self, parts: Sequence[str]) -> list[TestId]:
        node = self._root
        found: list[TestId] = []
        for part in reversed(parts):
            child = node.children.get(part)
            if child is None:
                return found
            node = child
            found.extend(node.tests)
        return [*found, *node.below]

    def _templated(self, parts: Sequence[str]) -> Iterator[TestId]:
        for test, templates in self._computed.of(parts[-1]):
            both = min(len(parts), len(templates))
            if all(map(_same, parts[-both:], templates[-both:])):
                yield test


class _Listed:
    """The listed tests of one file, by their names as they are written and as parsers may print them."""

    def __init__(self, tests: Iterable[TestId]) -> None:
        tests = list(tests)
        self._exact: dict[str, TestId | None] = {}
        for test in tests:
            name = _spaced(test.name)
            self._exact[name] = None if name in self._exact else test
        self._ways = (
            _Names((test, _of(test)) for test in tests),
            _Names((test, parts) for test in tests for parts in _as_printed(test)),
        )

    def owner(self, name: str, file: str) -> TestId | None:
        """Return the test that a name of `file` means; None where it means none or could mean several."""
        if not is_of(name, file):
            return None
        place = file_of(name)
        if exact := self._exact.get(_spaced(name[len(place) :].removeprefix("::"))):
            return exact
        readings = _readings(name, file)
        whole = (names.whole(parts) for parts in readings for names in self._ways)
        ending = (names.ending(parts) for parts in readings for names in self._ways)
        found = next(filter(None, chain(whole, ending)), [])
        return found[0] if len(found) == 1 else None


def file_of(name: str) -> str:
    """Return the file that a name begins with (`tests/test_x.py::TestY::test_z`), empty where it names none."""
    head, separator, _ = name.partition("::")
    return head.removeprefix("./") if separator and PurePosixPath(head).suffix and " " not in head else ""


def is_of(name: str, file: str) -> bool:
    """Return whether a parsed name can be that of a test of this file."""
    place = file_of(name)
    return not place or f"/{file}".endswith(f"/{place}")


def _spaced(name: str) -> str:
    """Return a name with one space for each run of white space, as names of logs are compared."""
    return " ".join(name.split())


def _same(parsed: str, listed: Template) -> bool:
    return parsed == listed.text or listed.makes(parsed)


def _of(test: TestId) -> tuple[str, ...]:
    name = _spaced(test.name)
    return tuple(name.split(".") if test.file.endswith(".py") else _BLOCKS.split(name))


def _as_printed(test: TestId) -> Iterator[tuple[str, ...]]:
    """Yield the titles of a test without the parentheses at their ends: of its blocks, and of all."""
    if has_titles(test.file):
        *blocks, title = _of(test)
        above = tuple(map(bare, blocks))
        yield from ((*above, title), (*above, bare(title)))


def _readings(name: str, file: str) -> list[tuple[str, ...]]:
    """Return a name's classes or blocks and the test's own, without file and case.

    ` > ` below a ` | ` may be written in a title, which has it as a separator, or be in the value of a table's case.
    """
    text = _spaced(name)
    if place := file_of(text):
        text = text[len(place) :].lstrip("./:")
    if unittest := _UNITTEST.fullmatch(text):
        return [(*unittest["place"].removesuffix(f".{unittest['test']}").split("."), unittest["test"])]
    if file.endswith(".py"):
        text = text.partition(" - ")[0].partition("[")[0]
    elif file.endswith(".go"):
        text = text.partition("/")[0]
    if _BLOCKS.search(text):
        return [tuple(text.split(" | " if " | " in text else " > ")), tuple(_BLOCKS.split(text))]
    if "::" in text and not is_prose(text.partition("::")[0]):
        return [tuple(text.split("::"))]
    return [tuple(text.split(".")) if _IDENTIFIERS.fullmatch(text) else (text,)]


MAX_REPORT_BYTES = 20_000_000
_OUTCOMES = {
    "PASSED": (Outcome.PASSED, None),
    "FAILED": (Outcome.FAILED, Quality.RAISED),
    "SKIPPED": (Outcome.SKIPPED, None),
    "ERROR": (Outcome.FAILED, Quality.RAISED),
}


class ParsedTest(NamedTuple):
    """A name and one of PASSED, FAILED, SKIPPED, ERROR."""

    name: str
    status: str


class _Entry(BaseModel):
    model_config = ConfigDict(extra="ignore")

    name: Annotated[str, StringConstraints(min_length=1)]
    status: str


class _Parsed(BaseModel):
    model_config = ConfigDict(extra="ignore")

    tests: list[_Entry]
    again: list[_Entry] = []
    """Results of tests that have another one further up in the log, which is the one that the parser keeps."""


def parsed_tests(data: bytes) -> list[ParsedTest]:
    """Return a parser's output as it stands.

    Raises:
        ReportError: It is no output of a parser.
    """
    return _listed(_read(data).tests)


def _read(data: bytes) -> _Parsed:
    if len(data) > MAX_REPORT_BYTES:
        raise ReportError(f"larger than {MAX_REPORT_BYTES} bytes")
    try:
        found = _Parsed.model_validate_json(data)
    except ValidationError:
        raise ReportError("not what a parser writes: an object with a list 'tests' of 'name' and 'status'") from None
    for entry in (*found.tests, *found.again):
        if entry.status.upper() not in _OUTCOMES:
            raise ReportError(f"unknown status {entry.status!r}")
    return found


def _listed(entries: Iterable[_Entry]) -> list[ParsedTest]:
    return [ParsedTest(entry.name, entry.status.upper()) for entry in entries]


def read_published(data: bytes, file: str) -> Report:
    """Read what the parser made of one run of `file`.

    Names are left as they are, but for those that say they are of another file, and a campaign's counts, which are
    others with each test that is added. A log only says that a test failed: failures and errors count as raised. Many
    runners call an exception of the test itself an error, so it can't be told from one of its set-up.

    Raises:
        ReportError: It is no output of a parser.
    """
    found = _read(data)
    tests, again = ([item for item in _listed(part) if is_of(item.name, file)] for part in (found.tests, found.again))
    cases = tuple(_case(TestId(file, name), status) for name, status in tests if not is_counts(name, file))
    return Report(cases, collection_failed=False, contradiction=_contradiction([*tests, *again]))


def _case(test: TestId, status: str) -> CaseResult:
    outcome, quality = _OUTCOMES[status]
    return CaseResult(test=test, outcome=outcome, quality=quality, message=status)


def _contradiction(tests: list[ParsedTest]) -> str:
    """Return a log in which one test both passes and fails was not written by the test run alone."""
    known: dict[str, set[str]] = defaultdict(set)
    for name, status in tests:
        known[name].add(status)
    if any({"PASSED", "FAILED"} <= statuses for statuses in known.values()):
        return "the log has one test both as passed and as failed"
    return ""


def _count(data: bytes) -> int:
    return data.partition(b'"again":')[0].count(b'"status":')


READER = Reader("json", read_published, _count, attributed)
