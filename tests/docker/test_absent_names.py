"""Absent names: suites with one invention each, written by somebody who didn't know the detector; honest suites."""

import json
import shutil
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest

from harness.judging.submission.extraction import Submission
from harness.plugins.names.beside import LOOK
from harness.plugins.names.findings import Finding, Kind
from harness.plugins.names.looking import look_at
from harness.runs.engine_session import EngineSession, engine_session
from harness.runs.submissions import Expectation
from harness.specs.catalog import Catalog
from harness.specs.reasons import NoteCode
from harness.specs.yaml_files import load_yaml
from tests.support.command import typed
from tests.support.planted_names import PlantedFile, look, placed, planted

pytestmark = pytest.mark.docker
SAMPLE = Path(__file__).parents[2] / "docs" / "sample-run"
LEAST_RECALL = {"python": 0.9, "go": 0.8, "c": 0.9, "typescript": 0.9}
"""In Go a sixth of the files has names in tags, templates or other strings, of which no compiler says anything."""
LANGUAGES = {
    "python": ("aiosmtpd-proxy-tlv", "cachetools-expiring-entries"),
    "go": ("restic-duration",),
    "c": ("jansson-object-merge",),
    "typescript": ("zod-stringbool",),
}
AT_ONCE = {"python": 80, "go": 1, "c": 70, "typescript": 90}
"""A Go package that has one bad import isn't looked at any further: there each file is a suite of its own."""


@pytest.fixture
async def session() -> AsyncIterator[EngineSession]:
    async with engine_session("docker", uuid4().hex) as found:
        yield found


def task_of(language: str, file: PlantedFile) -> str:
    names = LANGUAGES[language]
    return names[-1] if language == "python" and not placed(file)[0].startswith("aiosmtpd") else names[0]


def is_of_another(finding: Finding, task: str) -> bool:
    """Some files were written for both libraries at once; the image of one lacks the other."""
    top = finding.name.partition(".")[0]
    return finding.kind is Kind.MODULE and top in ("aiosmtpd", "cachetools") and not task.startswith(top)


async def found_in(session: EngineSession, language: str, files: list[PlantedFile]) -> dict[PlantedFile, bool]:
    """File -> whether its invention is found, or for an honest file whether something is."""
    found: dict[PlantedFile, bool] = {}
    for name in LANGUAGES[language]:
        mine = [file for file in files if task_of(language, file) == name]
        task = Catalog().task(name)
        context = session.arm_context(task, await session.engine.image(task))
        for first in range(0, len(mine), AT_ONCE[language]):
            some = mine[first : first + AT_ONCE[language]]
            looked = await look(task, context, some)
            assert not looked.why_none
            for file in some:
                place = placed(file)[0]
                here = [each for each in looked.findings if each.file == place and not is_of_another(each, name)]
                found[file] = bool(here) if file.is_honest else file.is_found_in(looked.findings, place)
                print(file.path.name, file.kind, file.name, found[file], here)
            print(f"{looked.seconds:.1f} s of CPU for {len(some)} files")
    return found


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_few_inventions_are_found_and_honest_names_are_not(session, language):
    files = planted(language)
    few = [file for file in files if file.is_honest][:2] + [file for file in files if not file.is_honest][:2]
    found = await found_in(session, language, few)
    assert found == {file: not file.is_honest for file in few}


@pytest.mark.long
@pytest.mark.parametrize("language", LANGUAGES)
async def test_nine_in_ten_inventions_are_found_and_no_honest_name_is(session, language):
    found = await found_in(session, language, planted(language))
    assert [file.path.name for file, is_found in found.items() if file.is_honest and is_found] == []
    inventions = {file: is_found for file, is_found in found.items() if not file.is_honest}
    kinds, hits = (
        Counter(file.kind for file in inventions),
        Counter(file.kind for file in inventions if inventions[file]),
    )
    assert len(inventions) >= 60
    missed = [file.path.name for file, is_found in inventions.items() if not is_found]
    recall = sum(inventions.values()) / len(inventions)
    assert recall >= LEAST_RECALL[language], (
        recall,
        {kind: (hits[kind], count) for kind, count in kinds.items()},
        missed,
    )


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
    task = Catalog().task(task_of("python", file))
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


HONEST = sorted(
    path.parent
    for path in Path(__file__).parents[1].joinpath("honest").rglob("expect.yaml")
    if Catalog().task(load_yaml(path, Expectation).task).repo.language in LANGUAGES
)


@pytest.mark.long
async def test_no_honest_suite_has_an_absent_name(session):
    assert len(HONEST) > 50
    found = {}
    for folder in HONEST:
        task = Catalog().task(load_yaml(folder / "expect.yaml", Expectation).task)
        submission = Submission((folder / "patch.diff").read_bytes(), (folder / "manifest.yaml").read_bytes())
        names = await look_at(task, submission, session.arm_context(task, await session.engine.image(task)))
        print(folder.name, names.why_none, f"{names.seconds:.1f}", names.findings)
        if names.findings:
            found[folder.name] = names.findings
    assert not found
