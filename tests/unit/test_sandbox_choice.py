"""Sandboxes by name: what `auto` takes, and what is said of a name that is misspelt or can't work here."""

import logging
from pathlib import Path

import pytest

from harness.sandbox.local.confinement import works
from harness.sandbox.registry import SANDBOXES, check_sandbox
from harness.specs.errors import UserError
from harness.tracks.registry import choose_engine, engines_here
from tests.support.command import typed_beside

MISSPELT = "unknown sandbox 'dcoker'; did you mean 'docker'?"
TASK = "aiosmtpd-proxy-tlv"


@pytest.fixture
def no_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no.sock")


@pytest.fixture
def no_bubblewrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine whose PATH has bash and nothing else."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "bash").symlink_to("/bin/bash")
    monkeypatch.setenv("PATH", str(programs))


async def isolation_of(name: str) -> str:
    engine = choose_engine(name)
    await engine.close()
    return engine.isolation


@pytest.mark.docker
async def test_auto_takes_a_docker_engine_that_answers() -> None:
    assert await isolation_of("auto") == "docker"


@pytest.mark.skipif(not works(), reason="NO BUBBLEWRAP HERE, so this was NOT tested")
async def test_auto_takes_bubblewrap_where_no_engine_answers(no_engine: None) -> None:
    assert await isolation_of("auto") == "bubblewrap"


def test_auto_never_takes_an_unconfined_sandbox_and_says_what_to_install(
    no_engine: None, no_bubblewrap: None
) -> None:
    with pytest.raises(UserError) as caught:
        choose_engine("auto")
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    for words in ("no Docker engine answers", "bubblewrap is not installed", "apt-get install", "--sandbox local"):
        assert words in message


async def test_an_unconfined_sandbox_is_taken_by_name_with_a_warning(
    no_bubblewrap: None, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assert await isolation_of("local") == "none"
    assert "commands run unconfined" in caplog.text


@pytest.mark.parametrize("name", ["dcoker", "dcoker:x"])
def test_a_misspelt_sandbox_is_told_the_near_name(name: str) -> None:
    for look in (choose_engine, check_sandbox):
        with pytest.raises(UserError) as caught:
            look(name)
        assert str(caught.value) == MISSPELT


@pytest.mark.parametrize("name", ["docker:fast", "local:here", "auto:x"])
def test_an_argument_that_a_sandbox_does_not_take_is_refused(name: str) -> None:
    with pytest.raises(UserError, match=f"takes no argument; {name} has one"):
        choose_engine(name)


def test_a_file_that_a_sandbox_is_configured_by_is_named_by_its_whole_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.yaml").write_text("")
    assert check_sandbox("local:own.yaml") == f"local:{tmp_path}/own.yaml"
    assert check_sandbox("local:none.yaml") == "local:none.yaml"


async def test_every_sandbox_of_this_package_can_be_imported_and_those_that_work_are_found() -> None:
    for name in SANDBOXES.names:
        assert callable(SANDBOXES.get(name))
    engines = engines_here()
    assert "local" in [engine.name for engine in engines]
    for engine in engines:
        await engine.close()


@pytest.mark.long
async def test_a_misspelt_sandbox_ends_every_command_with_status_2(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text(f"tasks: [{TASK}]\nscaffolds: [nop]\nsandbox: dcoker\n")
    (tmp_path / "p.diff").write_text("diff --git a/tests/x.py b/tests/x.py\n--- a/tests/x.py\n+++ b/tests/x.py\n")
    (tmp_path / "m.yaml").write_text("")
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "run.yaml").write_text(f"id: x\nconfig: {{tasks: [{TASK}], sandbox: dcoker}}\n")
    run = ("run", "-t", TASK, "-s", "nop", "-o", "out", "--sandbox", "dcoker")
    for arguments in (
        run,
        (*run, "--dry-run"),
        ("run", "-c", "run.yaml", "-o", "out"),
        ("verify", TASK, "--patch", "p.diff", "--manifest", "m.yaml", "--sandbox", "dcoker"),
        ("regrade", "kept"),
    ):
        done = await typed_beside(*arguments, cwd=tmp_path)
        assert (done.status, done.output) == (2, ""), done
        assert done.complaint.strip() == f"testwright: {MISSPELT}"
    assert not (tmp_path / "out").exists()
