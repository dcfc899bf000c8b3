"""`run --dry-run` says what the next start does: each state, and then the start itself."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import typed

pytestmark = pytest.mark.docker

TASK = "aiosmtpd-proxy-tlv"
SCRIPT = "messages:" + "\n  - text: I am done.\n    commands: ['echo TESTWRIGHT_SUBMIT']" * 2 + "\n"


def run(place: Path, *options: str, **env: str) -> Any:
    words = ["run", "-t", TASK, "-s", "nop", "-s", "mini", "-m", "scripted:one.yaml", "-m", "scripted:two.yaml"]
    words += ["-o", "out", "--sandbox", "docker", "--json", "--extend"]
    done = typed(*words, *options, cwd=place, environment={**os.environ, **env})
    assert done.status == 0, done.complaint
    return json.loads(done.output)["trials"]


def states(place: Path, **env: str) -> list[str]:
    before = {path: path.stat().st_mtime_ns for path in place.rglob("*")}
    found = [trial["state"] for trial in run(place, "--dry-run", **env)]
    assert {path: path.stat().st_mtime_ns for path in place.rglob("*")} == before
    return found


@pytest.mark.dear("runs trials in all states that there are")
def test_each_state_is_told_and_the_start_does_what_was_told(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.yaml").write_text(SCRIPT)
    assert states(tmp_path) == ["run", "run", "run"]
    run(tmp_path)
    assert states(tmp_path) == ["done", "done", "done"]

    [nop, one, two] = [tmp_path / "out" / "trials" / trial["trial"] for trial in run(tmp_path, "--dry-run")]
    (nop / "verdict.json").unlink()
    for name in ("agent.json", "submission/patch.diff"):
        (one / name).unlink()
    (tmp_path / "two.yaml").write_text(f"# another one\n{SCRIPT}")
    assert states(tmp_path) == ["judge", "run", "redo"]
    assert states(tmp_path, TESTWRIGHT_CACHE=str(tmp_path / "new")) == ["unknown", "unknown", "unknown"]

    agent = (nop / "agent.json").stat().st_mtime_ns
    run(tmp_path)
    assert (nop / "agent.json").stat().st_mtime_ns == agent
    assert one.with_name("1.cut-1").is_dir()
    assert two.with_name("1.other-1").is_dir()
    assert states(tmp_path) == ["done", "done", "done"]
