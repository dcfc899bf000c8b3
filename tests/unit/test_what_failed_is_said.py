"""The end of the tests' own log names every failure: of a long log often only that is kept."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.judging.submission.extraction import Submission
from harness.judging.verify.verdict import VerdictRecord
from harness.results.report.batch_report import fault_lines
from harness.runs.submissions import Case, Expectation, Judged
from harness.specs.reasons import Reason, ReasonCode, Stage, Verdict
from tests.support.small_task import small_task

CHECKOUT = Path(__file__).parents[2]
TESTS = """
import os
import pytest

@pytest.fixture
def thing():
    raise OSError("no thing here")

def test_good(record_property): record_property("told", "a good thing: 7 MB")
def test_bad(): assert 1 + 1 == 3, "sums are wrong"
def test_without_its_thing(thing): pass
def test_elsewhere(): pytest.skip("not here, with examples: " + os.environ.get("TESTWRIGHT_EXAMPLES", "all"))

@pytest.mark.long
def test_long(): assert 2 + 2 == 5, "long sums are wrong"

@pytest.mark.alone
def test_alone(): assert 3 + 3 == 7, "lonely sums are wrong"
"""
MARKS = """
[tool.pytest.ini_options]
addopts = "-ra -p xdist"
markers = ["long: x", "alone: x"]
"""

FAILURES = {
    "x.py:3": "no such name",
    "test_bad": "sums are wrong",
    "test_without_its_thing": "no thing here",
    "test_long": "long sums are wrong",
    "test_alone": "lonely sums are wrong",
}
"""Where it failed -> what is wrong there."""


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/bash\n{text}\n")
    path.chmod(0o755)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One whose groups fail in every way there is, and one that doesn't."""
    checkout = tmp_path_factory.mktemp("checkout")
    plugins = [f"tests/support/{name}.py" for name in ("__init__", "group_clock", "cpu_seconds", "sampled_slowness")]
    for file in ("scripts/test", *plugins):
        (checkout / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(CHECKOUT / file, checkout / file)
    program(checkout / "scripts" / "engine", "exit 0")
    program(checkout / "scripts" / "check", "cat; seq 1000; echo 'x.py:3: no such name'; exit 1")
    program(checkout / ".venv" / "bin" / "python", f'exec {sys.executable} "$@"')
    program(checkout / ".venv" / "bin" / "testwright", "echo images")
    (checkout / "pyproject.toml").write_text(MARKS)
    for group, tests in (("unit", TESTS), ("tasks", "def test_of_tasks(): pass")):
        (checkout / "tests" / group).mkdir(parents=True)
        (checkout / "tests" / group / f"test_{group}.py").write_text(tests)
    return checkout


def run_in(checkout: Path, *arguments: str, processes: int = 0) -> subprocess.CompletedProcess[str]:
    """Its stdin never ends: whoever read it would wait for ever."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "TESTWRIGHT_"))}
    own = {
        "PYTHONPATH": ".", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "TESTWRIGHT_TEST_PROCESSES": str(processes)
    }  # fmt: skip
    nothing, kept_open = os.pipe()
    try:
        return subprocess.run(
            ["scripts/test", *arguments], cwd=checkout, stdin=nothing,
            env={**kept, **own},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    finally:
        os.close(nothing)
        os.close(kept_open)


@pytest.fixture(scope="module")
def finished(checkout: Path) -> subprocess.CompletedProcess[str]:
    return run_in(checkout, "--all", processes=2)


def test_the_end_of_the_log_names_every_failure_with_its_complaint(finished):
    assert finished.returncode == 1
    end = finished.stdout.splitlines()[-60:]
    for place, complaint in FAILURES.items():
        assert [line for line in end if place in line and complaint in line], (place, end)


def test_what_fails_is_named_while_others_still_run(finished):
    log = finished.stdout.partition("== what failed")[0]
    named = re.findall(r"^failed \d+ s after the beginning: (\S+)$", log, re.MULTILINE)
    assert {name.partition("::")[2] for name in named} >= {place for place in FAILURES if place.startswith("test_")}


def test_it_says_what_it_would_have_taken_on_the_machine_that_budgets_are_for(finished):
    end = finished.stdout.splitlines()[-60:]
    [took] = [int(line.split()[1]) for line in end if line.startswith("all ")]
    [line] = [line for line in end if line.startswith("reference ")]
    [times] = re.findall(r"this one was ([\d.]+) times slower", line)
    assert 0.1 < float(times) < 100
    assert int(line.split()[1]) == pytest.approx(took / float(times), abs=1.5)


def test_samples_end_with_whoever_wanted_them_even_if_that_was_gone_before_the_first(tmp_path):
    gone = subprocess.Popen(["true"])
    gone.wait()
    sampler = [sys.executable, "-m", "tests.support.sampled_slowness", str(gone.pid), str(tmp_path / "samples")]
    subprocess.run(sampler, cwd=CHECKOUT, check=True, timeout=60)
    assert (tmp_path / "samples").read_text() == ""


def test_the_end_of_the_log_is_not_filled_with_what_passed(finished):
    end = finished.stdout.partition("== what failed")[2]
    assert "test_good" not in end
    assert len(end.splitlines()) < 60


def test_the_last_line_counts_what_passed_failed_and_was_skipped(finished):
    """A check fails as one; of pytest there are three failed tests and an error."""
    last = finished.stdout.splitlines()[-1]
    assert {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|skipped)", last)} == {
        "passed": 2, "failed": 5, "skipped": 1
    }  # fmt: skip


def test_the_dearest_tests_are_told_with_their_seconds_of_cpu(finished):
    told = finished.stdout.partition("== the ten dearest")[2].partition("==")[0].splitlines()[1:]
    rows = [line.split("\t") for line in told if line]
    assert {name.partition("::")[2] for _, name in rows} >= {"test_good", "test_bad", "test_long", "test_alone"}
    assert [float(seconds) for seconds, _ in rows] == sorted((float(seconds) for seconds, _ in rows), reverse=True)


def test_what_a_test_measured_is_told_though_it_passed(finished):
    assert finished.stdout.splitlines().count("a good thing: 7 MB") == 1


def test_each_group_is_told_with_its_seconds_and_those_that_failed_by_name(finished):
    end = finished.stdout.partition("== seconds")[2]
    assert {"check", "unit", "tasks", "all"} <= set(re.findall(r"^(\w+) +\d+ s", end, re.MULTILINE))
    [failed] = [line for line in end.splitlines() if line.startswith("in these")]
    assert set(failed.partition(": ")[2].split("; ")) >= {"check", "tests", "long", "alone"}
    assert "images" not in failed


def test_the_end_says_when_everything_is_to_be_run_by_hand(finished):
    end = " ".join(finished.stdout.splitlines()[-6:])
    assert "by hand (make test-all) before a change of the verifier lands" in end
    assert "before the last issue of a series is called resolved" in end


def test_without_all_what_is_long_or_needs_the_machine_for_itself_is_left_out(checkout: Path):
    short = run_in(checkout)
    assert "test_long" not in short.stdout
    assert "test_alone" not in short.stdout
    assert "by hand" not in short.stdout
    assert short.stdout.splitlines()[-1] == "2 passed, 3 failed, 1 skipped"
    assert "with examples: 30" in short.stdout


def test_with_all_each_property_gets_all_its_examples(finished):
    assert "with examples: all" in finished.stdout


def test_a_new_checkout_compiles_its_tests_once(checkout: Path, tmp_path: Path) -> None:
    shutil.copytree(checkout, tmp_path, dirs_exist_ok=True)
    for name in ("conftest.py", "__init__.py"):
        (tmp_path / "tests" / name).write_text("")
    told = [run_in(tmp_path).stdout.partition("== seconds")[2] for _ in range(2)]
    assert [re.findall("^compiled .*the tests, once", seconds, re.MULTILINE) != [] for seconds in told] == [
        True,
        False,
    ]


ONCE_BAD = """
from pathlib import Path

def test_good(): pass

def test_bad_at_first():
    seen = Path("seen")
    known = seen.exists()
    seen.touch()
    assert known, "not seen before"
"""
BAD = "def test_bad{number}(): assert not {number}, 'still bad'\n"


def run_of(checkout: Path, copy: Path, tests: str, processes: int = 0, settings: str = MARKS) -> tuple[int, str]:
    """Return the status and the end of what `scripts/test` says in a copy with these tests for its group `unit`."""
    shutil.copytree(checkout, copy, dirs_exist_ok=True)
    (copy / "scripts" / "check").write_text("#!/bin/bash\n")
    (copy / "tests" / "unit" / "test_unit.py").write_text(tests)
    (copy / "pyproject.toml").write_text(settings)
    done = run_in(copy, processes=processes)
    return done.returncode, done.stdout.partition("== the ten dearest")[2]


@pytest.mark.parametrize("processes", [0, 2])
def test_what_fails_once_and_passes_by_itself_is_told_and_is_no_failure(
    checkout: Path, tmp_path: Path, processes: int
) -> None:
    status, end = run_of(checkout, tmp_path, ONCE_BAD, processes)
    assert (status, end.splitlines()[-1]) == (0, "3 passed, 0 failed, 0 skipped")
    told = end.partition("== FLAKY")[2].splitlines()
    assert told[1] == "tests/unit/test_unit.py::test_bad_at_first"
    assert "what failed" not in end


def test_what_fails_again_is_a_failure_and_not_flaky(checkout: Path, tmp_path: Path) -> None:
    status, end = run_of(checkout, tmp_path, ONCE_BAD + BAD.format(number=1))
    assert (status, end.splitlines()[-1]) == (1, "3 passed, 1 failed, 0 skipped")
    assert "FAILED tests/unit/test_unit.py::test_bad1 - AssertionError: still bad" in end
    assert end.partition("== FLAKY")[2].splitlines()[1:3] == ["tests/unit/test_unit.py::test_bad_at_first", ""]


def test_of_more_than_five_failures_none_is_tried_again(checkout: Path, tmp_path: Path) -> None:
    status, end = run_of(checkout, tmp_path, ONCE_BAD + "".join(BAD.format(number=number) for number in range(1, 6)))
    assert (status, end.splitlines()[-1]) == (1, "2 passed, 6 failed, 0 skipped")
    assert "FLAKY" not in end


DEAR = """
import time
from pathlib import Path

def spend(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until: pass

def test_dear_at_first():
    seen = Path("seen").exists()
    Path("seen").touch()
    spend(0 if seen else 0.1)

def test_dear(): spend(0.1)
"""


def test_what_is_dear_among_others_fails_where_it_is_so_by_itself(checkout: Path, tmp_path: Path) -> None:
    status, end = run_of(checkout, tmp_path, DEAR, 1, MARKS.replace("-p xdist", "-p xdist --cpu-limit 0.02"))
    assert (status, end.splitlines()[-1]) == (1, "2 passed, 1 failed, 0 skipped")
    [told] = [line for line in end.splitlines() if line.startswith("FAILED")]
    assert "test_dear - " in told
    assert "s of CPU" in told
    assert "FLAKY" not in end


def test_a_submission_that_is_judged_otherwise_is_named_with_what_was_expected_and_what_came(tmp_path: Path) -> None:
    task = small_task(tmp_path)
    expected = [
        Expectation(task=task.id, verdict=Verdict.FAILED, reasons=(ReasonCode.FLAKY,)),
        Expectation(task=task.id, verdict=Verdict.UNSCORED),
        None,
    ]
    record = VerdictRecord(
        task=task.id,
        task_digest="",
        image_digest="",
        protocol_version=1,
        isolation="none",
        verdict=Verdict.UNSCORED,
        reasons=(Reason(code=ReasonCode.SANDBOX_LOST, stage=Stage.TRIAL, words="gone"),),
    )
    cases = [Case(f"case-{n}", task, Submission(b"", b""), item) for n, item in enumerate(expected)]
    assert fault_lines([Judged(case, record, 1.0) for case in cases]) == [
        "case-0: expected failed flaky, got unscored sandbox-lost (not failed, not flaky)",
        "case-2: expected -, got unscored sandbox-lost",
    ]
