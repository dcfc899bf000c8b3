"""Whole trials of native scaffolds beside the common one, and what `testwright scaffold check` finds."""

import asyncio
import json
import os
import shutil
import sys
from pathlib import Path

import pytest
import yaml

from harness.agents.trajectory import read_trajectory
from harness.models.protocol import StopReason
from harness.models.replay import MessageRecord
from harness.plugins.scripted_provider.scenario import Reply, Stop
from harness.plugins.scripted_provider.server import Answerer, Received, serve
from harness.specs.catalog_places import default_directory
from tests.support.few_arms import few_arms_elsewhere
from tests.support.light_task import light_catalog
from tests.support.native_scripts import (
    ATTEMPTS,
    DONE,
    SAMPLE,
    TASK,
    USAGE,
    calling,
    does_the_task,
    says_nothing_useful,
    writing_tests,
)

pytestmark = [pytest.mark.docker, pytest.mark.timeout(1800), pytest.mark.long]


async def type_command(directory: Path, *arguments: str) -> tuple[int, str]:
    """Status and output of a command, typed in `directory`; judgings have few arms."""
    known = {"SCRIPTED_KEY": "k-native", "NO_PROXY": "127.0.0.1", "COLUMNS": "200"}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "harness.cli", *arguments,
        cwd=directory,
        env={**os.environ, **known, **few_arms_elsewhere(directory)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    output, _ = await asyncio.wait_for(process.communicate(), 1700)
    assert process.returncode is not None
    return process.returncode, output.decode()


async def run(directory: Path, answerer: Answerer, *arguments: str, catalog: Path | None = None) -> tuple[int, str]:
    """A run of the light task, or the one in `catalog`, with a model that `answerer` plays."""
    catalog = catalog or light_catalog(directory / "light")
    async with serve(answerer) as provider:
        model = {
            "schema_version": 1,
            "model": "openai/scripted-gpt",
            "api_base": f"{provider.url}/v1",
            "api_key_env": "SCRIPTED_KEY",
            "prices": {"input": 3.0, "output": 15.0},
            "retries": {"attempts": 2, "first_wait": 0.001, "longest_wait": 0.002},
        }
        (directory / "model.yaml").write_text(yaml.safe_dump(model))
        options = ("-t", TASK, "-m", "model.yaml", "--sandbox", "docker", "-o", "out")
        return await type_command(directory, "--catalog", str(catalog), "run", *options, *arguments)


async def test_native_scaffolds_and_the_common_one_resolve_a_task(tmp_path: Path) -> None:
    scaffolds = [word for name in ("mini", *SAMPLE) for word in ("-s", name)]
    status, told = await run(tmp_path, does_the_task, *scaffolds, "-j", "2", "-k", str(ATTEMPTS))
    assert status == 0, told
    trials = ATTEMPTS * (len(SAMPLE) + 1)
    assert f"{trials} trials: {trials} resolved" in told
    for usage in tmp_path.glob("out/trials/*/*/*/*/usage.json"):
        agent = json.loads(usage.read_text())["agent"]
        assert agent["calls"] >= 2, usage
        assert agent["cost_usd"] == pytest.approx(agent["calls"] * (1000 * 3 + 100 * 15) / 1e6), usage
    assert len(list(tmp_path.glob("out/trials/*/*/*/*/agent-stdout.txt"))) == ATTEMPTS * len(SAMPLE)
    assert "k-native" not in "".join(path.read_text(errors="replace") for path in tmp_path.glob("out/**/*.jsonl"))

    others = [word for name in SAMPLE for word in ("--b", name)]
    status, told = await type_command(tmp_path, "compare", "out", "--a", "mini", *others, "--json")
    assert status == 0, told
    compared = json.loads(told)
    assert [side["scaffold"] for side in compared["sides"]] == ["mini", *SAMPLE]
    assert all((side["resolved"], side["without_verdict"]["part"]) == (ATTEMPTS, 0) for side in compared["sides"])
    assert not any(side["mechanism"]["is_suspicious"] for side in compared["sides"])


async def test_an_agent_that_stops_without_a_manifest_has_failed(tmp_path: Path) -> None:
    status, told = await run(tmp_path, says_nothing_useful, "-s", "command")
    assert status == 0, told
    [verdict] = [json.loads(path.read_text()) for path in tmp_path.glob("out/trials/*/*/*/1/verdict.json")]
    assert (verdict["verdict"], verdict["reasons"][0]["code"]) == ("failed", "empty-submission")


async def test_tests_without_a_manifest_have_failed_for_want_of_it(tmp_path: Path) -> None:
    def forgets_the_manifest(received: Received) -> Reply:
        done = DONE in received.text
        return Reply(text="All is done.", usage=USAGE) if done else calling(received, writing_tests())

    status, told = await run(tmp_path, forgets_the_manifest, "-s", "command")
    assert status == 0, told
    [path] = tmp_path.glob("out/trials/*/*/*/1/verdict.json")
    verdict = json.loads(path.read_text())
    assert (verdict["verdict"], verdict["reasons"][0]["code"]) == ("failed", "manifest-missing")
    assert b"+" in path.with_name("submission").joinpath("patch.diff").read_bytes()


async def test_a_model_that_refuses_has_failed_and_no_fault_is_anybodys(tmp_path: Path) -> None:
    def refuses(_: Received) -> Reply:
        return Reply(text="I can't help with that.", stop=Stop.REFUSAL, usage=USAGE)

    scaffolds = [word for name in SAMPLE for word in ("-s", name)]
    status, told = await run(tmp_path, refuses, *scaffolds)
    assert status == 0, told
    found = sorted(tmp_path.glob("out/trials/*/*/*/1/verdict.json"))
    assert len(found) == len(SAMPLE)
    for path in found:
        verdict = json.loads(path.read_text())
        assert (verdict["verdict"], verdict["reasons"][0]["code"]) == ("failed", "empty-submission"), path
        records = read_trajectory(path.with_name("trajectory.jsonl"))
        answers = [record for record in records if isinstance(record, MessageRecord) and record.usage]
        assert {record.stop for record in answers} == {StopReason.REFUSAL}, path
        agent = json.loads(path.with_name("agent.json").read_text())
        assert (agent["usage"]["calls"], agent["failed_requests"]) == (len(answers), 0), path


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    """A catalog of one repository and the generic scaffold."""
    directory = tmp_path / "catalog"
    shutil.copytree(default_directory() / "tasks" / TASK, directory / "tasks" / TASK)
    shutil.copytree(default_directory() / "repos" / "aiosmtpd", directory / "repos" / "aiosmtpd")
    for name in ("rubrics", "scaffolds/command"):
        shutil.copytree(default_directory() / name, directory / name)
    return directory


def change(catalog: Path, **keys: object) -> None:
    """Other keys below `native` for the generic scaffold."""
    path = catalog / "scaffolds" / "command" / "scaffold.yaml"
    text = yaml.safe_load(path.read_text())
    text["native"].update(keys)
    path.write_text(yaml.safe_dump(text))


async def check(catalog: Path, tmp_path: Path) -> tuple[int, str]:
    status, told = await type_command(tmp_path, "--catalog", str(catalog), "scaffold", "check", "command")
    return status, " ".join(told.split())


async def test_a_scaffold_that_works_passes_its_check(catalog: Path, tmp_path: Path) -> None:
    status, told = await check(catalog, tmp_path)
    assert (status, "ok" in told) == (0, True), told


async def test_an_agent_that_ignores_its_base_url_is_found(catalog: Path, tmp_path: Path) -> None:
    environment = {
        "OPENAI_BASE_URL": "http://192.0.2.1/v1",
        "OPENAI_API_KEY": "k",
        "MODEL": "{{ model }}",
        "REQUEST": "{{ request_file }}",
    }
    change(catalog, environment=environment)
    status, told = await check(catalog, tmp_path)
    assert status == 1
    assert "it ignores its base URL: no call of a model came to the gateway" in told
    assert "Network is unreachable" in told


async def test_an_agent_that_asks_for_another_model_is_found(catalog: Path, tmp_path: Path) -> None:
    environment = {
        "OPENAI_BASE_URL": "{{ base_url }}",
        "OPENAI_API_KEY": "{{ token }}",
        "MODEL": "gpt-of-its-own",
        "REQUEST": "{{ request_file }}",
    }
    change(catalog, environment=environment)
    status, told = await check(catalog, tmp_path)
    assert status == 1
    assert "it can't address the model" in told
    assert "it asked for gpt-of-its-own" in told


async def test_an_install_that_does_not_match_its_hash_is_refused(catalog: Path, tmp_path: Path) -> None:
    scaffold = catalog / "scaffolds" / "command"
    package = {"name": "toolbox", "version": "1.0.0", "dependencies": {"isexe": "2.0.0"}}
    (scaffold / "package.json").write_text(json.dumps(package))
    lock = {
        "name": "toolbox",
        "version": "1.0.0",
        "lockfileVersion": 3,
        "packages": {
            "": package,
            "node_modules/isexe": {"version": "2.0.0", "integrity": f"sha512-{'A' * 86}=="},
        },
    }
    (scaffold / "package-lock.json").write_text(json.dumps(lock))
    text = yaml.safe_load((scaffold / "scaffold.yaml").read_text())
    (scaffold / "scaffold.yaml").write_text(yaml.safe_dump({**text, "install": {"installer": "npm"}}))
    status, told = await check(catalog, tmp_path)
    assert status == 1
    assert "package-lock.json: what was fetched for scaffold 'command' doesn't match its hash" in told


async def test_a_toolbox_is_carried_in_a_file(catalog: Path, tmp_path: Path) -> None:
    status, told = await type_command(tmp_path, "--catalog", str(catalog), "scaffold", "export", "command", "box.tar")
    assert status == 0, told
    status, told = await type_command(tmp_path, "--catalog", str(catalog), "scaffold", "import", "box.tar")
    assert status == 0, told
    (tmp_path / "short.tar").write_bytes((tmp_path / "box.tar").read_bytes()[:100_000])
    status, told = await type_command(tmp_path, "--catalog", str(catalog), "scaffold", "import", "short.tar")
    assert (status, told.count("\n")) == (2, 2), told


@pytest.mark.parametrize("model", ["replay:x.jsonl", "scripted:x.yaml"])
async def test_a_model_that_no_provider_serves_is_refused(tmp_path: Path, model: str) -> None:
    (tmp_path / model.partition(":")[2]).write_text("")
    status, told = await type_command(tmp_path, "run", "-t", TASK, "-s", "claude-code", "-m", model)
    assert status == 2
    assert "a native agent can't speak to a" in told


async def test_a_sandbox_without_toolboxes_is_refused(tmp_path: Path) -> None:
    status, told = await run(tmp_path, says_nothing_useful, "-s", "command", "--sandbox", "local")
    assert status == 2, told
    assert "native scaffolds need a sandbox with toolboxes, which 'local' has not; use docker" in told
