"""A sandbox that takes too much ends by a named limit, and nothing around it notices."""

import resource
from dataclasses import replace
from pathlib import Path

import pytest

from harness.sandbox.protocol import MAX_OUTPUT_BYTES, Engine, Image, LimitReached, Sandbox, SandboxOptions
from tests.support.sandboxes import LIMITS, UNCONFINED, exported, is_podman, started

DRIVER = "driver=$(cut -d' ' -f4 /proc/$PPID/stat); "


def peak_memory() -> int:
    """Of this process, in bytes, since `forget_peak`."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


async def repeat(sandbox: Sandbox, command: str) -> None:
    for _ in range(1000):
        await sandbox.run(command, 1)


async def test_200_mb_of_output_cost_little_memory(sandbox: Sandbox) -> None:
    await sandbox.run("head -c 3000000 /dev/zero", 60)
    forget_peak()
    before = peak_memory()
    result = await sandbox.run("echo first; head -c 200000000 /dev/zero | tr '\\0' x; echo last", 60)
    assert peak_memory() - before < 20_000_000
    assert result.exit_status == 0
    assert len(result.output) == MAX_OUTPUT_BYTES
    assert result.truncated == 200_000_011 - MAX_OUTPUT_BYTES
    assert result.output.startswith(b"first\nxxx")  # one line of 200 MB
    assert result.output.endswith(b"xxxlast\n")


async def test_output_without_end_is_ended_by_the_deadline(sandbox: Sandbox) -> None:
    result = await sandbox.run("yes", 0.5)
    assert result.exit_status == 124
    assert len(result.output) <= MAX_OUTPUT_BYTES
    assert (await sandbox.run("echo fine", 20)).output == b"fine\n"


async def test_a_full_disk_ends_the_sandbox_by_name_and_keeps_its_files(
    engine: Engine, image: Image, tmp_path: Path
) -> None:
    assert engine.capabilities.disk
    async with started(engine, image, "disk", SandboxOptions(replace(LIMITS, disk_mb=16))) as sandbox:
        with pytest.raises(LimitReached) as caught:
            await sandbox.run("for n in 1 2 3; do head -c 8000000 /dev/zero > fill.$n; done; sleep 60", 30)
        assert caught.value.limit == "disk"
        with pytest.raises(LimitReached):
            await sandbox.run("true", 5)
        with pytest.raises(LimitReached):
            await sandbox.read("/app/present.txt")
        await exported(sandbox, "/app", tmp_path / "app.tar", 2_000_000_000)
        await sandbox.kill()


async def test_a_flood_of_empty_files_counts_as_disk(engine: Engine, image: Image) -> None:
    async with started(engine, image, "inodes", SandboxOptions(replace(LIMITS, disk_mb=1))) as sandbox:
        with pytest.raises(LimitReached) as caught:
            await sandbox.run("n=0; while :; do mkdir d$n; : | tee d$n/{1..500}; n=$((n + 1)); done", 30)
        assert caught.value.limit == "disk"


async def test_one_file_larger_than_the_disk_cannot_be_written(sandbox: Sandbox) -> None:
    result = await sandbox.run("truncate -s 10G sparse || echo refused; stat -c %s sparse", 20)
    assert b"refused" in result.output


async def test_a_command_that_eats_memory_dies_alone(sandbox: Sandbox, engine: Engine) -> None:
    if not engine.capabilities.memory:
        assert engine.name in ("local", "swerex") or is_podman()  # not declared
        return
    result = await sandbox.run("perl -e '$x = q(x) x 200_000_000; $y = $x x 20'", 60)
    assert result.exit_status == 137
    assert (await sandbox.run("echo lives", 20)).output == b"lives\n"


async def test_a_fork_bomb_stays_within_its_sandbox(engine: Engine, image: Image) -> None:
    if not engine.capabilities.pids:
        assert engine.name in ("local", "swerex") or is_podman()  # not declared
        return
    async with (
        started(engine, image, "bomb", SandboxOptions(replace(LIMITS, pids=32))) as sandbox,
        started(engine, image, "neighbour") as neighbour,
    ):
        result = await sandbox.run("bomb() { sleep 30 & bomb | bomb & }; bomb; wait", 1)
        assert result.timed_out
        assert (await sandbox.run("echo over", 20)).output == b"over\n"
        # What is left running may be so much that there is no room for another command.
        await sandbox.run("(sleep 0.2; for n in {1..26}; do sleep 60 & done; wait) > /dev/null 2>&1 &", 20)
        with pytest.raises(LimitReached) as caught:
            await repeat(sandbox, "echo no room")
        assert caught.value.limit == "pids"
        assert (await neighbour.run("echo lives", 20)).output == b"lives\n"


async def test_what_an_engine_of_containers_cant_limit_is_limited_by_process_and_user(
    sandbox: Sandbox, engine: Engine
) -> None:
    if engine.name != "docker":
        return
    found = (await sandbox.run("ulimit -d; ulimit -u", 20)).output.split()
    assert found[0].decode() == ("unlimited" if engine.capabilities.memory else str(LIMITS.memory_mb * 1024))
    assert engine.capabilities.pids or found[1] == b"4096"


async def test_killing_everything_leaves_a_sandbox_that_works(sandbox: Sandbox, kind: str) -> None:
    if kind in UNCONFINED:  # not declared: everything would be everything of this machine's user
        return
    await sandbox.run("echo kept > file; sleep 60 &", 20)
    assert (await sandbox.run("kill -9 -1; sleep 0.1", 20)).exit_status == 137
    result = await sandbox.run("cat file; for f in /proc/[0-9]*; do cat $f/comm; done | grep -c sleep", 20)
    assert result.output.split()[0] == b"kept"


async def test_a_stopped_or_deaf_driver_is_replaced(sandbox: Sandbox, kind: str) -> None:
    await sandbox.run("echo kept > file", 20)
    # It can't be stopped where it is its namespace's first process, but its input can be taken away.
    deaf, stopped = "sleep 60 & cat < /proc/$driver/fd/0 > /dev/null &", "kill -STOP $driver"
    results = [await sandbox.run(DRIVER + (deaf if kind == "bubblewrap" else stopped), 0.5)]
    while not results[-1].timed_out and len(results) < 10:
        results.append(await sandbox.run("cat file", 0.5))
    # However long the next driver takes to begin: this command has time.
    found = await sandbox.run("cat file", 20)
    assert found.output == b"kept\n", [*results, found]


async def test_a_driver_killed_between_commands_is_replaced_unnoticed(sandbox: Sandbox, kind: str) -> None:
    if kind == "bubblewrap":  # nothing in its namespace can kill it
        return
    await sandbox.run(DRIVER + "(sleep 0.2; kill -9 $driver; echo > killed) &", 20)
    while True:
        result = await sandbox.run("test -e killed && echo found", 20)
        if result.exit_status == 0:
            break
        assert result.exit_status in (1, 137), result
    assert (await sandbox.run("echo fine", 20)).output == b"fine\n"


async def test_limits_of_ours_are_not_touched(engine: Engine, image: Image) -> None:
    before = [
        resource.getrlimit(kind) for kind in (resource.RLIMIT_FSIZE, resource.RLIMIT_DATA, resource.RLIMIT_CORE)
    ]
    async with started(engine, image, "limits") as sandbox:
        assert (await sandbox.run("ulimit -c", 20)).output == b"0\n"
    after = [resource.getrlimit(kind) for kind in (resource.RLIMIT_FSIZE, resource.RLIMIT_DATA, resource.RLIMIT_CORE)]
    assert after == before
