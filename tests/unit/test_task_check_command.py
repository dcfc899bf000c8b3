"""`testwright task check --quick` as a person types it."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from harness.authoring.task_check.explaining import EXPLAINED, explained
from harness.plugins.published.check.parts import DYNAMIC, STATIC
from harness.specs.task_facts import Level, StepId
from tests.support.command import Done, typed
from tests.support.sound_catalog import TASK, sound_catalog


@pytest.fixture
def catalog(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "cache"))
    return sound_catalog(tmp_path / "catalog").directory


def arguments(catalog: Path, *options: str | Path) -> list[str | Path]:
    return [sys.executable, "-m", "harness.cli", "--catalog", catalog, "task", "check", *options]


def task_check(catalog: Path, *options: str | Path) -> Done:
    return typed("--catalog", catalog, "task", "check", *options, cwd=catalog)


@pytest.mark.long
def test_status_tells_errors_from_warnings_and_json_has_every_problem(catalog):
    rubric, statement = catalog / "rubrics" / f"{TASK}.yaml", "Tests that a start that is given is part of the total."
    text = rubric.read_text()
    rubric.write_text(text.replace(statement, "Tests starts and ends and middles of a list of numbers."))
    warned = task_check(catalog, "--quick", "--json")
    assert (warned.status, warned.complaint.splitlines()[:2]) == (0, [f"{TASK}: files", f"{TASK}: rubric"])
    [task] = json.loads(warned.output)["tasks"]
    assert [problem["severity"] for problem in task["problems"]] == ["warning"]

    rubric.write_text(text.replace(statement, "Tests that it works properly."))
    failed = task_check(catalog, TASK, "--quick")
    assert failed.status == 1
    assert f"{TASK}: failed: rubric: rubrics/{TASK}.yaml:14" in failed.complaint
    assert f"{TASK} quick failed: rubric" in " ".join(failed.output.split())
    assert f"rubrics/{TASK}.yaml:14 error criterion 1.3 says 'works'" in " ".join(failed.output.split())


@pytest.mark.long
def test_fix_says_what_it_wrote_and_checks_what_is_then_there(catalog):
    manifest = catalog / "tasks" / TASK / "reference" / "manifest.yaml"
    whole = manifest.read_text()
    manifest.write_text(whole.replace('    - "test_the_mean_of_nothing_is_none"\n', ""))
    fixed = task_check(catalog, "--quick", "--fix")
    assert fixed.status == 0, fixed.output
    assert f"fixed tasks/{TASK}/reference/manifest.yaml" in fixed.output
    assert manifest.read_text() == whole


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["sums-totel"], "did you mean 'sums-total'?"),
        (["--quick", "--sample"], "--quick, --brief and --sample exclude each other"),
        (["--quick", "--write"], "--write needs --records DIR"),
        (["--quick", "--only", "covers"], "'covers' starts containers; leave --quick out"),
        (["--brief", "--only", "fuzz"], "'fuzz' is no part of the brief check; it is one of the full check"),
        (
            [TASK, "--only", "acceptance"],
            f"{TASK}: tasks of the track behaviour have no part 'acceptance'; they have: files, rubric, prompt, ",
        ),
        (["e2e:datasette-trees", "--only", "twins", "--quick"], "'twins' starts containers; leave --quick out"),
    ],
)
def test_what_cannot_be_meant_is_refused(catalog, options, words):
    refused = task_check(catalog, *options)
    assert (refused.status, refused.output) == (2, "")
    assert words in refused.complaint


def test_a_part_that_reads_files_needs_no_engine(catalog, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{catalog}/no.sock")
    done = task_check(catalog, TASK, "--only", "prompt", "--json")
    assert (done.status, [step["id"] for step in json.loads(done.output)["tasks"][0]["steps"]]) == (0, ["prompt"])


@pytest.mark.long
def test_a_terminal_shows_a_line_that_moves_and_is_gone_at_the_end(catalog):
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(arguments(catalog, "--quick"), stdout=subprocess.PIPE, stderr=theirs, env=env) as process:
        os.close(theirs)
        shown = b"".join(everything(ours))
        assert process.stdout is not None
        told = process.stdout.read()
    os.close(ours)
    assert process.returncode == 0
    assert b"\x1b[2K" in shown
    assert b"1/1" in shown
    assert b"\x1b" not in told


def everything(terminal: int) -> Iterator[bytes]:
    """All that is written to a terminal; reading ends with an error once nobody has it open."""
    with suppress(OSError):
        while chunk := os.read(terminal, 4096):
            yield chunk


@pytest.mark.parametrize("step", sorted({*StepId} - ({*STATIC, *DYNAMIC[Level.FULL]} - {*EXPLAINED})))
def test_every_part_says_what_it_demands_why_and_what_to_type(step):
    words = explained(step, "my-task")
    assert [line.split(":")[0].strip() for line in words.splitlines()] == [step.label, "demands", "why", "to mend it"]
    assert "TASK" not in words


def test_a_failed_part_is_explained_on_request_and_nothing_is_checked(catalog):
    (catalog / "tasks" / TASK / "prompt.md").write_text("Tests, please.")
    failed = task_check(catalog, TASK, "--quick", "--only", "prompt")
    told = [line for line in failed.output.splitlines() if "--explain" in line]
    assert [line.strip() for line in told] == ["what a part demands, and why: testwright task check --explain prompt"]
    asked = task_check(catalog, "--explain", "prompt", "--explain", "twins")
    assert (asked.status, asked.complaint) == (0, "")
    assert "demands: 200 to 4000 characters" in asked.output
    assert "testwright task edit TASK twins/1.4" in asked.output
    assert task_check(catalog, "--explain", "covers").output.startswith("reference, several times")
    unknown = task_check(catalog, "--explain", "promt")
    assert (unknown.status, unknown.output) == (2, "")
    assert "--explain: unknown part 'promt'; did you mean 'prompt'?" in unknown.complaint
