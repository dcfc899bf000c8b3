"""The example executor of docs/extending.md, as the page shows it: an installed package, found by the command."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from harness.runs.executors.protocol import EXECUTORS, TrialSpec
from harness.runs.plan import RunConfig, plan_trials
from harness.runs.scheduler import trial_specs
from harness.specs.catalog import Catalog
from tests.support.command import testwright
from tests.support.docs import examples

TASK = "aiosmtpd-proxy-tlv"
[CODE] = examples("extending.md", "An executor")
[REGISTRATION] = examples("extending.md", "An executor", "toml")


def package(directory: Path) -> str:
    """A PYTHONPATH on which the example is installed. The entry point registers it, so the last line is left out."""
    code = CODE.replace('EXECUTORS.register("one-by-one", OneByOne)\n', "")
    assert code != CODE
    [(group, points)] = tomllib.loads(REGISTRATION)["project"]["entry-points"].items()
    [(name, place)] = points.items()
    module = directory / "site" / Path(*place.partition(":")[0].split(".")).with_suffix(".py")
    module.parent.mkdir(parents=True)
    (module.parent / "__init__.py").write_text("")
    module.write_text(code)
    facts = directory / "site" / "my_package-1.0.dist-info"
    facts.mkdir()
    (facts / "entry_points.txt").write_text(f"[{group}]\n{name} = {place}\n")
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    return str(directory / "site")


def test_the_example_registers_itself() -> None:
    names: dict[str, Any] = {}
    exec(CODE, names)
    try:
        assert EXECUTORS.get("one-by-one") is names["OneByOne"]
    finally:
        EXECUTORS.unregister("one-by-one")


def test_a_trial_as_data_is_the_same_after_a_journey() -> None:
    config = RunConfig(tasks=(TASK,), scaffolds=("nop",), attempts=2)
    catalog = Catalog()
    specs = trial_specs(catalog, config, "an-id", Path("out"), plan_trials(catalog, config))
    assert [spec.attempt for spec in specs] == [1, 2]
    assert all(spec.run.directory.is_absolute() for spec in specs)
    assert [TrialSpec.model_validate_json(spec.model_dump_json()) for spec in specs] == specs


@pytest.mark.long
@pytest.mark.docker
async def test_the_example_does_a_runs_trials_in_processes_of_their_own(tmp_path: Path) -> None:
    arguments = ("run", "-t", TASK, "-s", "nop", "-k", "2", "-o", "out", "--sandbox", "docker", "--json")
    done = await testwright(
        *arguments, "--executor", "one-by-one", cwd=tmp_path, PYTHONPATH=package(tmp_path), TESTWRIGHT_CACHE=""
    )
    assert done.status == 0, done.complaint
    trials = json.loads(done.output)["trials"]
    assert [trial["reasons"][0]["code"] for trial in trials] == ["empty-submission"] * 2
    again = await testwright(*arguments, cwd=tmp_path, TESTWRIGHT_CACHE="")
    assert json.loads(again.output)["trials"] == trials, "another executor finds the same trials done"


@pytest.mark.long
@pytest.mark.docker
async def test_a_worker_that_dies_costs_its_trial(tmp_path: Path) -> None:
    site = Path(package(tmp_path))
    module = site / "my_package" / "executors.py"
    code = module.read_text()
    assert '"harness.runs.executors.worker"' in code
    module.write_text(code.replace('"harness.runs.executors.worker"', '"no_such_module"'))
    arguments = ("run", "-t", TASK, "-s", "nop", "-o", "out", "--sandbox", "docker", "--json")
    done = await testwright(
        *arguments, "--executor", "one-by-one", cwd=tmp_path, PYTHONPATH=str(site), TESTWRIGHT_CACHE=""
    )
    assert done.status == 1, done.complaint
    [trial] = json.loads(done.output)["trials"]
    assert trial["reasons"][0]["code"] == "harness-error"
    assert "without an outcome" in trial["reasons"][0]["words"]
    shown = await testwright("show", "out", cwd=tmp_path)
    assert "harness-error" in shown.output
    assert "not judged yet" not in shown.output
