"""A pytest plugin: the CPU that each test takes, and a failure for one that takes much without saying why.

A test's CPU is that of its own process and of its children that have ended, from its set-up to the end of its call.
Not counted are imports and fixtures that several tests share (those of a module, say), for they fall on whichever
test comes first; nor is what containers take, for their processes are an engine's.

A test above the limit has a mark that says why: `@pytest.mark.dear("compiles a real module")`, or is `long`. Without
one it fails. The limit is for the reference machine: it is multiplied by how much slower this one is, measured before
the test and after it, for a core that shares its units with a busy one takes half as many seconds again for the same
work. What other processes of tests do to caches and memory can't be measured like that. So among several such
processes a test above the limit only gets into FILE.above, and `scripts/test` runs these again with nothing beside
them.

usage: pytest [--cpu-seconds FILE] [--cpu-limit SECONDS] [--cpu-again FILE]  (tests/conftest.py names it)

A line of the first FILE is `SECONDS WHAT`, tab-separated: a test, or a shared fixture. Of the last one, and of
FILE.above, a line is a test.
"""

import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from harness.sandbox import machine_speed as machine

MARGIN = 1.25
"""Above what two runs of a test differ in, once the machine's slowness is taken out."""
_SLOWNESS_LASTS = 30.0
"""Seconds for which a measured slowness is taken for what it still is."""
_OWN = "cpu seconds"
_SHARED = "cpu seconds of shared fixtures"
_ABOVE = "cpu seconds above the limit"


def cpu() -> float:
    """Return the CPU seconds of this process and of its children that have been waited for."""
    return sum(sum(resource.getrusage(whose)[:2]) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def slowness(times: int) -> float:
    """Return how many times longer than the reference machine this one takes at present; at least 1."""
    seconds = [machine.seconds_of_work() for _ in range(times)]
    return max(1.0, statistics.mean(seconds) / machine.REFERENCE_SECONDS)


def exceeds(seconds: float, limit: float, slowness: float) -> bool:
    """Return whether a test that took `seconds` on so slow a machine is above `limit` without doubt."""
    return seconds > limit * MARGIN * slowness


class Meter:
    """Measures the tests of one process."""

    def __init__(self) -> None:
        self.began = 0.0
        self.apart = 0.0
        """CPU since `began` that isn't the test's own."""
        self.shared: list[tuple[str, float]] = []
        self._depth = 0
        self._slowness, self._measured = 1.0, -_SLOWNESS_LASTS
        """As it was before the test, and when."""

    @contextmanager
    def setting_apart(self) -> Iterator[list[float]]:
        """Don't count what is done meanwhile; yields a list to which its seconds are appended at the end."""
        seconds: list[float] = []
        began, self._depth = cpu(), self._depth + 1
        try:
            yield seconds
        finally:
            self._depth -= 1
            seconds.append(cpu() - began)
            if not self._depth:
                self.apart += seconds[0]

    def watch_imports(self) -> None:
        """Set imports of modules that aren't there yet apart, wherever a test causes them."""
        bootstrap = sys.modules["_frozen_importlib"]
        load: Callable[..., Any] = bootstrap._find_and_load  # what `import` and import_module call for a new module

        def apart(name: str, import_: Any) -> Any:
            if self._depth:
                return load(name, import_)
            with self.setting_apart():
                return load(name, import_)

        bootstrap._find_and_load = apart  # type: ignore[attr-defined]

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        if time.monotonic() - self._measured > _SLOWNESS_LASTS:
            self._slowness, self._measured = slowness(2), time.monotonic()
        self.began, self.apart, self.shared = cpu(), 0.0, []
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Iterator[object]:
        if fixturedef.scope == "function":
            return (yield)
        with self.setting_apart() as seconds:
            result = yield
        self.shared.append((f"{fixturedef.baseid}::{fixturedef.argname} (fixture)", seconds[0]))
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        yield
        complaint = _complaint(item, self._own(), self._slowness)
        if complaint and _is_one_of_several(item.config):
            item.user_properties.append((_ABOVE, True))
        elif complaint:
            pytest.fail(complaint, pytrace=False)

    def _own(self) -> float:
        return cpu() - self.began - self.apart

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[Any]:
        own = self._own()
        report = yield
        if call.when == "call":
            report.user_properties += [(_OWN, own), (_SHARED, self.shared)]
        return report


def _is_one_of_several(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def _complaint(item: pytest.Item, seconds: float, before: float) -> str:
    limit = item.config.getoption("--cpu-limit")
    if any(item.iter_markers("dear")) or any(item.iter_markers("long")) or not exceeds(seconds, limit, 1):
        return ""
    slow = max(before, slowness(5))
    if not exceeds(seconds, limit, slow):
        return ""
    return (
        f"{item.nodeid} took {seconds:.1f} s of CPU on a machine {slow:.1f} times slower than the reference. "
        f'Make it cheaper, or say why it takes more than {limit:g} s: @pytest.mark.dear("...").'
    )


class Ledger:
    """Keeps what all processes measured."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.rows: list[tuple[float, str]] = []
        self.above: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        told = dict(report.user_properties)
        if report.when == "call" and _OWN in told:
            self.rows.append((float(str(told[_OWN])), report.nodeid))
            self.rows += [(seconds, name) for name, seconds in told[_SHARED]]  # type: ignore[attr-defined]
            self.above += [report.nodeid] * (_ABOVE in told)

    def pytest_sessionfinish(self) -> None:
        self.file.write_text("".join(f"{seconds:.2f}\t{what}\n" for seconds, what in sorted(self.rows, reverse=True)))
        self.file.with_name(f"{self.file.name}.above").write_text("".join(f"{test}\n" for test in self.above))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cpu-seconds", type=Path, help="where the CPU seconds of each test are written")
    what = "a test that takes more CPU fails unless its mark `dear` says why"
    parser.addoption("--cpu-limit", type=float, default=2.0, metavar="SECONDS", help=what)
    parser.addoption("--cpu-again", type=Path, metavar="FILE", help="no other tests than these are run")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "dear(why): takes more than 2 s of CPU, for this reason")
    if (file := config.getoption("--cpu-seconds")) and not _is_one_of_several(config):
        config.pluginmanager.register(Ledger(file))
    if config.getoption("numprocesses", None) and not _is_one_of_several(config):
        return  # the other processes run the tests
    meter = Meter()
    meter.watch_imports()
    config.pluginmanager.register(meter)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if file := config.getoption("--cpu-again"):
        named = set(file.read_text().splitlines())
        items[:] = [item for item in items if item.nodeid in named]
