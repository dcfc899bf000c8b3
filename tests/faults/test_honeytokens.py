"""Keys stay in our own process: whole trials with planted keys, and a search of everything that is left of them."""

import asyncio
import json
import sys
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path

import docker
import pytest
import yaml

from harness.plugins.scripted_provider.failures import ErrorKind
from harness.plugins.scripted_provider.scenario import Failure, Reply
from harness.plugins.scripted_provider.server import Provider, Received, serve
from harness.sandbox.host import cache_directory
from harness.sandbox.local import confinement
from harness.sandbox.local.recipe import task_environment
from harness.specs.catalog import Catalog
from tests.support.few_arms import few_arms_elsewhere
from tests.support.traces import container_traces, core, descendants, files_with, record_environments

TASK = "aiosmtpd-proxy-tlv"
TOKEN = f"honeytoken-{uuid.uuid4().hex}"
BY_ENVIRONMENT = {
    "OPENAI_API_KEY": f"sk-{TOKEN}-openai",
    "AWS_SECRET_ACCESS_KEY": f"{TOKEN}-aws",
    "TESTWRIGHT_SHELF": f"{TOKEN}-shelf",
    "HTTPS_PROXY": f"http://someone:{TOKEN}-proxy@127.0.0.1:9",
    "NO_PROXY": "127.0.0.1",
}
BY_FILE = {"ANTHROPIC_API_KEY": f"sk-ant-{TOKEN}-anthropic", "TESTWRIGHT_DRAWER": f"{TOKEN}-drawer"}
MODELS = {
    "digger": {"model": "openai/digger"},
    "claude": {"model": "anthropic/claude-unheard-of"},
    "shelf": {"model": "openai/shelf", "api_key_env": "TESTWRIGHT_SHELF"},
    "drawer": {"model": "openai/drawer", "api_key_env": "TESTWRIGHT_DRAWER"},
}
DIG = r"""
(env; cat /proc/*/environ /proc/*/cmdline /proc/*/mountinfo; ls -laR /run /home /root /logs) 2>&1 | tr '\0' '\n'
grep -rls 'honey[t]oken' /app /etc /home /logs /opt /root /run /tmp /var
timeout 5 bash -c 'exec 3<>/dev/tcp/169.254.169.254/80' 2>/dev/null && echo METADATA || echo no metadata here
"""
TEST = r"""
import os, pathlib
def test_digs():
    found = [str(os.environ)] + [open(p, 'rb').read().decode(errors='replace')
                                 for p in pathlib.Path('/proc').glob('[0-9]*/environ') if os.access(p, os.R_OK)]
    print('I HAVE DUG', found)
    assert False, found
"""
WRITE = f"""
cat > aiosmtpd/tests/test_dig.py <<'END'{TEST}END
printf -- '- file: aiosmtpd/tests/test_dig.py\\n  tests: ["test_digs"]\\n' > /logs/agent/manifest.yaml
"""


@dataclass
class Scene:
    """A working directory with keys planted, a provider, and what is seen of the run while its model is asked."""

    directory: Path
    env: dict[str, str]
    run_process: asyncio.subprocess.Process | None = None
    asked: dict[str, int] = field(default_factory=dict)
    looked_at: dict[str, bytes] = field(default_factory=dict)

    def answer(self, received: Received) -> Reply:
        model = received.body["model"]
        self.asked[model] = self.asked.get(model, 0) + 1
        if model != "digger":
            kind, keys = ErrorKind.BAD_REQUEST, " ".join(received.headers.values())
            return Reply(error=Failure(kind=kind, message=f"I don't like your headers: {keys}"))
        if self.asked[model] == 2:
            self.look()
        return Reply(commands=([DIG], [WRITE], ["echo TESTWRIGHT_SUBMIT"])[self.asked[model] - 1])

    def look(self) -> None:
        """The agent waits for its model: its sandbox is there, and nothing changes."""
        assert self.run_process
        run = yaml.safe_load((self.directory / "out" / "run.yaml").read_text())
        for pid in descendants(self.run_process.pid):
            self.looked_at[f"process {pid}"] = core(pid)
        if run["isolation"] == "docker":
            client = docker.from_env()
            for container in client.api.containers(all=True, filters={"label": f"testwright.run={run['id']}"}):
                self.looked_at.update(container_traces(client, container["Id"]))
            client.close()


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    (tmp_path / ".env").write_text("".join(f"{name}={value}\n" for name, value in BY_FILE.items()))
    (tmp_path / "tmp").mkdir()
    recorded = record_environments(tmp_path / "bin", "git", "docker", "bwrap")
    few = few_arms_elsewhere(tmp_path)
    return Scene(tmp_path, {**recorded, **BY_ENVIRONMENT, **few, "TMPDIR": str(tmp_path / "tmp")})


async def command(scene: Scene, *arguments: str) -> tuple[int, str]:
    """Status, and all that it prints."""
    scene.run_process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "harness.cli", *arguments,
        cwd=scene.directory, env=scene.env, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    output, _ = await asyncio.wait_for(scene.run_process.communicate(), 200)
    assert scene.run_process.returncode is not None
    return scene.run_process.returncode, output.decode()


def write_models(directory: Path, provider: Provider) -> list[str]:
    """Model files; returns the options that name them."""
    options = []
    for name, file in MODELS.items():
        base = provider.url if file["model"].startswith("anthropic/") else f"{provider.url}/v1"
        whole = {**file, "api_base": base, "prices": {"input": 1, "output": 1}}
        (directory / f"{name}.yaml").write_text(yaml.safe_dump(whole))
        options += ["-m", f"{name}.yaml"]
    return options


@pytest.mark.long
@pytest.mark.parametrize("sandbox", [pytest.param("docker", marks=pytest.mark.docker), "local"])
async def test_planted_keys_reach_the_providers_headers_and_nothing_else(scene: Scene, sandbox: str) -> None:
    if sandbox == "local" and not confinement.works():
        pytest.skip("NO BUBBLEWRAP, so this was NOT tested: without it the local sandbox confines nothing")
    if sandbox == "local":
        await task_environment(Catalog().task(TASK))  # while there is a network: the planted proxy is none
    began = time.time()
    async with serve(scene.answer) as provider:
        models = write_models(scene.directory, provider)
        status, told = await command(
            scene, "run", "-t", TASK, "-s", "mini", *models, "--sandbox", sandbox, "-o", "out"
        )
    assert status == 1, told  # three of the models refuse
    told += "".join(
        [(await command(scene, *words))[1] for words in (["show", "out"], ["show", "out", "--json"], ["doctor"])]
    )

    assert_sent(provider)
    dug = "".join(path.read_text() for path in scene.directory.glob("out/trials/*/*/*/1/trajectory.jsonl"))
    assert "no metadata here" in dug
    assert "HOSTNAME=box" in dug
    arms = "".join(path.read_text() for path in scene.directory.rglob("arms/*/output.txt"))
    assert "I HAVE DUG" in arms
    assert "I don't like your headers" in told + "".join(p.read_text() for p in scene.directory.glob("out/*.jsonl"))

    assert (scene.directory / "bin" / "seen-by-git").stat().st_size
    assert scene.looked_at
    assert [place for place, data in scene.looked_at.items() if TOKEN.encode() in data] == []
    assert TOKEN not in told
    (scene.directory / ".env").unlink()
    assert files_with(TOKEN.encode(), scene.directory) == []
    assert files_with(TOKEN.encode(), cache_directory(), since=began) == []


def assert_sent(provider: Provider) -> None:
    """Each provider got its key, as a header alone."""
    sent = {
        (received.body["model"], value.removeprefix("Bearer "))
        for received in provider.requests
        for value in received.headers.values()
        if TOKEN in value
    }
    assert sent == {
        ("digger", BY_ENVIRONMENT["OPENAI_API_KEY"]),
        ("claude-unheard-of", BY_FILE["ANTHROPIC_API_KEY"]),
        ("shelf", BY_ENVIRONMENT["TESTWRIGHT_SHELF"]),
        ("drawer", BY_FILE["TESTWRIGHT_DRAWER"]),
    }
    assert not [received for received in provider.requests if TOKEN in json.dumps(received.body) + received.path]
