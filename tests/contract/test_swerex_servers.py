"""SWE-ReX servers that are gone, hostile, or started for one sandbox each."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from aiohttp import web

from harness.plugins.ray.guard import start_guard
from harness.plugins.swerex.client import MAX_ANSWER_BYTES, Client
from harness.plugins.swerex.configuration import swerex
from harness.plugins.swerex.engine import SwerexEngine
from harness.runs.owners import OWNER
from harness.sandbox.local.confinement import works
from harness.sandbox.protocol import Image, Job, PlacedFile
from harness.sandbox.registry import ImageSources
from harness.specs.errors import SandboxLost, UserError
from harness.specs.task import Task
from tests.support.ray_cluster import until
from tests.support.sandboxes import (
    ENV,
    OPTIONS,
    RUN,
    eventually,
    exported,
    labels,
    local_image,
    make_engine,
    processes_with,
)
from tests.support.small_task import small_task
from tests.support.swerex_server import swerex_server

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
RUNTIME = Path(__file__).parents[1] / "support" / "container_runtime.sh"


def name_of(url: str, root: Path) -> str:
    return f"swerex:{url}?token_env=SWEREX_TOKEN_OF_TEST&root={root}&accept_degraded=yes"


async def test_the_process_beside_a_killed_node_removes_its_sandboxes_whatever_the_tokens_name_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with swerex_server(tmp_path) as server:
        monkeypatch.setenv("BUILD_FARM", server.token)
        name = f"swerex:{server.url}?token_env=BUILD_FARM&root={tmp_path}/root&accept_degraded=yes"
        engine = make_engine(name)
        left = engine.sandbox(local_image(tmp_path / "image"), OPTIONS, {OWNER: "of-a-killed-node"})
        others = engine.sandbox(local_image(tmp_path / "other"), OPTIONS, {OWNER: "of-another-node"})
        await asyncio.gather(left.start(), others.start())
        pipe = await asyncio.to_thread(start_guard, name, "of-a-killed-node", tmp_path / "scratch")
        assert len(list(tmp_path.glob("root/sandbox-*"))) == 2
        pipe.close()  # as the end of its process closes it
        await asyncio.to_thread(until, lambda: len(list(tmp_path.glob("root/sandbox-*"))) == 1)
        assert (await others.run("echo here", 20)).output == b"here\n"
        await others.remove()
        await engine.close()


async def test_a_server_that_ends_is_told_by_every_method(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with swerex_server(tmp_path) as server:
        monkeypatch.setenv("SWEREX_TOKEN_OF_TEST", server.token)
        engine = make_engine(name_of(server.url, tmp_path / "root"))
        image = local_image(tmp_path / "image")
        sandbox = engine.sandbox(image, OPTIONS, labels("ends"))
        await sandbox.start()
        running = asyncio.create_task(sandbox.run(f"sleep {RUN}8661.1", 60))
        await eventually(lambda: bool(processes_with(f"sleep\0{RUN}8661.1")), "the command has not started")
        server.process.kill()
        server.process.wait()
        with pytest.raises(SandboxLost):
            await running
        for method in (
            sandbox.run("true", 5),
            sandbox.read("/app/present.txt"),
            sandbox.write("/app/x", b""),
            sandbox.kill(),
            exported(sandbox, "/app", tmp_path / "x.tar", 1000),
            engine.run_job(image, Job(("true",)), OPTIONS, labels("ends")),
        ):
            with pytest.raises(SandboxLost):
                await method
        await sandbox.remove()
        await engine.close()

    # What it has left is removed at the next start, from whatever server sees the same directory.
    with swerex_server(tmp_path) as server:
        monkeypatch.setenv("SWEREX_TOKEN_OF_TEST", server.token)
        engine = make_engine(name_of(server.url, tmp_path / "root"))
        assert await engine.reap(labels("nobody's")) == 0
        assert await engine.reap(labels("ends")) == 1
        assert processes_with(f"{RUN}8661.") == []
        await engine.close()


async def test_a_server_that_is_not_there_or_has_another_token_is_told_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SWEREX_TOKEN_OF_TEST", "another")
    with swerex_server(tmp_path) as server:
        engine = make_engine(name_of(server.url, tmp_path / "root"))
        with pytest.raises(UserError, match="no SWE-ReX server that knows the token answers at") as caught:
            await engine.image(small_task(tmp_path / "task"))
        assert server.token not in str(caught.value)
        await engine.close()
    with pytest.raises(UserError, match="no SWE-ReX server that knows the token answers at"):
        await engine.image(small_task(tmp_path / "task"))
    assert not (tmp_path / "root").exists()


async def answer_of(handler: Handler) -> str:
    """How a client ends that meets this answer."""
    application = web.Application()
    application.router.add_post("/execute", handler)
    application.router.add_post("/elsewhere", _elsewhere)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    client = Client(f"http://127.0.0.1:{runner.addresses[0][1]}", "token")
    try:
        with pytest.raises(SandboxLost) as caught:
            await client.check("facts")
        return str(caught.value)
    finally:
        await client.close()
        await runner.cleanup()


async def _elsewhere(_: web.Request) -> web.Response:
    return web.json_response({"stdout": "0\n5\n/bin\n", "stderr": "", "exit_code": 0})


async def test_an_error_of_the_server_names_nothing_that_is_called_here(tmp_path: Path) -> None:
    proof = tmp_path / "called"

    async def handler(_: web.Request) -> web.Response:
        error = {"message": f"touch {proof}", "class_path": "os.system", "traceback": "", "extra_info": {}}
        return web.json_response({"swerexception": error}, status=511)

    assert "SWE-ReX answers 511" in await answer_of(handler)
    assert not proof.exists()


async def test_an_answer_without_end_is_cut(tmp_path: Path) -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(2 * MAX_ANSWER_BYTES // 1_000_000):
            await response.write(b" " * 1_000_000)
        return response

    assert "larger than" in await answer_of(handler)


async def test_a_redirection_is_not_followed(tmp_path: Path) -> None:
    async def handler(_: web.Request) -> web.Response:
        raise web.HTTPTemporaryRedirect("/elsewhere")

    assert "SWE-ReX answers 307" in await answer_of(handler)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"exit_code": "0", "stdout": ""}', '{"exit_code": 0}', "[" * 100_000, "\0"]
)
async def test_an_answer_that_is_none_is_a_lost_sandbox(text: str) -> None:
    async def handler(_: web.Request) -> web.Response:
        return web.Response(body=text.encode(), content_type="application/json")

    assert "answer" in await answer_of(handler)


@pytest.fixture
def own_deployments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SwerexEngine:
    """A deployment for each sandbox, of SWE-ReX's type `docker`; bubblewrap stands for the container runtime."""
    if not works():
        pytest.skip("NO BUBBLEWRAP HERE (or it may not make namespaces), so this was NOT tested")
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "docker").symlink_to(RUNTIME)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("CONTAINERS", str(tmp_path / "containers"))
    monkeypatch.setenv("IMAGE_TREE", str(tmp_path / "image" / "tree"))
    monkeypatch.setenv("PYTHON", sys.executable)
    (tmp_path / "own.yaml").write_text(
        "deployment: {type: docker, image: 'registry.example/{reference}', pull: never, startup_timeout: 60}\n"
        "per_sandbox: true\nin_place: true\ninherit_env: true\naccept_degraded: true\n"
    )
    return swerex(str(tmp_path / "own.yaml"), ImageSources(_no_image, _no_image))


async def _no_image(_: Task) -> Image:
    raise AssertionError("these tests bring their image along")


@pytest.fixture
def task_image(tmp_path: Path) -> Image:
    local_image(tmp_path / "image")
    return Image("task:1", "abc", "/app", Path("/nonexistent"), ENV)


async def test_each_sandbox_has_a_deployment_of_its_own_that_starts_from_the_image(
    own_deployments: SwerexEngine, task_image: Image, tmp_path: Path
) -> None:
    one, two = (own_deployments.sandbox(task_image, OPTIONS, labels(name)) for name in ("one", "two"))
    await asyncio.gather(one.start(), two.start())
    containers = sorted((tmp_path / "containers").iterdir())
    assert [(path / "image").read_text() for path in containers] == ["registry.example/task:1\n"] * 2
    result = await one.run('cat present.txt; pwd; echo "$OF_THE_IMAGE $FROM_IMAGE"; id -u; touch mine', 20)
    assert result.output == b"present\n/app\nyes yes\n1000\n"
    assert (await two.run("ls /app; ls /tmp", 20)).output.split()[0] == b"present.txt"
    await one.write("/logs/agent/manifest.yaml", b"- file: x\n")
    assert await one.read("/logs/agent/manifest.yaml") == b"- file: x\n"
    assert (await one.run("sleep 60", 0.5)).timed_out
    await one.run("sleep 60 & sleep 61 &", 20)
    await one.kill()
    await exported(one, "/app", tmp_path / "app.tar", 1_000_000)
    assert (tmp_path / "app.tar").stat().st_size > 0
    await asyncio.gather(one.remove(), two.remove())
    await own_deployments.close()
    gone = lambda: not any(processes_with(str(container)) for container in containers)  # noqa: E731
    await eventually(gone, "processes of removed deployments are gone")


async def test_a_job_in_a_deployment_of_its_own(
    own_deployments: SwerexEngine, task_image: Image, tmp_path: Path
) -> None:
    script = "cat /app/new/file present.txt; echo report > $TESTWRIGHT_REPORT_DIR/1.xml; exit 7"
    job = Job(("bash", "-c", script), (PlacedFile("/app/new/file", b"placed\n"),), seconds=30)
    result = await own_deployments.run_job(task_image, job, OPTIONS, labels("job"))
    assert (result.exit_status, result.log, result.outputs) == (7, b"placed\npresent\n", {"1.xml": b"report\n"})
    await own_deployments.close()
    await eventually(lambda: not processes_with(str(tmp_path / "containers")), "a process of the deployment is left")


async def test_a_deployment_that_does_not_start_is_a_lost_sandbox_and_says_why(
    own_deployments: SwerexEngine, task_image: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHON", "/nonexistent/python")
    sandbox = own_deployments.sandbox(task_image, OPTIONS, labels("broken"))
    with pytest.raises(SandboxLost, match="the SWE-ReX deployment doesn't start: Container process terminated"):
        await sandbox.start()
    await sandbox.remove()
    await own_deployments.close()


async def test_a_type_whose_package_is_not_installed_says_what_to_install(tmp_path: Path, task_image: Image) -> None:
    (tmp_path / "modal.yaml").write_text("deployment: {type: modal}\nper_sandbox: true\naccept_degraded: true\n")
    engine = swerex(str(tmp_path / "modal.yaml"), ImageSources(_no_image, _no_image))
    with pytest.raises(UserError, match=r"pip install 'swe-rex\[modal\]'"):
        await engine.sandbox(task_image, OPTIONS, labels("modal")).start()
    await engine.close()
