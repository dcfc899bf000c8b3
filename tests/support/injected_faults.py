"""A pytest plugin: the table of `make faults` (fault, what was checked, result).

A test joins the table by a mark that says what is broken and what must still be true:

    @pytest.mark.fault("the runner is killed at its n-th write", "nothing is lost, nothing is done twice")

Tests with the same two texts, such as the cases of one parametrised test, are one line.
"""

from collections import Counter, defaultdict
from typing import NamedTuple

import pytest

from harness.results.report.tables import console, table


class InjectedFault(NamedTuple):
    """What is broken, and what is checked after that."""

    fault: str
    holds: str


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A report carries the mark from the process that ran its test to the one that prints."""
    if mark := item.get_closest_marker("fault"):
        item.user_properties.append(("fault", list(InjectedFault(*mark.args))))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    found: defaultdict[InjectedFault, Counter[str]] = defaultdict(Counter)
    for outcome in ("passed", "failed", "error", "skipped"):
        for report in terminalreporter.stats.get(outcome, ()):
            for name, value in getattr(report, "user_properties", ()):
                if name == "fault":
                    found[InjectedFault(*value)][outcome] += 1
    if found:
        rows = [(*injected, result(counts)) for injected, counts in found.items()]
        terminalreporter.ensure_newline()
        console().print(table(("fault", "what was checked", "result"), rows))


def result(counts: Counter[str]) -> str:
    """`holds (12 cases)`, or how many fail, or that it wasn't tried."""
    failed = counts["failed"] + counts["error"]
    cases = sum(counts.values())
    if failed:
        return f"FAILS in {failed} of {cases}"
    tried = f"{counts['passed']} case{'' if counts['passed'] == 1 else 's'}"
    if not counts["passed"]:
        return "NOT TRIED: skipped"
    return f"holds ({tried}{', ' + str(counts['skipped']) + ' skipped' if counts['skipped'] else ''})"
