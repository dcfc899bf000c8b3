"""A pytest plugin: what each group of tests (a folder below tests/) took and came to, as a line of a file.

usage: pytest -p tests.support.group_clock --group-clock FILE

A line is `GROUP SECONDS PASSED FAILED SKIPPED`, tab-separated. Seconds are of work: those of all tests, fixtures
included, whichever process ran them. An error in a fixture counts as a failure. What fails is named at once as well:
a run that is stopped says what had failed by then. What a test measured and gave to `record_property` as `TOLD` is
printed at the end, also where it passed.
"""

import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import pytest

TOLD = "told"


@dataclass
class Group:
    """What the tests of one folder came to so far."""

    seconds: float = 0.0
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def add(self, report: pytest.TestReport) -> None:
        self.seconds += report.duration
        if report.failed:
            self.failed += 1
        elif report.skipped:
            self.skipped += 1
        elif report.when == "call":
            self.passed += 1


class Clock:
    """Of the process that starts the others, which every report reaches."""

    def __init__(self, file: Path, config: pytest.Config) -> None:
        self.file, self.config, self.began = file, config, time.monotonic()
        self.groups: defaultdict[str, Group] = defaultdict(Group)
        self.told: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.groups[report.nodeid.split("/")[1]].add(report)
        if report.when == "teardown":
            self.told += [str(value) for name, value in report.user_properties if name == TOLD]
        if report.failed:
            after = time.monotonic() - self.began
            terminal = self.config.pluginmanager.get_plugin("terminalreporter")
            assert isinstance(terminal, pytest.TerminalReporter)
            terminal.write_line(f"\nfailed {after:.0f} s after the beginning: {report.nodeid}")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for line in sorted(self.told):
            terminalreporter.write_line(line)

    def pytest_sessionfinish(self) -> None:
        rows = [(name, round(group.seconds), group.passed, group.failed, group.skipped)
                for name, group in self.groups.items()]  # fmt: skip
        self.file.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--group-clock", type=Path, help="where each group's seconds and counts are written")


def pytest_configure(config: pytest.Config) -> None:
    if (file := config.getoption("--group-clock")) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Clock(file, config))
