"""Absent names: suites with one invention each, written by somebody who didn't know the detector; honest suites."""

import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest

from harness.judging.submission.extraction import Submission
from harness.plugins.names.beside import LOOK
from harness.plugins.names.looking import look_at
from harness.runs.engine_session import EngineSession, engine_session
from harness.runs.submissions import Expectation
from harness.specs.catalog import Catalog
from harness.specs.reasons import NoteCode
from harness.specs.yaml_files import load_yaml
from tests.support.command import typed
from tests.support.names_page import kept, measure
from tests.support.planted_names import LANGUAGES, look_at_all, placed, planted

pytestmark = pytest.mark.docker
SAMPLE = Path(__file__).parents[2] / "docs" / "sample-run"


@pytest.fixture
async def session() -> AsyncIterator[EngineSession]:
    async with engine_session("docker", uuid4().hex) as found:
        yield found


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_few_inventions_are_found_and_honest_names_are_not(session, language):
    files = planted(language)
    few = [next(file for file in files if file.is_honest), next(file for file in files if not file.is_honest)]
    found, _ = await look_at_all(session, language, few)
    assert {each.file: each.is_found for each in found} == {file: not file.is_honest for file in few}


@pytest.mark.long
@pytest.mark.parametrize("language", LANGUAGES)
async def test_what_is_found_of_inventions_is_what_the_page_says(language):
    """Of every fifth file: `make names` looks at all of them, and writes the page."""
    measured = await measure(language, planted(language)[::5])
    [known] = [each for each in kept() if each.language == language]
    names = {file.name for file in measured.files}
    assert len(names) >= 10
    assert measured.files == tuple(file for file in known.files if file.name in names)


def test_the_suites_of_a_finished_run_are_looked_at_once(tmp_path):
    run = tmp_path / "run"
    shutil.copytree(SAMPLE, run)
    kept = ("aiosmtpd-proxy-tlv/oracle/none/1", "aiosmtpd-proxy-tlv/nop/none/1")
    for trial in {path.parent for path in run.rglob("trial.json")}:
        if trial.relative_to(run / "trials").as_posix() not in kept:
            shutil.rmtree(trial)
    done = typed("names", "write", run, cwd=tmp_path)
    assert (done.status, done.complaint) == (0, "")
    assert "oracle/none/1: no absent name" in done.output
    assert "nop/none/1: the submission is refused" in done.output
    file = run / "trials" / kept[0] / "names.json"
    written = file.read_text()
    file.write_text(written.replace('"findings": []', '"findings": [ ]'))  # as nobody writes it anew
    assert typed("names", "write", run, cwd=tmp_path).status == 0
    assert file.read_text() != written
    assert typed("names", "write", run, "--again", cwd=tmp_path).status == 0
    assert json.loads(file.read_text())["findings"] == []
    assert '"findings": []' in file.read_text()
    submission = file.with_name("submission")
    files = ("--patch", submission / "patch.diff", "--manifest", submission / "manifest.yaml")
    one = typed("names", "suite", "aiosmtpd-proxy-tlv", *files, "--json", cwd=tmp_path)
    assert one.status == 0
    assert json.loads(one.output)["seconds"] > 0


async def test_a_look_within_a_run_notes_a_name_that_does_not_exist(session, tmp_path):
    [file] = [each for each in planted("python") if each.path.name.startswith("028-")]
    task = Catalog().task(LANGUAGES["python"][1])
    context = session.arm_context(task, await session.engine.image(task))
    path, data = placed(file)
    lines = data.decode().splitlines(keepends=True)
    patch = f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@\n" + "".join(f"+{line}" for line in lines)
    names = [word for word in data.decode().replace("(", " ").split() if word.startswith("test_")]
    manifest = f"- file: {path}\n  tests:\n    - {names[0]}\n"
    submission = Submission(patch.encode(), manifest.encode())
    assert "found in" in await LOOK.look(tmp_path, task, submission, context)
    [note] = LOOK.notes(tmp_path, submission)
    assert (note.code, note.subject) == (NoteCode.ABSENT_NAME, f"{path}:{file.line}")


@pytest.mark.long
async def test_no_honest_suite_has_an_absent_name(session):
    """The first suite for each repository."""
    expected = Path(__file__).parents[1].joinpath("honest").rglob("expect.yaml")
    tasks = {path.parent: Catalog().task(load_yaml(path, Expectation).task) for path in expected}
    of_each = {task.repo.name: place for place, task in sorted(tasks.items(), reverse=True, key=lambda each: each[0])}
    honest = [of_each[name] for name in sorted(of_each) if tasks[of_each[name]].repo.language in LANGUAGES]
    assert len(honest) > 10
    found = {}
    for folder in honest:
        task = Catalog().task(load_yaml(folder / "expect.yaml", Expectation).task)
        submission = Submission((folder / "patch.diff").read_bytes(), (folder / "manifest.yaml").read_bytes())
        names = await look_at(task, submission, session.arm_context(task, await session.engine.image(task)))
        print(folder.name, names.why_none, f"{names.seconds:.1f}", names.findings)
        if names.findings:
            found[folder.name] = names.findings
    assert not found
