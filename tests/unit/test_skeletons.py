"""What `task new` and `task edit` lay out for an author, and that a check refuses it until it is filled in."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.authoring.task_check.fuzzing import read_calls
from harness.authoring.task_check.subject import Subject
from harness.authoring.task_check.task_files import file_problems
from harness.authoring.task_edit import edit_task, write_tree
from harness.authoring.task_new.skeletons import SUITES, expectation, fuzz_file
from harness.authoring.twin_skeletons import MARK, marked
from harness.judging.languages.registry import LANGUAGES
from harness.runs.submissions import Expectation
from harness.specs.catalog import Catalog
from harness.specs.yaml_files import parse_yaml, validate
from tests.support.sound_catalog import TASK, sound_catalog


@pytest.fixture
def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Catalog:
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "cache"))
    return sound_catalog(tmp_path / "catalog")


@pytest.mark.parametrize("name", ["python", "go", "c", "typescript"])
def test_a_fuzz_skeleton_is_a_file_with_one_test(name: str) -> None:
    language = LANGUAGES.get(name)
    [(file, text)] = fuzz_file(language, "adding-up.2", "sums/sums_test.go", "package sums\n").items()
    path = f"sums/{file}"
    assert language.discovery.is_test_file(path)
    assert len(language.discovery.discover(text.encode(), path).tests) == 1
    assert "adding-up.2" in text
    assert "TODO" in text
    assert name != "go" or text.startswith("package sums\n")


def test_a_filled_in_fuzz_skeleton_writes_each_call_twice_and_draws_by_its_seed(tmp_path: Path) -> None:
    python = LANGUAGES.get("python")
    assert python.drawing
    beside = python.drawing
    [(file, text)] = fuzz_file(python, "adding-up", "", "").items()
    filled = text.replace("# TODO: one line for each function, such as ", "").replace(
        "package.parse(number)", "-number"
    )
    assert filled != text

    def calls(source: str, seed: int) -> list[tuple[str, str]]:
        folder = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        (folder / file).write_text(source)
        (folder / beside.name).write_bytes(beside.source)
        env = {**os.environ, "TESTWRIGHT_FUZZ_SEED": str(seed), "TESTWRIGHT_REPORT_DIR": str(folder)}
        subprocess.run([sys.executable, "-c", f"import {file[:-3]} as t; t.test_drawn_inputs()"], cwd=folder, env=env)
        return [tuple(call) for call in read_calls((folder / "fuzz.txt").read_bytes())]

    made = calls(filled, 7)
    assert len(made) == 400
    assert made[::2] == made[1::2]
    assert made == calls(filled, 7)
    assert made != calls(filled, 8)
    assert calls(text, 7) == []


@pytest.mark.parametrize("name", SUITES)
def test_an_honest_suite_begins_with_a_valid_expectation(name: str) -> None:
    made = expectation("sums-total", SUITES[name])
    assert validate(*parse_yaml(made, "expect.yaml"), Expectation, "expect.yaml").verdict is SUITES[name]


def test_a_twin_begins_as_a_comment_at_each_place_of_its_probe() -> None:
    text = b"def a():\n    return 1\n\n\tb\n"
    assert marked(text, [2, 4], "# {}", "1.1").splitlines()[1].startswith(b"    # TODO: a twin of 1.1: ")
    assert marked(text, [2, 4], "# {}", "1.1").splitlines()[4].startswith(b"\t# TODO")
    assert b"\tb\n# " + MARK.encode() in marked(text, [5], "# {}", "1.1")


def test_a_stored_probe_gets_a_twins_skeleton_that_a_check_refuses(catalog: Catalog, tmp_path: Path) -> None:
    twin = catalog.task(TASK).directory / "twins" / "1.3.patch"
    twin.unlink()
    anew = Catalog(catalog.directory)
    tree = write_tree(anew, TASK, "probes/1.3", tmp_path / "tree")
    written = edit_task(anew, TASK, "probes/1.3", tree)
    assert written == [twin.parent.parent / "probes" / "1.3.patch", twin]
    added = [line for line in twin.read_text().splitlines() if line.startswith("+") and not line.startswith("+++")]
    assert added[0].startswith("+    # TODO: a twin of 1.3: ")
    assert len(added) == 1
    [problem] = asyncio.run(file_problems(Subject(anew, Catalog(catalog.directory).task(TASK))))
    assert problem.where.startswith(f"tasks/{TASK}/twins/1.3.patch:")
    assert problem.message.startswith("is still a skeleton: ")
    assert edit_task(anew, TASK, "probes/1.3", tree) == [written[0]]  # what an author may have written is kept
