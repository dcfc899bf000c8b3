"""What is missing of a bug's files, or gives it away, is told before anything runs."""

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.authoring.task_check.controls import read_check_record
from harness.specs.catalog import Catalog
from tests.support.bug_catalog import BASE, BUG, bug_catalog
from tests.support.command import typed

RECORDS = Path(__file__).parents[2] / "docs" / "check-records"
FAULTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "no report": (lambda bug: (bug / "report.md").unlink(), "report.md: is missing"),
    "a report that names the file": (
        lambda bug: (bug / "report.md").write_text("In timed.py the age is compared in a wrong way."),
        "names src/itsdangerous/timed.py, where the fault is",
    ),
    "one partial fix": (
        lambda bug: next((bug / "partial").iterdir()).unlink(),
        "partial: has 1 patches; a bug needs 2",
    ),
    "no other fix": (
        lambda bug: shutil.rmtree(bug / "alternatives"),
        "alternatives: has 0 patches; a bug needs 1",
    ),
    "nothing that shows it": (
        lambda bug: (bug / "hidden.yaml").write_text("schema_version: 1\n"),
        "no hidden test shows the bug",
    ),
}


@pytest.fixture
def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "cache"))
    return bug_catalog(tmp_path / "catalog")


def complaint(catalog: Path, *words: str) -> tuple[int, str]:
    done = typed("--catalog", catalog, "task", *words, cwd=catalog)
    return done.status, done.complaint


def test_the_bug_as_it_is_has_all_its_files(catalog: Path) -> None:
    assert complaint(catalog, "check", BUG, "--quick", "--only", "files")[0] == 0


@pytest.mark.parametrize("name", FAULTS)
def test_a_file_that_is_missing_or_gives_the_bug_away_is_an_error(catalog: Path, name: str) -> None:
    spoil, words = FAULTS[name]
    spoil(catalog / "tasks" / BUG)
    status, told = complaint(catalog, "check", BUG, "--quick", "--only", "files")
    assert status == 1
    assert words in told


def test_a_partial_fix_must_not_have_the_name_of_the_wrong_one(catalog: Path) -> None:
    partial = catalog / "tasks" / BUG / "partial"
    next(partial.iterdir()).rename(partial / "wrong-fix.patch")
    status, told = complaint(catalog, "check", BUG, "--quick", "--only", "files")
    assert status != 0
    assert "no partial fix may be called wrong-fix" in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((BASE,), "--probe is missing: which of the task's probes is to be the bug?"),
        ((BASE, "--probe", "9.9"), f"task {BASE} has no probe '9.9'; known: 1.1"),
        ((BASE, "--tree", "there"), f"task {BASE}: it is no task of the bug track"),
    ],
)
def test_what_no_bug_can_be_made_of_is_told_in_a_line(catalog: Path, words: tuple[str, ...], told: str) -> None:
    status, complained = complaint(catalog, "bug", *words)
    assert status == 2
    assert told in complained


def test_bugs_are_of_eight_repositories_in_every_language_and_each_was_checked_as_it_is_now() -> None:
    bugs = [task for task in Catalog().select(["bug:*"]) if task.track == "bug"]
    languages = Counter(task.repo.language for task in bugs)
    assert languages.keys() == {"python", "go", "c", "typescript"}
    assert min(languages.values()) >= 4
    assert len({task.repo.name for task in bugs}) >= 8
    records = {task.id: read_check_record(RECORDS, task.id) for task in bugs}
    assert {name: record.task_digest for name, record in records.items() if record} == {
        task.id: task.digest for task in bugs
    }
