"""How many programs a suite may need: one is built for each package with tests, of each variant."""

from pathlib import Path

from harness.judging.verify.suite_checks import MOST, too_many_programs
from harness.specs.catalog import Catalog
from harness.specs.reasons import ReasonCode
from harness.specs.task import Task
from harness.specs.test_results import TestId


def task(name: str) -> Task:
    (found,) = Catalog().select([name])
    return found


def of_packages(packages: int) -> list[TestId]:
    """Two files in each package, with two tests each."""
    files = [f"internal/p{number}/{name}_test.go" for number in range(packages) for name in "ab"]
    return [TestId(file, test) for file in files for test in ("TestA", "TestB")]


def test_many_files_and_tests_of_a_few_packages_are_fine():
    assert too_many_programs(task("restic-duration"), of_packages(MOST)) is None


def test_more_packages_than_are_built_are_refused_with_their_number():
    reason = too_many_programs(task("restic-duration"), of_packages(MOST + 1))
    assert reason is not None
    assert reason.code is ReasonCode.ARM_LIMIT
    assert f"{MOST + 1} of them, at most {MOST}" in reason.words


def test_as_many_are_built_as_the_tasks_own_tests_need(tmp_path: Path):
    needy = task("restic-duration").model_copy(update={"directory": tmp_path})
    (tmp_path / "reference").mkdir()
    rows = [f"- file: internal/q{number}/q_test.go\n  tests: [TestQ]\n" for number in range(MOST + 3)]
    (tmp_path / "reference" / "manifest.yaml").write_text("".join(rows))
    assert too_many_programs(needy, of_packages(MOST + 3)) is None
    assert too_many_programs(needy, of_packages(MOST + 4)) is not None


def test_where_nothing_is_built_of_a_suite_there_is_no_limit():
    tests = [TestId(f"tests/p{number}/test_a.py", "test_a") for number in range(50)]
    assert too_many_programs(task("aiosmtpd-proxy-tlv"), tests) is None
