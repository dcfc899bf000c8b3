"""Runs on a real Ray cluster of this machine: a head, and three nodes that share one engine."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import docker
import pytest
import yaml

import harness
from harness.plugins.ray import connection
from harness.plugins.scripted_provider.scenario import Reply
from harness.runs.store import find_trials
from harness.specs.catalog_places import default_directory
from tests.support.command import Done, testwright, typed
from tests.support.ended_arms import times_of_ended_arms
from tests.support.few_arms import few_arms_elsewhere
from tests.support.light_task import light_catalog
from tests.support.own_engine import own_engine
from tests.support.provider import playing
from tests.support.ray_cluster import (
    add_node,
    bytes_of,
    cluster_here,
    kill_the_guard_of,
    kill_the_node_of,
    points_to,
    until,
)
from tests.support.signals import heed_signals
from tests.support.swerex_server import swerex_server

pytestmark = [pytest.mark.docker]

TASK = "aiosmtpd-proxy-tlv"
SLOW = "messages:\n  - text: I wait.\n    commands: ['sleep 600']\n"
WAITS = "messages:\n  - text: I wait.\n    commands: ['sleep 15']" + (
    "\n  - text: I am done.\n    commands: ['echo TESTWRIGHT_SUBMIT']" * 2 + "\n"
)
KEY = "key-of-nobody-5f1c9d"


@pytest.fixture(scope="module")
def head() -> Iterator[Any]:
    """A cluster whose only node does no trials."""
    with cluster_here() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def judges(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a node whose judgings end with their arms."""
    return few_arms_elsewhere(tmp_path_factory.mktemp("nodes"), few_variants=False)


@pytest.fixture(scope="module")
def cluster(head: Any, judges: dict[str, str]) -> Any:
    for _ in range(3):
        add_node(head, env_vars=judges)
    return head


def arguments(cluster: Any, *more: str | Path) -> list[str | Path]:
    return ["run", "-t", TASK, "-o", "out", "--sandbox", "docker", "--executor", f"ray:{cluster.address}", *more]


async def run(cluster: Any, folder: Path, *more: str | Path, **env: str) -> Done:
    return await testwright(*arguments(cluster, *more), cwd=folder, TESTWRIGHT_CACHE="", **env)


@pytest.fixture
def start(cluster: Any, tmp_path: Path) -> Iterator[Callable[..., "subprocess.Popen[str]"]]:
    """Starts a run, which goes on beside the test."""
    started: list[subprocess.Popen[str]] = []

    def begin(*more: str | Path, catalog: Path | None = None) -> "subprocess.Popen[str]":
        words = [*(("--catalog", catalog) if catalog else ()), *arguments(cluster, *more)]
        command = [sys.executable, "-m", "harness.cli", *map(str, words)]
        process = subprocess.Popen(
            command, cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heed_signals
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def containers(output: Path, trial: str = "") -> list[dict[str, Any]]:
    """Of a run; `trial` is a part of its place."""
    if not (output / "run.yaml").exists():
        return []
    label = f"testwright.run={yaml.safe_load((output / 'run.yaml').read_text())['id']}"
    client = docker.from_env()
    try:
        found = client.api.containers(all=True, filters={"label": label})
    finally:
        client.close()
    return [item for item in found if trial in item["Labels"].get("testwright.trial", "")]


def verdicts(output: Path) -> dict[str, bytes]:
    found = {store.directory: store.directory / "verdict.json" for store in find_trials(output)}
    return {str(place.relative_to(output)): path.read_bytes() for place, path in found.items()}


@pytest.mark.dear("starts a command that joins a cluster")
async def test_a_cluster_without_a_node_for_trials_is_refused_in_one_line(head: Any, tmp_path: Path) -> None:
    done = await run(head, tmp_path, "-s", "nop")
    assert (done.status, len(done.complaint.splitlines())) == (2, 1), done.complaint
    assert "no node of the cluster offers 'testwright'" in done.complaint
    assert not (tmp_path / "out").exists()


@pytest.mark.long
async def test_a_run_that_loses_a_node_comes_to_the_same_verdicts(cluster: Any, tmp_path: Path, start: Any) -> None:
    script, output = tmp_path / "script.yaml", tmp_path / "out"
    script.write_text(WAITS)
    system = ("-s", "mini", "-m", f"scripted:{script}", "-k", "2")
    process = start(*system, "-j", "2", "--json")
    until(lambda: len(list(output.glob("trials/*/*/*/*/trajectory.jsonl"))) == 2, process)
    found = {item["Labels"]["testwright.trial"][-1]: item for item in containers(output)}
    kill_the_node_of(found["1"]["Labels"]["testwright.owner"], cluster)
    answer, complaint = process.communicate(timeout=300)
    assert process.returncode == 0, complaint
    assert [trial["verdict"] for trial in json.loads(answer)["trials"]] == ["failed", "failed"]
    undisturbed = await testwright(
        "run", "-t", TASK, *system, "-j", "2", "-o", "here", "--sandbox", "docker", cwd=tmp_path, TESTWRIGHT_CACHE=""
    )
    assert undisturbed.status == 0, undisturbed.complaint
    assert verdicts(output) == verdicts(tmp_path / "here")
    ends = [[(record.end, record.is_final) for record in store.attempts.read()] for store in find_trials(output)]
    assert ends == [[("fault", False), ("judged", True)], [("judged", True)]]
    assert len(list(output.rglob("1.lost-1/trajectory.jsonl"))) == 1, "what a lost node had told is kept"
    assert not list(output.rglob(".*.incoming"))
    until(lambda: not containers(output))


@pytest.mark.long
def test_a_node_that_is_lost_while_arms_run_costs_no_agent_and_no_ended_arm(
    cluster: Any, tmp_path: Path, start: Any, judges: dict[str, str]
) -> None:
    output = tmp_path / "out"
    process = start("-s", "oracle", "--json", catalog=light_catalog(tmp_path / "light"))
    place = output / "trials" / TASK / "oracle"
    until(lambda: bool(times_of_ended_arms(output)) and bool(containers(output)), process)
    [handed_in] = place.glob("*/1/agent.json")
    files = [handed_in, handed_in.with_name("trajectory.jsonl")]
    before = [path.read_bytes() for path in files]
    [owner] = {item["Labels"]["testwright.owner"] for item in containers(output)}
    kill_the_node_of(owner, cluster)
    ended = {path: path.read_bytes() for path in times_of_ended_arms(output)}
    add_node(cluster, env_vars=judges)
    answer, complaint = process.communicate()
    assert process.returncode == 0, complaint
    assert [trial["verdict"] for trial in json.loads(answer)["trials"]] == ["resolved"]
    again = {path: path.read_bytes() for path in ended}
    assert again == ended, "none has run again, which would have taken other seconds"
    [store] = find_trials(output)
    assert [(record.end, record.kept) for record in store.attempts.read()] == [("fault", ""), ("judged", "")]
    assert [path.read_bytes() for path in files] == before, "the agent has not worked again"
    until(lambda: not containers(output))


@pytest.mark.long
async def test_ctrl_c_reaches_every_node(cluster: Any, tmp_path: Path, start: Any) -> None:
    script, output = tmp_path / "slow.yaml", tmp_path / "out"
    script.write_text(SLOW)
    process = start("-s", "mini", "-m", f"scripted:{script}", "-k", "2", "-j", "2")
    until(lambda: len(list(output.glob("trials/*/*/*/*/trajectory.jsonl"))) == 2, process)
    assert len({item["Labels"]["testwright.owner"] for item in containers(output)}) == 2, "a node for each"
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=120)
    assert process.returncode == 130
    assert complaint.splitlines()[-1].startswith("testwright: interrupted")
    assert "Traceback" not in complaint
    assert not containers(output)
    for store in find_trials(output):
        assert [record.end for record in store.attempts.read()] == ["interrupted"]
        assert store.trajectory.exists()


@pytest.mark.long
async def test_the_nodes_of_a_driver_that_is_killed_stop(cluster: Any, tmp_path: Path, start: Any) -> None:
    script, output = tmp_path / "slow.yaml", tmp_path / "out"
    script.write_text(SLOW)
    process = start("-s", "mini", "-m", f"scripted:{script}", "-k", "2", "-j", "2")
    until(lambda: len(list(output.glob("trials/*/*/*/*/trajectory.jsonl"))) == 2, process)
    assert len(containers(output)) == 2
    process.kill()
    process.wait()
    until(lambda: not containers(output))


@pytest.fixture
async def paid(tmp_path: Path) -> AsyncIterator[Any]:
    """A model that is paid for, one request at a time, and a catalog of its own that has it."""
    catalog = tmp_path / "catalog"
    for folder in ("tasks", "repos", "rubrics", "scaffolds"):
        shutil.copytree(default_directory() / folder, catalog / folder, ignore=other_tasks)
    reply = Reply(text="I look.", commands=("true",))
    async with playing(reply) as provider:
        (catalog / "models").mkdir()
        file = {
            "model": "openai/scripted", "api_base": f"{provider.url}/v1", "api_key_env": "KEY_OF_NOBODY",
            "prices": {"input": 1000, "output": 0}, "limits": {"concurrent_requests": 1},
        }  # fmt: skip
        (catalog / "models" / "paid.yaml").write_text(yaml.safe_dump({"schema_version": 1, **file}))
        yield provider


def other_tasks(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if Path(folder).name == "tasks" and name != TASK]


@pytest.mark.long
async def test_caps_hold_over_all_nodes_and_keys_reach_no_disk(cluster: Any, tmp_path: Path, paid: Any) -> None:
    """A call costs $0.10. Agents of up to three nodes pass the cap's check before they queue."""
    done = await testwright(
        "--catalog", tmp_path / "catalog",
        *arguments(cluster, "-s", "mini", "-m", "paid", "-k", "4", "-j", "4", "--max-cost", "0.55", "--json"),
        cwd=tmp_path, TESTWRIGHT_CACHE="", KEY_OF_NOBODY=KEY,
    )  # fmt: skip
    assert done.status == 1, done.complaint
    trials = json.loads(done.output)["trials"]
    assert {trial["reasons"][0]["code"] for trial in trials} == {"budget-exhausted"}
    assert 6 <= len(paid.requests) <= 8, "the cap is passed by the calls of other nodes at most"
    assert KEY not in done.output + done.complaint
    session = Path(cluster.head_node.get_session_dir_path())
    searched = [path for folder in (session, tmp_path) for path in folder.rglob("*") if path.is_file()]
    assert searched
    assert not [path for path in searched if KEY.encode() in path.read_bytes()]


@pytest.mark.dear("starts a node, and a command that joins the cluster")
async def test_a_node_with_another_testwright_is_refused(cluster: Any, tmp_path: Path) -> None:
    site = tmp_path / "site"
    shutil.copytree(Path(harness.__file__).parent, site / "harness", ignore=shutil.ignore_patterns("__pycache__"))
    place = site / "harness" / "__init__.py"
    place.write_text(place.read_text().replace(harness.__version__, "0.0.9"))
    other = add_node(cluster, env_vars={"PYTHONPATH": str(site)})
    try:
        done = await run(cluster, tmp_path, "-s", "nop")
    finally:
        cluster.remove_node(other)
    assert (done.status, len(done.complaint.splitlines())) == (2, 1), done.complaint
    assert "has testwright 0.0.9 (" in done.complaint
    assert not (tmp_path / "out").exists()


@pytest.mark.long
async def test_a_native_agent_works_on_a_node(cluster: Any, tmp_path: Path) -> None:
    model = tmp_path / "model.yaml"
    async with playing(Reply(commands=("echo hello",)), Reply(text="I am done.")) as provider:
        model.write_text(f"model: openai/scripted\napi_base: {provider.url}/v1\n")
        done = await run(cluster, tmp_path, "-s", "command", "-m", model, "--json")
        assert done.status == 0, done.complaint
        assert len(provider.requests) == 2, "its calls go through the node's gateway"
        assert "hello" in json.dumps(provider.requests[-1].body), (
            "its commands run in a container of the node's engine"
        )
    [store] = find_trials(tmp_path / "out")
    agent = store.agent()
    assert agent is not None
    assert (agent.usage.calls, store.usage().total.calls) == (2, 2)
    assert not containers(tmp_path / "out")


@pytest.mark.long
async def test_sandboxes_may_be_on_a_swerex_server(cluster: Any, tmp_path: Path) -> None:
    with swerex_server(tmp_path) as server:
        name = f"swerex:{server.url}?root={tmp_path}/root&accept_degraded=yes"
        done = await run(
            cluster, tmp_path, "-s", "nop", "-k", "2", "-j", "2", "--sandbox", name, SWEREX_AUTH_TOKEN=server.token
        )
        assert done.status == 0, done.complaint
    assert "2 trials: 2 failed" in done.output
    assert "isolation swerex-remote-open-network" in done.output
    assert list((tmp_path / "root").glob("sandbox-*")) == []


@pytest.mark.long
def test_what_a_lost_node_has_on_a_swerex_server_is_removed_by_the_others(
    cluster: Any, tmp_path: Path, start: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, output, root = tmp_path / "script.yaml", tmp_path / "out", tmp_path / "root"
    script.write_text(WAITS)
    with swerex_server(tmp_path) as server:
        monkeypatch.setenv("SWEREX_AUTH_TOKEN", server.token)
        name = f"swerex:{server.url}?root={root}&accept_degraded=yes"
        process = start("-s", "mini", "-m", f"scripted:{script}", "-k", "2", "-j", "2", "--sandbox", name, "--json")
        until(lambda: sleeping_in(root) == 2, process)
        owners = owners_of_sandboxes(root)
        lost = owners["1"]
        kill_the_guard_of(lost)
        kill_the_node_of(lost, cluster)
        until(lambda: lost not in owners_of_sandboxes(root).values(), process)
        assert sleeping_in(root) <= 2, "its processes are gone as well"
        answer, complaint = process.communicate()
        assert process.returncode == 0, complaint
        assert list(root.glob("sandbox-*")) == []
        assert sleeping_in(root) == 0
    assert [trial["verdict"] for trial in json.loads(answer)["trials"]] == ["failed", "failed"]
    ends = [[record.end for record in store.attempts.read()] for store in find_trials(output)]
    assert ends == [["fault", "judged"], ["judged"]]
    add_node(cluster)


def owners_of_sandboxes(root: Path) -> dict[str, str]:
    """Whose the sandboxes of a SWE-ReX server are: attempt -> owner."""
    found = [json.loads(data) for path in root.glob("sandbox-*/labels.json") if (data := bytes_of(path))]
    return {each["testwright.trial"].rpartition("/")[2]: each["testwright.owner"] for each in found}


def sleeping_in(root: Path) -> int:
    """Processes of sandboxes there that wait."""
    return sum(
        bytes_of(path / "cmdline").startswith(b"sleep\0") and str(root) in points_to(path / "cwd")
        for path in Path("/proc").glob("[0-9]*")
    )


@pytest.mark.skipif(os.environ.get("TESTWRIGHT_FAULTS") != "all", reason="part of TESTWRIGHT_FAULTS=all")
async def test_a_node_with_an_engine_of_its_own_works_on_imported_images(
    cluster: Any, tmp_path: Path, start: Any
) -> None:
    script, output, images = tmp_path / "script.yaml", tmp_path / "out", tmp_path / "images.tar"
    script.write_text(WAITS)
    with own_engine() as engine:
        theirs = {"DOCKER_HOST": engine.host, "TESTWRIGHT_CACHE": str(tmp_path / "cache-of-the-node")}
        for what, env in (("export", {"TESTWRIGHT_CACHE": ""}), ("import", theirs)):
            words = ("aiosmtpd", images) if what == "export" else (images,)
            done = await testwright("repo", what, *words, cwd=tmp_path, **env)
            assert done.status == 0, done.complaint
        node = add_node(cluster, env_vars=theirs)
        trials = len(cluster.worker_nodes)
        process = start("-s", "mini", "-m", f"scripted:{script}", "-k", str(trials), "-j", str(trials), "--json")
        with engine.client() as client:
            until(lambda: bool(client.api.containers()), process)
            answer, complaint = process.communicate()
            assert process.returncode == 0, complaint
            assert not client.api.containers(all=True)
        cluster.remove_node(node)
    assert [trial["verdict"] for trial in json.loads(answer)["trials"]] == ["failed"] * trials
    assert len({(store.directory / "image.json").read_bytes() for store in find_trials(output)}) == 1


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("127.0.0.1:1", "no Ray cluster answers at 127.0.0.1:1"),
        ("127.0.0.1", "'127.0.0.1' is no address of a cluster"),
        ("ray://127.0.0.1:10001", "is no address of a cluster"),
    ],
)
def test_an_address_without_a_cluster_is_refused(tmp_path: Path, address: str, message: str) -> None:
    done = typed("run", "-t", TASK, "-s", "nop", "--executor", f"ray:{address}", cwd=tmp_path)
    assert (done.status, len(done.complaint.splitlines())) == (2, 1), done.complaint
    assert message in done.complaint


def test_what_listens_and_is_no_cluster_is_refused_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_ANSWER_SECONDS", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        began = time.monotonic()
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        done = typed("run", "-t", TASK, "-s", "nop", "--executor", f"ray:{address}", cwd=tmp_path)
    assert (done.status, len(done.complaint.splitlines())) == (2, 1), done.complaint
    assert f"no Ray cluster answers at {address}" in done.complaint
    # Ray itself waits on. A busy machine takes more than a minute to start Ray.
    assert time.monotonic() - began < 300


def test_without_ray_the_message_says_what_to_install(tmp_path: Path) -> None:
    code = "import sys; sys.modules['ray'] = None; from harness.cli.main import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "run", "-t", TASK, "-s", "nop", "--executor", "ray"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.strip().endswith("pip install 'testwright[ray]'")
    assert len(done.stderr.splitlines()) == 1
