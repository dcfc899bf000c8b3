"""A `verify` is killed while its arms run: the next command of any kind removes its containers."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import docker
import pytest

from harness.runs.owners import OWNER
from harness.sandbox.cache_place import cache_directory
from tests.support.light_task import TASK, light_catalog

pytestmark = pytest.mark.docker


def containers_of(owners: list[str]) -> list[str]:
    client = docker.from_env()
    try:
        labels = [f"{OWNER}={name}" for name in owners]
        return [item["Id"] for label in labels for item in client.api.containers(all=True, filters={"label": label})]
    finally:
        client.close()


def cache_with_owners_of_its_own(place: Path) -> Path:
    """Make a cache that has what the shared one has, but whose locks no other command looks at."""
    (place / "owners").mkdir(parents=True)
    shared = cache_directory()
    for path in shared.iterdir() if shared.is_dir() else ():
        if path.name != "owners":
            (place / path.name).symlink_to(path)
    return place


def command(catalog: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "harness.cli", "--catalog", str(catalog), *words]


@pytest.mark.fault("verify is killed while arms run", "the next command, even 'task list', removes its containers")
@pytest.mark.dear("starts two commands, one of which judges")
def test_a_quick_command_removes_the_containers_of_a_killed_verify(tmp_path: Path) -> None:
    catalog = light_catalog(tmp_path / "light")
    reference = catalog / "tasks" / TASK / "reference"
    environment = {**os.environ, "TESTWRIGHT_CACHE": str(cache_with_owners_of_its_own(tmp_path / "cache"))}
    verify = command(
        catalog, "verify", TASK, "--patch", str(reference / "tests.patch"),
        "--manifest", str(reference / "manifest.yaml"), "--sandbox", "docker",
    )  # fmt: skip
    process = subprocess.Popen(verify, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    left: list[str] = []
    owners: list[str] = []
    end = time.monotonic() + 240
    while not left:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "no arm has begun"
        threading.Event().wait(0.05)
        owners = [path.name.partition(".")[0] for path in (tmp_path / "cache" / "owners").glob("*")]
        left = containers_of(owners)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert containers_of(owners), "a killed process can't remove them itself"
    listing = command(catalog, "task", "list")
    done = subprocess.run(listing, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert TASK in done.stdout
    assert "that a killed command had left" in done.stderr
    assert not containers_of(owners)
    again = subprocess.run(listing, env=environment, capture_output=True, text=True, check=False)
    assert "killed command" not in again.stderr
