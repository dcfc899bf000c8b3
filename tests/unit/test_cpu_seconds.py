"""A test that takes much CPU says why, or fails: the plugin that measures it, on tests of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cpu_seconds import exceeds

CHECKOUT = Path(__file__).parents[2]
TESTS = """
import subprocess, sys, time
import pytest

def spend():
    until = time.process_time() + 0.12
    while time.process_time() < until: pass

@pytest.fixture(scope="module")
def shared(): spend()

@pytest.fixture
def own(): spend()

def test_of_its_own(): spend()
def test_in_a_child(): subprocess.run([sys.executable, "heavy.py"], check=True)
def test_in_a_fixture_of_its_own(own): pass
def test_in_a_shared_fixture(shared): pass
def test_in_an_import(): import heavy
def test_little(): pass
@pytest.mark.dear("shows that a mark is heeded")
def test_that_says_why(): spend()
@pytest.mark.long
def test_that_is_long(): spend()
def test_that_fails_anyway():
    spend()
    assert 1 + 1 == 3
"""
HEAVY = "import time\nuntil = time.process_time() + 0.12\nwhile time.process_time() < until: pass\n"
SETTINGS = '[tool.pytest.ini_options]\nmarkers = ["long: x"]\naddopts = "-ra --strict-markers"\n'
DEAR = {"test_of_its_own", "test_in_a_child", "test_in_a_fixture_of_its_own"}


class Measured:
    """A run of these tests that allows them 0.02 s: by one of several processes, as `make test` does it first."""

    def __init__(self, place: Path) -> None:
        for name, text in (("test_it.py", TESTS), ("heavy.py", HEAVY), ("pyproject.toml", SETTINGS)):
            (place / name).write_text(text)
        self.place = place
        self.failures = self.run("-p", "xdist.plugin", "-n", "1", "--cpu-seconds", "told")
        self.above = (place / "told.above").read_text().splitlines()
        rows = [line.split("\t") for line in (place / "told").read_text().splitlines()]
        self.seconds = {name.rpartition("::")[2]: float(seconds) for seconds, name in rows}

    def run(self, *options: str) -> list[str]:
        """Return pytest's lines on what failed."""
        plugin = ("-p", "tests.support.cpu_seconds", "--cpu-limit", "0.02")
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", *plugin, *options],
            cwd=self.place,
            env={"PYTHONPATH": f"{self.place}:{CHECKOUT}", "COLUMNS": "300", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        return [line for line in done.stdout.splitlines() if line.startswith("FAILED")]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    return Measured(tmp_path_factory.mktemp("dear"))


def test_a_test_that_takes_much_and_does_not_say_why_fails(measured: Measured) -> None:
    assert [line.split()[1] for line in measured.failures] == ["test_it.py::test_that_fails_anyway"]
    assert {name.partition("::")[2] for name in measured.above} == DEAR
    again = measured.run("--cpu-again", "told.above")
    assert {line.split()[1].partition("::")[2] for line in again} == DEAR
    assert all("@pytest.mark.dear" in line for line in again)


def test_children_and_fixtures_of_its_own_count_and_what_is_shared_does_not(measured: Measured) -> None:
    little = {"test_in_a_shared_fixture", "test_in_an_import", "test_little"}
    assert {name for name, seconds in measured.seconds.items() if seconds < 0.08} == little
    assert measured.seconds["shared (fixture)"] > 0.1


def test_a_slower_machine_has_more_time_and_chance_a_margin() -> None:
    assert not exceeds(2.4, limit=2.0, slowness=1.0)
    assert exceeds(2.6, limit=2.0, slowness=1.0)
    assert not exceeds(2.6, limit=2.0, slowness=1.2)
