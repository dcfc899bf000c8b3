"""Which of the listed tests a case belongs to, where a report has names that were computed."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

from harness.specs.ids import TestId
from harness.specs.results import CaseResult
from harness.testing.report import Report

_BRACES = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"
_COMPUTED = re.compile(rf"\${_BRACES}|%[sdifjoOc#$]|\$[\w$]+(?:\.[\w$]+)*")
"""A template's expression, a table's placeholder, a table's `$name`: the same as in a run script's pattern."""


def claimed(report: Report, tests: Sequence[TestId]) -> Report:
    """The same report, with each case given to the listed test whose name it is or whose template it follows.

    Of several templates the one with the most literal text has it. The case's own name is added to its `case`,
    where the report has the place that registered it. A test's cases come of one place: where two made names
    that belong to one test, nothing tells whose they are, and they become tests that nobody listed.
    """
    names = {test.name for test in tests}
    templates = sorted((test for test in tests if len(literals(test.name)) > 1), key=_computed_share)
    cases = [_claimed(case, names, templates) for case in report.cases]
    places: dict[TestId, set[str]] = defaultdict(set)
    for case in cases:
        places[case.test].add(case.case.partition(" ")[0])
    return replace(report, cases=tuple(case if len(places[case.test]) == 1 else _disowned(case) for case in cases))


def _disowned(case: CaseResult) -> CaseResult:
    return case.model_copy(update={"test": TestId(case.test.file, f"{case.test.name} ({case.case})")})


def _claimed(case: CaseResult, names: set[str], templates: Iterable[TestId]) -> CaseResult:
    if case.test.name in names:
        return case
    owner = next((test for test in templates if follows(case.test.name, test.name)), None)
    return case.model_copy(update={"test": owner, "case": f"{case.case} {case.test.name}"}) if owner else case


def follows(name: str, template: str) -> bool:
    """Whether a name can have come of a template. In time linear to both, whatever stands in them."""
    first, *middle, last = literals(template) if len(literals(template)) > 1 else (template, "")
    if not (name.startswith(first) and name.endswith(last) and len(name) >= len(first) + len(last)):
        return False
    at, end = len(first), len(name) - len(last)
    for piece in middle:
        at = name.find(piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return True


@cache
def literals(template: str) -> tuple[str, ...]:
    """What stands between the computed parts of a template, both ends included."""
    return tuple(piece.replace("%%", "%") for piece in _COMPUTED.split(template))


def _computed_share(test: TestId) -> int:
    return -sum(map(len, literals(test.name)))
