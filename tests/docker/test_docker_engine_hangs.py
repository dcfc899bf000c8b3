"""An engine that accepts connections and answers no more, answers nonsense, or goes away in mid-answer is lost."""

import asyncio
import json
import re
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.authoring import doctor as doctor_engine
from harness.sandbox.docker.client import Docker
from harness.sandbox.docker.connection import Archive, EngineAddress, attach, start_exec, wait_for_end
from harness.sandbox.docker.container import ContainerSpec, create, limited
from harness.sandbox.docker.engine import DockerEngine
from harness.sandbox.images.building import engine_build_cli
from harness.sandbox.images.engine_images import engine_images
from harness.sandbox.protocol import Image, SandboxOptions
from harness.specs.errors import EndedFromOutside, ImageUnavailable, SandboxLost, UserError
from harness.specs.problem import Health
from harness.specs.task import Task

ANSWERS = {"/info": {"NCPU": 2}, "/version": {"ApiVersion": "1.41"}}


@contextmanager
def engine(path: Path, answer: bytes | None, answers: Mapping[str, Any] = ANSWERS) -> Iterator[list[str]]:
    """Answers who it is; everything else with `answer` and the end of the connection, with None not at all.

    Gives the bodies of the requests that it has answered.
    """
    bodies: list[str] = []
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    open_ones: list[socket.socket] = []

    def serve(connection: socket.socket) -> None:
        request = b""
        while b"\r\n\r\n" not in request:
            data = connection.recv(65536)
            if not data:
                return
            request += data
        head, _, body = request.partition(b"\r\n\r\n")
        size = int((re.search(rb"content-length: *(\d+)", head, re.I) or [b"", b"0"])[1])
        while len(body) < size:
            body += connection.recv(65536)
        bodies.append(body.decode(errors="replace"))
        target = request.split()[1].decode().partition("?")[0]
        answered = next((value for name, value in answers.items() if target.endswith(name)), None)
        if answered is not None:
            told = json.dumps(answered).encode()
            begin = f"HTTP/1.1 200 OK\r\nContent-Length: {len(told)}\r\nConnection: close\r\n\r\n"
            connection.sendall(begin.encode() + told)
        elif answer is not None:
            connection.sendall(answer)
        else:
            return
        connection.shutdown(socket.SHUT_RDWR)

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            open_ones.append(connection)
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield bodies
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()
        for connection in open_ones:
            connection.close()


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "docker.sock"
    monkeypatch.setenv("DOCKER_HOST", f"unix://{path}")
    return path


async def every_way(docker: Docker) -> list[BaseException | object]:
    """What comes of each kind of request, all at once."""
    return await asyncio.gather(
        docker.call(docker.api.inspect_container, "x"),
        docker.kill("x"),
        docker.remove("x"),
        attach(docker.address, "x"),
        start_exec(docker.address, "x"),
        wait_for_end(docker.address, "x"),
        docker.call(Archive, docker.address, "x", "/app"),
        return_exceptions=True,
    )


async def test_an_engine_that_hangs_is_lost_after_its_time_for_an_answer(path: Path) -> None:
    with engine(path, None):
        docker = Docker(answer_seconds=1)
        async with asyncio.timeout(30):
            outcomes = await every_way(docker)
        docker.close()
    assert [type(outcome) for outcome in outcomes] == [SandboxLost] * 7


@pytest.mark.parametrize(
    "answer", [b"", b"HTTP/1.1", b"nonsense\r\n\r\n", b"HTTP/1.1 500 x\r\n\r\n{", b"x" * 200_000]
)
async def test_an_engine_that_goes_away_or_answers_nonsense_is_lost(path: Path, answer: bytes) -> None:
    with engine(path, answer):
        docker = Docker(answer_seconds=20)
        outcomes = await every_way(docker)
        docker.close()
    assert [type(outcome) for outcome in outcomes] == [SandboxLost] * 7


async def test_an_engine_that_is_away_is_waited_for_and_one_that_is_there_is_not(path: Path) -> None:
    address = EngineAddress.of(f"unix://{path}", "1.41", answer_seconds=1)
    assert not await address.comes_back(), "it was away for longer than its time for an answer"
    waiting = asyncio.create_task(replace(address, answer_seconds=60).comes_back())
    await asyncio.sleep(0)
    with engine(path, None):
        assert await waiting
        assert not await address.comes_back(), "it has not been away"


async def test_a_container_that_is_not_there_was_removed_by_somebody(path: Path) -> None:
    body = b'{"message":"No such container: x"}'
    answer = b"HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
        len(body),
        body,
    )
    with engine(path, answer):
        docker = Docker(answer_seconds=20)
        outcomes = await every_way(docker)
        docker.close()
    removed = outcomes.pop(2)
    assert removed is None, "there is nothing left to remove"
    assert [type(outcome) for outcome in outcomes] == [EndedFromOutside] * 6
    assert all("No such container: x" in str(outcome) for outcome in outcomes)


async def test_a_container_is_killed_however_many_other_calls_hang(path: Path) -> None:
    released = threading.Event()
    with engine(path, b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n"):
        docker = Docker(answer_seconds=20)
        hanging = [asyncio.create_task(docker.call(released.wait)) for _ in range(100)]
        async with asyncio.timeout(10):
            await docker.kill("x")
            await docker.remove("x")
        released.set()
        await asyncio.gather(*hanging)
        docker.close()


@pytest.mark.parametrize("host", ["https://localhost:2376", "ssh://root@localhost", "npipe:////./pipe/docker_engine"])
def test_an_engine_that_cannot_be_reached_directly_is_refused(host: str) -> None:
    with pytest.raises(UserError, match="forward its socket"):
        EngineAddress.of(host, "1.41")


def test_an_engine_is_found_at_a_socket_or_a_port() -> None:
    assert EngineAddress.of("unix:///run/x.sock", "1.41").path == "/run/x.sock"
    reached = EngineAddress.of("tcp://127.0.0.1:2375", "1.41")
    assert (reached.host, reached.port, reached.path) == ("127.0.0.1", 2375, "")
    assert EngineAddress.of(None, "1.41").path == "/var/run/docker.sock"


BY_ITSELF = 'ulimit -f 2097152 && ulimit -c 0 && ulimit -n 4096 && ulimit -u 4096 && ulimit -d 2097152 && exec "$@"'
PODMAN = {**ANSWERS, "/version": {"ApiVersion": "1.41", "Components": [{"Name": "Podman Engine"}]}}


@pytest.mark.parametrize("is_podman", [False, True])
async def test_podman_is_asked_for_the_same_in_its_own_way(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_podman: bool
) -> None:
    """It ignores the list of hidden paths, and writes this machine's names into a container's hosts."""
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "cache"))
    answers = {**(PODMAN if is_podman else ANSWERS), "/containers/create": {"Id": "1"}}
    image, options = Image("i", "d", "/app", tmp_path), SandboxOptions(hidden=("/usr/bin/gdb", "/usr/share/doc"))
    with engine(path, None, answers) as bodies:
        docker = Docker()
        assert await create(docker, ContainerSpec(image, options, {}, ["true"], directory="/app", is_job=True)) == "1"
        docker.close()
    asked = json.loads(bodies[-1])["HostConfig"]
    masks = [option.removeprefix("mask=").split(":") for option in asked["SecurityOpt"] if option.startswith("mask=")]
    hidden = {"/usr/bin/gdb", "/usr/share/doc"}
    assert ([hidden <= set(mask) for mask in masks], hidden <= set(asked.get("MaskedPaths", ()))) == (
        [True] if is_podman else [],
        not is_podman,
    )
    assert [mount["Target"] for mount in asked.get("Mounts") or ()] == (["/etc/hosts"] if is_podman else [])
    for mount in asked.get("Mounts") or ():
        [*_, own_name] = Path(mount["Source"]).read_text().splitlines()
        assert own_name == "127.0.0.1\tbox"


@pytest.mark.parametrize(
    ("controllers", "lacks", "own_limits"),
    [
        (["cpu", "memory", "pids"], "", {"nproc": 32768}),
        (["memory", "pids"], "it can't limit processor time", {"nproc": 32768}),
        ([], "it can't limit memory, processes, processor time", {"nproc": 4096, "data": 2048 << 20}),
        (None, "it can't limit memory, processes, processor time", {"nproc": 4096, "data": 2048 << 20}),
    ],
)
async def test_a_podman_without_control_groups_declares_no_limits_and_doctor_says_so(
    path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    controllers: list[str] | None,
    lacks: str,
    own_limits: dict[str, int],
) -> None:
    """A service of a user's own, on cgroup v1: in Docker's form it says that it can limit all."""
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "cache"))
    can_all = {"NCPU": 2, "MemoryLimit": True, "PidsLimit": True, "CpuCfsQuota": True}
    answers = {
        "/libpod/info": {"host": {"cgroupControllers": controllers, "security": {"rootless": controllers is None}}},
        **PODMAN,
        "/info": can_all, "/images/debian:bookworm-slim/json": {"Id": "1"}, "/containers/create": {"Id": "1"},
    }  # fmt: skip
    with engine(path, None, answers) as bodies:
        found = DockerEngine(_no_task)
        declared = {"memory": found.capabilities.memory, "pids": found.capabilities.pids}
        assert declared == {name: name in (controllers or ()) for name in declared}
        await found.close()
        docker = Docker()
        image = Image("i", "d", "/app", tmp_path)
        await create(docker, ContainerSpec(image, SandboxOptions(), {}, ["true"], directory="/app"))
        docker.close()
        asked = json.loads(bodies[-1])["HostConfig"]
        set_limits = {each["Name"]: each["Hard"] for each in asked["Ulimits"]}
        assert {name: set_limits[name] for name in ("nproc", "data") if name in set_limits} == own_limits
        by_itself = limited(docker, SandboxOptions().limits, ["true"])
        is_rootless = controllers is None
        assert by_itself == (("bash", "-c", BY_ITSELF, "bash", "true") if is_rootless else ("true",))
        told = doctor_engine.engine()[0]
    assert told.health is (Health.DEGRADED if lacks else Health.OK)
    assert lacks in told.words
    assert ("can't limit" in told.words) is bool(lacks)


async def _no_task(_: Task) -> Image:
    raise AssertionError("no task is asked for")


async def test_images_are_known_by_the_names_that_we_gave_them(path: Path) -> None:
    """Podman puts a registry before them: one for what it built, another for what it loaded."""
    tags = ["localhost/testwright/built-task:1", "docker.io/testwright/loaded-task:1", "localhost/other:1"]
    listed = {"Id": "1", "RepoTags": tags, "Size": 5, "Created": 1}
    answers = {**PODMAN, "/images/json": [listed], "/images/1/json": {"Id": "1", "RootFS": {}}}
    with engine(path, None, answers):
        async with engine_images() as images:
            [found] = await images.all()
    assert found.tags == ("testwright/built-task:1", "testwright/loaded-task:1", "localhost/other:1")


async def test_what_podman_says_of_a_container_that_runs_no_more_is_no_fault(path: Path) -> None:
    words = json.dumps(
        {"message": "can only kill running containers. 1 is in state exited", "response": 500}
    ).encode()
    head = f"HTTP/1.1 500 Internal Server Error\r\nContent-Length: {len(words)}\r\nConnection: close\r\n\r\n"
    with engine(path, head.encode() + words, PODMAN):
        docker = Docker()
        await docker.kill("1")
        docker.close()


def test_podman_behind_the_socket_builds_by_its_own_command(path: Path, tmp_path: Path) -> None:
    podman = tmp_path / "bin" / "podman"
    podman.parent.mkdir()
    podman.write_text("#!/bin/sh\necho podman version 4.3.1\n")
    podman.chmod(0o755)
    with engine(path, None, PODMAN):
        assert engine_build_cli(str(podman.parent)) == (podman, "4.3.1", ("--url", f"unix://{path}", "build"))
        assert Docker().is_podman
        with pytest.raises(ImageUnavailable, match=r"this engine is Podman, .*; install podman here"):
            engine_build_cli(str(tmp_path / "elsewhere"))
