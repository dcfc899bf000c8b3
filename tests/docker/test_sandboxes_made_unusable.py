"""Whatever an agent's own processes do to its sandbox is no fault of the engine: it isn't tried again, but judged."""

import hashlib
import io
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import docker
import pytest
import pytest_asyncio

from harness.sandbox import channel
from harness.sandbox.docker import sandbox as docker_sandbox
from harness.sandbox.protocol import Engine, Gateway, Image, LimitReached, MadeUnusable, Network, Sandbox
from harness.specs.catalog import Catalog
from harness.specs.errors import SandboxLost
from harness.tracks.registry import IMAGES
from tests.docker.test_gateway_channel import ASK, TAKES_THE_PORT, TASK, URL, serving
from tests.support.sandboxes import OPTIONS, TAG, docker_image, exported, labels, make_engine, started

pytestmark = pytest.mark.docker

CATCH = """
while (1) { for (glob "/proc/[0-9]*/comm") {
  open my $f, "<", $_ or next;
  kill SIGNAL, m{(\\d+)} if <$f> =~ /^bash/ && !m{/1/};
} }
"""
"""Sends a signal to each shell as soon as it is there, the container's first process left out."""
CATCHES = "setsid perl /tmp/catch.pl > /dev/null 2>&1 < /dev/null &"
SEGMENT = """perl -e '
$id = shmget(0, 200 << 20, 0600 | 01000);
shmwrite($id, "x" x (1 << 20), $_ << 20, 1 << 20) for 0 .. 199'
for n in {1..20}; do cat /dev/zero > /dev/shm/$n; done"""
"""Takes memory that stays taken when its process is killed for want of it: so are others then, the first one too."""


TRACES_THE_FIRST = """perl -e '
my ($trace, $attach, $cont) = ((`uname -m` =~ /x86_64/) ? 101 : 117, 16, 7);
syscall($trace, $attach, 1, 0, 0) == 0 or die "attach: $!";
waitpid(1, 0);
syscall($trace, $cont, 1, 0, 9) == 0 or die "kill: $!";
sleep 20'"""
"""Gives the first process a signal that it would never get."""


@pytest_asyncio.fixture
async def engine() -> AsyncIterator[Engine]:
    made = make_engine("docker")
    yield made
    await made.close()


def of_root(reference: str) -> Image:
    """An image as others made it: for root."""
    client = docker.from_env()
    tag = f"{TAG}-of-root-{hashlib.sha256(reference.encode()).hexdigest()[:8]}"
    client.images.build(fileobj=io.BytesIO(f"FROM {reference}\nUSER root\n".encode()), tag=tag, rm=True)
    client.close()
    return Image(tag, tag, "/app", Path("/nonexistent"), may_be_root=True)


async def run_on(sandbox: Sandbox, command: str = "true", seconds: float = 20, times: int = 1000) -> None:
    for _ in range(times):
        await sandbox.run(command, seconds)


async def check_that_it_can_be_judged(sandbox: Sandbox, tmp_path: Path) -> None:
    with pytest.raises((MadeUnusable, LimitReached)):
        await sandbox.read("/app/present.txt")
    await sandbox.kill()
    await exported(sandbox, "/app", tmp_path / "app.tar", 50_000_000)


@pytest.mark.parametrize("is_root", [False, True], ids=["agent", "root"])
async def test_one_who_kills_each_shell(engine: Engine, tmp_path: Path, is_root: bool) -> None:
    image = of_root(docker_image().reference) if is_root else docker_image()
    async with started(engine, image, f"kills-{is_root}") as sandbox:
        await sandbox.write("/tmp/catch.pl", CATCH.replace("SIGNAL", "9").encode())
        with pytest.raises(MadeUnusable, match="its own processes end every one"):
            await run_on(sandbox, CATCHES)
        await check_that_it_can_be_judged(sandbox, tmp_path)


async def test_one_who_stops_each_shell(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with started(engine, docker_image(), "stops") as sandbox:
        await sandbox.write("/tmp/catch.pl", CATCH.replace("SIGNAL", "19").encode())
        monkeypatch.setattr(channel, "OPEN_SECONDS", 1.0)
        monkeypatch.setattr(channel, "GRACE_SECONDS", 0.5)
        with pytest.raises(MadeUnusable, match="its own processes stop every one"):
            await run_on(sandbox, CATCHES, 0.5)
        await check_that_it_can_be_judged(sandbox, tmp_path)


async def test_a_machine_that_stands_still_is_no_fault_of_theirs(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with started(engine, docker_image(), "still") as sandbox:
        await sandbox.write("/tmp/catch.pl", CATCH.replace("SIGNAL", "19").encode())
        await sandbox.run(CATCHES, 20)
        monkeypatch.setattr(channel, "OPEN_SECONDS", 1.0)
        monkeypatch.setattr(channel, "GRACE_SECONDS", 0.5)
        monkeypatch.setattr(docker_sandbox, "_PROBE_SECONDS", 0.0)  # so it does for another container
        with pytest.raises(SandboxLost, match=r"starts no shell$"):
            await run_on(sandbox, "true", 0.5)


async def test_memory_that_belongs_to_no_process_is_a_limit_of_its_own(engine: Engine, tmp_path: Path) -> None:
    async with started(engine, docker_image(), "segments") as sandbox:
        with pytest.raises(LimitReached) as caught:
            await run_on(sandbox, SEGMENT, 60, times=20)
        assert caught.value.limit == "memory"
        await check_that_it_can_be_judged(sandbox, tmp_path)


@pytest.mark.parametrize("taken", ["/bin/bash /usr/bin/bash", "/etc/passwd", "/app"])
async def test_root_that_takes_away_what_a_shell_needs(engine: Engine, tmp_path: Path, taken: str) -> None:
    image = replace(of_root(docker_image().reference), workdir="/app")
    async with started(engine, image, "takes") as sandbox:
        command = f"cp -r /app /kept; rm -rf {taken}; kill -9 -1"
        with pytest.raises(MadeUnusable, match="end every one"):
            await run_on(sandbox, command, times=20)
        await sandbox.kill()
        await exported(sandbox, "/kept", tmp_path / "kept.tar", 50_000_000)


@pytest.mark.parametrize("is_loop", [False, True], ids=["file", "loop"])
async def test_a_folder_in_a_file_or_in_a_loop_of_links_is_not_there(
    engine: Engine, tmp_path: Path, is_loop: bool
) -> None:
    async with started(engine, docker_image(), f"nowhere-{is_loop}") as sandbox:
        await sandbox.run("ln -s loop /tmp/loop" if is_loop else "touch /tmp/loop", 20)
        await sandbox.kill()
        for path in ("/tmp/loop/inner", "/tmp/loop"):
            with pytest.raises(FileNotFoundError):
                await exported(sandbox, path, tmp_path / "none.tar", 50_000_000)


async def test_root_that_kills_all_it_can_keeps_its_sandbox(engine: Engine) -> None:
    async with started(engine, of_root(docker_image().reference), "all") as sandbox:
        signals = "for n in {1..64}; do kill -$n 1 2>/dev/null; done"
        await sandbox.run(f"echo kept > present.txt; {signals}; kill -9 -1", 20)
        zombies = "(setsid true &); sleep 0.2; cat /proc/[0-9]*/stat | grep -c ' Z '"
        found = await sandbox.run(f"cat present.txt; grep CapEff /proc/self/status; {zombies}", 20)
        # What an arm has too, docker/image_facts.py says: it writes files of others, and starts servers by `su`.
        assert found.output == b"kept\nCapEff:\t00000000000000eb\n0\n", found


async def test_root_that_ends_the_first_process(engine: Engine, tmp_path: Path) -> None:
    async with started(engine, of_root(docker_image().reference), "first") as sandbox:
        with pytest.raises(MadeUnusable, match="have ended the container's first one"):
            await run_on(sandbox, TRACES_THE_FIRST, times=20)
        await check_that_it_can_be_judged(sandbox, tmp_path)


async def test_one_of_root_that_is_killed_from_outside_is_lost(engine: Engine) -> None:
    async with started(engine, of_root(docker_image().reference), "outside") as sandbox:
        wanted = [f"{key}={value}" for key, value in labels("outside").items()]
        client = docker.from_env()
        [container] = client.containers.list(filters={"label": wanted})
        container.kill()
        client.close()
        with pytest.raises(SandboxLost, match="ended by itself, with status 137"):
            await run_on(sandbox)
        with pytest.raises(SandboxLost, match="ended by itself, with status 137"):
            await sandbox.kill()


async def test_root_that_ends_the_forwarder_has_it_again(engine: Engine, tmp_path: Path) -> None:
    image = of_root((await IMAGES.container(Catalog().task(TASK))).reference)
    tmp_path.chmod(0o755)
    async with serving(tmp_path / "gateway") as socket:
        options = replace(OPTIONS, network=Network.GATEWAY, gateways=(Gateway(socket, python="/usr/bin/python3"),))
        async with started(engine, image, "again", options) as sandbox:
            await sandbox.run("pkill -9 python", 20)
            ask = f"ask() {{ {ASK % (f'{URL}/length', 3)}\n}}"
            result = await sandbox.run(
                f"{ask}; for n in {{1..100}}; do ask 2>/dev/null && break; sleep 0.1; done", 60
            )
            assert result.output == b"3 bytes\n", result


async def test_root_that_takes_the_ports_of_the_gateway(engine: Engine, tmp_path: Path) -> None:
    image = of_root((await IMAGES.container(Catalog().task(TASK))).reference)
    tmp_path.chmod(0o755)
    async with serving(tmp_path / "gateway") as socket:
        options = replace(OPTIONS, network=Network.GATEWAY, gateways=(Gateway(socket, python="/usr/bin/python3"),))
        async with started(engine, image, "taken", options) as sandbox:
            await sandbox.write("/tmp/take.py", TAKES_THE_PORT.encode())
            await sandbox.run("setsid python3 /tmp/take.py > /dev/null 2>&1 < /dev/null &", 20)
            with pytest.raises(MadeUnusable, match="taken the port or end the forwarder"):
                await run_on(sandbox, "sleep 0.5", times=100)
            await check_that_it_can_be_judged(sandbox, tmp_path)
