"""Package registries from inside an agent's sandbox, through this machine's own configuration, and nothing else."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
import yaml

from harness.agents.egress import with_egress
from harness.agents.protocol import Ending, Finish
from harness.agents.registry import agent_context
from harness.agents.trajectory import EgressRecord, Trajectory, read_trajectory
from harness.plugins.scripted_provider.scenario import Reply
from harness.plugins.scripted_provider.server import Received
from harness.sandbox.egress.clients import egress_for
from harness.sandbox.images.client_config import pip_own_hosts, pip_settings
from harness.sandbox.local.confinement import works
from harness.sandbox.options import check_job_options
from harness.sandbox.protocol import AGENT_LOGS, Engine, Gateway, Job, Network, Sandbox, SandboxOptions
from harness.specs.catalog import Catalog
from harness.specs.catalog_places import default_directory
from harness.specs.errors import UserError
from harness.tracks.registry import choose_engine
from tests.docker.test_native_runs import run
from tests.support.native_scripts import SAMPLE, SUBMITS, TASK, USAGE, calling
from tests.support.sandboxes import started

pytestmark = [pytest.mark.timeout(900), pytest.mark.long]
FETCH = "python -m pip download --quiet --disable-pip-version-check --no-deps --dest /tmp/got iniconfig==2.0.0"
ELSEWHERE = "python -c 'import urllib.request as u; u.urlopen(\"https://example.com/\", timeout=20)'"
LOOK = f"{FETCH}; ls /tmp/got; {ELSEWHERE} 2>&1 | tail -1; printf '%s-%s' has looked"
ENGINES = (pytest.param("docker", marks=pytest.mark.docker), "local")


def has_looked(received: Received) -> Reply:
    """One look, then the end as the agent wants it."""
    if not received.body.get("tools"):
        return Reply(text="Tests", usage=USAGE)
    if "has-looked" not in received.text:
        return calling(received, LOOK)
    submits = [word for word in SUBMITS if word in received.text]
    return calling(received, f"echo {submits[0]}") if submits else Reply(text="All is done.", usage=USAGE)


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    """A catalog whose task lets agents reach pip's registry."""
    directory = tmp_path / "catalog"
    for name in (f"tasks/{TASK}", "repos/aiosmtpd", "rubrics", "scaffolds"):
        shutil.copytree(default_directory() / name, directory / name)
    path = directory / "tasks" / TASK / "task.yaml"
    path.write_text(yaml.safe_dump({**yaml.safe_load(path.read_text()), "network": ["pip"]}))
    return directory


@pytest.mark.docker
async def test_agents_fetch_packages_and_reach_nothing_else(tmp_path: Path, catalog: Path) -> None:
    scaffolds = [word for name in ("mini", *SAMPLE) for word in ("-s", name)]
    status, told = await run(tmp_path, has_looked, *scaffolds, catalog=catalog)
    assert status == 0, told
    found = sorted(tmp_path.glob("out/trials/*/*/*/1/trajectory.jsonl"))
    assert len(found) == 1 + len(SAMPLE), told
    for path in found:
        assert "iniconfig-2.0.0-py3-none-any.whl" in path.read_text(), path
        assert "403 Forbidden" in path.read_text(), path
        [record] = [record for record in read_trajectory(path) if isinstance(record, EgressRecord)]
        assert [(it.host, it.port, it.why, it.count) for it in record.refused] == [("example.com", 443, "host", 1)]
        assert sum(record.opened.values()) >= 1
        assert set(record.opened) <= set(record.allowed)
        verdict = json.loads(path.with_name("verdict.json").read_text())
        assert verdict["reasons"][0]["code"] == "empty-submission"


@pytest_asyncio.fixture(params=ENGINES)
async def engine(request: pytest.FixtureRequest) -> AsyncIterator[Engine]:
    if request.param == "local" and not works():
        pytest.skip("NO BUBBLEWRAP HERE (or it may not make namespaces), so this was NOT tested")
    engine = await asyncio.to_thread(choose_engine, request.param)
    yield engine
    await engine.close()


class Looking:
    """An agent that runs commands and submits."""

    def __init__(self, *commands: str) -> None:
        self.commands = commands
        self.seen: list[str] = []

    async def work(self, sandbox: Sandbox, trajectory: Trajectory) -> Finish:
        for command in self.commands:
            self.seen.append((await sandbox.run(command, 120)).output.decode())
        return Finish(Ending.SUBMITTED)


async def test_both_engines_lead_to_the_registry_alone(engine: Engine, tmp_path: Path, catalog: Path) -> None:
    task = Catalog(catalog).task(TASK)
    egress = egress_for(task.registries, [])
    context = agent_context(task, Catalog(catalog).scaffold("mini"), egress=egress)
    direct = "(exec 3<>/dev/tcp/192.0.2.1/443) 2>&1 | tail -1; getent hosts example.com || echo no name"
    looking = Looking(FETCH, "ls /tmp/got", ELSEWHERE, direct, f"touch {AGENT_LOGS}/here && echo written")
    async with with_egress(looking, SandboxOptions(), engine, context) as (agent, options):
        image = await engine.image(task)
        async with started(engine, image, f"registries-{engine.name}", options) as sandbox:
            with Trajectory(tmp_path / "trajectory.jsonl") as records:
                await agent.work(sandbox, records)
    fetched, listed, elsewhere, directly, written = looking.seen
    assert listed == "iniconfig-2.0.0-py3-none-any.whl\n", fetched
    assert "403 Forbidden" in elsewhere
    assert "Network is unreachable" in directly
    assert "no name" in directly
    assert written == "written\n"
    [record] = [it for it in read_trajectory(tmp_path / "trajectory.jsonl") if isinstance(it, EgressRecord)]
    if not pip_settings().get("index-url"):
        assert set(record.opened) == {f"{host}:443" for host in pip_own_hosts()}
    assert [it.host for it in record.refused] == ["example.com"]


async def test_arms_never_have_a_way_there(engine: Engine, tmp_path: Path) -> None:
    options = SandboxOptions(network=Network.GATEWAY, gateways=(Gateway(tmp_path / "socket"),))
    with pytest.raises(UserError, match="offers no network through a gateway to jobs"):
        check_job_options(engine.name, engine.capabilities, options, Job(()))
