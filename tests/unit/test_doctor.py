"""What doctor says of machines that lack something."""

import os
import time
from pathlib import Path

import docker
import pytest

from harness.authoring.doctor import doctor, tries
from harness.sandbox.local.confinement import works
from harness.specs.problem import Health


def test_bare_machine_gets_advice_in_seconds_and_no_secret_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no.sock")
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "not" / "yet"))
    monkeypatch.setenv("HTTPS_PROXY", "http://someone:secret-word@127.0.0.1:3128")
    monkeypatch.setenv("SOME_API_KEY", "other-word")
    began = time.monotonic()
    findings = {finding.name: finding for finding in doctor()}
    assert time.monotonic() - began < 20
    missing = {name for name, finding in findings.items() if finding.health is Health.MISSING}
    assert missing == {"sandbox auto", "engine", "git"}
    assert "install Docker or bubblewrap" in findings["sandbox auto"].words
    assert findings["image builds"].health is Health.DEGRADED  # images can be brought
    assert "repo import" in findings["image builds"].words
    assert "--sandbox local" in findings["engine"].words
    assert findings["repo new"].health is Health.DEGRADED
    assert "it lacks" in findings["repo new"].words
    assert "npm for TypeScript" in findings["repo new"].words
    assert findings["bubblewrap"].health is Health.DEGRADED
    assert findings["proxies"].health is Health.DEGRADED
    assert "SOME_API_KEY" in findings["model keys"].words
    told = " ".join(finding.words for finding in findings.values())
    assert "secret-word" not in told
    assert "other-word" not in told


def test_empty_bundle_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ca.pem").write_text("no certificates here\n")
    monkeypatch.setenv("TESTWRIGHT_CA_BUNDLE", str(tmp_path / "ca.pem"))
    (finding,) = (finding for finding in doctor() if finding.name == "certificates")
    assert finding.health is Health.DEGRADED


@pytest.mark.skipif(not works(), reason="NO BUBBLEWRAP HERE, so this was NOT tested")
def test_what_auto_takes_without_an_engine_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no.sock")
    (finding,) = (finding for finding in doctor() if finding.name == "sandbox auto")
    assert finding.health is Health.OK
    assert "bubblewrap" in finding.words


@pytest.mark.docker
def test_what_auto_takes_where_an_engine_answers_is_told() -> None:
    (finding,) = (finding for finding in doctor() if finding.name == "sandbox auto")
    assert finding.words == "takes docker"


@pytest.mark.docker
def test_what_an_engine_is_used_for_is_tried_and_leaves_nothing() -> None:
    client = docker.from_env()
    try:
        found = {finding.name: finding for finding in tries()}
        assert {name: finding.health for name, finding in found.items()} == {
            "a build step": Health.OK, "a container": Health.OK,
        }, found  # fmt: skip
        assert "an archive in and one out (2 members)" in found["a container"].words
        # Other processes may try at the same time: their tags have another process id.
        left = [tag for image in client.images.list("testwright/doctor-try") for tag in image.tags]
        assert not [tag for tag in left if tag.startswith(f"testwright/doctor-try:{os.getpid()}-")]
    finally:
        client.close()
