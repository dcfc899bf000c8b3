"""What a sandbox or job is given beside its image; an option that an engine doesn't offer is refused."""

import io
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from harness.sandbox.protocol import (
    Engine,
    Gateway,
    Image,
    Job,
    LimitReached,
    Mount,
    Network,
    PlacedFile,
    Volume,
)
from harness.specs.errors import UserError
from tests.support.sandboxes import OPTIONS, labels, started

SHOW = "cat /data/file; ls -A /data; (echo more > /data/more) 2>/dev/null && echo written || echo refused"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A directory that any user may read and write."""
    tmp_path.chmod(0o755)
    directory = tmp_path / "data"
    directory.mkdir()
    directory.chmod(0o777)
    (directory / "file").write_text("shown\n")
    return directory


async def refusal(engine: Engine, image: Image, **changes: object) -> list[str]:
    """How a sandbox and a job with these options are refused."""
    options = replace(OPTIONS, **changes)
    with pytest.raises(UserError) as of_sandbox:
        engine.sandbox(image, options, labels("refused"))
    with pytest.raises(UserError) as of_job:
        await engine.run_job(image, Job(("true",)), options, labels("refused"))
    assert await engine.reap(labels("refused")) == 0
    return [str(of_sandbox.value), str(of_job.value)]


async def test_a_variable_wins_over_the_images_and_a_jobs_own_over_both(engine: Engine, image: Image) -> None:
    options = replace(OPTIONS, env={"FROM_IMAGE": "replaced", "OF_OPTIONS": "set", "OF_JOB": "replaced"})
    command = 'echo "$FROM_IMAGE $OF_OPTIONS $OF_JOB"'
    async with started(engine, image, "environment", options) as sandbox:
        assert (await sandbox.run(command, 20)).output == b"replaced set replaced\n"
    job = Job(("bash", "-c", command), env={"OF_JOB": "own"}, seconds=30)
    assert (await engine.run_job(image, job, options, labels("job"))).log == b"replaced set own\n"


async def test_a_mount_is_shown_read_only(engine: Engine, image: Image, data: Path) -> None:
    mounts = (Mount(data, "/data"),)
    if not engine.capabilities.mounts:
        assert (
            await refusal(engine, image, mounts=mounts)
            == [f"sandbox {engine.name!r} can't mount {data}: it offers no mounts"] * 2
        )
        return
    options = replace(OPTIONS, mounts=mounts)
    async with started(engine, image, "mount", options) as sandbox:
        assert (await sandbox.run(SHOW, 20)).output == b"shown\nfile\nrefused\n"
    result = await engine.run_job(image, Job(("bash", "-c", SHOW), seconds=30), options, labels("job"))
    assert result.log == b"shown\nfile\nrefused\n"
    assert [path.name for path in data.iterdir()] == ["file"]


async def test_a_mount_can_be_written_where_that_is_asked_for(engine: Engine, image: Image, data: Path) -> None:
    if not engine.capabilities.mounts:
        return
    options = replace(OPTIONS, mounts=(Mount(data, "/data", read_only=False),))
    async with started(engine, image, "mount", options) as sandbox:
        assert (await sandbox.run(SHOW, 20)).output == b"shown\nfile\nwritten\n"
    assert (data / "more").read_text() == "more\n"


WRITES = """
cat /app/placed /opt/placed/too /app/link
for path in /app/new /app/placed /opt/placed/new /home/agent/new /var/tmp/new /new /app/own/new /tmp/new; do
    (echo more > $path) 2>/dev/null && echo $path
done
echo out > $TESTWRIGHT_REPORT_DIR/out
"""


def packed() -> bytes:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as archive:
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "present.txt"
        archive.addfile(link)
    return whole.getvalue()


async def test_a_jobs_root_is_read_only_but_for_what_it_may_write_to(engine: Engine, image: Image) -> None:
    files = (PlacedFile("/app/placed", b"placed\n"), PlacedFile("/opt/placed/too", b"too\n"))
    job = Job(("bash", "-c", WRITES), files, seconds=30, unpacked=(PlacedFile("/app", packed()),))
    options = replace(OPTIONS, writable=("/app/own",))
    with pytest.raises(UserError, match="only a job"):
        engine.sandbox(image, options, labels("read-only"))
    if not engine.capabilities.read_only_root:
        for wanted, of_it in ((job, OPTIONS), (replace(job, unpacked=()), options)):
            with pytest.raises(UserError, match="read-only"):
                await engine.run_job(image, wanted, of_it, labels("read-only"))
        return
    result = await engine.run_job(image, job, options, labels("read-only"))
    assert result.log.decode().split() == ["placed", "too", "present", "/app/own/new", "/tmp/new"]
    assert result.outputs == {"out": b"out\n"}
    assert await engine.reap(labels("read-only")) == 0


async def test_what_a_job_may_write_to_counts_for_its_disk(engine: Engine, image: Image, kind: str) -> None:
    if kind != "docker":
        pytest.skip("elsewhere all that a job writes lies in one directory")
    options = replace(OPTIONS, limits=replace(OPTIONS.limits, disk_mb=16), writable=("/app",))
    for place in ("/app", "$TESTWRIGHT_REPORT_DIR"):
        fills = f"for n in 1 2 3; do head -c 15000000 /dev/zero > {place}/$n; done; exec sleep 60"
        with pytest.raises(LimitReached) as caught:
            await engine.run_job(image, Job(("bash", "-c", fills), seconds=30), options, labels("read-only"))
        assert caught.value.limit == "disk"


HIDDEN = ("/usr/bin/tac", "/usr/share/doc", "/usr/share/no-such-thing")
SEEN = "echo text | tac; cat /usr/bin/tac | wc -c; ls -A /usr/share/doc | wc -l; ls -d /usr/share/no-such-thing"


async def test_what_is_hidden_can_be_neither_run_nor_read(engine: Engine, image: Image) -> None:
    job = Job(("bash", "-c", f"({SEEN}) 2>/dev/null"), seconds=30)
    options = replace(OPTIONS, hidden=HIDDEN)
    open_to_see = (await engine.run_job(image, job, OPTIONS, labels("open"))).log.split()
    assert open_to_see[0] == b"text"
    assert 0 not in map(int, open_to_see[1:3])
    hidden = (await engine.run_job(image, job, options, labels("hidden"))).log.split()
    assert hidden == ([b"0", b"0"] if engine.capabilities.hiding else open_to_see)


async def test_what_is_hidden_stays_so_whatever_its_processes_do(engine: Engine, image: Image) -> None:
    if not engine.capabilities.hiding:
        return
    tries = "umount /usr/share/doc; unshare -Urm umount /usr/share/doc; rm -rf /usr/share/doc; ls -A /usr/share/doc"
    job = Job(("bash", "-c", f"({tries}) 2>/dev/null; echo end"), seconds=30)
    assert (await engine.run_job(image, job, replace(OPTIONS, hidden=HIDDEN), labels("hidden"))).log == b"end\n"


@pytest.mark.parametrize("target", ["data", "/", "/app/../etc"])
async def test_a_mount_at_no_place_of_its_own_is_refused(
    engine: Engine, image: Image, data: Path, target: str
) -> None:
    for message in await refusal(engine, image, mounts=(Mount(data, target),)):
        assert f"mount target {target!r}" in message or "offers no mounts" in message


async def test_a_relative_mount_source_is_refused(engine: Engine, image: Image) -> None:
    for message in await refusal(engine, image, mounts=(Mount(Path("data"), "/data"),)):
        assert "mount source 'data'" in message or "offers no mounts" in message


async def test_a_gateway_is_refused_where_there_is_none(engine: Engine, image: Image, data: Path) -> None:
    asked = {"network": Network.GATEWAY, "gateways": (Gateway(data / "socket"),)}
    nothing = f"sandbox {engine.name!r} offers no network through a gateway"
    if not engine.capabilities.gateway:
        assert await refusal(engine, image, **asked) == [nothing] * 2
        return
    with pytest.raises(UserError, match=f"{nothing} to jobs"):
        await engine.run_job(image, Job(("true",)), replace(OPTIONS, **asked), labels("refused"))


async def test_the_network_and_its_gateway_go_together(engine: Engine, image: Image, data: Path) -> None:
    for changes in ({"network": Network.GATEWAY}, {"gateways": (Gateway(data / "socket"),)}):
        for message in await refusal(engine, image, **changes):
            assert "go together" in message or "offers no network through a gateway" in message


async def test_a_volume_is_mounted_or_refused_by_name(engine: Engine, image: Image) -> None:
    if engine.isolation == "docker":
        return
    for message in await refusal(engine, image, mounts=(Mount(Volume("testwright-none"), "/data"),)):
        assert "testwright-none" in message
