"""`testwright task browser`: what it lays out is in order but for what its author has to say."""

import re
import shutil
from pathlib import Path

import pytest

from harness.plugins.browser.task import E2E, TECHNIQUE, task_directories
from tests.support.command import typed
from tests.unit.test_browser_task_files import errors

APPLICATIONS = {E2E: "datasette", TECHNIQUE: "deskapp"}
LIKE_IT = {E2E: "datasette-trees", TECHNIQUE: "sign-in"}


def laid_out(place: Path, track: str) -> Path:
    task = place / "tasks" / "mine"
    done = typed("task", "browser", APPLICATIONS[track], task, "--track", track, cwd=place)
    *paths, last = done.output.splitlines()
    assert {Path(path) for path in paths} == {path for path in task.rglob("*") if path.is_file()}
    assert last.endswith(f": testwright task check {track}:{task} --quick")
    return task


@pytest.mark.parametrize("track", APPLICATIONS)
def test_a_check_tells_each_file_that_is_to_be_filled_in_and_nothing_else(tmp_path: Path, track: str) -> None:
    task = laid_out(tmp_path, track)
    unfinished = {
        path.relative_to(task).as_posix() for path in task.rglob("*") if path.is_file() and "TODO" in path.read_text()
    }
    assert unfinished > {"prompt.md", "rubric.yaml", "arms.yaml", "pages.py", "reference/tests/test_mine.py"}
    found = errors(task, track)
    skeletons = [told for told in found if "is still a skeleton: do what its TODO says" in told]
    assert sorted(told.partition(":")[0] for told in skeletons) == sorted(unfinished)
    assert all("there is no file TODO" in told for told in set(found) - set(skeletons))


@pytest.mark.parametrize("track", APPLICATIONS)
def test_what_is_filled_in_is_in_order(tmp_path: Path, track: str) -> None:
    """Prompt, criteria and arms are those of a task that comes with testwright, the rest is as it was laid out."""
    task = laid_out(tmp_path, track)
    [like_it] = task_directories(LIKE_IT[track], track)
    for name in ("prompt.md", "rubric.yaml", "arms.yaml", *(["stable.yaml"] if track == E2E else [])):
        (task / name).write_text((like_it / name).read_text().replace(f"task: {like_it.name}", "task: mine"))
    for path in (path for path in task.rglob("*") if path.is_file()):
        path.write_text(re.sub(r"\bTODO\b", "Done", path.read_text()))
    assert errors(task, track) == []


def test_an_application_may_have_the_word_todo(tmp_path: Path) -> None:
    [own] = task_directories(LIKE_IT[TECHNIQUE], TECHNIQUE)
    task = shutil.copytree(own, tmp_path / own.name)
    for path in (task / "task.yaml", *(task / "reference").rglob("*.py")):
        path.write_text(path.read_text().replace("title: ", "title: TODO and ") + "# TODO\n")
    assert errors(task, TECHNIQUE) == []


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["datasete", "mine"], "no application 'datasete'; there are datasette, deskapp, "),
        (["datasette", "Mine"], "'Mine' is no name of a task: small letters, digits, '.' and '-'"),
        (["datasette/", "mine"], "'datasette/' is no name of an application: small letters, digits, '.' and '-'"),
        (["datasette", "there"], "there: is there already; take another name, or remove it"),
        (["datasette", "mine", "--track", "bug"], "--track bug: is e2e or technique"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(tmp_path: Path, words: list[str], complaint: str) -> None:
    (tmp_path / "there").mkdir()
    done = typed("task", "browser", *words, cwd=tmp_path)
    assert (done.status, done.output) == (2, "")
    assert complaint in done.complaint
    assert done.complaint.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
