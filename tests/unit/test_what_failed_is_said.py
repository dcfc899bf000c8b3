"""The end of the tests' own log names every failure: of a long log often only that is kept."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.report.batch_report import fault_lines
from harness.runs.cases import Case, Expectation
from harness.runs.submissions import Judged
from harness.specs.reasons import Reason, ReasonCode, Stage, Verdict
from harness.submission.extraction import Submission
from harness.verify.verdict import VerdictRecord
from tests.support.small_task import small_task

CHECKOUT = Path(__file__).parents[2]
VALIDITY = """
print('FAILED honest/one: expected resolved')
print('9 submissions, 2 differ')
exit(1)
"""
TESTS = """
import pytest

@pytest.fixture
def thing():
    raise OSError("no thing here")

def test_good(): pass
def test_bad(): assert 1 + 1 == 3, "sums are wrong"
def test_without_its_thing(thing): pass
def test_elsewhere(): pytest.skip("not here")
"""


FAILURES = {
    "x.py:3": "no such name",
    "test_bad": "sums are wrong",
    "test_without_its_thing": "no thing here",
    "honest/one": "expected resolved",
}
"""Where it failed -> what is wrong there."""


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/bash\n{text}\n")
    path.chmod(0o755)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """The suite of a checkout whose groups fail in every way there is, and one that doesn't.

    Its stdin never ends: whoever read it would wait for ever.
    """
    checkout = tmp_path_factory.mktemp("checkout")
    (checkout / "scripts").mkdir()
    shutil.copy(CHECKOUT / "scripts" / "test", checkout / "scripts" / "test")
    program(checkout / "scripts" / "engine", "exit 0")
    program(checkout / "scripts" / "check", "cat; seq 1000; echo 'x.py:3: no such name'; exit 1")
    (checkout / "scripts" / "validity.py").write_text(VALIDITY)
    program(checkout / ".venv" / "bin" / "python", f'exec {sys.executable} "$@"')
    program(checkout / ".venv" / "bin" / "testwright", "[[ $1 != task ]] || echo '2 tasks passed, 0 failed'")
    (checkout / "tests" / "unit").mkdir(parents=True)
    (checkout / "tests" / "unit" / "test_it.py").write_text(TESTS)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "TESTWRIGHT_"))}
    command = ["scripts/test", "check", "unit", "honest", "tasks"]
    nothing, kept_open = os.pipe()
    try:
        return subprocess.run(
            command, cwd=checkout, env=kept, stdin=nothing, capture_output=True, text=True, check=False
        )
    finally:
        os.close(nothing)
        os.close(kept_open)


def test_the_end_of_the_log_names_every_failure_with_its_complaint(finished):
    assert finished.returncode == 1
    end = finished.stdout.splitlines()[-40:]
    for place, complaint in FAILURES.items():
        assert [line for line in end if place in line and complaint in line], (place, end)


def test_the_end_of_the_log_is_not_filled_with_what_passed(finished):
    end = finished.stdout.partition("== what failed")[2]
    assert "test_good" not in end
    assert len(end.splitlines()) < 60


def test_the_last_line_counts_what_passed_failed_and_was_skipped(finished):
    """A check fails as one; of pytest there are a failed test and an error; two of nine submissions differ."""
    last = finished.stdout.splitlines()[-1]
    assert {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|skipped)", last)} == {
        "passed": 12, "failed": 5, "skipped": 1
    }  # fmt: skip


def test_each_group_is_told_with_its_seconds_and_those_that_failed_by_name(finished):
    end = finished.stdout.partition("== seconds")[2]
    assert {"check", "unit", "honest", "tasks"} <= set(re.findall(r"^(\w+) +\d+ s", end, re.MULTILINE))
    [failed] = [line for line in end.splitlines() if line.startswith("in these groups")]
    assert set(failed.partition(":")[2].split()) == {"check", "unit", "honest"}


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
