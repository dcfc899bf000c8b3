"""The protocol of report readers, the content of a report, and the cases whose names are computed."""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from harness.judging.languages.found import Start
from harness.judging.languages.title_templates import ByBeginning, Template
from harness.specs.errors import UserError
from harness.specs.repo import REPORT_FORMATS
from harness.specs.test_results import CaseResult, Quality, TestId
from harness.specs.whole_text import whole_text


class ReportError(Exception):
    """Bytes that are no report: absent, too large, cut off, or of another format."""


_HALF_PAIR = re.compile(rb"\\u[dD][89a-fA-F]")
"""May be half of a surrogate pair, which JSON can hold and no file can."""


def read_json(data: bytes) -> Any:
    """Return what a report or a line of one holds, each half of a surrogate pair as U+FFFD.

    Raises:
        ValueError: It is no JSON in UTF-8.
        RecursionError: It is very deep.
    """
    value = json.loads(data.decode("utf-8"))
    return json.loads(whole_text(json.dumps(value, ensure_ascii=False))) if _HALF_PAIR.search(data) else value


class Lines(NamedTuple):
    """Lines of a file. They count from 1, both ends included."""

    file: str
    first: int
    last: int

    def have(self, start: Start) -> bool:
        """Return whether a function begins on one of them."""
        return start.file == self.file and self.first <= start.line <= self.last


@dataclass(frozen=True)
class Report:
    """A file's cases, and whether collecting the file failed: it couldn't be imported, built or started.

    `contradiction` says how the report contradicts itself, which no report does that tests alone have written.
    `file_failed` is whether the report calls the file failed, whatever became of its cases: vitest fails a `describe`
    without a test. `starts` tells where the functions are that ran, where the format has that, `registered` where
    the calls are that registered tests, whether these ran or not.
    """

    cases: tuple[CaseResult, ...]
    collection_failed: bool
    contradiction: str = ""
    file_failed: bool = False
    starts: frozenset[Start] = frozenset()
    registered: frozenset[Start] = frozenset()


def _as_reported(report: Report, _tests: Sequence[TestId]) -> Report:
    return report


@dataclass(frozen=True)
class Reader:
    """A reader of reports of one format. Its functions are pure and take time linear in the report's length.

    Args:
        suffix: `run_tests` writes `N.SUFFIX` for the Nth distinct file that it is given.
        read: Reads the report's bytes, which hostile code may have written, for the test file that was run. It
            raises ReportError for anything but a whole report.
        count: Counts the cases in a file of a whole suite's run; 0 for one that can't be read.
        name_cases: Gives cases to the tests that they belong to, where a report's names are not those of the tests.
    """

    suffix: str
    read: Callable[[bytes, str], Report]
    count: Callable[[bytes], int]
    name_cases: Callable[[Report, Sequence[TestId]], Report] = _as_reported


def reader_of(report: str) -> Reader:
    """Return the reader of a report format.

    Raises:
        UserError: Nobody registered the name, or what is registered is no `Reader`.
    """
    found = REPORT_FORMATS.get(report)
    if not isinstance(found, Reader):
        raise UserError(f"report format {report!r}: what is registered for it is no Reader, but {found!r}")
    return found


TITLED = (".js", ".jsx", ".cjs", ".mjs", ".ts", ".tsx", ".cts", ".mts")
"""Files whose tests are named by titles of blocks."""


def seconds_of(milliseconds: float) -> float:
    """Return a report's milliseconds as seconds, never below 0.

    Raises:
        ValueError: It is no finite number.
    """
    seconds = float(milliseconds) / 1000
    if not isfinite(seconds):
        raise ValueError(f"{seconds} seconds")
    return max(seconds, 0.0)


def best_quality(qualities: Iterable[Quality]) -> Quality:
    """Return the best quality of a test's failures; that it raised where there are none."""
    return min(qualities, key=list(Quality).index, default=Quality.RAISED)


def has_titles(file: str) -> bool:
    """Tell whether tests of this file are named by titles of blocks, which may be templates."""
    return file.endswith(TITLED)


def bare(title: str) -> str:
    """Return a title without the parentheses at its end: parsers of logs take these for the time that a test took."""
    head, _, inside = title.rpartition("(")
    return head.rstrip() if inside.endswith(")") and inside.count(")") == 1 and head.strip() else title


def is_prose(head: str) -> bool:
    """Tell whether what stands before `::` is neither a path nor a name: `Weird address (1::1)` has no parts."""
    return " " in head and not PurePosixPath(head).suffix[1:].isidentifier()


class _Owner(NamedTuple):
    """A test that a computed name may belong to. `rank` is 0 for the template with the most literal text."""

    rank: int
    test: TestId
    template: Template


def claimed(report: Report, tests: Sequence[TestId]) -> Report:
    """Return the same report, with each case given to the listed test whose name it is or whose template it follows.

    Of several templates the one with the most literal text has it. The case's own name is added to its `case`,
    where the report has the place that registered it. A test's cases come of one place: where two made names
    that belong to one test, each place's cases go to one test whose name or template all of them have. Where they
    still come of two, nothing tells whose they are, and they become tests that nobody listed.
    """
    names, owners = {test.name for test in tests}, _owners(tests)
    cases = [_claimed(case, names, owners) for case in report.cases]
    torn = {place for places in _places(cases).values() if len(places) > 1 for place in places} - {""}
    if torn:
        common = _common(report.cases, torn, names, owners)
        pairs = zip(report.cases, cases, strict=True)
        cases = [_given(case, common.get(case.case), former) for case, former in pairs]
    places = _places(cases)
    return replace(report, cases=tuple(case if len(places[case.test]) == 1 else _disowned(case) for case in cases))


def _places(cases: Iterable[CaseResult]) -> dict[TestId, set[str]]:
    found: dict[TestId, set[str]] = defaultdict(set)
    for case in cases:
        found[case.test].add(case.case.partition(" ")[0])
    return found


def _common(
    cases: Iterable[CaseResult], places: Container[str], names: Container[str], owners: ByBeginning[_Owner]
) -> dict[str, _Owner]:
    """Return for each place the test that all names it made belong to: by its name, else by its template."""
    found: dict[str, set[_Owner]] = {}
    for case in cases:
        if case.case in places:
            name = case.test.name
            able = {owner for owner in owners.of(name) if owner.template.makes(name)}
            able |= {_Owner(-1, case.test, Template(name))} if name in names else set()
            found[case.case] = found.get(case.case, able) & able
    return {place: min(able, key=lambda owner: owner.rank) for place, able in found.items() if able}


def _given(case: CaseResult, owner: _Owner | None, former: CaseResult) -> CaseResult:
    if owner is None:
        return former
    return case if case.test == owner.test else _of(case, owner)


def _of(case: CaseResult, owner: _Owner) -> CaseResult:
    return case.model_copy(update={"test": owner.test, "case": f"{case.case} {case.test.name}"})


def _disowned(case: CaseResult) -> CaseResult:
    return case.model_copy(update={"test": TestId(case.test.file, f"{case.test.name} ({case.case})")})


def _owners(tests: Iterable[TestId]) -> ByBeginning[_Owner]:
    known = [(test, template) for test in tests if (template := Template(test.name)).is_computed]
    known.sort(key=lambda item: -item[1].literal_characters)
    return ByBeginning((template, _Owner(rank, test, template)) for rank, (test, template) in enumerate(known))


def _claimed(case: CaseResult, names: set[str], owners: ByBeginning[_Owner]) -> CaseResult:
    if case.test.name in names:
        return case
    candidates = [owner for owner in owners.of(case.test.name) if owner.template.makes(case.test.name)]
    if not candidates:
        return case
    return _of(case, min(candidates, key=lambda candidate: candidate.rank))
