"""From start to removal, and what is told when a sandbox is gone. Each test has a sandbox of its own."""

import asyncio
import contextlib
import os
import shutil
import signal
import tarfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import docker
import pytest

from harness.plugins.swerex.sandbox import SwerexSandbox
from harness.sandbox.docker.sandbox import DockerSandbox
from harness.sandbox.local.sandbox import LocalSandbox
from harness.sandbox.protocol import Engine, Image, LimitReached, Sandbox
from harness.specs.errors import SandboxLost
from tests.support.sandboxes import (
    OPTIONS,
    RUN,
    UNCONFINED,
    eventually,
    exported,
    labels,
    labels_here,
    processes_with,
    started,
)
from tests.support.traces import descendants

BIG = 50_000_000


def methods(sandbox: Sandbox, tmp_path: Path) -> dict[str, Callable[[], Awaitable[object]]]:
    """Every method that a lost sandbox must refuse."""
    return {
        "run": lambda: sandbox.run("true", 5),
        "read": lambda: sandbox.read("/app/present.txt"),
        "write": lambda: sandbox.write("/app/x", b"x"),
        "kill": sandbox.kill,
        "export_tree": lambda: exported(sandbox, "/app", tmp_path / "lost.tar", BIG),
    }


def lives(pid: int) -> bool:
    """Whether a process still runs: one that nobody has waited for has no command line."""
    with contextlib.suppress(OSError):
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())
    return False


async def lose(sandbox: Sandbox, kind: str) -> None:
    """What an operator or the machine might do to a sandbox, behind our back."""
    if kind == "docker":
        assert isinstance(sandbox, DockerSandbox)
        client = docker.from_env()
        await asyncio.to_thread(client.api.kill, await sandbox._container())
        client.close()
        return
    if isinstance(sandbox, SwerexSandbox):
        assert sandbox._place is not None
        shutil.rmtree(sandbox._place.state)
        return
    assert isinstance(sandbox, LocalSandbox)
    assert sandbox._process is not None
    assert sandbox._place is not None
    if kind == "bubblewrap":
        inside = descendants(sandbox._process.pid)
        os.kill(sandbox._process.pid, signal.SIGKILL)
        # They end by it a moment later, and one may have answered until then.
        await eventually(lambda: not any(map(lives, inside)), "its processes outlive it")
    else:  # its processes alone would be started anew: an agent can kill them as well
        shutil.rmtree(sandbox._place.files)


async def test_a_lost_sandbox_is_told_by_every_method(sandbox: Sandbox, kind: str, tmp_path: Path) -> None:
    await lose(sandbox, kind)
    for name, method in methods(sandbox, tmp_path).items():
        with pytest.raises(SandboxLost):
            print(name, await method())
    await sandbox.remove()


async def test_a_sandbox_lost_under_a_command_is_told_by_it(sandbox: Sandbox, kind: str) -> None:
    if kind in UNCONFINED:
        return  # the directory's loss is seen by the next command
    running = asyncio.create_task(sandbox.run(f"sleep {RUN}8644.1", 60))
    await eventually(lambda: bool(processes_with(f"sleep\0{RUN}8644.1")), "the command has not started")
    await lose(sandbox, kind)
    with pytest.raises(SandboxLost):
        await running


async def test_a_removed_sandbox_leaves_nothing_and_is_told_by_every_method(
    engine: Engine, image: Image, kind: str, tmp_path: Path
) -> None:
    async with started(engine, image, "removed") as sandbox:
        await sandbox.run(f"setsid sleep {RUN}8642.1 & sleep {RUN}8642.2 & :", 20)
        await sandbox.remove()
        await sandbox.remove()
        assert processes_with(f"{RUN}8642.") == []
        for name, method in methods(sandbox, tmp_path).items():
            with pytest.raises(SandboxLost):
                print(name, await method())
    assert await engine.reap(labels("removed")) == 0


async def test_a_sandbox_that_was_never_started_is_told_by_every_method(
    engine: Engine, image: Image, tmp_path: Path
) -> None:
    sandbox = engine.sandbox(image, OPTIONS, {})
    for name, method in methods(sandbox, tmp_path).items():
        with pytest.raises(SandboxLost):
            print(name, await method())
    await sandbox.remove()


async def test_kill_stops_every_process_and_keeps_the_files(sandbox: Sandbox, kind: str, tmp_path: Path) -> None:
    await sandbox.run(
        f"(setsid bash -c 'trap \"\" TERM; while :; do sleep {RUN}8641.1; done' &)\n"
        f"env -i setsid sleep {RUN}8641.2 & sleep {RUN}8641.3 &\n"
        "mkdir -p sub; echo kept > sub/file; chmod 755 sub/file; ln -s file sub/link\n"
        " ln -s /etc/passwd out; mkfifo pipe",
        20,
    )
    await eventually(lambda: len(processes_with(f"{RUN}8641.")) >= 3, "the daemons have not started")
    await sandbox.kill()
    hidden = set(processes_with(f"{RUN}8641.2"))
    if kind in UNCONFINED:
        for pid in hidden:  # not declared: with an environment and a session of its own it is nobody's
            os.kill(pid, signal.SIGKILL)
    else:
        assert not hidden
    assert set(processes_with(f"{RUN}8641.")) <= hidden
    await sandbox.kill()
    for method in ("run", "read", "write"):
        with pytest.raises(SandboxLost):
            await methods(sandbox, tmp_path)[method]()
    await exported(sandbox, "/app", tmp_path / "app.tar", BIG)
    with tarfile.open(tmp_path / "app.tar") as tar:
        members = {member.name: member for member in tar}
        content = tar.extractfile("app/sub/file")
        assert content is not None
        assert content.read() == b"kept\n"
    assert set(members) == {
        "app",
        "app/present.txt",
        "app/sub",
        "app/sub/file",
        "app/sub/link",
        "app/out",
        "app/pipe",
    }
    assert members["app/sub/file"].mode & 0o777 == 0o755
    assert members["app/sub/link"].issym()
    assert members["app/out"].linkname == "/etc/passwd"
    assert members["app/pipe"].isfifo()


async def test_a_tree_is_exported_as_it_is_now(sandbox: Sandbox, tmp_path: Path) -> None:
    await sandbox.write("/logs/agent/manifest.yaml", b"- file: x\n")
    await exported(sandbox, "/logs/agent", tmp_path / "logs.tar", BIG)
    with tarfile.open(tmp_path / "logs.tar") as tar:
        assert set(tar.getnames()) == {"agent", "agent/manifest.yaml"}


async def test_only_a_directory_can_be_exported(sandbox: Sandbox, tmp_path: Path) -> None:
    await sandbox.run("ln -s /nowhere link", 20)
    for path in ("/absent", "/app/present.txt", "/app/link/inner"):
        with pytest.raises(FileNotFoundError):
            await exported(sandbox, path, tmp_path / "out.tar", BIG)
        assert not (tmp_path / "out.tar").exists()


async def test_a_directory_replaced_by_a_link_exports_nothing_of_ours(sandbox: Sandbox, tmp_path: Path) -> None:
    secret = tmp_path / "ours"
    secret.mkdir()
    (secret / "key").write_text("honeytoken")
    await sandbox.run(f'd="${{TESTWRIGHT_AGENT_LOGS:-/logs/agent}}"; rm -rf "$d/sub"; ln -s {secret} "$d/sub"', 20)
    with contextlib.suppress(FileNotFoundError):
        await exported(sandbox, "/logs/agent/sub", tmp_path / "out.tar", BIG)
        assert b"honeytoken" not in (tmp_path / "out.tar").read_bytes()


async def test_an_export_stops_at_its_limit(sandbox: Sandbox, tmp_path: Path) -> None:
    await sandbox.run("head -c 5000000 /dev/urandom > big", 20)
    with pytest.raises(LimitReached) as caught:
        await exported(sandbox, "/app", tmp_path / "out.tar", 1_000_000)
    assert caught.value.limit == "export"
    assert not (tmp_path / "out.tar").exists()


async def test_commands_of_two_sandboxes_run_side_by_side_and_do_not_mix(engine: Engine, image: Image) -> None:
    async with started(engine, image, "one") as one, started(engine, image, "two") as two:
        commands = [
            sandbox.run(f"echo {name} > who; for n in {{1..50}}; do cat who; done", 20)
            for _ in range(5)
            for sandbox, name in ((one, "one"), (two, "two"))
        ]
        outputs = [result.output for result in await asyncio.gather(*commands)]
    assert outputs == [b"one\n" * 50, b"two\n" * 50] * 5


async def test_a_cancelled_command_is_dead_before_the_next_one_runs(sandbox: Sandbox) -> None:
    running = asyncio.create_task(sandbox.run(f"echo noise; sleep {RUN}8643.1; echo noise", 60))
    await eventually(lambda: bool(processes_with(f"sleep\0{RUN}8643.1")), "the command has not started")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (await sandbox.run("echo next", 20)).output == b"next\n"
    assert processes_with(f"sleep\0{RUN}8643.1") == []


async def test_a_cancelled_start_leaves_nothing(engine: Engine, image: Image) -> None:
    sandbox = engine.sandbox(image, OPTIONS, labels("cancelled"))
    starting = asyncio.create_task(sandbox.start())
    await asyncio.sleep(0)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    await sandbox.remove()
    assert await engine.reap(labels("cancelled")) == 0


async def test_reaping_takes_what_has_all_the_labels_and_nothing_else(engine: Engine, image: Image) -> None:
    async with started(engine, image, "other") as other:
        mine = engine.sandbox(image, OPTIONS, {**labels("reaped"), "testwright.trial": "1"})
        await mine.start()
        assert await engine.reap({**labels("reaped"), "testwright.trial": "2"}) == 0
        assert await engine.reap(labels("reaped")) == 1
        with pytest.raises(SandboxLost):
            await mine.run("true", 5)
        await mine.remove()
        assert (await other.run("echo lives", 20)).output == b"lives\n"


async def test_nothing_is_left_when_all_are_removed(kind: str) -> None:
    if kind == "docker":
        client = docker.from_env()
        found = client.api.containers(all=True, filters={"label": ["testwright=1", "testwright.test"]})
        client.close()
        assert [facts for facts in found if facts["Labels"]["testwright.test"].endswith(f"-{RUN}")] == []
    else:
        assert [of_it for _, of_it in labels_here(kind) if of_it.get("testwright.test", "").endswith(f"-{RUN}")] == []
