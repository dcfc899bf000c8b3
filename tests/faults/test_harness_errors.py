"""An error inside the harness, in a real run with containers: one trial has it, the others have their verdicts."""

import json
import shutil
from pathlib import Path

import pytest
import yaml

from harness.specs.catalog_places import default_directory
from tests.support.command import testwright

pytestmark = pytest.mark.docker

TASK = "aiosmtpd-proxy-tlv"
AGENT = """
from pathlib import Path

from harness.agents.controls import Nop


class Breaks(Nop):
    async def work(self, sandbox, trajectory):
        mark = Path("works")
        number = len(mark.read_text()) if mark.exists() else 0
        mark.write_text("x" * (number + 1))
        if number == 1:
            raise ZeroDivisionError("nobody foresaw this")
        return await super().work(sandbox, trajectory)
"""


def plugin(directory: Path) -> dict[str, str]:
    """The environment in which the agent is installed, with a catalog that has its scaffold."""
    site = directory / "site"
    facts = site / "breaks-1.0.dist-info"
    facts.mkdir(parents=True)
    (site / "breaks.py").write_text(AGENT)
    (facts / "entry_points.txt").write_text("[testwright.agents]\nbreaks = breaks:Breaks\n")
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: breaks\nVersion: 1.0\n")
    for folder in ("tasks", "repos", "rubrics", "scaffolds", "models"):
        shutil.copytree(default_directory() / folder, directory / "catalog" / folder)
    scaffold = directory / "catalog" / "scaffolds" / "breaks"
    scaffold.mkdir()
    (scaffold / "scaffold.yaml").write_text(
        yaml.safe_dump({"name": "breaks", "kind": "control", "title": "Breaks", "version": "1.0"})
    )
    return {"PYTHONPATH": str(site), "TESTWRIGHT_CACHE": ""}


@pytest.mark.fault("an error inside the harness", "it costs its trial, and the others are judged")
@pytest.mark.dear("starts a command that judges two trials")
async def test_of_three_trials_one_raises_two_are_judged_and_the_status_is_1(tmp_path: Path) -> None:
    arguments = ("--catalog", "catalog", "run", "-t", TASK, "-s", "breaks", "-k", "3", "-o", "out")
    env = plugin(tmp_path)
    done = await testwright(*arguments, "--sandbox", "docker", "--json", cwd=tmp_path, **env)
    assert done.status == 1, done.complaint
    assert "Traceback" not in done.complaint
    trials = json.loads(done.output)["trials"]
    assert [trial["verdict"] for trial in trials] == ["failed", "unscored", "failed"]
    [reason] = trials[1]["reasons"]
    assert (reason["code"], reason["stage"]) == ("harness-error", "trial")
    assert reason["words"] == "ZeroDivisionError: nobody foresaw this (traceback in error-1.txt)"
    kept = tmp_path / "out" / "trials" / trials[1]["trial"] / "error-1.txt"
    assert 'breaks.py", line' in kept.read_text()

    again = await testwright(*arguments, "--sandbox", "docker", "--json", cwd=tmp_path, **env)
    assert again.status == 0, again.complaint
    assert (tmp_path / "works").read_text() == "xxxx", "only the trial that had the error is done again"
