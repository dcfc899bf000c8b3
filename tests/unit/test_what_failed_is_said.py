"""The end of the tests' own log names every failure: of a long log often only that is kept."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

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


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/bash\n{text}\n")
    path.chmod(0o755)


def test_the_end_names_tests_fixtures_cases_and_complaints(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    shutil.copy(CHECKOUT / "scripts" / "test", tmp_path / "scripts" / "test")
    program(tmp_path / "scripts" / "engine", "exit 0")
    program(tmp_path / "scripts" / "check", "seq 100; echo 'x.py:3: no such name'; exit 1")
    (tmp_path / "scripts" / "validity.py").write_text(VALIDITY)
    program(tmp_path / ".venv" / "bin" / "python", f'exec {sys.executable} "$@"')
    program(tmp_path / ".venv" / "bin" / "testwright", "[[ $1 != task ]] || echo '2 tasks passed, 0 failed'")
    (tmp_path / "tests" / "unit").mkdir(parents=True)
    (tmp_path / "tests" / "unit" / "test_it.py").write_text(TESTS)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "TESTWRIGHT_"))}
    command = ["scripts/test", "check", "unit", "honest", "tasks"]
    done = subprocess.run(command, cwd=tmp_path, env=kept, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    end = done.stdout.partition("== what failed")[2]
    why, _, clock = end.partition("== seconds")
    assert "check:\n92\n" in why
    assert "x.py:3: no such name" in why
    assert "FAILED tests/unit/test_it.py::test_bad - AssertionError: sums are wrong" in why
    assert "ERROR tests/unit/test_it.py::test_without_its_thing - OSError: no thing here" in why
    assert "test_good" not in why
    assert "FAILED honest/one: expected resolved" in why
    clock, _, closing = clock.partition("in these groups: ")
    assert re.findall(r"^(\w+) +\d+ s$", clock, re.MULTILINE) == ["check", "unit", "honest", "tasks", "all"]
    # check fails as one; of pytest a test and an error; two of nine submissions; two tasks.
    assert closing == "check unit honest\n\n10 passed, 5 failed, 1 skipped\n"


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
