"""The one way out of a sandbox: a port of its loopback that is carried to the gateway's socket on this machine."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import docker
import pytest
import pytest_asyncio
from aiohttp import web

from harness.sandbox.local.confinement import works
from harness.sandbox.protocol import (
    GATEWAY_PORT,
    Engine,
    Gateway,
    Image,
    MadeUnusable,
    Network,
    Sandbox,
    SandboxOptions,
)
from harness.specs.catalog import Catalog
from harness.specs.errors import SandboxLost
from harness.tracks.registry import IMAGES
from tests.support.sandboxes import OPTIONS, labels, local_image, make_engine, started

URL = f"http://127.0.0.1:{GATEWAY_PORT}"
TASK = "aiosmtpd-proxy-tlv"
WAYS = (
    pytest.param("docker-socket", marks=pytest.mark.docker),
    pytest.param("docker-remote", marks=pytest.mark.docker),
    "bubblewrap",
)
ASK = """python3 - <<'END'
import urllib.request
print(urllib.request.urlopen("%s", data=b"x" * %d, timeout=20).read().decode())
END"""

TAKES_THE_PORT = """
import glob, os, socket, time
while True:
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        number = int(path.split("/")[2])
        try:
            if b"imports nothing of ours" in open(path, "rb").read() and number != os.getpid():
                os.kill(number, 9)
        except OSError:
            pass
    try:
        taken = socket.create_server(("127.0.0.1", 47115))
    except OSError:
        continue
    time.sleep(60)
"""
"""In Python, for somebody who may kill the forwarder: until the port is free for a moment."""


@asynccontextmanager
async def serving(directory: Path) -> AsyncIterator[Path]:
    """A web server on a Unix socket: it says how much it was sent, or prints without end at /stream."""

    async def length(request: web.Request) -> web.Response:
        return web.Response(text=f"{len(await request.read())} bytes")

    async def big(_: web.Request) -> web.Response:
        return web.Response(body=b"y" * 5_000_000)

    async def stream(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse()
        await answer.prepare(request)
        while True:
            await answer.write(b"z" * 65536)

    application = web.Application(client_max_size=32 << 20)
    application.router.add_post("/length", length)
    application.router.add_get("/big", big)
    application.router.add_get("/stream", stream)
    runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0.05)
    await runner.setup()
    directory.mkdir(mode=0o755)
    socket = directory / "gateway.sock"
    await web.UnixSite(runner, str(socket)).start()
    socket.chmod(0o666)
    yield socket
    await runner.cleanup()


@asynccontextmanager
async def over_tcp() -> AsyncIterator[str]:
    """The Docker engine's socket behind a TCP port, as a remote engine is reached."""

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
            writer.write_eof()
        except OSError:
            pass

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_unix_connection("/var/run/docker.sock")
        await asyncio.gather(copy(reader, far_writer), copy(far_reader, writer))
        far_writer.close()
        writer.close()

    server = await asyncio.start_server(connect, "127.0.0.1", 0)
    yield f"tcp://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    server.close()


@pytest_asyncio.fixture(params=WAYS)
async def place(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[str, Engine, Image]]:
    """A way, an engine that takes it, and an image with Python."""
    way = str(request.param)
    if way == "bubblewrap":
        if not works():
            pytest.skip("NO BUBBLEWRAP HERE (or it may not make namespaces), so this was NOT tested")
        engine = make_engine("bubblewrap")
        yield way, engine, local_image(tmp_path / "environment")
        await engine.close()
        return
    image = await IMAGES.container(Catalog().task(TASK))
    async with over_tcp() as address:
        if way == "docker-remote":
            monkeypatch.setenv("DOCKER_HOST", address)
        engine = await asyncio.to_thread(make_engine, "docker")
        yield way, engine, image
        await engine.close()


@pytest_asyncio.fixture
async def sandbox(place: tuple[str, Engine, Image], tmp_path: Path) -> AsyncIterator[Sandbox]:
    way, engine, image = place
    tmp_path.chmod(0o755)
    async with (
        serving(tmp_path / "gateway") as socket,
        started(engine, image, f"gateway-{way}", options(socket)) as sandbox,
    ):
        yield sandbox


def options(socket: Path) -> SandboxOptions:
    return replace(OPTIONS, network=Network.GATEWAY, gateways=(Gateway(socket, python="/usr/bin/python3"),))


async def test_requests_and_answers_of_any_size_are_carried(sandbox: Sandbox) -> None:
    for size in (1, 3_000_000):
        result = await sandbox.run(ASK % (f"{URL}/length", size), 30)
        assert result.output == f"{size} bytes\n".encode(), result
    big = f"python3 -c 'import urllib.request as u; print(len(u.urlopen(\"{URL}/big\", timeout=20).read()))'"
    together = await sandbox.run(" & ".join([big] * 8) + " & wait", 60)
    assert together.output == b"5000000\n" * 8, together


async def test_nothing_but_the_gateway_is_reached(sandbox: Sandbox) -> None:
    for address in ("192.0.2.1", "169.254.169.254", "172.17.0.1", "2001:db8::1"):
        result = await sandbox.run(f"exec 3<>/dev/tcp/{address}/80", 20)
        assert result.exit_status == 1
        assert b"Network is unreachable" in result.output, result
    assert (await sandbox.run("getent hosts example.com", 20)).exit_status != 0
    assert (await sandbox.run("exec 3<>/dev/tcp/127.0.0.1/80", 20)).exit_status == 1
    interfaces = await sandbox.run("cat /proc/net/dev", 20)
    assert [line.split(b":")[0].strip() for line in interfaces.output.splitlines()[2:]] == [b"lo"]


async def test_one_that_never_reads_its_answer_delays_nobody(sandbox: Sandbox) -> None:
    stuck = f"exec 3<>/dev/tcp/127.0.0.1/{GATEWAY_PORT}; printf 'GET /stream HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' >&3; "
    asked = ASK % (f"{URL}/length", 7)
    result = await sandbox.run(f"{stuck}head -c 100000 <&3 >/dev/null; {asked}", 60)
    assert result.output == b"7 bytes\n", result


async def test_a_command_that_kills_what_it_finds_leaves_the_way_open(
    place: tuple[str, Engine, Image], sandbox: Sandbox
) -> None:
    way, _, _ = place
    # Without a separate user, the rest would end the agent itself.
    everything = "" if way == "bubblewrap" else "; pkill -9 -f gateway; kill -9 -1"
    await sandbox.run(f"pkill -9 python{everything}", 20)
    # What is being killed may still accept one connection: only an answer shows that the way is open again.
    ask = f"ask() {{ {ASK % (f'{URL}/length', 3)}\n}}"
    result = await sandbox.run(f"{ask}; for n in {{1..100}}; do ask 2>/dev/null && break; sleep 0.1; done", 60)
    assert result.output == b"3 bytes\n", result


async def test_the_way_is_taken_that_the_engine_allows(place: tuple[str, Engine, Image], sandbox: Sandbox) -> None:
    way, _, _ = place
    shown = await sandbox.run(f"ls /run/testwright/{GATEWAY_PORT} 2>/dev/null", 20)
    assert shown.output == (b"" if way == "docker-remote" else b"gateway.sock\n")


@pytest.mark.docker
async def test_a_way_that_ends_is_opened_anew_unless_its_port_is_taken(tmp_path: Path) -> None:
    image = await IMAGES.container(Catalog().task(TASK))
    engine = make_engine("docker")
    tmp_path.chmod(0o755)
    async with (
        serving(tmp_path / "gateway") as socket,
        started(engine, image, "gateway-lost", options(socket)) as sandbox,
    ):
        client = docker.from_env()
        [container] = client.containers.list(filters={"label": _label("gateway-lost")})
        container.exec_run(["pkill", "-9", "python"], user="65534")
        ask = f"ask() {{ {ASK % (f'{URL}/length', 3)}\n}}"
        result = await sandbox.run(f"{ask}; for n in {{1..100}}; do ask 2>/dev/null && break; sleep 0.1; done", 60)
        assert result.output == b"3 bytes\n", result
        container.exec_run(["python3", "-c", TAKES_THE_PORT], user="65534", detach=True)
        with pytest.raises(MadeUnusable, match="lost its way to the gateway"):
            await asking(sandbox)
        client.close()
    await engine.close()


@pytest.mark.docker
async def test_a_python_that_is_not_there_is_said(tmp_path: Path) -> None:
    image = await IMAGES.container(Catalog().task(TASK))
    engine = make_engine("docker")
    async with serving(tmp_path / "gateway") as socket:
        gateway = Gateway(socket, python="/no/such/python")
        with pytest.raises(SandboxLost, match="does not start under /no/such/python"):
            async with started(
                engine, image, "gateway-python", replace(OPTIONS, network=Network.GATEWAY, gateways=(gateway,))
            ):
                pass
    await engine.close()


async def asking(sandbox: Sandbox) -> None:
    for _ in range(100):
        await sandbox.run("sleep 0.2", 20)


def _label(name: str) -> str:
    [(key, value)] = labels(name).items()
    return f"{key}={value}"
