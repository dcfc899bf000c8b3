"""Bad input: one clear line, status 2, nothing half-made."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness import __version__
from harness.specs.catalog_places import default_directory
from tests.support.command import Done, typed

TASK = "aiosmtpd-proxy-tlv"
REFERENCE = default_directory() / "tasks" / TASK / "reference"


def command(*arguments: str | Path, cwd: Path, **env: str) -> Done:
    """In this process: its start would take longer than all the rest."""
    return typed(*arguments, cwd=cwd, environment={**os.environ, "OPENAI_API_KEY": "key-for-tests", **env})


def assert_refused(done: Done, *words: str) -> None:
    assert done.status == 2, done.complaint
    assert not done.output
    [line] = done.complaint.strip().splitlines()
    assert line.startswith("testwright: ")
    for word in words:
        assert word in line


@pytest.fixture
def catalog(tmp_path) -> Path:
    """A copy of the shipped catalog, to be spoilt."""
    copy = tmp_path / "catalog"
    for folder in ("tasks", "repos", "rubrics", "scaffolds", "models"):
        shutil.copytree(default_directory() / folder, copy / folder)
    return copy


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-t", "aiosmtpd-proxy-tvl", "-s", "nop"], ["unknown task", "did you mean 'aiosmtpd-proxy-tlv'"]),
        (["-t", "tag:nothing", "-s", "nop"], ["unknown tag 'nothing'"]),
        (["-t", TASK, "-s", "mimi"], ["unknown scaffold", "did you mean 'mini'"]),
        (["-t", TASK, "-s", "mini"], ["needs a model"]),
        (["-t", TASK, "-s", "mini", "-m", "gpt"], ["unknown model 'gpt'", "PROVIDER/MODEL"]),
        (["-t", TASK, "-s", "mini", "-m", "replay:none.jsonl"], ["none.jsonl", "No such file"]),
        (["-t", TASK, "-s", "mini", "-m", "none.yaml"], ["none.yaml", "No such file"]),
        (
            ["-t", TASK, "-s", "mini", "-m", "openai/nobody-knows-it", "--max-cost", "5"],
            ["--max-cost can't be held for model openai/nobody-knows-it", "its price is unknown", "in a model file"],
        ),
        (["-s", "nop"], ["no task is named"]),
        (["-t", TASK], ["no scaffold is named"]),
        (["-t", TASK, "-s", "nop", "--sandbox", "vm"], ["sandbox", "docker"]),
        (["-t", TASK, "-s", "nop", "-k", "0"], ["attempts"]),
        (["-t", TASK, "-s", "nop", "-c", "none.yaml"], ["none.yaml", "No such file"]),
        (["-t", TASK, "-x", TASK, "-s", "nop"], ["nothing to run"]),
    ],
)
def test_an_option_that_names_nothing_is_refused_before_anything_is_made(tmp_path, arguments, words):
    assert_refused(command("run", "-o", "out", *arguments, cwd=tmp_path), *words)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        (f"tasks/{TASK}/task.yaml", "id: [", ["task.yaml:1", "not YAML"]),
        (f"rubrics/{TASK}.yaml", "task: x\ncriterias: []\n", ["yaml:2", "did you mean 'criteria'"]),
        ("repos/aiosmtpd/repo.yaml", "name: aiosmtpd\nlanguage: cobol\n", ["repo.yaml:2"]),
        ("scaffolds/nop/scaffold.yaml", "name: other\nkind: control\ntitle: x\nversion: '1'\n", ["rename one"]),
    ],
)
def test_a_file_of_the_catalog_that_is_wrong_is_named_with_its_line(tmp_path, catalog, file, text, words):
    (catalog / file).write_text(text)
    done = command("--catalog", catalog, "run", "-t", TASK, "-s", "nop", "-o", "out", cwd=tmp_path)
    assert_refused(done, *words)
    assert not (tmp_path / "out").exists()


def test_an_unknown_key_in_a_run_file_is_named_with_its_line(tmp_path):
    (tmp_path / "run.yaml").write_text("tasks: ['*']\nscaffold: [nop]\n")
    done = command("run", "-c", "run.yaml", "-o", "out", cwd=tmp_path)
    assert_refused(done, "run.yaml:2", "unknown key 'scaffold'; did you mean 'scaffolds'?")


def test_a_patch_that_is_none_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("I changed the tests.\n")
    manifest = REFERENCE / "manifest.yaml"
    done = command("verify", TASK, "--patch", "notes.txt", "--manifest", manifest, cwd=tmp_path)
    assert_refused(done, "notes.txt", "not a patch")


def test_a_manifest_of_a_million_lines_is_refused_at_once(tmp_path):
    (tmp_path / "manifest.yaml").write_text("- file: a.py\n" * 1_000_000)
    patch = REFERENCE / "tests.patch"
    done = command("verify", TASK, "--patch", patch, "--manifest", "manifest.yaml", cwd=tmp_path)
    assert_refused(done, "manifest.yaml", "larger than")


def test_a_file_that_is_absent_is_refused(tmp_path):
    done = command("verify", TASK, "--patch", "a.diff", "--manifest", "b.yaml", cwd=tmp_path)
    assert_refused(done, "a.diff", "No such file")


def test_docker_that_does_not_answer_is_refused_where_it_is_asked_for(tmp_path):
    arguments = ("run", "-t", TASK, "-s", "nop", "--sandbox", "docker", "-o", "out")
    done = command(*arguments, cwd=tmp_path, DOCKER_HOST=f"unix://{tmp_path}/none.sock")
    assert_refused(done, "doctor")
    assert not (tmp_path / "out").exists()


def test_an_output_folder_that_cannot_be_written_is_refused(tmp_path):
    done = command("run", "-t", TASK, "-s", "nop", "-o", "/proc/none", cwd=tmp_path)
    assert_refused(done, "/proc/none", "choose another with -o")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: it mounts a file system of 64 KiB")
@pytest.mark.docker
@pytest.mark.parametrize(
    ("options", "status", "words"),
    [
        ("size=64k", 1, "1 trials: 1 unscored"),  # the run can be written down, and nobody works in vain
        ("size=4k", 2, "No space left on device"),
        ("ro", 2, "choose another with -o"),
    ],
)
def test_a_full_or_read_only_disk_ends_with_what_to_do_and_keeps_what_was_written(tmp_path, options, status, words):
    small = tmp_path / "small"
    small.mkdir()
    run = f"{sys.executable} -m harness.cli run -t {TASK} -s oracle -o {small}/out --min-free-disk 0 --tries 1"
    script = f"mount -t tmpfs -o {options} none {small} && {run}; status=$?; ls {small}; exit $status"
    done = subprocess.run(["unshare", "--mount", "sh", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    told = done.stderr.strip().splitlines()[-1] if status == 2 else done.stdout
    assert told.startswith("testwright: ") == (status == 2)
    assert words in " ".join(told.split())
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", [["show"], ["report"], ["report", "--site", "pages"], ["report", "--json"]])
def test_a_run_whose_own_file_is_damaged_is_shown_with_a_warning_and_another_status(tmp_path, words):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.yaml").write_text("a: [")
    done = command(words[0], "run", *words[1:], cwd=tmp_path)
    assert done.status == 1
    [line] = done.complaint.strip().splitlines()
    assert line.startswith("warning: run/run.yaml:1: not YAML")
    assert "what was asked for isn't known" in line


def test_the_version_is_told(tmp_path):
    assert command("--version", cwd=tmp_path).output == f"testwright {__version__}\n"


def test_what_a_recipe_lacks_is_said_before_a_run_makes_anything(catalog, tmp_path):
    file = catalog / "repos" / "cachetools" / "repo.yaml"
    file.write_text(file.read_text().replace("  config: pytest.ini", "  confg: pytest.ini"))
    words = ("run", "-t", "cachetools-expiring-entries", "-s", "oracle", "-o", "out")
    done = command("--catalog", catalog, *words, cwd=tmp_path)
    assert_refused(done, "cachetools/repo.yaml:52: frame: unknown place 'confg'")
    assert not (tmp_path / "out").exists()


def test_a_shell_can_complete_commands(tmp_path):
    """typer's own: it writes what the shell reads (docs/operating.md)."""
    shown = command("--help", cwd=tmp_path).output
    assert "--install-completion" in shown
    assert "--show-completion" in shown
