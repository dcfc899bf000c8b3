"""Nice-to-haves that code decides, measured on upstream's own tests."""

import asyncio
from pathlib import Path

import pytest
import yaml

from harness.authoring.task_check.conventions import convention_problems
from harness.authoring.task_check.subject import Subject
from harness.specs.catalog import Catalog
from harness.specs.problem import Severity
from tests.support.sound_catalog import NICE, TASK, sound_catalog


@pytest.fixture
def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Upstream has two test functions in tests/test_sums.py, one of them withheld."""
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "cache"))
    return sound_catalog(tmp_path / "catalog").directory


def problems(catalog: Path, number: str, check: str) -> list[str]:
    """What is said where this criterion is decided by this check; where it is said must be the criterion's line."""
    rubric = catalog / "rubrics" / f"{TASK}.yaml"
    facts = yaml.safe_load(rubric.read_text())
    for criterion in facts["criteria"]:
        if criterion["id"] == number:
            criterion |= {"graded_by": ["static"], "static": yaml.safe_load(check)}
    rubric.write_text(yaml.safe_dump(facts, width=1000))
    lines = rubric.read_text().splitlines()
    at = next(place for place, line in enumerate(lines) if NICE[number] in line)
    loaded = Catalog(catalog)
    found = asyncio.run(convention_problems(Subject(loaded, loaded.task(TASK))))
    assert {problem.where for problem in found} <= {f"rubrics/{TASK}.yaml:{at + 1}"}
    assert {problem.severity for problem in found} <= {Severity.ERROR}
    return [problem.message for problem in found]


@pytest.mark.parametrize(
    ("number", "check", "told"),
    [
        ("3.1", '{check: inside, value: "^Test", of: all}', "0 of 2 tests (upstream), 0 of 1 tests (withheld)"),
        ("3.1", '{check: test-named, value: "^test_mean$", of: all}', ""),
        ("3.1", '{check: test-named, value: "nothing", of: all}', ""),
        ("4.1", "{check: uses-name, value: parametrize, of: any}", "0 of 1 test files (upstream), 0 of 1 test files"),
        ("4.1", "{check: uses-name, value: mean, of: any}", ""),
        ("2.1", '{check: file-matches, value: "elsewhere/**", of: all}', "0 of 2 tests (upstream), 0 of 1 tests"),
        ("2.1", '{check: file-matches, value: "tests/test_*.py", of: all}', ""),
        ("5.1", "{check: uses-name, value: parametrize, of: any}", ""),
    ],
)
def test_what_upstreams_tests_mostly_miss_is_no_convention_of_theirs(catalog, number, check, told):
    found = problems(catalog, number, check)
    assert len(found) == bool(told)
    if told:
        assert found[0].startswith(f"criterion {number} is no convention of upstream's tests: {told}")
