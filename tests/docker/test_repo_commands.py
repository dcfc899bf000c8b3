"""`testwright repo build` and `repo check` as commands, on a repo that is built in seconds."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.sandbox.images.building import find_build_cli
from tests.support.tiny_catalog import tiny_catalog
from tests.support.tiny_repo import RUN_TESTS
from tests.support.traces import files_with, record_environments

pytestmark = [pytest.mark.docker, pytest.mark.long]

KEY = "honeytoken-0123456789"
RED = f"{RUN_TESTS}echo 'one test is red'\nexit 1\n"


def command(catalog: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    whole = [sys.executable, "-m", "harness.cli", "--catalog", str(catalog), "repo", *arguments]
    env = {**os.environ, "TESTWRIGHT_CACHE": str(catalog / "cache"), **env}
    return subprocess.run(whole, env=env, capture_output=True, text=True, check=False, timeout=200)


def test_a_repo_that_is_fit_for_use_is_built_and_checked(nonce: str, tmp_path: Path) -> None:
    tiny_catalog(tmp_path, nonce)
    recorded = record_environments(tmp_path / "bin", find_build_cli(os.environ["PATH"]).path)
    built = command(tmp_path, "build", "--json", PATH=recorded["PATH"], OPENAI_API_KEY=KEY, SHELF=KEY)
    assert built.returncode == 0, built.stderr
    assert "DOCKER_BUILDKIT=1" in (tmp_path / "bin" / "seen-by-docker").read_text()
    assert files_with(KEY.encode(), tmp_path) == []
    assert [row["name"] for row in json.loads(built.stdout)] == ["tiny", "tiny-add"]
    checked = command(tmp_path, "check")
    assert checked.returncode == 0, checked.stderr
    rows = {cells[0]: cells for cells in map(str.split, checked.stdout.splitlines()) if cells}
    assert (rows["tiny"][2], rows["tiny"][-1]) == ("1", "ok")
    assert rows["tiny-add"][-1] == "ok"
    assert checked.stderr.splitlines() == [
        "tiny: upstream's own tests",
        "tiny-add: looking for withheld tests and other copies of the code",
    ]


def test_a_repo_whose_own_tests_are_red_ends_with_status_1_and_says_so(nonce: str, tmp_path: Path) -> None:
    tiny_catalog(tmp_path, nonce, run_tests=RED)
    checked = command(tmp_path, "check", "tiny")
    assert checked.returncode == 1, checked.stderr
    told = " ".join(checked.stdout.split())
    assert "error upstream's tests ended with status 1: one test is red" in told


def test_a_repo_that_is_not_there_is_refused(tmp_path: Path) -> None:
    tiny_catalog(tmp_path, "none")
    refused = command(tmp_path, "check", "tony")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == "testwright: unknown repo 'tony'; did you mean 'tiny'?\n"
